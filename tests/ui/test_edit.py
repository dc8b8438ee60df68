"""E: a copy of the shown variant goes through an editor and the real emulator, and what changed is shown."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sparktrace_tui.domain.errors import BadInput, MissingTool, UsageError
from sparktrace_tui.store.seen import load_seen
from sparktrace_tui.ui.app import SparkTraceApp
from sparktrace_tui.ui.edits import deltas, device_for, editor_command, error_lines, run_editor
from sparktrace_tui.ui.screens.edit import EditScreen
from sparktrace_tui.ui.widgets.code import CodeView
from sparktrace_tui.ui.widgets.sheet import SheetView
from tests.ui.conftest import KERNELS, MakeApp
from tests.ui.looking import picture, settle

SIZES = ((80, 24), (120, 40))
PAD = "import sys, re; p = sys.argv[-1]; s = open(p).read(); open(p, 'w').write({change})"


def editor(change: str) -> str:
    """An editor's command line: a real program that changes the file it is given. `s` is the text before."""
    return shlex.join([sys.executable, "-c", PAD.format(change=change)])


@pytest.fixture
def edit_app(make_app: MakeApp, small_kernels: Path, monkeypatch: pytest.MonkeyPatch) -> SparkTraceApp:
    """An app whose terminal can be lent: a headless one has nothing to lend."""
    app = make_app(kernels=small_kernels)

    @contextmanager
    def suspend() -> Iterator[None]:
        yield

    monkeypatch.setattr(app, "suspend", suspend)
    monkeypatch.delenv("VISUAL", raising=False)
    return app


async def edited(pilot: Pilot[None]) -> EditScreen:
    await pilot.press("E")
    await settle(pilot)
    assert isinstance(pilot.app.screen, EditScreen)
    return pilot.app.screen


@pytest.mark.parametrize("size", SIZES)
async def test_padding_the_tile_shows_the_conflicts_gone_and_the_counts_that_stay(
    edit_app: SparkTraceApp, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor("s.replace('[TILE][TILE]', '[TILE][TILE + 1]')"))
    async with edit_app.run_test(size=size) as pilot:
        await settle(pilot)
        screen = await edited(pilot)
        rows = {row[:16].strip(): row[16:].split() for row in screen.query_one("#figures", SheetView).lines}
        # 12 blocks of 32 warps, 32 loads and 33 stores each, 31 extra wavefronts a request.
        loads, stores = 12 * 32 * 32 * 31, 12 * 32 * 33 * 31
        assert rows["load conflicts"][:2] == [f"{loads:,}", "0"]
        assert rows["store conflicts"][:2] == [f"{stores:,}", "0"]
        assert rows["load conflicts"][2:] == ["▲", "all", "gone"]
        assert rows["load sectors"][2:] == ["same"]
        assert "faster" in rows["modelled time"]
        assert "gb10 · emulated" in picture(edit_app)
        assert "unedited" in picture(edit_app)
        await pilot.press("tab")
        await settle(pilot)
        changes = screen.query_one("#code", CodeView).rows
        assert [row.gutter.plain.strip()[-1] for row in changes if row.tint] == ["-", "+"]
        assert load_seen(edit_app.options.data_dir) == {"clamp_smem": "gb10-test"}
        copies = list((edit_app.options.data_dir / "edits" / "clamp_smem").iterdir())
        assert [copy.name for copy in copies] == ["original-1.cu"]
        await pilot.press("escape")
        assert not isinstance(edit_app.screen, EditScreen)


async def test_a_compile_error_marks_its_line_and_a_second_edit_mends_it(
    edit_app: SparkTraceApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = (KERNELS / "clamp_smem" / "original.cu").read_text()
    line = next(n for n, text in enumerate(original.splitlines(), 1) if "__shared__" in text)
    monkeypatch.setenv("EDITOR", editor("s.replace('__shared__ float', '__shared__ flaot')"))
    async with edit_app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        screen = await edited(pilot)
        assert list(screen.marks) == [line]
        assert "flaot" in screen.marks[line]
        code = screen.query_one("#code", CodeView)
        marked = [row for row in code.rows if row.gutter.plain.startswith("✗")]
        assert len(marked) == 1
        assert "flaot" in marked[0].text.plain
        assert "flaot" in picture(edit_app)
        assert not load_seen(edit_app.options.data_dir)
        monkeypatch.setenv("EDITOR", editor("s.replace('flaot', 'float') + '// mended'"))
        await pilot.press("E")
        await settle(pilot)
        assert screen.marks == {}
        rows = {row[:16].strip(): row[16:].split() for row in screen.query_one("#figures", SheetView).lines}
        assert rows["modelled time"][-1] == "same"
        assert rows["instructions"][-1] == "same"


async def test_faults_are_listed_with_their_lines_and_nothing_is_timed(
    edit_app: SparkTraceApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The index runs past the end of the output for the last rows.
    monkeypatch.setenv("EDITOR", editor("s.replace('out[i] = v', 'out[i + width * height] = v')"))
    async with edit_app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("b")
        await settle(pilot)
        screen = await edited(pilot)
        assert screen.variant.id == "registers"
        assert screen.after is not None
        fault = screen.after["faults"][0]
        assert screen.marks[fault["line"]].startswith(fault["kind"])
        await pilot.press("tab")
        said = "\n".join(screen.query_one("#figures", SheetView).lines)
        assert "nothing is timed" in said
        assert "ms" not in said.split("note:")[0]
        assert f"registers-1.cu:{fault['line']}" in said.replace("\n", "")
        assert not load_seen(edit_app.options.data_dir)


async def test_escape_cancels_the_emulation_and_a_second_one_goes_back(
    edit_app: SparkTraceApp, small_kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A loop of the edit that goes on for 100 million rounds cannot be over before the key is pressed.
    endless = "s.replace('float v = ', 'for (volatile int k = 0; k < 100000000; ++k) { }\\n    float v = ')"
    monkeypatch.setenv("EDITOR", editor(endless))
    async with edit_app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("E")
        await pilot.pause()
        screen = edit_app.screen
        assert isinstance(screen, EditScreen)
        assert screen.working
        await pilot.press("escape")
        await settle(pilot)
        assert not screen.working
        assert "cancelled" in "\n".join(screen.query_one("#figures", SheetView).lines)
        await pilot.press("escape")
        assert edit_app.screen is not screen


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (None, "export EDITOR="),
        ("no-such-editor-anywhere", "does not start"),
        (shlex.join([sys.executable, "-c", "raise SystemExit(3)"]), "ended with status 3"),
        (shlex.join([sys.executable, "-c", "pass"]), "Nothing was changed"),
    ],
)
async def test_an_editor_that_does_not_do_its_work_is_a_message_with_the_fix(
    edit_app: SparkTraceApp, command: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    if command is not None:
        monkeypatch.setenv("EDITOR", command)
    async with edit_app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("E")
        await settle(pilot)
        assert not isinstance(edit_app.screen, EditScreen)
        assert any(said in note.message for note in edit_app._notifications)


async def test_a_terminal_that_cannot_be_lent_names_the_copy(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("E")
        await settle(pilot)
        assert any("original-1.cu" in note.message for note in app._notifications)


def test_the_editor_comes_from_visual_then_editor_with_its_words() -> None:
    assert editor_command({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    assert editor_command({"VISUAL": "", "EDITOR": "vi"}) == ["vi"]
    with pytest.raises(MissingTool, match="no editor"):
        editor_command({})


def test_an_editor_that_cannot_start_is_no_crash(tmp_path: Path) -> None:
    def refuse(command: list[str]) -> int:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(UsageError, match="Permission denied"):
        run_editor(["ed"], tmp_path / "a.cu", refuse)


def test_the_device_is_the_sets_where_it_can_be_emulated() -> None:
    assert device_for("h200") == "h200"
    assert device_for("some-gpu") == "gb10"


def test_only_an_error_of_this_file_has_a_line() -> None:
    assert error_lines(BadInput("a.cu:3: error: no"), "a.cu") == {3: "error: no"}
    assert error_lines(BadInput("b.cuh:3: error: no"), "a.cu") == {}
    assert error_lines(BadInput("no compiler"), "a.cu") == {}


def test_times_that_the_model_cannot_tell_apart_are_said_to_be_too_close() -> None:
    def document(ms: float, registers: int, occupancy: float | None) -> dict[str, object]:
        resources = {"registers": registers, "shared_bytes": 0, "occupancy": occupancy}
        return {"time_ms": ms, "bound": "dram", "counters": {}, "resources": resources}

    found = {d.name: d for d in deltas(document(1.0, 32, 0.5), document(0.81, 40, 0.75))}
    assert found["modelled time"].change == "1.23x faster, too close"
    assert found["modelled time"].verdict == "other"
    assert (found["registers"].change, found["registers"].verdict) == ("+25.0%", "worse")
    assert (found["occupancy"].change, found["occupancy"].verdict) == ("+25 points", "better")
    assert (found["bound by"].change, found["load conflicts"].before) == ("same", "n/a")
    far = {d.name: d for d in deltas(document(1.0, 32, None), document(0.5, 32, None))}
    assert (far["modelled time"].change, far["modelled time"].verdict) == ("2.00x faster", "better")
    assert far["occupancy"].change == "n/a"
