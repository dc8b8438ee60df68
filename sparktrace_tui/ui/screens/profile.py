"""Profiling a family or one of its variants: why it is off and what helps, the steps while it runs, and the report."""

import time
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.kernel.family import ORIGINAL
from sparktrace_tui.ui.commands import Where, bindings_for
from sparktrace_tui.ui.layout import View
from sparktrace_tui.ui.profiling import PHASES, Job, Phases, Profiled, run_job
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.parts import header_line, level_words, report_title
from sparktrace_tui.ui.text import fit, one_line
from sparktrace_tui.ui.widgets.report import ReportView
from sparktrace_tui.ui.widgets.sheet import SheetRow, SheetView, paragraph

if TYPE_CHECKING:
    from sparktrace_tui.backends.client import Client
    from sparktrace_tui.backends.select import NoGpu

_MEANS = {
    "compile": "compile",
    "verify": "verify on every check size",
    "time": "time all variants",
    "profile": "profile",
}


class ProfileScreen(PaneScreen):
    """One job. `why` says why the GPU cannot be used: then emulating is offered, and nothing runs before that."""

    WHERE: ClassVar[Where] = "profile"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("profile")
    AUTO_FOCUS = "#steps"

    class Step(Message):
        """The worker says what it does."""

        def __init__(self, what: str, text: str) -> None:
            super().__init__()
            self.what, self.text = what, text

    class Done(Message):
        """The worker is done, or failed."""

        def __init__(self, profiled: Profiled | None, error: SparkTraceError | None) -> None:
            super().__init__()
            self.profiled, self.error = profiled, error

    def __init__(self, job: Job, why: "NoGpu | None") -> None:
        super().__init__()
        self.job, self.why = job, why
        self.pane = "steps"
        self.phases = Phases()
        self.working = False
        self.began = 0.0
        self.spent = 0.0
        self.profiled: Profiled | None = None
        self.error: SparkTraceError | None = None
        self._client: Client | None = None

    @property
    def here(self) -> str:
        """`measured here` or `emulated here`."""
        return "emulated here" if self.job.backend == "emulated" else "measured here"

    def panes(self) -> list[Widget]:
        return [SheetView(id="steps"), ReportView(id="report")]

    def view(self) -> View:
        return View("listed", self.pane, self.body, self.zoomed, listed=("steps", "report"), lead=50)

    def header(self, width: int) -> Content:
        variant = self.job.variant or "the family"
        left = [(one_line(self.job.family.id), "title"), (f"  profile {one_line(variant)}", "text")]
        return header_line(width, left, f"{self.job.device} · {self.here}" if self.why is None else "no GPU")

    def hidden_commands(self) -> set[str]:
        return set() if self.profiled is not None or (self.why is not None and not self.working) else {"go"}

    def on_mount(self) -> None:
        self.set_interval(0.5, self._tick)
        if self.why is None:
            self.start()
        else:
            self.update()

    def on_unmount(self) -> None:
        self.close()

    def _tick(self) -> None:
        if self.working:
            self.update()

    def start(self) -> None:
        """Run the job in a worker process, watched by a thread."""
        from sparktrace_tui.backends.client import Client

        self._client = Client(self.job.backend, self.job.device)
        self.phases, self.error, self.working, self.began = Phases(), None, True, time.monotonic()
        self.update()
        self.run_worker(partial(self._run, self._client), thread=True, exit_on_error=False)

    def _run(self, client: "Client") -> None:
        try:
            with client:
                found = run_job(self.job, client, lambda what, text: self._told(what, text))
        except SparkTraceError as error:
            self.post_message(self.Done(None, error))
            return
        self.post_message(self.Done(found, None))

    def _told(self, what: str, text: str) -> None:
        self.post_message(self.Step(what, text))

    def on_profile_screen_step(self, message: Step) -> None:
        self.phases = self.phases.after(message.what, message.text)
        self.update()

    def on_profile_screen_done(self, message: Done) -> None:
        self.working, self.spent = False, time.monotonic() - self.began
        self.profiled, self.error = message.profiled, message.error
        if message.profiled is not None:
            self.explorer.add_set(message.profiled.into)
            if message.profiled.report is not None and self.job.variant not in (None, ORIGINAL):
                self.explorer.show_times(self.job.family.id)
        self.update()

    def update(self) -> None:
        steps = self.query_one("#steps", SheetView)
        steps.border_title = Content("profile")
        steps.border_subtitle = Content(self.here)
        steps.show(self._rows())
        view, level = self.query_one(ReportView), self.explorer.level
        report = self.profiled.report if self.profiled else None
        view.show(report, level, self._no_report())
        emulated = self.job.backend == "emulated"
        name = report_title(report, "emulated" if emulated else "measured")
        view.border_title = Content(f"{name} of {self.job.variant or ORIGINAL}")
        view.border_subtitle = Content(level_words(view, level) if report else "")
        self.replan()

    def _no_report(self) -> str:
        if self.profiled is not None:
            return "Nsight Compute gave no report. " + " ".join(self.profiled.notes)
        return "The report appears here when it is done."

    def _rows(self) -> tuple[SheetRow, ...]:
        if self.why is not None:
            return (
                paragraph(f"Profiling on a GPU is off: {self.why.reason}.", "conflict"),
                paragraph(self.why.hint),
                paragraph("What is recorded stays readable. `sparktrace doctor` says what is missing.", "dim"),
                paragraph(""),
                SheetRow(((" enter ", "key"), (f" emulate instead, on the profile of {self.job.device}", "text")),
                         target="go"),
                paragraph("Modelled times and counts, never measured ones. They go into a set of your own.", "dim"),
            )  # fmt: skip
        over = not self.working and self.error is None
        rows = []
        for phase in PHASES:
            sign = self.phases.sign(phase, over)
            role = {"✓": "text", "▸": "title"}.get(sign, "dim")
            rows.append(SheetRow(((f"{sign} ", role), (fit(_MEANS[phase], 30), role)), target=phase))
        rows += [paragraph(""), *self._state()]
        return tuple(rows)

    def _state(self) -> list[SheetRow]:
        spent = time.monotonic() - self.began if self.working else self.spent
        elapsed = f"{spent:.0f} s"
        if self.working:
            said = [paragraph(self.phases.now or "starting the worker", "title"), paragraph(f"elapsed {elapsed}")]
            return [*said, paragraph("esc cancels. Finished steps are kept.", "dim")]
        if self.error is not None:
            kept = "What was finished is kept; the same key goes on after it."
            return [paragraph(f"✗ {self.error}", "wrong"), paragraph(""), paragraph(kept, "dim")]
        assert self.profiled is not None
        rows = [paragraph(f"Done in {elapsed}: {self.here}.", "title"), paragraph(f"Set: {self.profiled.into}", "dim")]
        rows += [paragraph(f"note: {note}", "dim") for note in self.profiled.notes]
        return [*rows, paragraph(""), SheetRow(((" enter ", "key"), (" opens the set in Browse", "text")), target="go")]

    def on_sheet_view_chosen(self, message: SheetView.Chosen) -> None:
        if message.target == "go":
            self.action_go()

    def action_go(self) -> None:
        """Emulate instead; or, when all is done, open the set."""
        if self.profiled is not None:
            into = self.profiled.into
            self.dismiss()
            self.explorer.open_set_at(into)
        elif self.why is not None:
            self.why = None
            self.start()

    def leave(self) -> None:
        """Escape: cancel what runs, else close."""
        if self.working and self._client is not None:
            self._client.cancel()
        else:
            self.dismiss()

    def close(self) -> None:
        if self.working and self._client is not None:
            self._client.cancel()
