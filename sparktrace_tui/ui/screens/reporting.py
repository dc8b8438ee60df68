"""What Browse and a report's screen do with the report they show: its raw text, its ncu command, a comparison."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sparktrace_tui.domain.errors import BadInput, SparkTraceError, UsageError
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.ui.screens.beside import BesideScreen
from sparktrace_tui.ui.text import harmless


@dataclass(frozen=True, eq=False)
class ShownReport:
    """The report on the screen: what it is called, the file it was read from, and what ncu would have to run.

    program: the command line to profile. skip: launches of the same kernel before it. family: the family's id, ""
    where the report is a file's.
    """

    report: Report
    name: str
    path: Path | None = None
    program: tuple[str, ...] = ("./program",)
    skip: int = 0
    family: str = ""


class ReportingScreen(BesideScreen):
    """A screen that shows a report."""

    def shown_report(self) -> ShownReport | None:
        """The report that the commands are about, None where there is none."""
        raise NotImplementedError

    def _report_or_say(self) -> ShownReport | None:
        found = self.shown_report()
        if found is None:
            self.notify("There is no report here.", timeout=4)
        return found

    def action_raw(self) -> None:
        """The report as text."""
        from sparktrace_tui.ui.screens.pages import RawScreen

        if (shown := self._report_or_say()) is not None:
            self.app.push_screen(RawScreen(shown.name, shown.report, shown.path))

    def action_command(self) -> None:
        """Show and copy the ncu command that would make the report."""
        from sparktrace_tui.nsight.command import command_for

        if (shown := self._report_or_say()) is None:
            return
        line = command_for(shown.report, shown.program, skip=shown.skip)
        self.app.copy_to_clipboard(line)
        note = "" if shown.family else "\nPut your own program in the place of ./program, built with -lineinfo."
        self.notify(harmless(line) + note, title="Copied", timeout=15, markup=False)

    def action_against(self) -> None:
        """Ask for another report, and show both side by side."""
        if (shown := self._report_or_say()) is None:
            return
        sets = ", ".join(path.name for path in self.explorer.paths) if shown.family else ""
        prompt = "compare with: path of a report" + (f", or a set ({sets})" if sets else "")
        self.ask(prompt, partial(self._compare_with, shown))

    def _compare_with(self, shown: ShownReport, other: str) -> None:
        self.run_worker(partial(self._read_other, shown, other.strip()), thread=True, group="against",
                        exit_on_error=False)  # fmt: skip

    def _read_other(self, shown: ShownReport, other: str) -> None:
        try:
            name, report = other_report(shown, other, self.explorer.paths)
        except SparkTraceError as error:
            self.app.call_from_thread(
                self.notify, harmless(str(error)), title="Compare", severity="error", timeout=10, markup=False
            )
            return
        self.app.call_from_thread(self._show_both, shown, name, report)

    def _show_both(self, shown: ShownReport, name: str, report: Report) -> None:
        from sparktrace_tui.ui.screens.pages import CompareScreen

        self.app.push_screen(CompareScreen(shown.report, report, (shown.name, name)))


def other_report(shown: ShownReport, other: str, sets: tuple[Path, ...] = ()) -> tuple[str, Report]:
    """The report to compare with, and what to call it: of a file, or of the same family in another set.

    sets: folders that are known by name beside the usual ones.
    """
    from sparktrace_tui.nsight.against import pair
    from sparktrace_tui.nsight.read import read_reports
    from sparktrace_tui.store.captures import find_set, read_set

    path = Path(other).expanduser()
    if shown.family and not path.is_file():
        try:
            folder = next((folder for folder in sets if folder.name == other), None) or find_set(other)
        except UsageError as error:
            raise BadInput(f"{other} is no file here and no capture set", hint=error.hint) from error
        captures = read_set(folder)
        capture = captures.captures.get(shown.family)
        if capture is None or capture.report is None:
            raise BadInput(f"the set {captures.id} has no report of {shown.family}")
        return captures.id, capture.report
    return path.name, pair((shown.report,), read_reports(path), None, (shown.name, path.name))[1]
