"""What a report says about a source line, and which of its lines name bank conflicts: pure, from the report alone."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sparktrace_tui.domain.report.ablation import Ablated, ablate
from sparktrace_tui.domain.report.conflicts import Level, metric_reason
from sparktrace_tui.domain.report.report import Metric, Report, Rule, Table

Shown = Literal["shown", "names", "strict"]
SHOWN: tuple[Shown, ...] = ("shown", "names", "strict")


@dataclass(frozen=True)
class Evidence:
    """A report as it is shown. `flagged` holds the parts that the `names` ablation takes out or changes."""

    report: Report
    level: Shown
    removed: int = 0
    flagged: frozenset[int] = frozenset()

    def is_flagged(self, part: Metric | Rule | Table) -> bool:
        return id(part) in self.flagged


class _ById:
    """A report as a cache key: by identity, since reports are large."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def __hash__(self) -> int:
        return id(self.report)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.report is self.report


def evidence(report: Report, level: Shown) -> Evidence:
    """The report at a level of the toggle; the last few are kept, so that toggling repaints at once."""
    return _evidence(_ById(report), level)


@lru_cache(maxsize=8)
def _ablated(key: _ById, level: Level) -> Ablated:
    return ablate(key.report, level)


@lru_cache(maxsize=8)
def _evidence(key: _ById, level: Shown) -> Evidence:
    report = key.report
    if level != "shown":
        found = _ablated(key, level)
        return Evidence(found.report, level, len(found.removed))
    kept = _ablated(key, "names").report
    flagged: set[int] = set()
    for section, left in zip(report.sections, kept.sections, strict=True):
        if section is left:
            continue
        for parts, remaining in (
            (section.metrics, left.metrics),
            (section.rules, left.rules),
            (section.tables, left.tables),
        ):
            still = {id(part) for part in remaining}
            flagged.update(id(part) for part in parts if id(part) not in still)
    return Evidence(report, level, 0, frozenset(flagged))


def is_conflict_count(name: str) -> bool:
    """Whether a per-line or per-instruction metric counts shared-memory bank conflicts."""
    return bool(metric_reason(name, "names")) and "nway" not in name


def main_file(report: Report) -> str | None:
    """The source file of which a report holds the most lines, None where it holds none."""
    lines = Counter(line.file for line in report.source)
    return max(lines, key=lambda file: lines[file]) if lines else None


def line_conflicts(report: Report | None) -> Mapping[int, float]:
    """Bank conflicts by 1-based line of the main file: the sum of the line's conflict counters, where it has any."""
    found: dict[int, float] = {}
    if report is None:
        return found
    file = main_file(report)
    for line in report.source:
        values = [
            value for name, value in line.metrics.items() if is_conflict_count(name) and isinstance(value, int | float)
        ]
        if line.file == file and values and (total := sum(values)) > 0:
            found[line.line] = found.get(line.line, 0.0) + total
    return found


# What a rule is about where it names no focus metric: part of the name of a per-line metric.
_RULE_METRICS = {
    "SharedMemoryConflicts": "data_bank_conflicts",
    "UncoalescedSharedAccess": "wavefronts_shared_excessive",
    "UncoalescedGlobalAccess": "sectors_global_excessive",
}
# How a load and a store of shared memory look in machine code and in PTX.
_SIDES = {"load": ("LDS", "LDSM", "LD.", "ld.shared"), "store": ("STS", "STSM", "ST.", "st.shared")}


def rule_line(report: Report, rule: Rule) -> int | None:
    """The source line that a rule is about: a line it names, else the one that has most of its metrics."""
    if named := re.search(r"\b(?:line|source line|\.cu:)\s*(\d+)\b", rule.text):
        return int(named[1])
    about = _RULE_METRICS.get(rule.id)
    side = next((side for side in _SIDES if side in rule.title.lower()), None)
    best: tuple[float, int] | None = None
    for line in report.source:
        total = sum(
            float(value)
            for name, value in line.metrics.items()
            if isinstance(value, int | float)
            and (
                name in rule.focus or (about is not None and about in name and _on_side(report, line.line, name, side))
            )
        )
        if total > 0 and (best is None or total > best[0]):
            best = (total, line.line)
    return best[1] if best else None


def _on_side(report: Report, line: int, metric: str, side: str | None) -> bool:
    """Whether a line's metric counts loads (or stores): by its name, else by the instructions of the line."""
    if side is None:
        return True
    if "_op_" in metric:
        return f"_op_{side[:2] if side == 'store' else 'ld'}" in metric
    found = [item.text.split()[0] for item in report.instructions if item.line == line and item.text.strip()]
    return not found or any(text.lstrip("@!P0123456789 ").startswith(_SIDES[side]) for text in found)
