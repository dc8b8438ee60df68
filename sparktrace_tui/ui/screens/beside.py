"""What Browse and a report's screen do alike: PTX, machine code or the bank map beside the source, lines linked."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.kernel.machine_code import FORM_NAMES, Form, Listing, SharedAccess
from sparktrace_tui.ui.beside import CODE, with_beside
from sparktrace_tui.ui.layout import Plan, View
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.text import harmless
from sparktrace_tui.ui.widgets.banks import BanksView
from sparktrace_tui.ui.widgets.code import CodeView
from sparktrace_tui.ui.widgets.listing import ListingView, listing_words
from sparktrace_tui.ui.widgets.report import ReportView

Shown = Literal["", "ptx", "sass", "banks"]


@dataclass(frozen=True)
class Subject:
    """The kernel whose inside is looked at: what there is to compile, and what a report holds of it already.

    name and source: the file, "" where there is none to compile. device: the set's. folder and variant: those of a
    family, whose blocks can be run. listings: ready-made. why_not: said where something cannot be had.
    """

    title: str
    name: str = ""
    source: str = ""
    device: str = ""
    folder: Path | None = None
    variant: str = ""
    listings: tuple[Listing, ...] = field(default=(), compare=False)
    why_not: str = ""


class BesideScreen(PaneScreen):
    """A screen whose source panes can have a listing or a bank map beside them."""

    class Looked(Message):
        """A worker has looked: what it found of which subject, or why it could not."""

        def __init__(
            self, subject: Subject, found: tuple[Listing, ...] | tuple[SharedAccess, ...], problem: str
        ) -> None:
            super().__init__()
            self.subject, self.found, self.problem = subject, found, problem

    def __init__(self) -> None:
        super().__init__()
        self.shown: Shown = ""
        self._of = "original"
        self._listings: dict[Subject, tuple[Listing, ...]] = {}
        self._accesses: dict[Subject, tuple[SharedAccess, ...]] = {}
        self._problems: dict[tuple[Subject, str], str] = {}
        self._asked: set[tuple[Subject, str]] = set()

    def subject(self, pane: str) -> Subject | None:
        """What stands in the source pane, None where nothing does."""
        raise NotImplementedError

    @property
    def has_source(self) -> bool:
        """Whether there is any source line; without one a listing has the source's room to itself."""
        return True

    def more_panes(self) -> list[Widget]:
        return [ListingView(id="listing"), BanksView(id="banks")]

    @property
    def beside(self) -> str:
        """The pane beside the source, "" where there is none."""
        return {"": "", "banks": "banks"}.get(self.shown, "listing")

    @property
    def of(self) -> str:
        """The source pane that it belongs to: the one last attended to."""
        if self.body in CODE:
            self._of = self.body
        return self._of

    def planned(self, width: int, height: int, view: View) -> Plan:
        if not self.beside:
            return super().planned(width, height, view)
        attended = view.pane == self.beside
        if attended:
            view = replace(view, pane=self.of, body=self.of)
        found = super().planned(width, height, view)
        return with_beside(
            found, self.beside, self.of, attended=attended, zoomed=view.zoomed, alone=not self.has_source
        )

    def order(self) -> list[str]:
        names = super().order()
        if self.beside and self.beside not in names and self.of in names:
            names.insert(names.index(self.of) + 1, self.beside)
        return names

    def update_beside(self) -> None:
        """Draw what stands beside the source anew; asks for it where it is not there yet."""
        self.query_one(ReportView).knows_instructions = True
        for name in CODE:
            code = self.query_one(f"#{name}", CodeView)
            code.picks = bool(self.beside) and name == self.of
            code.stops = ()
        if not self.beside:
            return
        subject = self.subject(self.of)
        if self.shown == "banks":
            self._show_banks(subject)
        else:
            self._show_listing(subject)

    def _show_listing(self, subject: Subject | None) -> None:
        view = self.query_one(ListingView)
        view.border_subtitle = Content("")
        form: Form = "sass" if self.shown == "sass" else "ptx"
        view.border_title = Content(FORM_NAMES[form])
        if subject is None:
            view.show(None, "There is no kernel here.")
            return
        view.border_title = Content(f"{FORM_NAMES[form]} · {subject.title}")
        found = (*subject.listings, *self._listings.get(subject, ()))
        listing = next((item for item in found if item.form == form), None)
        if listing is None:
            said = self._said(subject, "listing", "Compiling.", partial(self._compile, subject))
            view.show(None, said)
            return
        view.show(listing)
        view.mark(self._chosen())
        view.border_subtitle = listing_words(view)

    def _show_banks(self, subject: Subject | None) -> None:
        view = self.query_one(BanksView)
        view.border_title = Content("banks")
        view.border_subtitle = Content("")
        if subject is None:
            view.show((), "There is no kernel here.")
            return
        view.border_title = Content(f"banks · {subject.title}")
        if subject not in self._accesses:
            view.show((), self._said(subject, "banks", "Running one block.", partial(self._run_block, subject)))
            return
        accesses, line = self._accesses[subject], self._chosen()
        lines = sorted({access.line for access in accesses if access.line is not None})
        if not accesses:
            view.show((), "This kernel has no access to shared memory.")
            return
        self.query_one(f"#{self.of}", CodeView).stops = tuple(lines)
        view.border_subtitle = Content(f"line {line} · emulated" if line in lines else "emulated")
        if line in lines:
            view.show(tuple(access for access in accesses if access.line == line))
            return
        places = ", ".join(map(str, lines))
        view.show((), f"Choose a line that touches shared memory: {places}. n and N go from one to the next.")

    def _said(self, subject: Subject, what: str, meanwhile: str, work: Callable[[], None]) -> str:
        """Why there is nothing to show; starts the work where it was not done."""
        if subject.why_not and (what == "banks" or not subject.source):
            return subject.why_not
        if problem := self._problems.get((subject, what)):
            return problem
        if (subject, what) not in self._asked:
            self._asked.add((subject, what))
            self.run_worker(work, thread=True, group="look", exit_on_error=False)
        return meanwhile

    def _compile(self, subject: Subject) -> None:
        try:
            found = self.explorer.inspector.listings(subject.device, subject.source, subject.name)
            self.post_message(self.Looked(subject, found, ""))
        except SparkTraceError as error:
            self._problems[subject, "listing"] = harmless(str(error))
            self.post_message(self.Looked(subject, (), harmless(str(error))))

    def _run_block(self, subject: Subject) -> None:
        assert subject.folder is not None
        try:
            found = self.explorer.inspector.accesses(subject.device, subject.folder, subject.variant, subject.source)
            self._accesses[subject] = found
            self.post_message(self.Looked(subject, found, ""))
        except SparkTraceError as error:
            self._problems[subject, "banks"] = harmless(str(error))
            self.post_message(self.Looked(subject, (), harmless(str(error))))

    def on_beside_screen_looked(self, message: Looked) -> None:
        found = tuple(item for item in message.found if isinstance(item, Listing))
        if found:
            self._listings[message.subject] = found
        self.update_beside()
        self._mark_shared()

    def _mark_shared(self) -> None:
        """Let the bank map open on a line that has something to show."""
        subject = self.subject(self.of)
        if self.shown != "banks" or subject is None or not self._accesses.get(subject):
            return
        lines = [access.line for access in self._accesses[subject] if access.line is not None]
        code = self.query_one(f"#{self.of}", CodeView)
        if self._chosen() not in lines and lines:
            worst = max(self._accesses[subject], key=lambda access: access.conflicts)
            code.go_to_source_line(worst.line or lines[0])

    def _chosen(self) -> int | None:
        return self.query_one(f"#{self.of}", CodeView).chosen_line

    def action_machine(self) -> None:
        """Source alone, PTX, SASS."""
        steps: tuple[Shown, ...] = ("", "ptx", "sass")
        here = steps.index(self.shown) if self.shown in steps else 0
        self._turn(steps[(here + 1) % len(steps)])

    def action_banks(self) -> None:
        """The bank map of the chosen line, or the source alone again."""
        self._turn("" if self.shown == "banks" else "banks")
        self._mark_shared()

    def _turn(self, shown: Shown) -> None:
        attended = self.pane
        self.shown = shown
        self.update_beside()
        self.replan()
        if self.beside and not self.has_source:
            self.action_pane(self.beside)
        elif attended in ("listing", "banks", "report", "families", "options", "about"):
            self.action_pane(self.of)

    def jump(self, message: ReportView.Jump) -> None:
        if message.address is None:
            super().jump(message)
            return
        self._turn("sass")
        self.action_pane("listing")
        self.call_after_refresh(self.query_one(ListingView).go_to_address, message.address)

    def on_code_view_picked(self, message: CodeView.Picked) -> None:
        message.stop()
        self.update_beside()

    def on_listing_view_picked(self, message: ListingView.Picked) -> None:
        """An instruction was chosen: its source line is, too."""
        code = self.query_one(f"#{self.of}", CodeView)
        code.go_to_source_line(message.line)
