"""A report from a file: its kernels, the report of one, and the source it holds with what was counted on each line."""

from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.ui.commands import Where, bindings_for
from sparktrace_tui.ui.evidence import line_conflicts
from sparktrace_tui.ui.layout import View
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.parts import header_line, level_words, report_title
from sparktrace_tui.ui.text import one_line
from sparktrace_tui.ui.widgets.code import Code, CodeView
from sparktrace_tui.ui.widgets.families import KernelsView, ListedKernel
from sparktrace_tui.ui.widgets.report import ReportView


class ReportScreen(PaneScreen):
    """The reports of one file."""

    WHERE: ClassVar[Where] = "report"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("report")
    AUTO_FOCUS = "#report"

    def __init__(self, path: Path, reports: tuple[Report, ...]) -> None:
        super().__init__()
        self.path, self.reports = path, reports
        self.place = 0
        self.pane = "report"

    @property
    def report(self) -> Report:
        return self.reports[self.place]

    def more_panes(self) -> list[Widget]:
        return [KernelsView(id="kernels")]

    def view(self) -> View:
        return View("report", self.pane, self.body, self.zoomed, kernels=len(self.reports) > 1)

    def header(self, width: int) -> Content:
        origin = self.report.origin
        left = [(one_line(self.path.name), "title"), (f"  {self.place + 1}/{len(self.reports)}", "dim")]
        left.append((f"  {one_line(self.report.launch.kernel)}", "text"))
        device = self.report.launch.device_name or "device n/a"
        return header_line(width, left, f"{one_line(device)} · {origin.provenance}")

    def hidden_commands(self) -> set[str]:
        return set() if len(self.reports) > 1 else {"step"}

    def update(self) -> None:
        report, level = self.report, self.explorer.level
        kernels = self.query_one(KernelsView)
        kernels.border_title = Content("kernels")
        kernels.show(
            tuple(
                ListedKernel(place, found.launch.kernel, place == self.place)
                for place, found in enumerate(self.reports)
            )
        )
        source = self.query_one("#original", CodeView)
        texts = {line.line: line.text for line in report.source}
        last = max(texts, default=0)
        text = "\n".join(texts.get(number, "") for number in range(1, last + 1))
        files = sorted({line.file for line in report.source})
        source.border_title = Content(one_line(", ".join(files)) if files else "source")
        source.border_subtitle = Content("" if text.strip() else "the report holds no source text")
        conflicts = line_conflicts(report) if level == "shown" else {}
        source.show(Code(text, conflicts=conflicts))
        view = self.query_one(ReportView)
        view.show(report, level)
        view.border_title = Content(report_title(report, report.origin.provenance))
        view.border_subtitle = Content(level_words(view, level))
        self.replan()

    def on_kernels_view_chosen(self, message: KernelsView.Chosen) -> None:
        self.place = message.place
        self.update()
        self.action_pane("report")

    def action_step(self, step: str) -> None:
        """The next or previous kernel of the file."""
        self.place = (self.place + int(step)) % len(self.reports)
        self.update()

    def leave(self) -> None:
        self.dismiss()
