"""PTX, machine code and the bank map beside the source: by keys, on every size, with lines linked both ways."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from sparktrace_tui.domain.errors import MissingTool
from sparktrace_tui.domain.report.report import Instruction
from sparktrace_tui.emulator.toolchain import compiler_version
from sparktrace_tui.ui.beside import with_beside
from sparktrace_tui.ui.inspector import Inspector, report_listing
from sparktrace_tui.ui.layout import View, plan
from sparktrace_tui.ui.widgets.banks import BanksView
from sparktrace_tui.ui.widgets.code import CodeView
from sparktrace_tui.ui.widgets.listing import ListingView
from tests.ui.conftest import MakeApp, report
from tests.ui.looking import SIZES, picture, settle
from tests.ui.test_layout import assert_sound


@pytest.fixture
def _compiler() -> None:
    try:
        compiler_version()
    except MissingTool as missing:
        pytest.skip(missing.message)


async def looked(pilot: Pilot[None]) -> None:
    """Wait for the worker process."""
    for _ in range(3):
        await settle(pilot)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(40, 300),
    st.integers(12, 100),
    st.sampled_from(("browse", "report")),
    st.sampled_from(("original", "candidate")),
    st.booleans(),
    st.booleans(),
)
def test_a_pane_beside_never_overlaps_and_always_has_room(
    width: int, height: int, kind: str, of: str, attended: bool, zoomed: bool
) -> None:
    found = plan(width, height, View(kind, of, of, zoomed))  # type: ignore[arg-type]
    changed = with_beside(found, "listing", of, attended=attended, zoomed=zoomed)
    assert_sound(changed, width, height)
    assert sum(r.width * r.height for r in changed.panes.values()) == width * height
    if "listing" in changed.panes:
        assert changed.panes["listing"].height >= 5
    if attended and of in found.panes:
        assert "listing" in changed.panes


@pytest.mark.usefixtures("_compiler")
@pytest.mark.parametrize("size", SIZES)
async def test_ptx_and_sass_stand_beside_the_source_and_follow_its_line(
    make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("m")
        await looked(pilot)
        code, listing = app.screen.query_one("#original", CodeView), app.screen.query_one(ListingView)
        assert "ld.shared" in "\n".join(listing.lines)
        assert "PTX" in picture(app)
        code.go_to_source_line(19)
        await settle(pilot)
        marked = [row.text.plain for row in listing.rows if row.gutter.plain.startswith("▸")]
        assert marked
        assert all("ld.shared" in text for text in marked)
        assert "▸" in picture(app)
        await pilot.press("m")
        await looked(pilot)
        assert any("LDS" in row.text.plain for row in listing.rows if row.gutter.plain.startswith("▸"))
        await pilot.press("m")
        await settle(pilot)
        assert not listing.region.area or "SASS" not in picture(app)


@pytest.mark.usefixtures("_compiler")
async def test_an_instruction_leads_back_to_its_source_line(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("m", "m")
        await looked(pilot)
        await pilot.press("tab")
        listing = app.screen.query_one(ListingView)
        assert app.screen.focused is listing
        await pilot.press("slash", *"STG", "enter")
        await pilot.press("enter")
        await settle(pilot)
        assert app.screen.query_one("#original", CodeView).chosen_line == 25


@pytest.mark.usefixtures("_compiler")
@pytest.mark.parametrize("size", SIZES)
async def test_the_bank_map_shows_where_the_lanes_of_the_chosen_line_fall(
    make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("M")
        await looked(pilot)
        banks = app.screen.query_one(BanksView)
        text = " ".join(banks.lines)
        assert "32 wavefronts for 1 group of lanes, 31 conflicts" in text
        assert "  !32    ·" in text
        assert " 0:31" in text
        assert max(len(line) for line in banks.lines) < banks.scrollable_content_region.width
        # The padded rewrite, by its key: nothing is crowded.
        letter = next(letter for letter, name in app.screen.options.items() if name == "padded")
        await pilot.press(letter.lower())
        await looked(pilot)
        text = " ".join(banks.lines)
        assert "1 wavefront for 1 group of lanes, 0 conflicts" in text
        assert "!" not in text.replace("! several", "")
        before = app.screen.query_one("#candidate", CodeView).chosen_line
        await pilot.press("n")
        await settle(pilot)
        assert app.screen.query_one("#candidate", CodeView).chosen_line != before
        await pilot.press("M")
        await settle(pilot)
        assert "banks" not in picture(app)


async def test_without_the_compiler_the_pane_says_how_to_get_it(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise MissingTool("NVRTC, the CUDA compiler library, is not installed here", hint="pip install it")

    monkeypatch.setattr(Inspector, "_ask", missing)
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("m")
        await looked(pilot)
        assert "not installed here" in picture(app)
        await pilot.press("M")
        await looked(pilot)
        assert "pip install it" in picture(app)


def test_a_report_gives_its_own_instructions_with_offsets_and_counts() -> None:
    made = report()
    conflict = "derived__memory_l1_conflicts_shared_nway"
    counted = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ld"
    instructions = (
        Instruction(0x7F00, "LDS R1, [R2]", "a.cu", 3, {"inst_executed": 64, counted: 12, conflict: 4}),
        Instruction(0x7F10, "EXIT", "b.cu", 9, {"inst_executed": 64}),
    )
    listing = report_listing(replace(made, instructions=instructions), "a.cu")
    assert listing is not None
    assert [(x.address, x.line, x.executed, x.conflicts) for x in listing.lines] == [
        (0, 3, 64, 12),
        (16, None, 64, None),
    ]
    assert report_listing(made) is None
