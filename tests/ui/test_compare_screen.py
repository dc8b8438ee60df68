"""C: two capture sets side by side, by keys; no time before the reveal."""

from pathlib import Path

import pytest

from sparktrace_tui.store.seen import load_seen
from sparktrace_tui.ui.screens.compare import CompareScreen
from sparktrace_tui.ui.widgets.sheet import SheetView
from tests.ui.conftest import TIMES, MakeApp, clamp_set, write_set
from tests.ui.looking import every_text, picture, settle


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_sets_whose_winners_differ_and_the_times_after_the_reveal(
    make_app: MakeApp, tmp_path: Path, size: tuple[int, int]
) -> None:
    # Twice as slow, and `padded` is the fastest: registers 4 ms against 2.026.
    other = clamp_set("gb10-other", {name: 2 * ms for name, ms in TIMES.items()} | {"registers": 4.0})
    one = write_set(tmp_path / "captures", clamp_set())
    two = write_set(tmp_path / "captures", other)
    app = make_app(captures=(str(one), str(two)))
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("C")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        said = " ".join(" ".join(screen.query_one("#families", SheetView).lines).split())
        assert "Same winner in 0 of 1" in said
        # Ranks 5 1 2 4 3... against 5 2 1 4 3: one swap of neighbours, rho = 1 - 6 * 2 / (5 * 24) = 0.9.
        assert "clamp_smem differs 0.90 2.00" in said
        assert "gb10-test" in said
        assert "gb10-other" in said
        for secret in ("2.026", "2.03", "4 ", "0.64"):
            assert secret not in "\n".join(screen.query_one("#figures", SheetView).lines)
        await pilot.press("r", "enter")
        await settle(pilot)
        figures = screen.query_one("#figures", SheetView).lines
        padded = next(line for line in figures if line.startswith("padded"))
        assert padded.split() == ["padded", "1.01", "2.03", "2.00", "✓R"]
        assert any(line.startswith("registers") and line.endswith("✓L") for line in figures)
        assert "modelled" in figures[0]
        assert "gb10 · emulated | gb10 · emulated" in picture(app)
        assert load_seen(app.options.data_dir) == {"clamp_smem": "gb10-test"}
        await pilot.press("escape")
        assert not isinstance(app.screen, CompareScreen)


async def test_with_one_set_alone_it_says_so(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("C")
        await settle(pilot)
        assert not isinstance(app.screen, CompareScreen)
        assert any("no other capture set" in note.message for note in app._notifications)


async def test_a_set_that_cannot_be_read_is_told_in_its_place(make_app: MakeApp, tmp_path: Path) -> None:
    one = write_set(tmp_path / "captures", clamp_set())
    two = write_set(tmp_path / "captures", clamp_set("gb10-torn"))
    (two / "clamp_smem.json").write_text("{")
    app = make_app(captures=(str(one), str(two)))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("C")
        await settle(pilot)
        assert "not a capture" in " ".join(every_text(app).split())
