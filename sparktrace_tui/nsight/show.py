"""What `sparktrace report` prints: a file read, ablated if asked, as text, JSON or CSV."""

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.domain.report.ablation import Ablated, Removed, ablate
from sparktrace_tui.domain.report.conflicts import Level
from sparktrace_tui.domain.report.disagreements import disagreements
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.domain.report.serial import report_to_json
from sparktrace_tui.nsight.ablate_text import ablate_bytes
from sparktrace_tui.nsight.decode import decode
from sparktrace_tui.nsight.read import read_bytes, read_reports
from sparktrace_tui.nsight.text import render
from sparktrace_tui.nsight.units import shown

Format = Literal["text", "json", "csv"]
CSV_COLUMNS = ("kernel_index", "kernel", "kind", "section", "name", "label", "unit", "value", "text")
# Controls (terminal escapes), lone surrogates and marks that turn the direction of text.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Shown:
    """One document for stdout, and lines for stderr: what an ablation took out and why, what contradicts."""

    text: str
    messages: tuple[str, ...]


def show(
    path: Path | str,
    kernel: int | None = None,
    without: Level | None = None,
    format: Format = "text",
    width: int = 120,
) -> str:
    """The document for stdout; `show_with_messages` also says what was removed."""
    return show_with_messages(path, kernel, without, format, width).text


def show_with_messages(
    path: Path | str,
    kernel: int | None = None,
    without: Level | None = None,
    format: Format = "text",
    width: int = 120,
) -> Shown:
    """A file's reports (one of them if `kernel`, counted from 0, is given), ablated to level `without`.

    What was removed is told in the messages alone, so that the document itself holds none of it. Raises
    UsageError for a kernel that is not there, and whatever `read_reports` raises.
    """
    reports = read_reports(path)
    chosen = list(enumerate(reports))
    if kernel is not None:
        if not 0 <= kernel < len(reports):
            raise UsageError(
                f"{Path(path).name}: no kernel {kernel}: it holds {len(reports)}",
                hint=f"choose --kernel 0 to {len(reports) - 1}",
            )
        chosen = [chosen[kernel]]
    results = [(index, ablate(report, without) if without else Ablated(report, ())) for index, report in chosen]
    messages: list[str] = []
    for index, result in results:
        where = f"kernel {index}" if len(reports) > 1 else ""
        if without:
            messages.extend(removal_lines(result.removed, where))
        else:
            messages.extend(d.text for d in disagreements(result.report))
    if without and all(result.identical for _, result in results):
        messages.append(f"nothing to remove: at level {without} the report is the same as without it")
    found = [(index, result.report) for index, result in results]
    match format:
        case "json":
            text = _json(found, without, sum(len(result.removed) for _, result in results))
        case "csv":
            text = _csv(found)
        case _:
            text = "\n".join(safe(render(report, width)) for _, report in found)
    return Shown(text, tuple(safe(message) for message in messages))


def removal_lines(removed: tuple[Removed, ...], where: str = "") -> list[str]:
    """Removals in words, one line each, alike ones (per-instruction counts, say) counted together."""
    counts: dict[tuple[str, str, str], int] = {}
    for item in removed:
        name = item.what.partition(" = ")[0] if item.where.startswith("instruction") else item.what
        place = "instructions" if item.where.startswith("instruction") else item.where
        counts[(name, place, item.why)] = counts.get((name, place, item.why), 0) + 1
    lead = f"{where}: " if where else ""
    return [
        f"{lead}removed from {place}: {' '.join(name.split())}{f' ({n} times)' if n > 1 else ''}: {why}"
        for (name, place, why), n in counts.items()
    ]


def safe(text: str) -> str:
    """Text from outside without terminal escapes, other controls and direction marks; lines and tabs stay."""
    return _UNSAFE.sub("\ufffd", text)


def raw_text(path: Path | str, without: Level | None = None) -> tuple[str, tuple[Removed, ...]]:
    """A text or CSV file as it stands, or byte for byte so but for what an ablation takes out."""
    data = read_bytes(Path(path))
    removed: tuple[Removed, ...] = ()
    if without:
        data, removed = ablate_bytes(data, without)
    return decode(data).text, removed


def _json(found: list[tuple[int, Report]], without: Level | None, removed: int) -> str:
    document = {
        "without": without,
        "removed": removed,
        "reports": [{"index": index, **report_to_json(report)} for index, report in found],
    }
    return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def _csv(found: list[tuple[int, Report]]) -> str:
    """One record a metric or rule; rules have their text in the last column."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for index, report in found:
        start = (index, report.launch.kernel)
        for section in report.sections:
            for metric in section.metrics:
                value, unit = shown(metric)
                writer.writerow((*start, "metric", section.name, metric.name, metric.label, unit, value, ""))
            for rule in section.rules:
                speedup = "" if rule.speedup is None else f"{rule.speedup:.4g}"
                kind = f"rule {rule.severity}"
                writer.writerow((*start, kind, section.name, rule.id, rule.title, "%", speedup, rule.text))
        for metric in report.raw:
            value, unit = shown(metric)
            writer.writerow((*start, "metric", "", metric.name, metric.label, unit, value, ""))
    return safe(out.getvalue())
