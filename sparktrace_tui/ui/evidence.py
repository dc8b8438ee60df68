"""What a report says about a source line, and which of its lines name bank conflicts: pure, from the report alone."""

import re
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


def line_conflicts(report: Report | None) -> Mapping[int, float]:
    """Bank conflicts by 1-based source line: the sum of the line's conflict counters, where it has any."""
    found: dict[int, float] = {}
    if report is None:
        return found
    for line in report.source:
        values = [
            value
            for name, value in line.metrics.items()
            if metric_reason(name, "names") and "nway" not in name and isinstance(value, int | float)
        ]
        if values and (total := sum(values)) > 0:
            found[line.line] = found.get(line.line, 0.0) + total
    return found


def rule_line(report: Report, rule: Rule) -> int | None:
    """The source line that a rule is about: a line it names, else the one that has most of its focus metrics."""
    if named := re.search(r"\b(?:line|source line|\.cu:)\s*(\d+)\b", rule.text):
        return int(named[1])
    names = set(rule.focus)
    conflict_rule = any(metric_reason(name, "names") for name in names) or rule.id == "SharedMemoryConflicts"
    best: tuple[float, int] | None = None
    for line in report.source:
        total = sum(
            float(value)
            for name, value in line.metrics.items()
            if isinstance(value, int | float)
            and (name in names or (conflict_rule and metric_reason(name, "names") and _same_side(name, rule)))
        )
        if total > 0 and (best is None or total > best[0]):
            best = (total, line.line)
    return best[1] if best else None


def _same_side(name: str, rule: Rule) -> bool:
    title = rule.title.lower()
    if "store" in title:
        return "_st" in name or "store" in name
    if "load" in title:
        return "_ld" in name or "load" in name
    return True
