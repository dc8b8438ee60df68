"""The tables in the body of a section, rebuilt from the metrics that an .ncu-rep lists for it."""

import re
from collections.abc import Iterable, Mapping, Sequence

from sparktrace_tui.domain.report.report import Metric, Table
from sparktrace_tui.nsight.page import DEFAULT_COLUMNS
from sparktrace_tui.nsight.units import shown

# The library gives the memory tables no body; the groups of metrics behind them stand in the report all the same.
MEMORY_TABLES = {
    "group:memory__shared_table": "Shared Memory",
    "group:memory__first_level_cache_table": "L1/TEX Cache",
    "group:memory__l2_cache_table": "L2 Cache",
    "group:memory__second_level_cache_table": "L2 Cache",
    "group:memory__l2_cache_evict_policy_table": "L2 Cache Eviction Policies",
    "group:memory__dram_table": "Device Memory",
}
_TITLES = {
    "ComputeWorkloadAnalysis": "Pipe Utilization",
    "SchedulerStats": "Warps Per Scheduler",
    "WarpStateStats": "Warp State (All Cycles)",
    "InstructionStats": "Executed Instruction Mix",
    "SpeedOfLight_RooflineChart": "Floating Point Operations Roofline",
}
_UNITS = {
    "l1tex": "L1",
    "lts": "L2",
    "dram": "DRAM",
    "fbpa": "DRAM",
    "idc": "IDC",
    "sm": "SM",
    "smsp": "SMSP",
    "gpu": "GPU",
}
_BREAKDOWN = re.compile(r"breakdown:(\w+?)__(\w+)\.")


def body_tables(section: str, body: Sequence[str], metrics: Mapping[str, Metric]) -> tuple[Table, ...]:
    """The tables of a section's body, titled as Nsight titles them where it says how.

    A memory table keeps the rows that hold a count: most of its hundred rows are 0, and all of them are
    in `raw`.
    """
    tables = []
    if section == "MemoryWorkloadAnalysis_Tables":
        for group, title in MEMORY_TABLES.items():
            if group in metrics:
                keep_all = title == "Shared Memory"
                rows = [metrics[n] for n in _listed(metrics[group]) if n in metrics]
                tables.append(_table(title, (m for m in rows if keep_all or m.value), "Memory Tables"))
    plain: list[Metric] = []
    for name in body:
        metric = metrics.get(name)
        if metric is None:
            continue
        if match := _BREAKDOWN.match(name):
            title = "Memory" if "memory" in match[2] else "Compute"
            parts = [metrics[n] for n in _listed(metric) if n in metrics]
            parts.sort(key=lambda m: -m.value if isinstance(m.value, int | float) else 0)
            tables.append(_breakdown(f"{title} Throughput Breakdown", parts))
        elif name.startswith("group:"):
            parts = [metrics[n] for n in _listed(metric) if n in metrics]
            tables.append(_table(name.removeprefix("group:"), (m for m in parts if m.value), ""))
        elif not name.startswith("launch__occupancy_per"):
            plain.append(metric)
    if plain:
        tables.append(_table(_TITLES.get(section, "More"), plain, ""))
    return tuple(table for table in tables if table.rows)


def _listed(metric: Metric) -> list[str]:
    """The metric names that a group or a breakdown lists."""
    return metric.value.split(",") if isinstance(metric.value, str) else []


def _table(title: str, rows: Iterable[Metric], group: str) -> Table:
    cells = []
    for metric in rows:
        value, unit = shown(metric)
        if isinstance(metric.value, str) and len(metric.value) > 80:
            continue
        cells.append((metric.label or metric.name, unit, value))
    return Table(title, DEFAULT_COLUMNS, tuple(cells), group)


def _breakdown(title: str, parts: Sequence[Metric]) -> Table:
    rows = []
    for metric in parts:
        value, unit = shown(metric)
        rows.append((breakdown_label(metric.name), unit, value))
    return Table(title, DEFAULT_COLUMNS, tuple(rows), "GPU Throughput Breakdown")


def breakdown_label(name: str) -> str:
    """`l1tex__data_bank_reads.avg...` as the page words it, `L1: Data Bank Reads`."""
    unit, _, rest = name.partition("__")
    words = rest.partition(".")[0].split("_")
    return f"{_UNITS.get(unit, unit.upper())}: {' '.join(w.capitalize() for w in words)}"
