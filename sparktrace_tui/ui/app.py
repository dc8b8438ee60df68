"""The explorer: one app that owns what is open and what was seen; its screens draw it."""

import gc
import os
import subprocess
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SuspendNotSupported, SystemCommand
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.message import Message
from textual.screen import Screen

from sparktrace_tui.domain.errors import SparkTraceError, UsageError
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import Family, Variant
from sparktrace_tui.store.paths import kernels_dir, user_data_dir
from sparktrace_tui.store.seen import load_seen, mark_seen
from sparktrace_tui.ui.choices import QuizChoices
from sparktrace_tui.ui.commands import commands_for
from sparktrace_tui.ui.edits import copy_to_edit, device_for, editor_command, need_compiler, read_edit, run_editor
from sparktrace_tui.ui.evidence import Shown
from sparktrace_tui.ui.inspector import Inspector
from sparktrace_tui.ui.library import Entry, ExplorerOptions, open_set, read_entries, set_paths
from sparktrace_tui.ui.opening import QuizOpener
from sparktrace_tui.ui.profiling import Job, is_own
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.browse import BrowseScreen
from sparktrace_tui.ui.text import harmless
from sparktrace_tui.ui.theme import COLOURLESS, DARK, LIGHT, THEMES

if TYPE_CHECKING:
    from sparktrace_tui.domain.report.report import Report

__all__ = ["ExplorerOptions", "SparkTraceApp", "run_explorer"]


class TableCommands(Provider):
    """The palette: the commands of the screen below, from the one table."""

    async def discover(self) -> Hits:
        for command in self._commands():
            yield DiscoveryHit(command[0], command[1], help=command[2])

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, run, help_text in self._commands():
            if (score := matcher.match(f"{name} {help_text}")) > 0:
                yield Hit(score, name, run, help=help_text)

    def _commands(self) -> Iterable[tuple[str, Callable[[], Awaitable[object]], str]]:
        screen = self.screen
        if not isinstance(screen, PaneScreen):
            return
        for command in commands_for(screen.WHERE):
            if command.id not in ("palette", "scroll"):
                name = f"{command.label} ({command.shown})"
                yield name, partial(screen.run_action, command.action), command.help


class SparkTraceApp(App[None]):
    """Families, the open capture set, what is revealed and seen, and the theme."""

    TITLE = "SparkTrace"
    COMMANDS: ClassVar[set[type[Provider]]] = {TableCommands}  # type: ignore[assignment]
    ENABLE_COMMAND_PALETTE = True

    class SetOpened(Message):
        """A capture set was read (or could not be)."""

        def __init__(self, captures: CaptureSet | None, problem: str) -> None:
            super().__init__()
            self.captures = captures
            self.problem = problem

    def __init__(self, options: ExplorerOptions | None = None) -> None:
        self.options = options or ExplorerOptions()
        self._no_color = bool(os.environ.get("NO_COLOR"))
        super().__init__(ansi_color=True if self._no_color else None)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = COLOURLESS if self._no_color else DARK
        self.level: Shown = "shown"
        self.kernels: Path = self.options.kernels or kernels_dir()
        self.entries: tuple[Entry, ...] = read_entries(self.options.kernels)
        self.entry = self._first_entry()
        self.seen: dict[str, str] = load_seen(self.options.data_dir)
        self.revealed: set[tuple[str, str]] = set()
        self.captures: CaptureSet | None = None
        self.set_problem = ""
        self.paths = set_paths(self.options.captures)
        self._set_place = 0
        self.quiz = QuizOpener(self)
        self._moved = self.options.family is not None
        self.summary: list[str] = []
        self.inspector = Inspector()

    def _first_entry(self) -> Entry | None:
        wanted = self.options.family
        if wanted is None:
            return self.entries[0] if self.entries else None
        for entry in self.entries:
            if entry.id == wanted:
                return entry
        known = ", ".join(entry.id for entry in self.entries) or "none"
        raise UsageError(f"no family {wanted!r}", hint=f"Known families: {known}.")

    def _first_captured(self, captures: CaptureSet) -> Entry | None:
        """The first family that the set knows, so that a set of one family does not open on an empty page."""
        return next((entry for entry in self.entries if entry.id in captures.captures), self.entry)

    @property
    def set_label(self) -> str:
        """`gb10 · emulated`, and `here` behind it where this person made the set; else what is known of it."""
        if self.captures is None:
            return self.set_state
        own = is_own(self.paths[self._set_place], self.options.data_dir)
        return f"{self.captures.label} here" if own else self.captures.label

    @property
    def set_state(self) -> str:
        """What stands in the label's place while no set is open."""
        return "no capture set" if self.set_problem else "reading…"

    def _fatal_error(self) -> None:
        """Show a crash without the values of local variables, which may hold a key or an answer."""
        from rich.traceback import Traceback

        self.bell()
        self._exit_renderables.append(Traceback(show_locals=False, width=100, suppress=["textual"]))
        self._close_messages_no_wait()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """None: the table has all commands."""
        return ()

    def on_mount(self) -> None:
        self.push_screen(BrowseScreen())
        self._read_set()
        if self.options.start == "quiz":
            self.call_after_refresh(self.open_quiz)

    def on_unmount(self) -> None:
        self.inspector.close()

    def _read_set(self) -> None:
        if not self.paths:
            self.set_problem = (
                "There is no capture set: nothing was measured, emulated or published here yet.\n\n"
                "Make one with: sparktrace capture"
            )
            self._redraw()
            return
        path = self.paths[self._set_place]
        self.run_worker(partial(self._read, path), thread=True, group="set", exclusive=True, exit_on_error=False)

    def _read(self, path: Path) -> None:
        try:
            captures, problem = open_set(path), ""
        except SparkTraceError as error:
            captures, problem = None, str(error)
        self.post_message(self.SetOpened(captures, problem))

    def on_spark_trace_app_set_opened(self, message: SetOpened) -> None:
        self.captures, self.set_problem = message.captures, message.problem
        if self.captures is not None and not self._moved:
            self.entry = self._first_captured(self.captures)
        self._redraw()
        self._keep_loaded()
        self.quiz.set_opened()

    def _keep_loaded(self) -> None:
        """Take what was loaded out of the collector's rounds: over a large report's many parts each costs 0.1 s."""
        if not self.is_headless:
            gc.collect()
            gc.freeze()

    def _redraw(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, PaneScreen) and screen.is_mounted:
                screen.update()

    def next_set(self) -> bool:
        """Open the next capture set; False where there is but one."""
        if len(self.paths) < 2:
            return False
        self._set_place = (self._set_place + 1) % len(self.paths)
        self._read_set()
        return True

    def choose_family(self, family: str) -> None:
        """Open a family by id."""
        self._moved = True
        self.entry = next((entry for entry in self.entries if entry.id == family), self.entry)

    def step_family(self, step: int) -> None:
        """Open the next or previous family, round the ends."""
        self._moved = True
        if self.entry is not None:
            place = self.entries.index(self.entry)
            self.entry = self.entries[(place + step) % len(self.entries)]

    def reveal(self, set_id: str, family: str) -> None:
        """Show the times of a family on a set; it counts as seen from now on."""
        self.revealed.add((set_id, family))
        self._saw(set_id, family)

    def show_times(self, family: str) -> None:
        """A time of a variant was shown outside the reveal: the family counts as seen from now on."""
        if self.captures is not None:
            self._saw(self.captures.id, family)

    def _saw(self, set_id: str, family: str) -> None:
        try:
            mark_seen(family, set_id, self.options.data_dir)
        except SparkTraceError as error:
            self.notify(str(error), severity="warning", markup=False)
        self.seen.setdefault(family, set_id)

    def next_theme(self) -> None:
        """Dark, light, dark; with NO_COLOR there is but one."""
        if self._no_color:
            self.notify("NO_COLOR is set: there is one theme, without colour.", timeout=4)
        else:
            self.theme = LIGHT if self.theme == DARK else DARK

    def saw(self, family: str, set_id: str) -> None:
        """The quiz has shown the answer of a family: Browse may show it too, and it counts as seen."""
        self.reveal(set_id, family)

    def open_quiz(self, choices: QuizChoices | None = None) -> None:
        """Start a quiz; without choices as the options of the explorer say."""
        self.quiz.open(choices or self.quiz_choices())

    def quiz_choices(self) -> QuizChoices:
        """What the options of the explorer choose."""
        chosen = self.options
        return QuizChoices(chosen.length, chosen.evidence, chosen.order, chosen.rival)

    def other_sets(self) -> tuple[Path, ...]:
        """The folders of the sets that are not open."""
        return tuple(path for place, path in enumerate(self.paths) if place != self._set_place)

    def add_set(self, path: Path) -> None:
        """Let the capture set in a folder join those that `s` goes through."""
        if path not in self.paths:
            self.paths = (*self.paths, path)

    def open_set_at(self, path: Path) -> None:
        """Open the capture set in a folder."""
        self.add_set(path)
        self._set_place = self.paths.index(path)
        self.captures = None
        self._read_set()

    def open_report(self, path: str) -> None:
        """Read the reports of a file off the UI thread, and show them on a screen of their own."""
        self.notify("Reading the report.", timeout=2)
        self.run_worker(
            partial(self._read_report, Path(path).expanduser()), thread=True, group="report", exit_on_error=False
        )

    def _read_report(self, path: Path) -> None:
        from sparktrace_tui.nsight.read import read_reports

        try:
            reports = read_reports(path)
        except SparkTraceError as error:
            self.call_from_thread(
                self.notify, harmless(str(error)), title="Report", severity="error", timeout=10, markup=False
            )
            return
        self.call_from_thread(self._show_reports, path, reports)

    def _show_reports(self, path: Path, reports: "tuple[Report, ...]") -> None:
        from sparktrace_tui.ui.screens.report import ReportScreen

        self.push_screen(ReportScreen(path, reports))
        self._keep_loaded()

    async def action_quit(self) -> None:
        """End the explorer from any screen: open questions are left unscored, and the summary is printed."""
        for screen in self.screen_stack:
            if isinstance(screen, PaneScreen):
                screen.close()
        self.exit()

    def edit_variant(self, entry: Entry, family: Family, variant: Variant) -> None:
        """Open the editor on a copy of a variant, and emulate what was made of it on a screen of its own."""
        try:
            editor_command(os.environ)
            need_compiler()
            path = copy_to_edit(family, variant, self.options.data_dir)
        except SparkTraceError as error:
            self.notify(harmless(str(error)), title="Edit", severity="error", timeout=10, markup=False)
            return
        if not self.edit_file(path):
            return
        try:
            unchanged = read_edit(path) == variant.source
        except SparkTraceError:
            unchanged = False  # the screen says what is wrong with it
        if unchanged:
            path.unlink(missing_ok=True)
            self.notify("Nothing was changed, so there is nothing to emulate.", title="Edit", timeout=4)
            return
        from sparktrace_tui.ui.screens.edit import EditScreen

        device = device_for(self.captures.device.id if self.captures else "")
        self.push_screen(EditScreen(family, entry.folder, variant, path, device))

    def profile(self, entry: Entry, family: Family, variant: str | None) -> None:
        """Profile a variant (None: the family) on this machine's GPU; where there is none, offer the emulator."""
        from sparktrace_tui.backends.select import why_no_gpu
        from sparktrace_tui.ui.screens.profile import ProfileScreen

        why = why_no_gpu()
        emulated = device_for(self.captures.device.id if self.captures else "")
        backend, device = ("pycuda", "0") if why is None else ("emulated", emulated)
        here = self.options.data_dir or user_data_dir()
        self.push_screen(ProfileScreen(Job(family, entry.folder, variant, backend, device, here), why))

    def edit_file(self, path: Path) -> bool:
        """Hand the terminal to the user's editor until it ends; False, with a message, where that cannot be done."""
        try:
            command = editor_command(os.environ)
            with self.suspend():
                run_editor(command, path, subprocess.call)
        except SuspendNotSupported:
            said = f"This terminal cannot be lent to an editor. Edit the copy elsewhere, then press E: {path}"
            self.notify(said, title="Editor", severity="warning", timeout=10, markup=False)
            return False
        except SparkTraceError as error:
            self.notify(harmless(str(error)), title="Editor", severity="error", timeout=10, markup=False)
            return False
        return True

    def show_page(self, title: str, lines: Iterable[str]) -> None:
        """Show plain lines over the screen; escape closes them."""
        from sparktrace_tui.ui.screens.help import PageScreen

        self.push_screen(PageScreen(title, tuple(lines)))


def run_explorer(options: ExplorerOptions) -> int:
    """Run the explorer until the user quits; prints the summary as plain text and returns the exit status."""
    app = SparkTraceApp(options)
    app.run()
    for line in app.summary:
        print(line)
    return app.return_code or 0
