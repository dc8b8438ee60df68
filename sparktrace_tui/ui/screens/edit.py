"""An edited copy of a variant, emulated again: what changed in time and counts, its code, and its emulated report."""

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.kernel.family import Family, Variant
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.domain.report.serial import report_from_json
from sparktrace_tui.ui.commands import Command, Where, bindings_for
from sparktrace_tui.ui.edits import SAME, Delta, deltas, error_lines, fault_lines, read_edit
from sparktrace_tui.ui.evidence import line_conflicts
from sparktrace_tui.ui.layout import View
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.parts import header_line, level_words
from sparktrace_tui.ui.text import fit, one_line
from sparktrace_tui.ui.widgets.code import Code, CodeView
from sparktrace_tui.ui.widgets.report import ReportView
from sparktrace_tui.ui.widgets.sheet import SheetRow, SheetView, paragraph

if TYPE_CHECKING:
    from sparktrace_tui.backends.client import Client

_ROLE = {"better": "title", "worse": "wrong", "same": "dim", "other": "text"}
_SIGN = {"better": "▲ ", "worse": "▼ ", "same": "", "other": ""}


class EditScreen(PaneScreen):
    """One edited copy. Emulates it off the UI thread when it opens, and again after each further edit."""

    WHERE: ClassVar[Where] = "edit"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("edit")
    AUTO_FOCUS = "#figures"

    class Emulated(Message):
        """The worker is done: both documents, or why not."""

        def __init__(
            self,
            source: str,
            documents: tuple[Mapping[str, Any], Mapping[str, Any]] | None,
            error: SparkTraceError | None,
        ) -> None:
            super().__init__()
            self.source, self.documents, self.error = source, documents, error

    class Step(Message):
        """What the worker does now."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, family: Family, folder: Path, variant: Variant, path: Path, device: str) -> None:
        super().__init__()
        self.family, self.folder, self.variant, self.path, self.device = family, folder, variant, path, device
        self.pane = "figures"
        self.diff = True
        self.source = ""
        self.before: Mapping[str, Any] | None = None
        self.after: Mapping[str, Any] | None = None
        self.report: Report | None = None
        self.error: SparkTraceError | None = None
        self.step = ""
        self.began = 0.0
        self._client = self._new_client()

    def _new_client(self) -> "Client":
        from sparktrace_tui.backends.client import Client

        return Client("emulated", self.device)

    @property
    def working(self) -> bool:
        return bool(self.step)

    def panes(self) -> list[Widget]:
        return [SheetView(id="figures"), CodeView(id="code"), ReportView(id="report")]

    def view(self) -> View:
        # The figures need 60 cells, and the code beside them not less than half the rest.
        lead = min(64, self.size.width * 54 // 100)
        return View("listed", self.pane, self.body, self.zoomed, listed=("figures", "code", "report"), lead=lead)

    def header(self, width: int) -> Content:
        left = [
            (one_line(self.family.id), "title"),
            (f"  edit of {one_line(self.variant.id)}", "text"),
            (f"  {one_line(self.path.name)}", "dim"),
        ]
        return header_line(width, left, f"{self.device} · emulated")

    def hidden_commands(self) -> set[str]:
        return {"edit"} if self.working else set()

    def footer_label(self, command: Command) -> str:
        if command.id == "diff" and self.diff and not self.marks:
            return "source"
        return super().footer_label(command)

    def on_mount(self) -> None:
        self.set_interval(0.5, self._tick)
        self.emulate()

    def on_unmount(self) -> None:
        self._client.cancel()

    def _tick(self) -> None:
        if self.working:
            self.update()

    def emulate(self) -> None:
        """Read the copy, and emulate it in a worker process."""
        try:
            self.source = read_edit(self.path)
        except SparkTraceError as error:
            self.error = error
            self.update()
            return
        self.after, self.report, self.error = None, None, None
        self._client = self._new_client()
        self.step, self.began = "compiling and emulating the edit", time.monotonic()
        self.update()
        self.run_worker(
            partial(self._emulate, self._client, self.source, self.before), thread=True, exit_on_error=False
        )

    def _emulate(self, client: "Client", source: str, before: Mapping[str, Any] | None) -> None:
        """In a thread: the edit first, since it may not compile; then the unedited, once."""
        from sparktrace_tui.backends.protocol import Options

        def ask(text: str, name: str) -> dict[str, Any]:
            return client.emulate(text, name, Options(), folder=self.folder, variant=self.variant.id)

        try:
            with client:
                after = ask(source, self.path.name)
                if before is None and not after["faults"]:
                    self.post_message(self.Step("emulating the unedited one"))
                    before = ask(self.variant.source, self.variant.source_name)
        except SparkTraceError as error:
            self.post_message(self.Emulated(source, None, error))
            return
        self.post_message(self.Emulated(source, (before or {}, after), None))

    def on_edit_screen_step(self, message: Step) -> None:
        if self.working:
            self.step = message.text
            self.update()

    def on_edit_screen_emulated(self, message: Emulated) -> None:
        self.step = ""
        self.error = message.error
        if message.documents is not None:
            before, self.after = message.documents
            self.before = before or self.before
            if not self.after["faults"]:
                self.report = report_from_json(self.after["report"])
                self.explorer.show_times(self.family.id)
        self.update()
        if self.marks:
            self.action_pane("code")
            self.query_one("#code", CodeView).go_to_source_line(min(self.marks))

    @property
    def marks(self) -> Mapping[int, str]:
        """What the compiler or the checks say, by line of the edit."""
        if self.error is not None:
            return error_lines(self.error, self.path.name)
        return fault_lines(self.after) if self.after else {}

    def update(self) -> None:
        figures = self.query_one("#figures", SheetView)
        figures.border_title = Content("what changed")
        figures.border_subtitle = Content(f"{self.device} · emulated")
        figures.show(self._figures())
        code = self.query_one("#code", CodeView)
        marks = self.marks
        diff = self.diff and not marks
        level = self.explorer.level
        code.border_title = Content("the edit")
        code.border_subtitle = Content("diff against the unedited" if diff else "")
        conflicts = line_conflicts(self.report) if level == "shown" else {}
        code.show(Code(self.source, self.variant.source if diff else None, conflicts, marks))
        report = self.query_one(ReportView)
        report.show(self.report, level, "The report of the edit appears here once it is emulated.")
        report.border_title = Content("emulated report of the edit")
        report.border_subtitle = Content(level_words(report, level) if self.report else "")
        self.replan()

    def _figures(self) -> tuple[SheetRow, ...]:
        if self.working:
            spent = int(time.monotonic() - self.began)
            return (
                paragraph(f"{self.step}: {spent} s", "title"),
                paragraph(""),
                paragraph("esc cancels. The copy is kept.", "dim"),
            )
        kept = (paragraph(""), paragraph(f"The copy: {self.path}", "dim"), paragraph("E edits it again.", "dim"))
        if self.error is not None:
            return (paragraph("✗ not emulated", "wrong"), paragraph(str(self.error)), *kept)
        if self.after is None:
            return kept
        if self.after["faults"]:
            said = [paragraph(f"✗ {fault['kind']}: {fault['text']}") for fault in self.after["faults"]]
            head = paragraph("✗ The checks found faults: nothing is timed.", "wrong")
            return (head, *said, *self._notes(), *kept)
        assert self.before is not None
        rows = [_row(("", "unedited", "edited", "change"), "dim")]
        rows += [_delta_row(delta) for delta in deltas(self.before, self.after)]
        rows.append(_row(("", "", "", "▲ better ▼ worse"), "dim"))
        made = f"Both emulated on {self.device}, {self.after['compiler']}; modelled times, never measured."
        return (*rows, paragraph(""), paragraph(made, "dim"), *self._notes(), *kept)

    def _notes(self) -> list[SheetRow]:
        notes = self.after["notes"] if self.after else []
        return [paragraph(f"note: {note}", "dim") for note in notes]

    def action_edit(self) -> None:
        """Edit the same copy again."""
        if self.working:
            return
        if self.explorer.edit_file(self.path):
            self.emulate()

    def action_diff(self) -> None:
        self.diff = not self.diff
        self.update()
        self.action_pane("code")

    def jump(self, message: ReportView.Jump) -> None:
        if message.line is None:
            return
        self.diff = False
        self.update()
        self.action_pane("code")
        self.call_after_refresh(self.query_one("#code", CodeView).go_to_source_line, message.line)

    def leave(self) -> None:
        """Escape: cancel what runs, else close."""
        if self.working:
            self._client.cancel()
            self.step = "cancelling"
            self.update()
        else:
            self.dismiss()

    def close(self) -> None:
        self._client.cancel()


def _row(cells: tuple[str, str, str, str], role: str, last: str = "") -> SheetRow:
    name, before, after, change = cells
    text = f"{fit(name, 16)}{before:>12}{after:>12}"
    return SheetRow(((text, role), (f"  {change}", last or role)), target=name or None)


def _delta_row(delta: Delta) -> SheetRow:
    role = "dim" if delta.change == SAME else "text"
    before, after = one_line(delta.before), one_line(delta.after)
    if max(len(before), len(after)) > 11:
        said = f"{before}, the same" if delta.change == SAME else f"{before} → {after}"
        return SheetRow(((fit(delta.name, 16), role), (said, role)), target=delta.name)
    return _row((delta.name, before, after, _SIGN[delta.verdict] + delta.change), role, _ROLE[delta.verdict])
