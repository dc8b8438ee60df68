"""Which PTX instruction each machine instruction runs with, and how the machine code performs each access.

PTX gives addresses and trip counts, the machine code gives widths, atomic forms and instruction counts. Both are cut
into units (straight code between branches and barriers), which sass_units matches. The assembler may merge units
(predication), split them (a division's checks), and unroll or peel loops beyond the PTX: copies of one PTX unit share
its executions by their sizes, as a loop of that trip count would.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping
from math import gcd

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator import flow, ptx_view
from sparktrace_tui.emulator.alignment import Alignment, Place
from sparktrace_tui.emulator.counters import AccessForm
from sparktrace_tui.emulator.divisors import MOST, divisors
from sparktrace_tui.emulator.ptx import Kernel
from sparktrace_tui.emulator.sass import PIPES, SassFunction, SassInstruction
from sparktrace_tui.emulator.sass_units import STRONG, Features, Key, Matcher, family

__all__ = ["Alignment", "Place", "align"]


def align(kernel: Kernel, function: SassFunction) -> Alignment:
    """The alignment of one kernel; nothing is raised: what does not fit is in `mismatches`."""
    return _Aligner(kernel, function).result()


class _Aligner(Matcher):
    def __init__(self, kernel: Kernel, function: SassFunction) -> None:
        super().__init__(kernel, function)
        self.mismatches: list[str] = []
        self.cas_loops: set[int] = set()
        self.popc: set[int] = set()
        self.divisors = divisors(kernel)

    def result(self) -> Alignment:
        assigned = self.assign()
        places = self._places(assigned)
        forms = self._forms(places)
        return Alignment(
            function=self.function,
            forms=forms,
            places=tuple(places),
            branches=self._branches(),
            cas_loops=frozenset(self.cas_loops),
            popc_atomics=frozenset(self.popc),
            mismatches=tuple(dict.fromkeys(self.mismatches)),
            pipe_matrix=_pipes(places, self.function),
        )

    def _places(self, assigned: dict[int, list[int]]) -> list[Place]:
        by_unit: dict[int, list[int]] = defaultdict(list)
        for i, targets in assigned.items():
            by_unit[targets[0]].append(i)
        places = []
        for i, unit in enumerate(self.sass_units):
            if i not in assigned:
                pcs = () if self.function.is_helper(unit.start) or self._is_cold(unit) else self._nearest(i, assigned)
                places.append(Place(unit.start, unit.end, pcs))
                continue
            j = assigned[i][0]
            pcs = self._pcs((j, *self.merged.get(i, ())))
            anchor = self._anchor(i, (j, *self.merged.get(i, ())))
            loops = {self.sass_units[k].header for k in by_unit[j]}
            ptx_unit = self.ptx_units[j]
            entry = self.ptx_units[ptx_unit.entry].start if ptx_unit.entry is not None else None
            ratio = self._ratio(i, j) if ptx_unit.depth else 1.0
            if ptx_unit.depth > unit.depth and not self._holds_anchor(i, j):
                places.append(Place(unit.start, unit.end, self._nearest(i, assigned)))
            elif ptx_unit.depth and (len(loops) > 1 or ratio > 1):
                places.append(Place(unit.start, unit.end, pcs, ratio, j, entry, anchor=anchor))
            elif retried := self._retried(i):
                places.append(Place(unit.start, unit.end, pcs, serialised=retried, anchor=anchor))
            else:
                places.append(Place(unit.start, unit.end, pcs, anchor=anchor))
        return places

    def _anchor(self, i: int, units: tuple[int, ...]) -> int | None:
        """The start of the first of these PTX units that machine unit i does something of without a guard."""
        sure: Features = Counter()
        for index in range(self.sass_units[i].start, self.sass_units[i].end):
            item = self.function.instructions[index]
            if not item.guard:
                sure.update(self._sass_feature(item))
        for j in units:
            if any(key[0] in STRONG and sure[key] for key in self.ptx_features[j]):
                return self.ptx_units[j].start
        return None

    def _holds_anchor(self, i: int, j: int) -> bool:
        """Whether machine unit i does any of the accesses, barriers or shuffles of PTX unit j, if it has any."""
        strong = [key for key in self.ptx_features[j] if key[0] in STRONG]
        return not strong or any(self.sass_features[i][key] for key in strong)

    def _pcs(self, units: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.ptx_units[j].start for j in units)

    def _nearest(self, i: int, assigned: dict[int, list[int]]) -> tuple[int, ...]:
        depth = self.sass_units[i].depth
        for k in (*range(i - 1, -1, -1), *range(i + 1, len(self.sass_units))):
            if k in assigned and self.sass_units[k].depth == depth:
                return self._pcs((assigned[k][0],))
        return (0,)

    def _ratio(self, i: int, j: int) -> float:
        """How many PTX trips one pass of the machine loop (or straight copy) around unit i covers."""
        header, depth = self.sass_units[i].header, self.ptx_units[j].depth
        if header is not None and self.sass_units[i].depth >= depth:
            have = self._loop(self.sass_units, self.sass_features, header)
            want = self._loop(self.ptx_units, self.ptx_features, self.ptx_units[j].header)
        else:
            have, want = self.sass_features[i], Counter(self.ptx_features[j])
            for merged in self.merged.get(i, ()):
                if self.ptx_units[merged].depth >= depth:
                    want.update(self.ptx_features[merged])
        strong = [k for k in want if k[0] in STRONG and have[k]]
        if strong:
            # Accesses may be hoisted in from elsewhere: a true copy holds all of its kinds that many times.
            ratio = min(have[k] / want[k] for k in strong)
        else:
            shared = [k for k in want if have[k]]
            ratio = sum(have[k] for k in shared) / max(1, sum(want[k] for k in shared)) if shared else 1.0
            return float(round(ratio)) if ratio >= 2.5 else 1.0
        return float(round(ratio)) if ratio >= 1.5 else 1.0

    def _loop(self, units: list[flow.Unit], features: list[Features], header: int | None) -> Features:
        total: Features = Counter()
        for unit, held in zip(units, features, strict=True):
            if unit.header == header:
                total.update(held)
        return total

    def _retried(self, i: int) -> int | None:
        """The shared atomic whose compare-and-swap loop unit i is, by pc."""
        unit = self.sass_units[i]
        for index in range(unit.start, unit.end):
            item = self.function.instructions[index]
            if item.root == "ATOMS" and ("CAST" in item.opcode or "CAS" in item.opcode):
                for op in self.ops:
                    if _shared_atomic(op) and op.line == item.line and "cas" not in op.parts:
                        return op.pc
        return None

    def _forms(self, places: list[Place]) -> dict[int, AccessForm]:
        forms: dict[int, AccessForm] = {}
        main = self._main_places(places)
        wanted: dict[Key, list[ptx_view.Op]] = defaultdict(list)
        for op in self.ops:
            if op.memory is not None and op.memory.space != "constant":
                wanted[op.memory.space, family(op.memory.operation), op.line].append(op)
        by_kind: dict[tuple[object, object], list[ptx_view.Op]] = defaultdict(list)
        for key, ops in wanted.items():
            if key[1] == "atomic":
                self._atomics(ops, [i for i in main if _key(i) == key], forms)
            else:
                by_kind[key[0], key[1]] += ops
        for (space, operation), ops in by_kind.items():
            self._widths(space, operation, ops, [i for i in main if _key(i)[:2] == (space, operation)], forms)
        extra = Counter(_key(item) for item in main if item.memory is not None)
        retried = {(op.memory.space, "load", op.line) for op in self.ops if op.pc in self.cas_loops and op.memory}
        for key, count in extra.items():
            if key not in wanted and key[0] != "local" and key not in retried:
                self.mismatches.append(f"line {key[2]}: the machine code has {count} {key[0]} {key[1]}s, the PTX none")
        barriers = sum(op.kind == "barrier" for op in self.ops)
        machine = sum(item.root == "BAR" for item in main)
        if (barriers == 0) != (machine == 0) or (barriers > machine):
            self.mismatches.append(f"the PTX has {barriers} barriers, the machine code {machine}")
        return forms

    def _main_places(self, places: list[Place]) -> list[SassInstruction]:
        """The machine instructions, each PTX unit's copies once: the copy with the smallest ratio stands for all."""
        best: dict[int, float] = {}
        for place in places:
            if place.group is not None:
                best[place.group] = min(best.get(place.group, place.ratio), place.ratio)
        kept: list[SassInstruction] = []
        seen: set[tuple[int, int | None]] = set()
        self.copies: dict[int, float] = {}
        for place, unit in zip(places, self.sass_units, strict=True):
            if not place.pcs:
                continue
            if place.group is not None:
                mark = (place.group, unit.header if unit.header is not None else -1 - place.start)
                if place.ratio > best[place.group] or (
                    any(group == place.group and other != mark[1] for group, other in seen)
                ):
                    continue
                seen.add(mark)
            features = set().union(*(self.ptx_features[self._unit_at(pc)] for pc in place.pcs))
            for index in range(place.start, place.end):
                kept.append(self.function.instructions[index])
                item = self.function.instructions[index]
                if place.group is not None and ("memory", *_key(item)) in features:
                    self.copies[item.offset] = place.ratio
        return kept

    def _atomics(self, ops: list[ptx_view.Op], found: list[SassInstruction], forms: dict[int, AccessForm]) -> None:
        line = ops[0].line
        around = [item for item in self.function.instructions if item.line == line]
        votes = any(item.root in ("VOTE", "VOTEU") for item in around)
        elects = any(item.root in ("FLO", "UFLO", "POPC", "UPOPC", "REDUX", "CREDUX") for item in around)
        if not found:
            self.mismatches.append(f"line {line}: the PTX has {len(ops)} atomics, the machine code none")
        for op in ops:
            assert op.memory is not None
            aggregated = votes and elects and op.integer and any(item.guard for item in found)
            forms[op.pc] = AccessForm(op.memory.bytes, op.pc, aggregated)
            if op.memory.space == "shared" and "cas" not in op.parts:
                if any("CAST" in item.opcode or ".CAS" in item.opcode for item in found):
                    self.cas_loops.add(op.pc)
                elif any("POPC" in item.opcode for item in found):
                    self.popc.add(op.pc)

    def _widths(
        self,
        space: object,
        operation: object,
        ops: list[ptx_view.Op],
        found: list[SassInstruction],
        forms: dict[int, AccessForm],
    ) -> None:
        """Match accesses of one kind: runs of neighbours take the widest machine access that their lines have left."""
        left: dict[int | None, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for item in found:
            left[item.line][item.width] += 1.0 / self.copies.get(item.offset, 1.0)
        for run in sorted(self._runs(ops), key=lambda run: (-self._known(run[0]), -sum(_bytes(op) for op in run))):
            at = 0
            while at < len(run):
                group, line, width = self._group(run[at:], left)
                left[line][width] -= 1.0
                for op in group:
                    forms[op.pc] = AccessForm(width, group[0].pc)
                at += len(group)
        total: dict[int, float] = defaultdict(float)
        for widths in left.values():
            for width, count in widths.items():
                total[width] += count
        if all(abs(count) < 0.5 for count in total.values()):
            return  # at most a line was named differently
        for line, widths in left.items():
            if all(abs(count) < 0.5 for count in widths.values()) or self._excused(space, line):
                continue
            mine = [op for op in ops if op.line == line]
            theirs = [item for item in found if item.line == line]
            share = sum(1.0 / self.copies.get(item.offset, 1.0) for item in theirs)
            have = sum(item.width / self.copies.get(item.offset, 1.0) for item in theirs)
            self.mismatches.append(
                f"line {line}: the PTX has {len(mine)} {space} {operation}s of {sum(map(_bytes, mine))} bytes a lane, "
                f"the machine code {share:g} of {have:g}"
            )

    def _known(self, op: ptx_view.Op) -> int:
        """What the address is known to be a multiple of: of two runs that could merge, the aligned one does."""
        if op.memory is None or op.memory.base is None:
            return MOST
        return gcd(self.divisors.get(op.memory.base, 1), op.memory.offset or MOST)

    def _group(
        self, run: list[ptx_view.Op], left: Mapping[int | None, Mapping[int, float]]
    ) -> tuple[list[ptx_view.Op], int | None, int]:
        """The accesses at the start of a run that one machine access performs, its line and its width."""
        start, own = _offset(run[0]), _bytes(run[0])
        for width in (16, 8, 4, 2):
            if width <= own:
                break
            group = [op for op in run if _offset(op) + _bytes(op) <= start + width]
            if sum(_bytes(op) for op in group) != width:
                continue
            for line in dict.fromkeys(op.line for op in group):
                if left[line][width] > 0.5:
                    return group, line, width
        return run[:1], run[0].line, own

    def _runs(self, ops: list[ptx_view.Op]) -> list[list[ptx_view.Op]]:
        """Accesses of one unit off one base register whose bytes follow on each other, in address order."""
        starts = [unit.start for unit in self.ptx_units]
        groups: dict[tuple[int, int | None], list[ptx_view.Op]] = defaultdict(list)
        for op in ops:
            groups[bisect_right(starts, op.pc), op.memory.base if op.memory else None].append(op)
        runs: list[list[ptx_view.Op]] = []
        for members in groups.values():
            members = sorted(members, key=_offset)
            runs.append([members[0]])
            for op in members[1:]:
                if _offset(op) == _offset(runs[-1][-1]) + _bytes(runs[-1][-1]):
                    runs[-1].append(op)
                else:
                    runs.append([op])
        return runs

    def _excused(self, space: object, line: object) -> bool:
        """A compare-and-swap loop re-reads what it adds to."""
        return space == "shared" and any(op.line == line and _shared_atomic(op) for op in self.ops)

    def _branches(self) -> frozenset[int]:
        """PTX branches that are branches of the machine code: not those made predicates, nor those made exits."""
        real: Counter[int | None] = Counter()
        for index, item in enumerate(self.function.instructions):
            conditional = bool(item.guard) or "UP" in item.operands.partition("`")[0]
            if item.root in ("BRA", "BRX", "JMP") and conditional and not self.function.is_helper(index):
                real[item.line] += 1
        kept = set()
        for op in self.ops:
            if op.name in ("bra", "brx") and op.guarded and real[op.line] > 0:
                real[op.line] -= 1
                kept.add(op.pc)
        return frozenset(kept)


def _shared_atomic(op: ptx_view.Op) -> bool:
    return op.memory is not None and op.memory.space == "shared" and op.name in ("atom", "red")


def _key(item: SassInstruction) -> Key:
    if item.memory is None:
        return ("", "", None)
    return (item.memory[0], family(item.memory[1]), item.line)


def _bytes(op: ptx_view.Op) -> int:
    return op.memory.bytes if op.memory else 0


def _offset(op: ptx_view.Op) -> int:
    return op.memory.offset if op.memory else 0


def _pipes(places: list[Place], function: SassFunction) -> npt.NDArray[np.float64]:
    """Machine instructions of each pipe in each place, shape (places, PIPES)."""
    matrix = np.zeros((len(places), len(PIPES)))
    for number, place in enumerate(places):
        for index in range(place.start, place.end):
            matrix[number, PIPES.index(function.instructions[index].pipe)] += 1
    return matrix
