"""The explorer: one app that owns what is open and what was seen; its screens draw it."""

import os
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.message import Message
from textual.screen import Screen

from sparktrace_tui.domain.errors import SparkTraceError, UsageError
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.store.paths import kernels_dir
from sparktrace_tui.store.seen import load_seen, mark_seen
from sparktrace_tui.ui.commands import commands_for
from sparktrace_tui.ui.evidence import Shown
from sparktrace_tui.ui.library import Entry, ExplorerOptions, open_set, read_entries, set_paths
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.browse import BrowseScreen
from sparktrace_tui.ui.theme import COLOURLESS, DARK, LIGHT, THEMES

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
        self.summary: list[str] = []

    def _first_entry(self) -> Entry | None:
        wanted = self.options.family
        if wanted is None:
            return self.entries[0] if self.entries else None
        for entry in self.entries:
            if entry.id == wanted:
                return entry
        known = ", ".join(entry.id for entry in self.entries) or "none"
        raise UsageError(f"no family {wanted!r}", hint=f"Known families: {known}.")

    @property
    def set_state(self) -> str:
        """What stands in the label's place while no set is open."""
        return "no capture set" if self.set_problem else "reading…"

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """None: the table has all commands."""
        return ()

    def on_mount(self) -> None:
        self.push_screen(BrowseScreen())
        self._read_set()
        if self.options.start == "quiz":
            self.call_after_refresh(self.open_quiz)

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
        self._redraw()

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
        self.entry = next((entry for entry in self.entries if entry.id == family), self.entry)

    def step_family(self, step: int) -> None:
        """Open the next or previous family, round the ends."""
        if self.entry is not None:
            place = self.entries.index(self.entry)
            self.entry = self.entries[(place + step) % len(self.entries)]

    def reveal(self, set_id: str, family: str) -> None:
        """Show the times of a family on a set; it counts as seen from now on."""
        self.revealed.add((set_id, family))
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

    def open_quiz(self) -> None:
        """Start a quiz on the open set."""


def run_explorer(options: ExplorerOptions) -> int:
    """Run the explorer until the user quits; prints the summary as plain text and returns the exit status."""
    app = SparkTraceApp(options)
    app.run()
    for line in app.summary:
        print(line)
    return app.return_code or 0
