"""A few pictures that must not change by accident: `pytest tests/ui --snapshot-update` accepts a wanted change."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from tests.ui.conftest import MakeApp
from tests.ui.looking import settle

SnapCompare = Callable[..., bool]


def keys(*pressed: str) -> Callable[[Pilot[None]], object]:
    """Press keys before the picture is taken, and wait for what they set off."""

    async def run(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for key in pressed:
            await pilot.press(key)
            await settle(pilot)

    return run


def test_browse_at_80_columns(snap_compare: SnapCompare, make_app: MakeApp) -> None:
    assert snap_compare(make_app(), terminal_size=(80, 24), run_before=keys("n"))


def test_a_revealed_family_with_a_diff(snap_compare: SnapCompare, make_app: MakeApp) -> None:
    assert snap_compare(make_app(), terminal_size=(120, 40), run_before=keys("c", "v", "r"))


def test_the_quiz_after_the_first_pick_on_a_light_screen(snap_compare: SnapCompare, make_app: MakeApp) -> None:
    app = make_app(start="quiz", evidence="full")
    assert snap_compare(app, terminal_size=(80, 24), run_before=keys("t", "b", "enter"))


def test_without_colour(snap_compare: SnapCompare, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(make_app(), terminal_size=(80, 24), run_before=keys("b", "v", "r"))
