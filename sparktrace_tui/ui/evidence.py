"""What a report says about a source line, and which of its lines name bank conflicts: pure, from the report alone."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sparktrace_tui.domain.report.ablation import Ablated, ablate
from sparktrace_tui.domain.report.conflicts import Level, metric_reason
from sparktrace_tui.domain.report.report import Metric, Report, Rule, Table, Value

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


def conflicts_of(metrics: Mapping[str, Value]) -> float | None:
    """The bank conflicts of a line or an instruction, None where none of its metrics tells.

    Nsight counts none by instruction; what it calls excessive wavefronts is the nearest it has.
    """
    for counts in (is_conflict_count, _EXCESSIVE.__eq__):
        found = [value for name, value in metrics.items() if isinstance(value, int | float) and counts(name)]
        if found:
            return sum(found)
    return None


_EXCESSIVE = "derived__memory_l1_wavefronts_shared_excessive"


def line_conflicts(report: Report | None) -> Mapping[int, float]:
    """Bank conflicts by 1-based line of the main file, where there were any."""
    found: dict[int, float] = {}
    if report is None:
        return found
    file = main_file(report)
    for line in report.source:
        if line.file == file and (total := conflicts_of(line.metrics)):
            found[line.line] = found.get(line.line, 0.0) + total
    return found


_SECTORS = "memory_l2_theoretical_sectors_global"


def line_sectors(report: Report | None) -> Mapping[int, float]:
    """32-byte sectors of global accesses by 1-based line of the main file, where there were any."""
    found: dict[int, float] = {}
    if report is None:
        return found
    file = main_file(report)
    for line in report.source:
        value = line.metrics.get(_SECTORS)
        if line.file == file and isinstance(value, int | float) and value:
            found[line.line] = found.get(line.line, 0.0) + value
    return found


# What a rule is about where it names no focus metric: parts of the names of per-line metrics, the first found counts.
_RULE_METRICS = {
    "SharedMemoryConflicts": ("data_bank_conflicts", "wavefronts_shared_excessive"),
    "UncoalescedSharedAccess": ("wavefronts_shared_excessive",),
    "UncoalescedGlobalAccess": ("sectors_global_excessive",),
}
# How a load and a store of shared memory look in machine code and in PTX.
_SIDES = {"load": ("LDS", "LDSM", "LD.", "ld.shared"), "store": ("STS", "STSM", "ST.", "st.shared")}


_Row = tuple[int, Mapping[str, Value], str | None]  # a line or an address, its metrics, an instruction's text


@dataclass(frozen=True)
class Place:
    """Where a rule points: a 1-based source line, or, where the report has none, an instruction's address."""

    line: int | None = None
    address: int | None = None


def rule_place(report: Report, rule: Rule) -> Place | None:
    """The place that a rule is about: a line it names, the one that has most of its metrics, or what it marks."""
    if named := re.search(r"\b(?:line|source line|\.cu:)\s*(\d+)\b", rule.text):
        return Place(int(named[1]))
    side = next((side for side in _SIDES if side in rule.title.lower()), None)
    file = main_file(report)
    lines: list[_Row] = [(line.line, line.metrics, None) for line in report.source if line.file == file]
    instructions: list[_Row] = [(item.address, item.metrics, item.text) for item in report.instructions]
    for wanted in (*((name,) for name in rule.focus), *((name,) for name in _RULE_METRICS.get(rule.id, ()))):
        if (line := _most(report, lines, wanted[0], side)) is not None:
            return Place(line)
        if not lines and (address := _most(report, instructions, wanted[0], side)) is not None:
            return Place(address=address)
    marks = [marker for marker in report.markers if marker.rule == rule.id]
    for marker in marks:
        if marker.line is not None:
            return Place(marker.line)
    by_address = {item.address: item for item in report.instructions}
    for marker in marks:
        if marker.address in by_address:
            line = by_address[marker.address].line
            return Place(line) if line is not None and lines else Place(address=marker.address)
    return None


def _most(report: Report, rows: list[_Row], wanted: str, side: str | None) -> int | None:
    """The line (or address) that has most of the metrics whose names hold `wanted`, on the rule's side."""
    best: tuple[float, int] | None = None
    for place, metrics, text in rows:
        total = sum(
            float(value)
            for name, value in metrics.items()
            if wanted in name and isinstance(value, int | float) and _on_side(report, place, name, side, text)
        )
        if total > 0 and (best is None or total > best[0]):
            best = (total, place)
    return best[1] if best else None


def _on_side(report: Report, place: int, metric: str, side: str | None, text: str | None) -> bool:
    """Whether a metric of a place counts loads (or stores): by its name, else by the instructions there."""
    if side is None:
        return True
    if "_op_" in metric:
        return f"_op_{side[:2] if side == 'store' else 'ld'}" in metric
    texts = [text] if text is not None else [item.text for item in report.instructions if item.line == place]
    found = [item.split()[0] for item in texts if item.strip()]
    return not found or any(item.lstrip("@!P0123456789 ").startswith(_SIDES[side]) for item in found)
