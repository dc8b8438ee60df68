"""One line of help for a metric, and which direction is better: our own words, looked up by name or by
label.
"""

from dataclasses import dataclass

from sparktrace_tui.domain.report.report import Metric
from sparktrace_tui.nsight.glossary_entries import DOWN, ENTRIES, NEITHER, STALLS, Better


@dataclass(frozen=True)
class Help:
    """What a metric means, and whether more of it is better for a kernel that does the same work."""

    text: str
    better: Better


_BY_NAME = {name: Help(text, better) for names, text, better in ENTRIES for name in names}


def explain(metric: Metric | str) -> Help | None:
    """Help for a metric (or a name or label); None where there is none. The longest known name decides."""
    for key in (metric,) if isinstance(metric, str) else (metric.name, metric.label):
        if key and (found := _named(key)):
            return found
    return None


def _named(key: str) -> Help | None:
    if found := _BY_NAME.get(key):
        return found
    if "issue_stalled_" in key:
        return _stall(key.partition("issue_stalled_")[2])
    if key.startswith("Stall "):
        return _stall(key.removeprefix("Stall ").lower().replace(" ", "_"))
    parts = key.split(".")
    while len(parts) > 1:
        parts.pop()
        if found := _BY_NAME.get(".".join(parts)):
            return found
    base = parts[0]
    while "_" in base.partition("__")[2]:  # _op_ld, _mem_shared, ...: the wider counter's help
        base = base.rpartition("_")[0]
        if found := _BY_NAME.get(base):
            return found
    return None


def _stall(rest: str) -> Help | None:
    reason = max((k for k in STALLS if rest.startswith(k) or k.startswith(rest)), key=len, default=None)
    if reason is None:
        return None
    better = NEITHER if reason in ("selected", "not_selected") else DOWN
    return Help(f"Time (or samples) in which a warp waited {STALLS[reason]}.", better)


def better(metric: Metric | str) -> Better:
    """Which direction of a metric is better; `neither` where it does not say, or is not known."""
    found = explain(metric)
    return found.better if found else NEITHER
