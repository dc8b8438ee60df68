"""The layout: panes never overlap, never leave the screen, and each size gets what it can hold."""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparktrace_tui.ui.layout import MIN_HEIGHT, MIN_WIDTH, Plan, View, plan, shape_of

PANES = ("families", "about", "original", "candidate", "report", "options")
LISTED = (("choices",), ("list", "text"), ("figures", "code", "report"))
VIEWS = st.builds(
    View,
    kind=st.sampled_from(("browse", "quiz", "report", "listed")),
    pane=st.sampled_from(PANES),
    body=st.sampled_from(PANES),
    zoomed=st.booleans(),
    report=st.booleans(),
    result=st.booleans(),
    kernels=st.booleans(),
    listed=st.sampled_from(LISTED),
    lead=st.integers(36, 60),
)


def assert_sound(found: Plan, width: int, height: int) -> None:
    for name, rect in found.panes.items():
        assert rect.width > 0, f"{name} {rect}"
        assert rect.height > 0, f"{name} {rect}"
        assert rect.x >= 0, f"{name} {rect}"
        assert rect.y >= 0, f"{name} {rect}"
        assert rect.right <= width, f"{name} {rect}"
        assert rect.bottom <= height, f"{name} {rect}"
    for (one, a), (other, b) in combinations(found.panes.items(), 2):
        apart = a.right <= b.x or b.right <= a.x or a.bottom <= b.y or b.bottom <= a.y
        assert apart, f"{one} {a} overlaps {other} {b}"


@settings(max_examples=600, deadline=None)
@given(st.integers(40, 300), st.integers(12, 100), VIEWS)
def test_panes_never_overlap_or_leave_the_screen(width: int, height: int, view: View) -> None:
    found = plan(width, height, view)
    assert_sound(found, width, height)
    # Nothing of the screen is left unused either.
    assert sum(r.width * r.height for r in found.panes.values()) == width * height


@settings(max_examples=200, deadline=None)
@given(st.integers(40, 300), st.integers(12, 100), VIEWS)
def test_every_pane_that_shows_code_or_a_report_has_room_for_some_of_it(width: int, height: int, view: View) -> None:
    found = plan(width, height, view)
    for name in ("original", "candidate", "report", "options"):
        if name in found.panes:
            assert found.panes[name].height >= 5, (name, found.panes[name])
            assert found.panes[name].width >= 35, (name, found.panes[name])


def test_the_edges_between_the_shapes_are_sound() -> None:
    for width, height, kind, pane in product(
        (40, 69, 70, 99, 100, 169, 170, 300), (12, 19, 20, 27, 28, 35, 36, 100), ("browse", "quiz"), PANES
    ):
        assert_sound(plan(width, height, View(kind, pane, pane)), width, height)


def test_attending_to_the_candidates_moves_no_pane() -> None:
    for size in ((80, 24), (120, 40), (200, 60)):
        for body in ("original", "families", "report"):
            assert plan(*size, View(pane="options", body=body)) == plan(*size, View(pane=body, body=body))


@pytest.mark.parametrize(("width", "height"), [(MIN_WIDTH - 1, 40), (120, MIN_HEIGHT - 1), (1, 1)])
def test_a_terminal_that_is_too_small_gets_the_one_pane_that_says_so(width: int, height: int) -> None:
    assert list(plan(width, height, View()).panes) == ["small"]


def test_the_three_sizes_of_the_design() -> None:
    assert shape_of(80, 24) == "narrow"
    narrow = plan(80, 24, View())
    assert "original" in narrow.panes
    assert "candidate" not in narrow.panes
    assert narrow.tabs
    medium = plan(120, 40, View())
    assert medium.panes["original"].y == medium.panes["candidate"].y
    assert medium.panes["report"].y == medium.panes["original"].bottom
    wide = plan(200, 60, View())
    assert wide.panes["original"].right == wide.panes["candidate"].x
    assert wide.panes["candidate"].right == wide.panes["report"].x
    assert wide.panes["original"].y == wide.panes["report"].y


def test_a_maximised_pane_has_all_of_the_body() -> None:
    for size in ((80, 24), (120, 40), (200, 60)):
        found = plan(*size, View(pane="report", body="report", zoomed=True))
        assert {"report"} == set(found.panes) - {"header", "footer", "tabs"}
