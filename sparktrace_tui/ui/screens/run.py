"""A run: choose tasks and a player (or a log there is), watch it, and read each trace with its graded letter marked."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.runs import engine
from sparktrace_tui.runs.grades import Graded
from sparktrace_tui.runs.log import Header, Key
from sparktrace_tui.runs.plan import TASKS
from sparktrace_tui.ui.choices import following, rivals
from sparktrace_tui.ui.commands import Where, bindings_for
from sparktrace_tui.ui.layout import View
from sparktrace_tui.ui.running import (
    FILTERS,
    Filter,
    Prepared,
    Runner,
    Wanted,
    chosen,
    counts,
    graded,
    open_log,
    prepare,
    run_logs,
)
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.parts import header_line
from sparktrace_tui.ui.text import fit, one_line
from sparktrace_tui.ui.widgets.sheet import SheetRow, SheetView, paragraph
from sparktrace_tui.ui.widgets.trace import TraceView

_SIGNS = {"correct": ("✓", "right"), "wrong": ("✗", "wrong"), "no_letter": ("?", "conflict"), "no_turn": ("-", "dim")}


class RunScreen(PaneScreen):
    """One run, from its choice to its traces."""

    WHERE: ClassVar[Where] = "run"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("run")
    AUTO_FOCUS = "#list"

    class Ready(Message):
        """A run is prepared, or cannot be."""

        def __init__(self, prepared: Prepared | None, error: SparkTraceError | None) -> None:
            super().__init__()
            self.prepared, self.error = prepared, error

    class Told(Message):
        """The engine said something."""

        def __init__(self, event: engine.Event) -> None:
            super().__init__()
            self.event = event

    class Over(Message):
        """The run ended; `error` says how it failed, where it did."""

        def __init__(self, error: SparkTraceError | None) -> None:
            super().__init__()
            self.error = error

    class Opened(Message):
        """A log was read."""

        def __init__(self, path: Path, header: Header, traces: tuple[Graded, ...]) -> None:
            super().__init__()
            self.path, self.header, self.traces = path, header, traces

    def __init__(self) -> None:
        super().__init__()
        self.pane = "list"
        self.tasks: tuple[str, ...] = tuple(TASKS)
        self.player = "baseline:report-follower"
        self.players: tuple[str, ...] = (self.player,)
        self.logs: tuple[Path, ...] = ()
        self.header_: Header | None = None
        self.path: Path | None = None
        self.prepared: Prepared | None = None
        self.runner: Runner | None = None
        self.traces: dict[Key, Graded] = {}
        self.snapshot: engine.Snapshot | None = None
        self.said: tuple[str, str] = ("", "")
        self.filter: Filter = None

    @property
    def choosing(self) -> bool:
        """Nothing is open yet."""
        return self.header_ is None

    def panes(self) -> list[Widget]:
        return [SheetView(id="list"), TraceView(id="trace")]

    def view(self) -> View:
        return View("listed", self.pane, self.body, self.zoomed, listed=("list", "trace"), lead=56)

    def header(self, width: int) -> Content:
        name = one_line(self.header_.player if self.header_ else self.player)
        if self.header_ is not None:
            label = f"{self.header_.set_id} · {self.header_.provenance}"
        else:
            label = self.explorer.set_label
        return header_line(width, [("run", "title"), (f"  {name}", "text")], one_line(label))

    def hidden_commands(self) -> set[str]:
        if self.choosing:
            return {"filter", "retry"}
        return {"task", "player", "name_player"} | ({"retry", "go"} if self.runner else set())

    def on_mount(self) -> None:
        self.players = tuple(name for name in rivals() if name is not None)
        self.logs = run_logs(self.explorer.options.data_dir)
        super().on_mount()

    def update(self) -> None:
        sheet = self.query_one("#list", SheetView)
        sheet.border_title = Content("a run" if self.choosing else "traces")
        shown = self.filter or "all"
        sheet.border_subtitle = Content("" if self.choosing else f"{shown.replace('_', ' ')} · f filters")
        sheet.show(self._choices() if self.choosing else self._list())
        self._show_trace()
        self.replan()

    def _choices(self) -> tuple[SheetRow, ...]:
        rows = []
        for place, task in enumerate(TASKS, 1):
            on = task in self.tasks
            rows.append(SheetRow(((f" {place} ", "key"), (" ✓ " if on else "   ", "title"),
                                  (task, "text" if on else "dim")), target=("task", str(place))))  # fmt: skip
        rows += [
            SheetRow(((" i ", "key"), (" player  ", "dim"), (one_line(self.player), "title")), target=("player", "")),
            paragraph(""),
            SheetRow(((" enter ", "key"), (" begins, or goes on where its log ends", "text")), target=("go", "")),
        ]
        rows += self._note()
        rows.append(paragraph("A grade tells which pick is right: the families of a run count as seen.", "dim"))
        if self.logs:
            rows += [paragraph(""), paragraph("Or open a log:", "dim")]
            rows += [
                SheetRow(((f"   {one_line(path.stem)}", "text"),), target=("log", str(path))) for path in self.logs
            ]
        return tuple(rows)

    def _note(self) -> list[SheetRow]:
        text, role = self.said
        return [paragraph(text, role)] if text else []

    def _list(self) -> tuple[SheetRow, ...]:
        rows: list[SheetRow] = []
        if self.snapshot is not None:
            rows.append(paragraph(progress_words(self.snapshot), "title"))
        rows += self._note()
        found = counts(self.traces.values())
        rows.append(paragraph(", ".join(f"{n} {outcome.replace('_', ' ')}" for outcome, n in found.items()), "dim"))
        for trace in chosen(self.traces.values(), self.filter):
            record, grade = trace.record, trace.grades["readable"]
            sign, role = _SIGNS[grade.outcome]
            letter = grade.letter or grade.cause.replace("_", " ") or "none"
            words = f"{fit(one_line(record.family), 15)} {record.evidence:<7} {record.order:<7} {record.sample:>2} "
            rows.append(SheetRow(((f"{sign} ", role), (words, "text"), (letter, role)), target=record.key))
        return tuple(rows)

    def _show_trace(self) -> None:
        view = self.query_one(TraceView)
        view.border_title = Content("trace")
        target = self.query_one("#list", SheetView).target
        found = next((trace for key, trace in self.traces.items() if key == target), None)
        view.show(found)

    def action_scroll(self, where: str) -> None:
        super().action_scroll(where)
        self._show_trace()

    def action_task(self, number: str) -> None:
        """Take a task in or out."""
        if self.choosing:
            task = tuple(TASKS)[int(number) - 1]
            kept = set(self.tasks) ^ {task}
            self.tasks = tuple(name for name in TASKS if name in kept)
            self.update()

    def action_player(self) -> None:
        if self.choosing:
            self.player = following(self.players, self.player)
            self.update()

    def action_name_player(self) -> None:
        """Ask for the name of a player."""
        if self.choosing:
            self.ask("a player, such as openai:MODEL", self._named)

    def _named(self, name: str) -> None:
        self.player = one_line(name)
        self.update()

    def on_sheet_view_chosen(self, message: SheetView.Chosen) -> None:
        match message.target:
            case ("task", str(number)):
                self.action_task(number)
            case ("player", _):
                self.action_player()
            case ("log", str(path)):
                self._open(Path(path))
            case ("go", _):
                self._begin(Wanted(self.tasks, self.player, seed=self.explorer.options.seed))
            case _:
                self._show_trace()
                self.action_pane("trace")

    def action_go(self) -> None:
        """Begin, agree to what is asked, or act on what the cursor is on."""
        if self.prepared is not None and self.runner is None:
            self._start(self.prepared)
        elif self.pane == "list":
            sheet = self.query_one("#list", SheetView)
            on_log = isinstance(sheet.target, tuple) and sheet.target[0] == "log"
            if self.choosing and not on_log:
                self._begin(Wanted(self.tasks, self.player, seed=self.explorer.options.seed))
            else:
                sheet.act()

    def action_change(self) -> None:
        self.query_one("#list", SheetView).act()

    def _begin(self, wanted: Wanted) -> None:
        captures = self.explorer.captures
        if captures is None or not wanted.tasks:
            self.said = ("There is no open capture set." if captures is None else "Choose a task.", "conflict")
            self.update()
            return
        self.said = ("Preparing the prompts.", "dim")
        self.update()
        self.run_worker(partial(self._prepare, wanted), thread=True, exit_on_error=False)

    def _prepare(self, wanted: Wanted) -> None:
        captures = self.explorer.captures
        assert captures is not None
        try:
            found = prepare(wanted, captures, self.explorer.entries, self.explorer.options.data_dir)
        except SparkTraceError as error:
            self.post_message(self.Ready(None, error))
            return
        self.post_message(self.Ready(found, None))

    def on_run_screen_ready(self, message: Ready) -> None:
        if message.prepared is None:
            self.said = (f"✗ {message.error}", "wrong")
        elif message.prepared.asks:
            self.prepared = message.prepared
            self.said = (f"{message.prepared.asks} Enter sends them; esc does not.", "conflict")
        else:
            self._start(message.prepared)
            return
        self.update()

    def _start(self, prepared: Prepared) -> None:
        self.prepared, self.said = None, ("", "")
        self.header_, self.path = prepared.header, prepared.path
        self.runner = Runner(prepared)
        self.update()
        self.run_worker(partial(self._run, self.runner), thread=True, exit_on_error=False)

    def _run(self, runner: Runner) -> None:
        try:
            if runner.prepared.path.is_file():
                self.post_message(self.Opened(runner.prepared.path, *open_log(runner.prepared.path)))
            runner.run(lambda event: self._tell(event), self.explorer.options.data_dir)
        except SparkTraceError as error:
            self.post_message(self.Over(error))
            return
        self.post_message(self.Over(None))

    def _tell(self, event: engine.Event) -> None:
        self.post_message(self.Told(event))

    def on_run_screen_told(self, message: Told) -> None:
        match message.event:
            case engine.Began(snapshot, recovered):
                self.snapshot, self.said = snapshot, (recovered, "conflict")
            case engine.Retrying(error, wait):
                self.said = (f"waits {wait:.1f} s: {error}", "conflict")
            case engine.Answered(record, snapshot):
                self.snapshot = snapshot
                if self.header_ is not None:
                    self._keep(graded(record, self.header_))
            case engine.Ended(snapshot, stopped, why):
                self.snapshot, self.said = snapshot, (f"stopped: {why}" if stopped else "", "conflict")
        self.update()

    def _keep(self, trace: Graded) -> None:
        self.traces[trace.record.key] = trace
        if trace.record.family not in self.explorer.seen:
            self.explorer.show_times(trace.record.family)

    def on_run_screen_over(self, message: Over) -> None:
        self.runner = None
        if message.error is not None:
            self.said = (f"✗ {message.error}", "wrong")
        self.update()

    def _open(self, path: Path) -> None:
        self.run_worker(partial(self._read, path), thread=True, exit_on_error=False)

    def _read(self, path: Path) -> None:
        try:
            self.post_message(self.Opened(path, *open_log(path)))
        except SparkTraceError as error:
            self.post_message(self.Ready(None, error))

    def on_run_screen_opened(self, message: Opened) -> None:
        self.path, self.header_ = message.path, message.header
        for trace in message.traces:
            self._keep(trace)
        self.update()

    def action_filter(self) -> None:
        """Show the traces of the next outcome."""
        self.filter = following(FILTERS, self.filter)
        self.update()

    def action_retry(self) -> None:
        """Ask again what ended without a turn."""
        captures, header = self.explorer.captures, self.header_
        if header is None or self.runner is not None:
            return
        if captures is None or captures.id != header.set_id:
            self.notify(f"This run is of the set {header.set_id}: open that one first (s in Browse).", timeout=6,
                        markup=False)  # fmt: skip
            return
        wanted = Wanted(header.tasks, header.player, header.samples, header.seed, self.path)
        self._begin(replace(wanted, retry_failed=True))

    def leave(self) -> None:
        """Escape: stop what runs; take back what is asked; else close."""
        if self.runner is not None:
            self.runner.cancel()
        elif self.prepared is not None:
            self.prepared, self.said = None, ("Not sent.", "dim")
            self.update()
        else:
            self.dismiss()

    def on_unmount(self) -> None:
        self.close()

    def close(self) -> None:
        if self.runner is not None:
            self.runner.cancel()


def progress_words(snapshot: engine.Snapshot) -> str:
    """`3 of 90, 1 failed, 120 a minute, cost n/a, 40 s left`."""
    parts = [f"{snapshot.done} of {snapshot.total}"]
    if snapshot.failed:
        parts.append(f"{snapshot.failed} failed")
    if snapshot.rate:
        parts.append(f"{snapshot.rate:.0f} a minute")
    parts.append("cost n/a" if snapshot.cost is None else f"cost {snapshot.cost:.4f}")
    if snapshot.left_s:
        parts.append(f"{snapshot.left_s:.0f} s left")
    return ", ".join(parts)
