"""The report's raw text, its ncu command, and two reports side by side, each by its keys."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sparktrace_tui.domain.report.report import Metric, Report
from sparktrace_tui.nsight.text import render
from sparktrace_tui.ui.screens.browse import BrowseScreen
from sparktrace_tui.ui.screens.pages import CompareScreen, RawScreen
from sparktrace_tui.ui.screens.report import ReportScreen
from sparktrace_tui.ui.widgets.differences import DifferencesView
from tests.ui.conftest import MakeApp, clamp_set, report, write_set
from tests.ui.looking import SIZES, picture, settle
from tests.ui.test_report_screen import opened, text_report  # noqa: F401 (a fixture)


def padded_report() -> Report:
    """The report without its conflicts, and ten times as fast."""
    made = report()
    first, tables, *rest = made.sections
    metrics = tuple(replace(m, value=1.01) if m.label == "Duration" else m for m in first.metrics)
    without = replace(tables, metrics=tuple(replace(m, value=0) for m in tables.metrics), rules=())
    return replace(made, sections=(replace(first, metrics=metrics), without, *rest))


async def answered(pilot: Pilot[None], key: str, text: str) -> None:
    await pilot.press(key)
    await pilot.pause()
    pilot.app.screen.query_one("#search").value = text
    await pilot.press("enter")
    for _ in range(3):
        await settle(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_another_set_stands_beside_this_one_with_deltas(
    make_app: MakeApp, tmp_path: Path, size: tuple[int, int]
) -> None:
    other = write_set(tmp_path / "captures", clamp_set("other", made_of=padded_report()))
    app = make_app(captures=(str(tmp_path / "captures" / "gb10-test"), str(other)))
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await answered(pilot, "V", "other")
        assert isinstance(app.screen, CompareScreen)
        view = app.screen.query_one(DifferencesView)
        text = "\n".join(view.lines)
        assert "10.31 ms" in text
        assert "1.01 ms" in text
        assert "▲ better" in text
        assert "n/a" in text  # DRAM throughput, which neither has
        assert "right against left" in picture(app)
        view.cursor = next(place for place in view.targets() if "Duration" in view.rows[place].text.plain)
        await pilot.press("enter")
        await settle(pilot)
        assert "Less is better." in " ".join(" ".join(view.lines).split())
        await pilot.press("x")
        await settle(pilot)
        assert "Bank Conflicts" not in "\n".join(view.lines)
        await pilot.press("x", "x", "n", "escape")
        await settle(pilot)
        assert isinstance(app.screen, BrowseScreen)


async def test_a_file_is_compared_with_the_report_of_the_family(make_app: MakeApp, tmp_path: Path) -> None:
    path = tmp_path / "padded.txt"
    path.write_text(render(padded_report()))
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await answered(pilot, "V", str(path))
        assert isinstance(app.screen, CompareScreen)
        assert "padded.txt" in picture(app)


async def test_what_cannot_be_compared_is_one_message(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await answered(pilot, "V", "no-such-set")
        assert isinstance(app.screen, BrowseScreen)
        assert any("no-such-set is no file here" in note.message for note in app._notifications)


async def test_raw_text_is_the_file_as_it_stands_and_loses_the_conflict_lines(
    make_app: MakeApp,
    text_report: Path,  # noqa: F811
) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, text_report)
        await pilot.press("R")
        await settle(pilot)
        assert isinstance(app.screen, RawScreen)
        view = app.screen.attended
        assert "\n".join(view.lines) == text_report.read_text()
        await pilot.press("x")
        await settle(pilot)
        assert "onflict" not in "\n".join(view.lines)
        await pilot.press("x", "x", "w", "slash", *"Duration", "enter")
        await settle(pilot)
        assert "Duration" in picture(app)
        await pilot.press("y")
        assert app.clipboard == text_report.read_text()
        await pilot.press("escape", "escape")
        await settle(pilot)
        assert isinstance(app.screen, ReportScreen)


async def test_an_emulated_report_has_raw_text_too(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("R")
        await settle(pilot)
        assert "[emulated] sparktrace emulator 1" in picture(app)


async def test_the_ncu_command_is_shown_and_copied(make_app: MakeApp, text_report: Path) -> None:  # noqa: F811
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("Y")
        await settle(pilot)
        assert app.clipboard.startswith("ncu --set full --import-source yes --kernel-name 'regex:^clamp_kernel$'")
        assert app.clipboard.endswith("clamp_smem original")
        assert any(app.clipboard in note.message for note in app._notifications)
        await opened(pilot, text_report)
        await pilot.press("right_square_bracket", "Y")
        await settle(pilot)
        assert "regex:^second_kernel$" in app.clipboard
        assert app.clipboard.endswith("./program")


async def test_y_copies_what_the_pane_holds(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot)
        for pane, wanted in (
            ("original", "__shared__ float tile[TILE][TILE];"),
            ("candidate", "__global__"),
            ("report", "shared loads might not be optimal"),
            ("options", "The original."),
            ("families", "clamp_smem"),
            ("about", "where it is read, clamped and written back 32 times."),
        ):
            app.screen.action_pane(pane)
            await pilot.press("y")
            assert wanted in app.clipboard, pane


def test_a_metric_of_one_report_alone_keeps_its_row() -> None:
    from sparktrace_tui.nsight.differences import differences

    made = report()
    extra = replace(made, raw=(*made.raw, Metric("launch__waves_per_multiprocessor", "Waves", "", 3)))
    assert [row.right for row in differences(made, extra) if row.left == "n/a" and row.name.startswith("launch")] == [
        "3"
    ]
