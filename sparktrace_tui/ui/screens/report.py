"""A report from a file: its kernels, the report of one, and the source it holds with what was counted on each line."""

from collections import Counter
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.ui.commands import Where, bindings_for
from sparktrace_tui.ui.evidence import evidence, line_conflicts, line_sectors, main_file
from sparktrace_tui.ui.inspector import report_listing
from sparktrace_tui.ui.layout import View
from sparktrace_tui.ui.screens.beside import Subject
from sparktrace_tui.ui.screens.parts import header_line, level_words, report_title
from sparktrace_tui.ui.screens.reporting import ReportingScreen, ShownReport
from sparktrace_tui.ui.text import one_line
from sparktrace_tui.ui.widgets.code import Code, CodeView
from sparktrace_tui.ui.widgets.families import KernelsView, ListedKernel
from sparktrace_tui.ui.widgets.report import ReportView


def source_text(report: Report) -> str:
    """The lines of the main file that a report holds, each at its place; one without text says what it became."""
    file = main_file(report)
    texts = {line.line: line.text for line in report.source if line.file == file}
    counts = Counter(item.line for item in report.instructions if item.file == file)
    for number, text in texts.items():
        if not text and counts[number]:
            texts[number] = f"// {counts[number]} instruction{'s' if counts[number] != 1 else ''}"
    return "\n".join(texts.get(number, "") for number in range(1, max(texts, default=0) + 1))


class ReportScreen(ReportingScreen):
    """The reports of one file."""

    WHERE: ClassVar[Where] = "report"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("report")
    AUTO_FOCUS = "#report"

    def __init__(self, path: Path, reports: tuple[Report, ...]) -> None:
        super().__init__()
        self.path, self.reports = path, reports
        self.place = 0
        self.pane = "report"
        self._opened: Report | None = None

    @property
    def report(self) -> Report:
        return self.reports[self.place]

    @property
    def file(self) -> str | None:
        """The source file that is shown."""
        return main_file(self.report)

    @property
    def has_source(self) -> bool:
        return bool(self.report.source)

    def more_panes(self) -> list[Widget]:
        return [KernelsView(id="kernels"), *super().more_panes()]

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
        kernels.entitle("kernels")
        kernels.show(
            tuple(
                ListedKernel(place, found.launch.kernel, place == self.place)
                for place, found in enumerate(self.reports)
            )
        )
        source = self.query_one("#original", CodeView)
        has_text = any(line.text for line in report.source)
        source.entitle(
            one_line(self.file or "source"), "" if has_text else "no source text: profile with --import-source yes"
        )
        conflicts = line_conflicts(report) if level == "shown" else {}
        source.show(Code(source_text(report), conflicts=conflicts, sectors=line_sectors(report)))
        if self._opened is not report:
            self._opened = report
            if report.source:  # a kernel far down in a long file is in sight at once
                first = min(line.line for line in report.source if line.file == self.file)
                self.call_after_refresh(source.go_to_source_line, first)
        view = self.query_one(ReportView)
        view.show(report, level)
        view.entitle(report_title(report, report.origin.provenance), level_words(view, level))
        self.update_beside()
        self.replan()

    def subject(self, pane: str) -> Subject | None:
        report = evidence(self.report, self.explorer.level).report
        form = self.shown.upper() if self.shown else ""
        why_not = (
            f"This report holds no {form} of the kernel. ncu keeps the machine code with the section SourceCounters, "
            "which is in the set `full`, and in its source pages."
        )
        own = report_listing(report, self.file, self.explorer.level == "shown")
        return Subject(one_line(report.launch.kernel), f"{self.place}", listings=(own,) if own else (), why_not=why_not)

    def shown_report(self) -> ShownReport | None:
        kernel = self.report.launch.kernel
        skip = sum(report.launch.kernel == kernel for report in self.reports[: self.place])
        return ShownReport(self.report, self.path.name, self.path, skip=skip)

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
