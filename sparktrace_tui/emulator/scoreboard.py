"""The latency of one warp alone: a dataflow walk over a representative trace, by latency class and by phase.

Within a unit of straight code the assembler is free to reorder, so an instruction issues when its operands are ready;
between units the order is kept: no unit starts before all of the last one has issued. What is kept is not a time but
the make-up of the critical path, in counts of latency classes, so that any profile can price it at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator.counters import AccessForm
from sparktrace_tui.emulator.ptx_view import Op

# A latency class is a key of the profile's [latency], or ("global", pc) for a load priced by where it hits.
LatencyClass = str | tuple[str, int]
_CLASS = {"vote": "alu", "redux": "shuffle", "divide": "xu", "barrier": "barrier"}
# What a division costs beyond a reciprocal: the Newton steps are a chain of about ten fused multiply-adds.
_DIVIDE_CHAIN = 10


@dataclass(frozen=True)
class PhaseLatency:
    """The critical path of one phase of one warp: how often each latency class stands on it, and issue slots."""

    counts: Mapping[LatencyClass, float]


class _Path:
    """A time at nominal latencies, and the chain of classes that led to it (a persistent list)."""

    __slots__ = ("kind", "parent", "time")

    def __init__(self, time: float, kind: LatencyClass | None = None, parent: "_Path | None" = None) -> None:
        self.time, self.kind, self.parent = time, kind, parent

    def after(self, kind: LatencyClass, cost: float) -> "_Path":
        return _Path(self.time + cost, kind, self)


def phases(
    ops: Sequence[Op],
    leaders: Mapping[int, int],
    forms: Mapping[int, AccessForm],
    trace: npt.NDArray[np.int32],
    nominal: Mapping[LatencyClass, float],
) -> list[PhaseLatency]:
    """The latency of each phase of the trace, split where a barrier ends it; equal phases are walked once.

    leaders: pcs where a unit starts, and how many passes of it the assembler unrolled into one. nominal: latencies in
    clocks that choose the critical path.
    """
    barriers = frozenset(op.pc for op in ops if op.kind == "barrier")
    cuts = [i + 1 for i, pc in enumerate(trace) if int(pc) in barriers]
    bounds = [0, *cuts, *([len(trace)] if not cuts or cuts[-1] != len(trace) else [])]
    seen: dict[bytes, PhaseLatency] = {}
    found = []
    for start, end in pairwise(bounds):
        part = trace[start:end]
        key = part.tobytes()
        if key not in seen:
            seen[key] = _walk(ops, leaders, forms, part, nominal)
        found.append(seen[key])
    return found


def _walk(
    ops: Sequence[Op],
    leaders: Mapping[int, int],
    forms: Mapping[int, AccessForm],
    part: npt.NDArray[np.int32],
    nominal: Mapping[LatencyClass, float],
) -> PhaseLatency:
    start = _Path(0.0)
    ready: dict[int, _Path] = {}
    last = start
    slots = 0
    unit_start = start
    window, taken = -1, 0
    for pc in part.tolist():
        op = ops[pc]
        passes = leaders.get(pc)
        if passes is not None and window == pc and taken < passes:
            taken += 1
        elif passes is not None:
            window, taken = pc, 1
            floor = unit_start.time + slots
            unit_start = last if last.time >= floor else _issue(unit_start, slots)
            slots = 0
            last = unit_start
        form = forms.get(pc)
        counted = form is None or form.leader == pc
        slots += counted
        issue = unit_start
        for slot in op.reads:
            path = ready.get(slot)
            if path is not None and path.time > issue.time:
                issue = path
        if issue.time > last.time:
            last = issue
        done = issue
        for kind in _classes(op):
            done = done.after(kind, nominal[kind])
        for slot in op.writes:
            ready[slot] = done
        if op.kind == "barrier":
            last = done if done.time > last.time else last.after("barrier", nominal["barrier"])
    floor = unit_start.time + slots
    final = last if last.time >= floor else _issue(unit_start, slots)
    return PhaseLatency(_composition(final))


def _issue(path: _Path, slots: int) -> _Path:
    return _Path(path.time + slots, ("issue", slots), path)


def _classes(op: Op) -> tuple[LatencyClass, ...]:
    if op.memory is not None:
        match op.memory.space, op.memory.operation:
            case "shared", "load":
                return ("shared",)
            case "shared", "atomic" | "reduction":
                return ("atomic_shared",)
            case "global" | "local", "load":
                return (("global", op.pc),)
            case "global", "atomic":
                return ("l2",)
            case "constant", _:
                return ("uniform",)
            case _:
                return ()
    match op.kind:
        case "divide":
            return ("xu", *("fma",) * _DIVIDE_CHAIN)
        case "branch":
            return ()
    return (_CLASS.get(op.kind, op.kind),)


def _composition(path: _Path | None) -> dict[LatencyClass, float]:
    counts: dict[LatencyClass, float] = {}
    while path is not None:
        match path.kind:
            case None:
                pass
            case ("issue", int(slots)):
                counts["issue"] = counts.get("issue", 0.0) + slots
            case kind:
                counts[kind] = counts.get(kind, 0.0) + 1.0
        path = path.parent
    return counts
