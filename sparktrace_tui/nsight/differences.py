"""Two reports side by side: every metric with both values, what changed, which way is better, and what is a tie."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sparktrace_tui.domain.kernel.key import TOO_CLOSE_TO_MODEL
from sparktrace_tui.domain.report.report import Metric, Report, Value
from sparktrace_tui.nsight.glossary import better
from sparktrace_tui.nsight.units import normalise, shown

Verdict = Literal["better", "worse", "tie", "changed", "n/a"]
# What two profiles of one launch on one GPU may differ by, where nothing was changed: our own choice, on the wide side
# of what Nsight Compute's repeated passes show with clocks locked. Emulated counts are exact: only equal ones tie.
NOISE = 0.02
RULES = "Rules"


@dataclass(frozen=True)
class Difference:
    """One row. left and right are as their reports print them, with units; `n/a` where one has none.

    change is right over left less one, None where the two cannot be compared. points: the values are percentages,
    and this is their difference. verdict is of the right one; `changed` where neither direction is better.
    """

    section: str
    name: str
    label: str
    left: str
    right: str
    change: float | None
    points: float | None
    verdict: Verdict


def differences(left: Report, right: Report) -> tuple[Difference, ...]:
    """The metrics of both reports, in the left one's order, then the right one's alone; then the rules that fired.

    Metrics are matched by Nsight's name, else by label within their section. Values are compared in base units. A
    change up to NOISE is a tie; of two emulated figures equal ones alone, but times up to 1.25 apart, which the model
    cannot tell.
    """
    others = dict(_keyed(right))
    emulated = "emulated" in (left.origin.provenance, right.origin.provenance)
    exact = left.origin.provenance == right.origin.provenance == "emulated"
    found = []
    for key, (section, metric) in _keyed(left):
        match = others.pop(key, None)
        found.append(_difference(section, metric, match[1] if match else None, emulated, exact))
    for section, metric in others.values():
        found.append(_difference(section, None, metric, emulated, exact))
    return (*found, *_rules(left, right))


def _keyed(report: Report) -> Iterator[tuple[tuple[str, str], tuple[str, Metric]]]:
    seen: set[tuple[str, str]] = set()
    places = [(section.name or section.id, metric) for section in report.sections for metric in section.metrics]
    for section, metric in (*places, *(("", metric) for metric in report.raw)):
        key = ("", metric.name) if metric.name else (section, metric.label)
        if key not in seen:
            seen.add(key)
            yield key, (section, metric)


def _difference(section: str, left: Metric | None, right: Metric | None, emulated: bool, exact: bool) -> Difference:
    metric = left or right
    assert metric is not None
    change, points, verdict = _judged(left, right, emulated, exact)
    return Difference(
        section, metric.name, metric.label or metric.name, _text(left), _text(right), change, points, verdict
    )


def _judged(
    left: Metric | None, right: Metric | None, emulated: bool, exact: bool
) -> tuple[float | None, float | None, Verdict]:
    if left is None or right is None or left.value is None or right.value is None:
        return None, None, "n/a"
    before, unit = normalise(left.value, left.unit)
    after, other_unit = normalise(right.value, right.unit)
    one, two = _number(before), _number(after)
    if one is None or two is None or unit != other_unit:
        return None, None, "tie" if before == after and unit == other_unit else "changed"
    points = two - one if unit == "%" else None
    if one == two:
        return 0.0, points, "tie"
    change = (two - one) / abs(one) if one else None
    if _is_noise(one, two, unit, emulated, exact):
        return change, points, "tie"
    match better(left):
        case "neither":
            return change, points, "changed"
        case "higher":
            return change, points, "better" if two > one else "worse"
        case _:
            return change, points, "better" if two < one else "worse"


def _is_noise(one: float, two: float, unit: str, emulated: bool, exact: bool) -> bool:
    small, large = sorted((abs(one), abs(two)))
    if one * two <= 0:
        return False
    if emulated and unit == "ns":
        return large < small * TOO_CLOSE_TO_MODEL
    return not exact and large <= small * (1 + NOISE)


def _number(value: Value) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return float(value)


def _text(metric: Metric | None) -> str:
    if metric is None:
        return "n/a"
    value, unit = shown(metric)
    return f"{value} {unit}".strip() if metric.value is not None else "n/a"


def _rules(left: Report, right: Report) -> Iterator[Difference]:
    """The rules that fired, by title, with their estimates; one that did not fire is `-`."""
    fired = [{(r.id, r.title): r for r in report.rules} for report in (left, right)]
    for key in dict.fromkeys((*fired[0], *fired[1])):
        one, two = (rules.get(key) for rules in fired)
        rule = one or two
        assert rule is not None
        texts = [
            "-" if r is None else "fired" if r.speedup is None else f"fired, est. speedup {r.speedup:.3g}%"
            for r in (one, two)
        ]
        verdict: Verdict = "tie" if texts[0] == texts[1] else "changed"
        yield Difference(RULES, rule.id, rule.title or rule.id, texts[0], texts[1], None, None, verdict)


def change_words(row: Difference) -> str:
    """What changed, in a few characters: points of percentages, a percentage, or a factor where it is large."""
    if row.points is not None:
        return "0" if row.points == 0 else f"{row.points:+.3g} points"
    if row.change is None:
        return ""
    if row.change == 0:
        return "0"
    if row.change >= 1:
        return f"x{row.change + 1:.3g}"
    return f"{row.change:+.2%}" if abs(row.change) < 0.1 else f"{row.change:+.1%}"
