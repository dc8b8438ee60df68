"""Opening a report of the user's own by its path: kernels, sections, the conflict toggle, and files that are none."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sparktrace_tui.domain.kernel.machine_code import ListedLine
from sparktrace_tui.domain.report.report import Rule, SourceLine
from sparktrace_tui.nsight.text import render
from sparktrace_tui.ui.screens.browse import BrowseScreen
from sparktrace_tui.ui.screens.report import ReportScreen
from sparktrace_tui.ui.widgets.code import CodeView
from sparktrace_tui.ui.widgets.listing import ListingView
from sparktrace_tui.ui.widgets.report import ReportView
from tests.ui.conftest import MakeApp, report
from tests.ui.looking import SIZES, every_text, picture, settle

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data" / "nsight"


@pytest.fixture
def text_report(tmp_path: Path) -> Path:
    """Two kernels as text, in the manner of Nsight's details page."""
    path = tmp_path / "two.txt"
    other = replace(report(), launch=replace(report().launch, kernel="second_kernel"))
    path.write_text(render(report()) + "\n" + render(other), encoding="utf-8")
    return path


async def opened(pilot: Pilot[None], path: Path) -> None:
    await settle(pilot)
    await pilot.press("O")
    await pilot.pause()
    pilot.app.screen.query_one("#search").value = str(path)
    await pilot.press("enter")
    await settle(pilot)
    await settle(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_a_text_report_opens_folds_and_loses_its_conflict_lines(
    make_app: MakeApp, text_report: Path, size: tuple[int, int]
) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await opened(pilot, text_report)
        assert isinstance(app.screen, ReportScreen)
        assert "clamp_kernel" in picture(app)
        view = app.screen.query_one(ReportView)
        assert "bank conflict" in "\n".join(view.lines).lower()
        await pilot.press("x")
        await settle(pilot)
        assert "bank conflict" not in "\n".join(view.lines).lower()
        await pilot.press("right_square_bracket")
        await settle(pilot)
        assert "second_kernel" in picture(app)
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, BrowseScreen)


async def test_a_metric_is_explained_where_it_stands(make_app: MakeApp, text_report: Path) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, text_report)
        view = app.screen.query_one(ReportView)
        view.cursor = next(i for i, row in enumerate(view.rows) if "Duration" in row.text.plain)
        await pilot.press("enter")
        await settle(pilot)
        assert "Less is better." in "\n".join(view.lines)
        await pilot.press("enter")
        await settle(pilot)
        assert "Less is better." not in "\n".join(view.lines)


@pytest.mark.parametrize("content", [b"", b"hello\n", b"NVR\0\0\0\0\1\2\3"])
async def test_a_file_that_is_no_report_is_one_message_and_the_app_lives(
    make_app: MakeApp, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "none.ncu-rep"
    path.write_bytes(content)
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, path)
        assert isinstance(app.screen, BrowseScreen)
        assert any(note.severity == "error" for note in app._notifications)


async def test_public_text_reports_open(make_app: MakeApp) -> None:
    paths = sorted((SHARED / "text").glob("*"))[:6] if SHARED.is_dir() else []
    if not paths:
        pytest.skip("the public reports are not beside this checkout")
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        for path in paths:
            await opened(pilot, path)
            assert isinstance(app.screen, ReportScreen), path.name
            assert "\x1b" not in every_text(app)
            await pilot.press("x", "x", "x", "j", "n", "escape")
            await settle(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_a_rule_without_source_leads_to_the_instruction_it_is_about(
    make_app: MakeApp, size: tuple[int, int]
) -> None:
    path = SHARED / "reports" / "rtx4090_cc89_2024.1_sgemm_2d_conflicts.ncu-rep"
    if not path.is_file():
        pytest.skip("the public reports are not beside this checkout")
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await opened(pilot, path)
        view = app.screen.query_one(ReportView)
        assert "disagrees with itself" in "\n".join(view.lines)
        assert "50,331,648 bank conflicts are counted" in " ".join(" ".join(view.lines).split())
        view.go_to_row(next(place for place, row in enumerate(view.rows) if "Shared Load Bank Conf" in row.text.plain
                            and isinstance(row.target, Rule)))  # fmt: skip
        await pilot.press("enter")
        await settle(pilot)
        listing = app.screen.query_one(ListingView)
        assert app.screen.focused is listing
        assert isinstance(listing.target, ListedLine)
        assert listing.target.text.startswith("LDS.128")
        assert listing.target.conflicts
        assert listing.region.area > 0
        await pilot.press("x")
        await settle(pilot)
        assert not any(row.gutter.plain.startswith(" !") for row in listing.rows)
        app.screen.action_pane("report")
        await settle(pilot)
        assert "disagrees" not in "\n".join(view.lines)


async def test_a_claim_that_the_machine_code_denies_is_said(make_app: MakeApp) -> None:
    path = SHARED / "reports" / "rtx4090_cc89_2024.1_sgemm_smem_arbitration.ncu-rep"
    if not path.is_file():
        pytest.skip("the public reports are not beside this checkout")
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, path)
        assert "the SASS counter says 0" in " ".join(" ".join(app.screen.query_one(ReportView).lines).split())
        assert "≠" in picture(app)


@pytest.mark.parametrize("size", SIZES)
async def test_a_kernel_far_down_in_its_file_is_in_sight_at_once(
    make_app: MakeApp, tmp_path: Path, size: tuple[int, int]
) -> None:
    lines = tuple(SourceLine("deep.cu", number, f"line_{number}();", {}) for number in range(300, 310))
    made = replace(report(), source=lines)
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        app._show_reports(tmp_path / "deep.txt", (made,))
        await settle(pilot)
        app.screen.action_pane("original")
        await settle(pilot)
        assert "line_300();" in picture(app)
        assert app.screen.query_one("#original", CodeView).chosen_line == 300


@pytest.mark.parametrize("size", SIZES)
async def test_the_gutter_says_the_sectors_of_a_line(make_app: MakeApp, tmp_path: Path, size: tuple[int, int]) -> None:
    line = SourceLine("a.cu", 2, "out[i] = in[i];", {"memory_l2_theoretical_sectors_global": 4096})
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        app._show_reports(tmp_path / "a.txt", (replace(report(), source=(line,)),))
        await settle(pilot)
        app.screen.action_pane("original")
        await settle(pilot)
        row = next(text for text in picture(app).splitlines() if "out[i] = in[i];" in text)
        assert "4.1ks" in row
