"""Screens of one pane: a report as raw text, and two reports side by side."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.nsight.against import summary
from sparktrace_tui.nsight.command import base_name
from sparktrace_tui.nsight.differences import NOISE, Difference, differences
from sparktrace_tui.ui.commands import Where, bindings_for
from sparktrace_tui.ui.evidence import Shown, evidence
from sparktrace_tui.ui.layout import Plan, Rect, View, plan, shape_of
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.parts import LEVEL_WORDS, header_line
from sparktrace_tui.ui.text import harmless, one_line
from sparktrace_tui.ui.widgets.differences import DifferencesView
from sparktrace_tui.ui.widgets.lines import LineView, Row


class OnePaneScreen(PaneScreen):
    """A screen of the one pane `page`; escape goes back."""

    WHERE: ClassVar[Where] = "page"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("page")
    AUTO_FOCUS = "#page"

    def __init__(self) -> None:
        super().__init__()
        self.pane = "page"

    def page(self) -> LineView:
        """The pane."""
        raise NotImplementedError

    def panes(self) -> list[Widget]:
        return [self.page()]

    def view(self) -> View:
        return View("report", "page", "page", self.zoomed)

    def planned(self, width: int, height: int, view: View) -> Plan:
        shape = shape_of(width, height)
        if shape == "small":
            return plan(width, height, view)
        bars = {"header": Rect(0, 0, width, 1), "footer": Rect(0, height - 1, width, 1)}
        return Plan(shape, {**bars, "page": Rect(0, 1, width, height - 2)})

    def leave(self) -> None:
        self.dismiss()


class TextView(LineView):
    """Text as it stands: long lines go on to the right, `w` wraps them."""

    wraps = False

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.text: tuple[str, ...] = ()

    def show(self, text: str) -> None:
        lines = tuple(harmless(text).expandtabs(8).split("\n"))
        if lines != self.text:
            self.text = lines
            self.rebuild()

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        rows: list[Row] = []
        for number, line in enumerate(self.text):
            step = width if self.wraps else max(len(line), 1)
            for start in range(0, max(len(line), 1), step):
                rows.append(Row(Content(line[start : start + step]), number, start=start))
        return list(self.text), rows


class RawScreen(OnePaneScreen):
    """A report as text: its file as it stands where that is text, else in the manner of Nsight's details page."""

    class Made(Message):
        """A worker has the text of a level, or why there is none."""

        def __init__(self, level: Shown, text: str) -> None:
            super().__init__()
            self.level, self.text = level, text

    def __init__(self, title: str, report: Report, path: Path | None = None) -> None:
        super().__init__()
        self.title_text, self.report, self.path = title, report, path
        self._texts: dict[Shown, str] = {}

    def page(self) -> LineView:
        return TextView(id="page")

    def header(self, width: int) -> Content:
        return header_line(width, [(one_line(self.title_text), "title")], self.report.origin.provenance)

    def update(self) -> None:
        level, view = self.explorer.level, self.query_one(TextView)
        as_is = self.path is not None and self.report.origin.form != "ncu-rep"
        view.border_title = Content("the file" if as_is else "as text")
        view.border_subtitle = Content(LEVEL_WORDS[level])
        if level in self._texts:
            view.show(self._texts[level])
        else:
            self.run_worker(partial(self._make, level, as_is), thread=True, group="raw", exit_on_error=False)
        self.replan()

    def _make(self, level: Shown, as_is: bool) -> None:
        from sparktrace_tui.nsight.show import raw_text
        from sparktrace_tui.nsight.text import render

        try:
            if as_is and self.path is not None:
                text = raw_text(self.path, None if level == "shown" else level)[0]
            else:
                text = render(evidence(self.report, level).report, 120, raw=True, source=True)
        except SparkTraceError as error:
            text = str(error)
        self.post_message(self.Made(level, text))

    def on_raw_screen_made(self, message: Made) -> None:
        self._texts[message.level] = message.text
        if message.level == self.explorer.level:
            self.query_one(TextView).show(message.text)


class CompareScreen(OnePaneScreen):
    """Two reports side by side. `x` takes the conflict lines out of both."""

    def __init__(self, left: Report, right: Report, names: tuple[str, str]) -> None:
        super().__init__()
        self.left, self.right, self.names = left, right, names
        self._rows: dict[Shown, tuple[Difference, ...]] = {}

    def page(self) -> LineView:
        return DifferencesView(id="page")

    def header(self, width: int) -> Content:
        left = [("compare", "title"), (f"  {one_line(self.left.launch.kernel)}", "text")]
        made = dict.fromkeys((self.left.origin.provenance, self.right.origin.provenance))
        return header_line(width, left, " and ".join(made))

    def rows(self) -> tuple[Difference, ...]:
        """The differences at the level that is shown."""
        level = self.explorer.level
        if level not in self._rows:
            self._rows[level] = differences(evidence(self.left, level).report, evidence(self.right, level).report)
        return self._rows[level]

    def update(self) -> None:
        view, rows, level = self.query_one(DifferencesView), self.rows(), self.explorer.level
        sides = tuple(
            f"{name}: {base_name(report.launch.kernel)}, {report.launch.device_name or 'device n/a'}, "
            f"{report.origin.provenance}"
            for name, report in zip(self.names, (self.left, self.right), strict=True)
        )
        view.show(rows, (sides[0], sides[1]))
        view.border_title = Content(f"right against left: {summary(rows)}")
        noise = "equal counts tie, times up to 1.25 apart" if self._exact else f"up to {NOISE:.0%} is a tie"
        view.border_subtitle = Content(f"{LEVEL_WORDS[level]} · {noise}")
        self.replan()

    @property
    def _exact(self) -> bool:
        return self.left.origin.provenance == self.right.origin.provenance == "emulated"
