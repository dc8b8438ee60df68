"""p and P: why a GPU is off and what helps, emulating instead by the real backend, and the set that comes of it."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from sparktrace_tui.backends.select import NoGpu
from sparktrace_tui.store.captures import read_capture
from sparktrace_tui.store.seen import load_seen
from sparktrace_tui.ui.app import SparkTraceApp
from sparktrace_tui.ui.profiling import Phases, is_own, set_name
from sparktrace_tui.ui.screens.browse import BrowseScreen
from sparktrace_tui.ui.screens.profile import ProfileScreen
from sparktrace_tui.ui.widgets.sheet import SheetView
from tests.ui.conftest import MakeApp
from tests.ui.looking import every_text, picture, settle

SIZES = ((80, 24), (120, 40))


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the tests run on a machine with a GPU."""
    why = NoGpu("there is no NVIDIA driver here", "Run on a machine with an NVIDIA GPU.")
    monkeypatch.setattr("sparktrace_tui.backends.select.why_no_gpu", lambda: why)


async def opened(pilot: Pilot[None], key: str) -> ProfileScreen:
    await settle(pilot)
    await pilot.press(key)
    await settle(pilot)
    assert isinstance(pilot.app.screen, ProfileScreen)
    return pilot.app.screen


def steps(app: SparkTraceApp) -> str:
    return " ".join(" ".join(app.screen.query_one("#steps", SheetView).lines).split())


@pytest.mark.parametrize("size", SIZES)
async def test_without_a_gpu_it_says_why_and_what_helps_and_runs_nothing(
    make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        screen = await opened(pilot, "p")
        said = steps(app)
        assert "Profiling on a GPU is off: there is no NVIDIA driver here." in said
        assert "Run on a machine with an NVIDIA GPU." in said
        assert "sparktrace doctor" in said
        assert "emulate instead, on the profile of gb10" in said
        assert not screen.working
        assert "no GPU" in picture(app)
        await pilot.press("escape")
        assert isinstance(app.screen, BrowseScreen)
    assert not (app.options.data_dir / "captures").exists()


@pytest.mark.parametrize("size", SIZES)
async def test_the_family_emulated_here_becomes_a_set_of_ones_own(
    make_app: MakeApp, small_kernels: Path, size: tuple[int, int]
) -> None:
    app = make_app(kernels=small_kernels)
    async with app.run_test(size=size) as pilot:
        screen = await opened(pilot, "P")
        await pilot.press("enter")
        await settle(pilot)
        said = steps(app)
        assert "emulated here" in said
        for done in ("✓ verify", "✓ time", "✓ profile"):
            assert done in said
        assert screen.profiled is not None
        into = app.options.data_dir / "captures" / "gb10-emulated-here"
        assert screen.profiled.into == into
        # Nothing of a rewrite's time is told before the reveal.
        capture = read_capture(into / "clamp_smem.json")
        assert all(record.verdict == "correct" for record in capture.variants.values())
        shown = every_text(app)
        for name, record in capture.variants.items():
            assert record.time is not None
            assert name == "original" or f"{record.time.median_ms:.4g}" not in shown
        assert load_seen(app.options.data_dir) == {}
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, BrowseScreen)
        assert app.captures is not None
        assert app.captures.id == "gb10-emulated-here"
        assert app.entry is not None
        assert app.entry.id == "clamp_smem"
        assert "gb10 · emulated here" in picture(app)
        await pilot.press("s")
        await settle(pilot)
        assert app.captures.id == "gb10-test"
        assert "emulated here" not in picture(app)


async def test_one_variant_is_profiled_after_its_family_and_shows_its_own_report(
    make_app: MakeApp, small_kernels: Path
) -> None:
    app = make_app(kernels=small_kernels)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("c")
        screen = await opened(pilot, "p")
        assert screen.job.variant == "padded"
        await pilot.press("enter")
        await settle(pilot)
        assert screen.profiled is not None
        report = screen.profiled.report
        assert report is not None
        assert "emulated report of padded" in every_text(app)
        source = (small_kernels / "clamp_smem" / "padded.cu").read_text()
        assert {line.text for line in report.source} <= set(source.splitlines())
        # Its report tells its time.
        assert load_seen(app.options.data_dir) == {"clamp_smem": "gb10-test"}


async def test_escape_cancels_and_the_next_try_goes_on(make_app: MakeApp, small_kernels: Path) -> None:
    app = make_app(kernels=small_kernels)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot, "P")
        await pilot.press("enter")
        while screen.working and not screen.phases.entered:
            await pilot.pause(0.05)
        await pilot.press("escape")
        await settle(pilot)
        assert not screen.working
        assert "cancelled" in steps(app)
        assert "is kept" in steps(app)
        into = app.options.data_dir / "captures" / "gb10-emulated-here"
        assert not (into / "clamp_smem.json").exists()
        await pilot.press("escape")
        await opened(pilot, "P")
        await pilot.press("enter")
        await settle(pilot)
        assert "Done in" in steps(app)
        assert (into / "clamp_smem.json").exists()


async def test_a_kernel_that_does_not_compile_is_told_by_its_line(make_app: MakeApp, small_kernels: Path) -> None:
    path = small_kernels / "clamp_smem" / "original.cu"
    path.write_text(path.read_text().replace("__shared__ float", "__shared__ flaot"))
    app = make_app(kernels=small_kernels)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, "P")
        await pilot.press("enter")
        await settle(pilot)
        assert 'original.cu:7: error: identifier "flaot" is undefined' in steps(app)


def test_the_phases_of_a_measured_capture_in_their_order() -> None:
    phases = Phases()
    for what, text in (
        ("f/original", "compile"), ("f/original", "verify 1 of 5 (n = 1)"), ("f", "warm-up"), ("f", "block 3 of 5"),
    ):  # fmt: skip
        phases = phases.after(what, text)
    assert phases.now == "f: block 3 of 5"
    assert [phases.sign(p, False) for p in ("compile", "verify", "time", "profile")] == ["✓", "✓", "▸", "·"]
    assert phases.after("f", "ncu").sign("profile", False) == "▸"
    assert phases.sign("time", True) == "✓"


def test_a_set_made_here_never_hides_a_bundled_one(tmp_path: Path) -> None:
    assert set_name("emulated", "gb10") == "gb10-emulated-here"
    assert set_name("pycuda", "h200").startswith("h200-20")
    assert is_own(tmp_path / "captures" / "x", tmp_path)
    assert not is_own(tmp_path / "other" / "x", tmp_path)
