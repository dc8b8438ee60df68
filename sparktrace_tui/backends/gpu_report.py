"""From an .ncu-rep to what a capture holds: the report of the plan's longest launch, and counters of the whole plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.domain.report.serial import report_to_json

DURATION = "gpu__time_duration.sum"
# Shares of a peak cannot be summed: they are the longest launch's.
SHARES = (
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
)


@dataclass(frozen=True)
class ReadReport:
    """What was read of one plan; `report` is None where nothing could be read, and `notes` says why."""

    counters: Mapping[str, float] = field(default_factory=dict)
    report: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()


def read_counters(path: Path, launches: int) -> ReadReport:
    """Read an .ncu-rep of a plan with that many launches. A file that cannot be read is kept, and noted."""
    from sparktrace_tui.nsight.read import read_reports

    try:
        reports = read_reports(path)
    except SparkTraceError as error:
        return ReadReport(notes=(f"{path.name} could not be read: {error.message}",))
    return summarise(reports, launches)


def summarise(reports: Sequence[Report], launches: int) -> ReadReport:
    """Sums over launches of every `.sum` metric, the longest launch's shares, and its report."""
    if not reports:
        return ReadReport(notes=("the report holds no launch",))
    notes = () if len(reports) == launches else (f"the report is partial: {len(reports)} of {launches} launches",)
    longest = max(reports, key=lambda report: _number(report, DURATION) or 0.0)
    counters: dict[str, float] = {}
    for report in reports:
        for metric in report.metrics:
            if metric.name.endswith(".sum") and isinstance(metric.value, int | float):
                counters[metric.name] = counters.get(metric.name, 0) + metric.value
    for name in SHARES:
        value = _number(longest, name)
        if value is not None:
            counters[name] = value
    return ReadReport(dict(sorted(counters.items())), report_to_json(longest), notes)


def _number(report: Report, name: str) -> float | None:
    metric = report.metric(name)
    return float(metric.value) if metric is not None and isinstance(metric.value, int | float) else None
