"""`sparktrace emulate FILE.cu --plan PLAN.toml`: counters and modelled time of a kernel of the user's own."""

import argparse
from pathlib import Path
from typing import Any

from sparktrace_tui.backends.client import Client
from sparktrace_tui.backends.protocol import Options
from sparktrace_tui.backends.select import choose_backend
from sparktrace_tui.cli.output import emit, harmless, say, table
from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.domain.report.serial import report_from_json
from sparktrace_tui.nsight.text import render


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.file).expanduser()
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotReadOrWrite(f"cannot read {path}: {error}") from error
    _, device = choose_backend("emulated", arguments.device)
    options = Options(seed=arguments.seed, sampling=not arguments.no_sampling)
    with Client("emulated", device) as client:
        document = client.emulate(source, path.name, options, plan=Path(arguments.plan).expanduser())
    for note in document["notes"]:
        say(f"note: {note}")
    emit(document, arguments.format, _text(document, source, arguments.lines), _rows(document))
    return 1 if document["faults"] else 0


def _rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    if document["faults"]:
        return [{"kind": fault["kind"], "line": fault["line"], "text": fault["text"]} for fault in document["faults"]]
    return [{"counter": name, "value": value} for name, value in document["counters"].items()]


def _text(document: dict[str, Any], source: str, lines: bool) -> str:
    if document["faults"]:
        return "\n".join(f"{fault['kind']}: {fault['text']}" for fault in document["faults"])
    report = report_from_json(document["report"])
    shares = ", ".join(f"{name} {share:.0%}" for name, share in document["shares"].items() if share >= 0.005)
    time = f"{document['time_ms']:.4g} ms modelled ({document['device']} · emulated)"
    head = f"{time}, bound by {document['bound']}: {shares}"
    return f"{head}\n\n{margin(report, source) if lines else render(report, width=120)}"


def margin(report: Report, source: str) -> str:
    """The source with warp instructions, bank conflicts and global sectors of each line in the margin."""
    by_line = {line.line: line.metrics for line in report.source}
    rows = []
    for number, text in enumerate(source.splitlines(), 1):
        metrics = by_line.get(number, {})
        rows.append((number, *(_figure(metrics.get(name)) for name in MARGIN.values()), text))
    return table(("line", *MARGIN, "source"), rows, right=(0, 1, 2, 3))


MARGIN = {
    "instructions": "inst_executed",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared",
    "sectors": "memory_l2_theoretical_sectors_global",
}


def _figure(value: Any) -> str:
    return "" if value is None else harmless(f"{value:,.0f}" if isinstance(value, int | float) else str(value))
