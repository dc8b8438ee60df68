"""Pieces that Browse and the quiz draw alike: the header, a report's title, the candidate's pane."""

from collections.abc import Mapping

from rich.cells import cell_len
from textual.content import Content

from sparktrace_tui.domain.kernel.capture import CaptureSet, Provenance
from sparktrace_tui.domain.kernel.family import ORIGINAL, Family, Variant
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.ui.evidence import Shown, line_conflicts, line_sectors
from sparktrace_tui.ui.text import fit, one_line
from sparktrace_tui.ui.widgets.code import Code, CodeView
from sparktrace_tui.ui.widgets.lines import styled
from sparktrace_tui.ui.widgets.report import ReportView

LEVEL_WORDS: Mapping[Shown, str] = {
    "shown": "conflict lines shown",
    "names": "conflict lines hidden",
    "strict": "conflict lines hidden, strict",
}


def header_line(width: int, left: list[tuple[str, str]], label: str) -> Content:
    """The top row: what is looked at, and at the right always the provenance; the left gives way."""
    right = f" {one_line(label)} "
    room = width - cell_len(right) - 1
    parts: list[tuple[str, str]] = [(" ", "")]
    used = 1
    for text, role in left:
        if used + cell_len(text) > room:
            text = fit(text, room - used) if room - used > 8 else ""
        parts.append((text, role))
        used += cell_len(text)
    return styled(*parts, " " * max(width - used - cell_len(right), 0), (right, "title"))


def report_title(report: Report | None, provenance: Provenance) -> str:
    """What a report's pane is called: an emulated one never passes for Nsight's."""
    emulated = (report.origin.provenance if report is not None else provenance) == "emulated"
    return "emulated report" if emulated else "ncu"


def named(variant: Variant, revealed: bool) -> str:
    """What is said of a variant: its neutral description; its id, which may say more, after the reveal only."""
    text = variant.description or "The original."
    return f"{variant.id}: {text}" if revealed and variant.id != ORIGINAL else text


def show_original(pane: CodeView, family: Family, report: Report | None, level: Shown, extra: str = "") -> None:
    """The original, with its conflicts in the gutter while the report's lines that tell them are shown."""
    conflicts = line_conflicts(report) if level == "shown" else {}
    pane.entitle("original", extra)
    pane.show(Code(family.original.source, conflicts=conflicts, sectors=line_sectors(report)))


def show_candidate(pane: CodeView, family: Family, letter: str, variant: str, diff: bool) -> None:
    """A rewrite, as its source or as its difference from the original."""
    rewrite = family.variant(variant)
    pane.entitle(f"{letter}  {one_line(rewrite.description)}", "diff against the original" if diff else "")
    pane.show(Code(rewrite.source, base=family.original.source if diff else None))


def show_report(pane: ReportView, report: Report | None, captures: CaptureSet | None, level: Shown, empty: str) -> None:
    """The report at a level of the conflict toggle, with what the level took out said in the border."""
    pane.show(report, level, empty)
    provenance = captures.provenance if captures else "measured"
    pane.entitle(report_title(report, provenance), level_words(pane, level) if report is not None else "")


def level_words(pane: ReportView, level: Shown) -> str:
    """What the toggle of the conflict lines does now, and how many things it took out."""
    if level == "shown":
        return LEVEL_WORDS[level]
    return LEVEL_WORDS[level] + (f" ({pane.removed})" if pane.removed else ": there were none")
