"""Control flow of PTX and machine code alike: units of straight code between branches and barriers, and their loops."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Node:
    """One instruction as control flow sees it.

    targets: instruction indices it may jump to. falls: whether the next instruction may follow. barrier: it ends a
    unit without ending the flow. leader: something jumps here, or a label stands here.
    """

    targets: tuple[int, ...] = ()
    falls: bool = True
    barrier: bool = False


@dataclass
class Unit:
    """A half-open range of instructions that runs as one; `depth` is its loop depth, `header` its innermost loop's
    first unit (None outside loops), `entry` the unit before that loop."""

    start: int
    end: int
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    depth: int = 0
    header: int | None = None
    entry: int | None = None


def units(nodes: Sequence[Node]) -> list[Unit]:
    """The units of a function, in address order, with natural loops found by dominators."""
    if not nodes:
        return []
    leaders = {0}
    for index, node in enumerate(nodes):
        if node.targets or not node.falls or node.barrier:
            leaders.update(target for target in node.targets if target < len(nodes))
            leaders.add(index + 1)
    leaders.discard(len(nodes))
    starts = sorted(leaders)
    found = [Unit(start, end) for start, end in zip(starts, [*starts[1:], len(nodes)], strict=True)]
    by_start = {unit.start: number for number, unit in enumerate(found)}
    for number, unit in enumerate(found):
        last = nodes[unit.end - 1]
        following = [by_start[target] for target in last.targets if target in by_start]
        if last.falls and number + 1 < len(found):
            following.append(number + 1)
        unit.successors = sorted(set(following))
        for successor in unit.successors:
            found[successor].predecessors.append(number)
    _loops(found)
    return found


def _dominators(found: list[Unit]) -> list[set[int]]:
    everything = set(range(len(found)))
    dominators = [{0}] + [set(everything) for _ in found[1:]]
    changed = True
    while changed:
        changed = False
        for number in range(1, len(found)):
            sets = [dominators[p] for p in found[number].predecessors]
            new = (set.intersection(*sets) if sets else set()) | {number}
            if new != dominators[number]:
                dominators[number] = new
                changed = True
    return dominators


def _loops(found: list[Unit]) -> None:
    dominators = _dominators(found)
    bodies: dict[int, set[int]] = {}
    for number, unit in enumerate(found):
        for header in unit.successors:
            if header in dominators[number]:
                body = bodies.setdefault(header, {header})
                stack = [number]
                while stack:
                    current = stack.pop()
                    if current not in body:
                        body.add(current)
                        stack.extend(found[current].predecessors)
    for header, body in sorted(bodies.items(), key=lambda item: -len(item[1])):
        outside = [p for p in found[header].predecessors if p not in body]
        for number in body:
            found[number].depth += 1
            found[number].header = header
            found[number].entry = outside[0] if outside else None
