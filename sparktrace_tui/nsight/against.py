"""What `sparktrace report FILE --against OTHER` prints: two reports of a kernel side by side."""

import csv
import io
import json
import textwrap
from collections import Counter
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.domain.report.ablation import ablate
from sparktrace_tui.domain.report.conflicts import Level
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.nsight.differences import NOISE, Difference, Verdict, change_words, differences
from sparktrace_tui.nsight.read import read_reports
from sparktrace_tui.nsight.show import Format, Shown, safe

COLUMNS = ("section", "name", "label", "left", "right", "change", "points", "verdict")
_SIGNS = {"better": "+ better", "worse": "- worse", "tie": "= tie", "changed": "  changed", "n/a": "  n/a"}


def pair(left: tuple[Report, ...], right: tuple[Report, ...], kernel: int | None, names: tuple[str, str]) -> tuple[
    Report, Report
]:  # fmt: skip
    """The two reports to compare: kernel N of the first file, and its namesake in the second, else its only one.

    UsageError where the second file holds several kernels and none of that name.
    """
    if not 0 <= (kernel or 0) < len(left):
        raise UsageError(f"{names[0]}: no kernel {kernel}: it holds {len(left)}")
    one = left[kernel or 0]
    alike = [report for report in right if report.launch.kernel == one.launch.kernel]
    if not alike and len(right) > 1:
        held = ", ".join(dict.fromkeys(report.launch.kernel for report in right))
        raise UsageError(f"{names[1]} has no kernel {one.launch.kernel}", hint=f"It has: {held}.")
    return one, (alike or right)[0]


def show_against(
    path: Path | str,
    other: Path | str,
    kernel: int | None = None,
    without: Level | None = None,
    format: Format = "text",
    width: int = 120,
) -> Shown:
    """The document for stdout, and what is to be said beside it. Raises what `read_reports` and `pair` raise."""
    names = (Path(path).name, Path(other).name)
    left, right = pair(read_reports(path), read_reports(other), kernel, names)
    if without:
        left, right = ablate(left, without).report, ablate(right, without).report
    rows = differences(left, right)
    messages = []
    if left.launch.kernel != right.launch.kernel:
        messages.append(f"two kernels: {left.launch.kernel} and {right.launch.kernel}")
    match format:
        case "json":
            document = {
                "left": {"file": names[0], "kernel": left.launch.kernel, "provenance": left.origin.provenance},
                "right": {"file": names[1], "kernel": right.launch.kernel, "provenance": right.origin.provenance},
                "without": without,
                "noise": NOISE,
                "differences": [asdict(row) for row in rows],
            }
            text = json.dumps(document, ensure_ascii=True, indent=1) + "\n"
        case "csv":
            out = io.StringIO()
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(COLUMNS)
            for row in rows:
                writer.writerow(["" if value is None else value for value in asdict(row).values()])
            text = safe(out.getvalue())
        case _:
            text = safe(_text(left, right, rows, names, width))
    return Shown(text, tuple(safe(message) for message in messages))


def _text(
    left: Report, right: Report, rows: tuple[Difference, ...], names: tuple[str, str], width: int
) -> str:  # fmt: skip
    heads = (
        f"left:  {names[0]}: {left.launch.kernel} ({left.origin.provenance})",
        f"right: {names[1]}: {right.launch.kernel} ({right.origin.provenance})",
        f"{summary(rows)}. Better and worse are of the right one; a change under the noise is a tie.",
    )
    lines = [line for head in heads for line in textwrap.wrap(head, width, subsequent_indent=" " * 7)]
    change = max((len(change_words(row)) for row in rows), default=0)
    value = min(max((len(text) for row in rows for text in (row.left, row.right)), default=0), max(width // 6, 18))
    name = max(width - 2 * value - change - 17, 14)
    for section, group in groupby(rows, key=lambda row: row.section):
        lines += ["", f"  {section or 'Metrics on no section'}"]
        for row in group:
            lines += _row(row, name, value, change)
    return "\n".join(lines) + "\n"


def _row(row: Difference, name: int, value: int, change: int) -> list[str]:
    """A row's lines: a label or values that are too long for their columns stand above the rest."""
    end = f"{change_words(row):>{change}} {_SIGNS[row.verdict]}"
    room = name + 2 * value + 6
    if max(len(row.left), len(row.right)) > value:
        texts = (row.label, f"  left:  {row.left}", f"  right: {row.right}")
        above = [f"    {line}" for text in texts for line in textwrap.wrap(text, room, subsequent_indent="  ")]
        return [*above, f"    {'':<{name + 2 * value + 2}} {end}".rstrip()]
    *above, label = textwrap.wrap(row.label, name) or [""]
    cells = f"{label:<{name}} {row.left:>{value}} {row.right:>{value}} {end}"
    return [*(f"    {line}" for line in above), f"    {cells}".rstrip()]


def summary(rows: tuple[Difference, ...]) -> str:
    """How many rows are better, worse, ties, otherwise changed, and not to be compared."""
    counts = Counter(row.verdict for row in rows)
    words: dict[Verdict, str] = {
        "better": "better", "worse": "worse", "tie": "tied", "changed": "changed", "n/a": "n/a on one side",
    }  # fmt: skip
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in words.items() if counts[verdict])
