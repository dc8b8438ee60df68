"""The run screen, by keys, with the real engine, log and grader: choose, watch, filter, read a trace, retry."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from sparktrace_tui.players.protocol import Reply
from sparktrace_tui.players.registry import make_player
from sparktrace_tui.runs.engine import record_of
from sparktrace_tui.runs.log import RunLog, read_log
from sparktrace_tui.runs.plan import header_for, items_for, log_path
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.seen import load_seen
from sparktrace_tui.ui.screens.browse import BrowseScreen
from sparktrace_tui.ui.screens.run import RunScreen
from sparktrace_tui.ui.widgets.sheet import SheetView
from sparktrace_tui.ui.widgets.trace import TraceView
from tests.ui.conftest import KERNELS, MakeApp, clamp_set
from tests.ui.looking import every_text, picture, settle

SIZES = ((80, 24), (120, 40))
PLAYER = "baseline:always-a"


def write_log(data: Path, replies: Sequence[Reply]) -> Path:
    """A log of one task in two samples, as the engine would have left it."""
    captures = clamp_set()
    families = {"clamp_smem": read_family(KERNELS / "clamp_smem")}
    items = items_for(captures, families, ("kernel-compass-full-forward",), samples=len(replies))
    header = header_for(items, captures, make_player(PLAYER), samples=len(replies))
    path = log_path(header, data)
    with RunLog.open(path, header) as log:
        log.append(*(record_of(item, reply) for item, reply in zip(items, replies, strict=True)))
    return path


def listed(screen: RunScreen) -> str:
    return " ".join(" ".join(screen.query_one("#list", SheetView).lines).split())


@pytest.mark.parametrize("size", SIZES)
async def test_a_run_of_a_baseline_from_the_choice_to_its_traces(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("T")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RunScreen)
        await pilot.press("2", "4", "6", "I", *PLAYER, "enter")
        await settle(pilot)
        assert PLAYER in picture(app)
        await pilot.press("enter")
        await settle(pilot)
        assert screen.runner is None
        assert screen.path is not None
        assert len(read_log(screen.path)[1]) == 3
        said = listed(screen)
        assert "3 of 3" in said
        assert "3 wrong" in said  # A is flat_block in the forward order; registers is the fastest.
        assert said.count("clamp_smem") == 3
        assert "gb10-test · emulated" in picture(app)
        assert load_seen(app.options.data_dir) == {"clamp_smem": "gb10-test"}
        await pilot.press("f")
        await settle(pilot)
        assert "clamp_smem" not in listed(screen)
        await pilot.press("f")
        await settle(pilot)
        assert listed(screen).count("clamp_smem") == 3
        await pilot.press("enter")
        await settle(pilot)
        assert "wrong" in "\n".join(screen.query_one(TraceView).lines)
        await pilot.press("escape")
        assert isinstance(app.screen, BrowseScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_a_log_shows_each_traces_graded_letter_inside_its_text(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app()
    text = "A looks good at first.\nBut the tile is gone in B.\n\n[bold]Answer: B[/bold]\nAnswer: B"
    write_log(app.options.data_dir, [Reply(text, reasoning="Hm. C?"), Reply("\x1b[2JI cannot tell.")])
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("T")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RunScreen)
        screen.query_one("#list", SheetView).choose(("log", str(screen.logs[0])))
        await pilot.press("enter")
        await settle(pilot)
        assert "1 correct, 1 no letter" in listed(screen)
        await pilot.press("enter")
        await settle(pilot)
        trace = screen.query_one(TraceView)
        marks = [(row.text.plain, row.text.plain[s.start : s.end]) for row in trace.rows
                 for s in row.text.spans if s.style == "match"]  # fmt: skip
        assert marks == [("Answer: B", "B")]
        assert "B = registers: correct" in trace.lines
        assert "Hm. C?" in trace.lines
        assert "[bold]Answer: B[/bold]" in picture(app)
        await pilot.press("shift+tab", "j")
        await settle(pilot)
        await pilot.press("tab")
        await settle(pilot)
        assert "␛[2JI cannot tell." in "\n".join(trace.lines)
        assert "\x1b" not in every_text(app)


async def test_what_failed_is_asked_again_in_the_same_log(make_app: MakeApp) -> None:
    app = make_app()
    failed = Reply("", stop="no_turn", errors=("500: down",), fault="server")
    path = write_log(app.options.data_dir, [Reply("Answer: B"), failed])
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("T")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RunScreen)
        screen.query_one("#list", SheetView).choose(("log", str(path)))
        await pilot.press("enter")
        await settle(pilot)
        assert "1 no turn" in listed(screen)
        await pilot.press("F")
        await settle(pilot)
        assert "no turn" not in listed(screen)
        assert "1 correct, 1 wrong" in listed(screen)
        assert len(read_log(path)[1]) == 3


async def test_a_player_without_a_key_is_a_message_and_no_key_is_ever_shown(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("T", "I", *"openai:m", "enter", "enter")
        await settle(pilot)
        assert "OPENAI_API_KEY" in listed(app.screen)  # type: ignore[arg-type]
        secret = "sk-" + "never-shown-4711"
        monkeypatch.setenv("OPENAI_API_KEY", secret)
        await pilot.press("enter")
        await settle(pilot)
        said = listed(app.screen)  # type: ignore[arg-type]
        assert "6 requests to openai:m" in said
        assert "cost n/a" in said
        assert secret not in every_text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert "Not sent." in listed(app.screen)  # type: ignore[arg-type]
        assert list((app.options.data_dir / "runs").glob("*.jsonl")) == []
