"""Where a report contradicts itself on bank conflicts: what a rule claims against what other counters say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sparktrace_tui.domain.report.report import Report, Rule

HARDWARE = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
SASS = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
EXCESSIVE = "derived__memory_l1_wavefronts_shared_excessive"
_CLAIM = re.compile(r"([\d.]+)\s*-\s*way\s+bank\s+conflict.*?results\s+in\s+(\d+)\s+bank\s+conflicts", re.S)
_KIND = re.compile(r"for shared (load|store)s|all \d+ shared (load|store) requests")
_NOISE = 0.1


@dataclass(frozen=True)
class Disagreement:
    """Two figures of one report that do not agree: what each says, and the likely reason. `rule` is the
    claim's id.
    """

    rule: str
    claim: float
    other: float
    text: str


def disagreements(report: Report) -> tuple[Disagreement, ...]:
    """What a reader of this report must not take at face value; empty where nothing contradicts.

    The rule takes a hardware counter that includes arbitration with other traffic; the SASS counter has
    only what the access pattern causes. "Excessive" compares with an ideal pattern and is another measure
    again. The rule's N-way is wavefronts over requests, which wide accesses raise without any conflict.
    """
    found: list[Disagreement] = []
    claims: dict[str, int] = {}
    for rule in report.rules:
        match = _CLAIM.search(rule.text)
        kind = _KIND.search(rule.text)
        if match and kind:
            op = "ld" if "load" in kind.group() else "st"
            claims[op] = int(match[2])
            found.extend(_checked(report, rule, op, claims[op], match[1]))
    return (*found, *_measures(report, claims))


def _number(report: Report, name: str) -> float | None:
    metric = report.metric(name)
    value = metric.value if metric is not None else None
    return float(value) if isinstance(value, int | float) else None


def _checked(report: Report, rule: Rule, op: str, claim: int, way: str) -> list[Disagreement]:
    word = "loads" if op == "ld" else "stores"
    found = []
    sass = _number(report, SASS.format(op))
    if sass is not None and abs(claim - sass) > _NOISE * claim:
        reason = "arbitration with other traffic, not the access pattern" if sass == 0 else "part of it is arbitration"
        found.append(
            Disagreement(
                rule.id,
                claim,
                sass,
                f"The rule claims {claim:,} bank conflicts for shared {word}; "
                f"the SASS counter says {sass:,.0f}: {reason}.",
            )
        )
    wavefronts = _number(report, WAVEFRONTS.format(op))
    if wavefronts is not None and wavefronts > claim:
        actual = wavefronts / (wavefronts - claim)
        if abs(float(way) - actual) > _NOISE * actual:
            found.append(
                Disagreement(
                    rule.id,
                    float(way),
                    actual,
                    f"The rule says {way}-way for shared {word}; without conflicts they would take "
                    f"{wavefronts - claim:,.0f} wavefronts of {wavefronts:,.0f}, so it is {actual:.1f}-way: "
                    "wide accesses take several wavefronts each without any conflict.",
                )
            )
    return found


def _measures(report: Report, claims: Mapping[str, int]) -> list[Disagreement]:
    """Whether the excessive wavefronts of all shared accesses are as many as their conflicts."""
    excessive = _number(report, EXCESSIVE)
    counted = [_number(report, HARDWARE.format(op)) for op in ("ld", "st")]
    total = sum(value for value in counted if value is not None) or float(sum(claims.values()))
    if not claims or not excessive or abs(total - excessive) <= _NOISE * total:
        return []
    text = (
        f"{total:,.0f} bank conflicts are counted for shared loads and stores; {excessive:,.0f} wavefronts are called "
        "excessive: they compare with an ideal access pattern, conflicts are what the hardware serialised."
    )
    return [Disagreement("UncoalescedSharedAccess", total, excessive, text)]
