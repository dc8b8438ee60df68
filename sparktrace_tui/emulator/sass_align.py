"""Which PTX instruction each machine instruction runs with, and how the machine code performs each access.

PTX gives addresses and trip counts, the machine code gives widths, atomic forms and instruction counts. Both are cut
into units (straight code between branches and barriers). Units are matched in order by what they hold: memory
accesses, barriers, shuffles and the source lines of the rest. The assembler may merge units (predication), split
them (a division's checks), and unroll or peel loops beyond the PTX: copies of one PTX unit share its executions by
their sizes, as a loop of that trip count would.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator import flow, ptx_view
from sparktrace_tui.emulator.counters import AccessForm
from sparktrace_tui.emulator.ptx import Kernel
from sparktrace_tui.emulator.sass import PIPES, SassFunction, SassInstruction

Key = tuple[object, ...]
Features = Counter[Key]
_STRONG = frozenset({"memory", "barrier", "pipe"})
_WEIGHT = {"memory": 6.0, "barrier": 6.0, "pipe": 3.0, "line": 1.0}


@dataclass(frozen=True)
class Place:
    """A straight run of machine instructions and what it runs with.

    The run is executed max(executions of `pcs`) times, times its share of a copied loop. `ratio`: how many PTX trips
    one execution covers; copies of one PTX unit (`group`) share its trips, largest ratio first. `entry`: a pc that
    runs once each time the loop is entered. `serialised`: the pc of an atomic that this run's loop retries.
    """

    start: int
    end: int
    pcs: tuple[int, ...]
    ratio: float = 1.0
    group: int | None = None
    entry: int | None = None
    serialised: int | None = None


@dataclass(frozen=True)
class Alignment:
    """A kernel's PTX and machine code, side by side.

    forms: how each PTX access is performed, by pc. places: every run of machine instructions. branches: pcs of the
    PTX branches that are branches in the machine code too. cas_loops: shared atomics that are compare-and-swap
    loops. popc_atomics: shared increments that the hardware merges within a warp. mismatches: what could not be
    reconciled, in words.
    """

    function: SassFunction
    forms: Mapping[int, AccessForm]
    places: tuple[Place, ...]
    branches: frozenset[int]
    cas_loops: frozenset[int]
    popc_atomics: frozenset[int]
    mismatches: tuple[str, ...]
    pipe_matrix: npt.NDArray[np.float64] = field(repr=False, default_factory=lambda: np.zeros((0, 0)))

    def place_executions(
        self, executions: npt.NDArray[np.float64], serialised: Mapping[int, float] | None = None
    ) -> npt.NDArray[np.float64]:
        """Warp executions of each place, from those of the PTX instructions (shape (..., pcs) to (..., places)).

        `serialised` gives an atomic's retries, in executions, by pc, for the whole of `executions`.
        """
        totals = executions.reshape(-1, executions.shape[-1]).sum(axis=0)
        shares = self._shares(totals)
        result = np.zeros((*executions.shape[:-1], len(self.places)))
        for number, place in enumerate(self.places):
            if place.pcs:
                result[..., number] = executions[..., list(place.pcs)].max(axis=-1) * shares[number]
                if place.serialised is not None and serialised and totals[place.serialised]:
                    result[..., number] *= serialised.get(place.serialised, 0.0) / totals[place.serialised]
        return result

    def _shares(self, totals: npt.NDArray[np.float64]) -> list[float]:
        shares = [1.0 / place.ratio for place in self.places]
        groups: dict[int, list[int]] = defaultdict(list)
        for number, place in enumerate(self.places):
            if place.group is not None:
                groups[place.group].append(number)
        for members in groups.values():
            trips_total = float(totals[list(self.places[members[0]].pcs)].max())
            entry = self.places[members[0]].entry
            entries = float(totals[entry]) if entry is not None else 1.0
            trips = left = trips_total / entries if entries else 0.0
            ratios = sorted({self.places[number].ratio for number in members}, reverse=True)
            for ratio in ratios:
                last = ratio == ratios[-1]
                runs = left / ratio if last else float(np.floor(left / ratio + 1e-9))
                left -= runs * ratio
                for number in members:
                    if self.places[number].ratio == ratio:
                        shares[number] = runs / trips if trips else 0.0
        return shares

    def instruction_executions(
        self, executions: npt.NDArray[np.float64], serialised: Mapping[int, float] | None = None
    ) -> npt.NDArray[np.float64]:
        """Warp executions of each machine instruction, from those of the PTX (shape (pcs,))."""
        result = np.zeros(len(self.function.instructions))
        for place, runs in zip(self.places, self.place_executions(executions, serialised), strict=True):
            result[place.start : place.end] = runs
        return result


def align(kernel: Kernel, function: SassFunction) -> Alignment:
    """The alignment of one kernel; nothing is raised: what does not fit is in `mismatches`."""
    return _Aligner(kernel, function).result()


class _Aligner:
    def __init__(self, kernel: Kernel, function: SassFunction) -> None:
        self.kernel, self.function = kernel, function
        self.ops = ptx_view.view(kernel)
        self.ptx_units = flow.units(ptx_view.nodes(self.ops, kernel))
        self.sass_units = flow.units([self._node(i) for i in range(len(function.instructions))])
        self.ptx_features = [self._ptx_features(u) for u in self.ptx_units]
        self.sass_features = [self._sass_features(u) for u in self.sass_units]
        self.mismatches: list[str] = []
        self.cas_loops: set[int] = set()
        self.popc: set[int] = set()

    def _node(self, index: int) -> flow.Node:
        instruction = self.function.instructions[index]
        labels = self.function.labels
        targets: tuple[int, ...] = ()
        if instruction.root in ("BRA", "BRX", "JMP", "BREAK") and instruction.target in labels:
            targets = (labels[instruction.target or ""],)
        conditional = bool(instruction.guard) or "UP" in instruction.operands.partition("`")[0]
        falls = not instruction.ends_block or conditional
        return flow.Node(targets, falls, instruction.root == "BAR" or instruction.root == "CALL")

    def _ptx_features(self, unit: flow.Unit) -> Features:
        features: Features = Counter()
        for op in self.ops[unit.start : unit.end]:
            if op.memory is not None:
                operation = "atomic" if op.memory.operation in ("atomic", "reduction") else op.memory.operation
                features["memory", op.memory.space, operation, op.line] += op.memory.bytes
            elif op.kind == "barrier":
                features["barrier", op.line] += 1
            elif op.kind in ("shuffle", "vote", "redux"):
                features["pipe", op.kind, op.line] += 1
            elif op.kind == "xu" and op.name in ("ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh"):
                features["pipe", "xu", op.line] += 1
            else:
                features["line", op.line] += 1
        return features

    def _sass_features(self, unit: flow.Unit) -> Features:
        features: Features = Counter()
        for index in range(unit.start, unit.end):
            item = self.function.instructions[index]
            if item.memory is not None:
                space, operation = item.memory
                if operation == "reduction":
                    operation = "atomic"
                features["memory", space, operation, item.line] += item.width
            elif item.root == "BAR":
                features["barrier", item.line] += 1
            elif item.pipe in ("shuffle", "vote"):
                features["pipe", item.pipe, item.line] += 1
            elif item.root in ("REDUX", "CREDUX"):
                features["pipe", "redux", item.line] += 1
            elif item.root == "MUFU":
                features["pipe", "xu", item.line] += 1
            else:
                features["line", item.line] += 1
        return features

    def result(self) -> Alignment:
        assigned = self._assign()
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

    def _assign(self) -> dict[int, list[int]]:
        """The PTX units of every machine unit: in-order matches first, then what lies between them."""
        pairs = self._in_order()
        assigned: dict[int, list[int]] = {i: [j] for i, j in pairs}
        self.merged: dict[int, list[int]] = defaultdict(list)
        matched = {j for _, j in pairs}
        for j, wanted in enumerate(self.ptx_features):
            if j in matched or not wanted:
                continue
            before = max((i for i, other in pairs if other < j), default=0)
            after = min((i for i, other in pairs if other > j), default=len(self.sass_units) - 1)
            best = max(
                range(min(before, after), max(before, after) + 1),
                key=lambda i: (_containment(wanted, self.sass_features[i]), i in assigned),
                default=None,
            )
            if best is not None and _containment(wanted, self.sass_features[best]) > 0:
                self.merged[best].append(j)
        for i, unit in enumerate(self.sass_units):
            if i in assigned or self.function.is_helper(unit.start) or self._is_cold(unit):
                continue
            best = max(range(len(self.ptx_units)), key=lambda j: self._likeness(i, j), default=None)
            if best is not None and _containment(self.sass_features[i], self.ptx_features[best]) > 0:
                assigned[i] = [best]
        return assigned

    def _likeness(self, i: int, j: int) -> float:
        """How well machine unit i may be a copy or a part of PTX unit j; a copy may be peeled out of its loop."""
        within = _containment(self.ptx_features[j], self.sass_features[i])
        without = _containment(self.sass_features[i], self.ptx_features[j])
        deeper = self.sass_units[i].depth - self.ptx_units[j].depth
        penalty = 0.3 * deeper if deeper > 0 else -0.05 * deeper
        return max(within, without) + 0.5 * min(within, without) - penalty

    def _is_cold(self, unit: flow.Unit) -> bool:
        """Whether the unit does nothing but call a helper (the slow path of a division or a root)."""
        return self.function.instructions[unit.end - 1].root == "CALL"

    def _in_order(self) -> list[tuple[int, int]]:
        rows, columns = len(self.sass_units), len(self.ptx_units)
        score = np.zeros((rows + 1, columns + 1))
        step = np.zeros((rows + 1, columns + 1), np.int8)
        for i in range(rows):
            helper = self.function.is_helper(self.sass_units[i].start) or self._is_cold(self.sass_units[i])
            for j in range(columns):
                gain = 0.0 if helper else self._similarity(i, j)
                options = (score[i, j + 1], score[i + 1, j], score[i, j] + gain if gain > 0.05 else -1.0)
                choice = int(np.argmax(options))
                score[i + 1, j + 1], step[i + 1, j + 1] = options[choice], choice
        pairs = []
        i, j = rows, columns
        while i and j:
            if step[i, j] == 2:
                i, j = i - 1, j - 1
                pairs.append((i, j))
            elif step[i, j] == 0:
                i -= 1
            else:
                j -= 1
        return pairs[::-1]

    def _similarity(self, i: int, j: int) -> float:
        a, b = self.sass_features[i], self.ptx_features[j]
        keys = set(a) | set(b)
        common = sum(_WEIGHT[str(k[0])] * min(a[k], b[k]) for k in keys)
        either = sum(_WEIGHT[str(k[0])] * max(a[k], b[k]) for k in keys)
        if not common:
            return 0.0
        size = 1 + 0.1 * min(common, 20.0)
        return size * common / either - 0.3 * abs(self.sass_units[i].depth - self.ptx_units[j].depth)

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
            loops = {self.sass_units[k].header for k in by_unit[j]}
            ptx_unit = self.ptx_units[j]
            entry = self.ptx_units[ptx_unit.entry].start if ptx_unit.entry is not None else None
            ratio = self._ratio(i, j, by_unit[j])
            if ptx_unit.depth and (len(loops) > 1 or ratio > 1):
                places.append(Place(unit.start, unit.end, pcs, ratio, j, entry))
            elif retried := self._retried(i):
                places.append(Place(unit.start, unit.end, pcs, serialised=retried))
            else:
                places.append(Place(unit.start, unit.end, pcs))
        return places

    def _pcs(self, units: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.ptx_units[j].start for j in units)

    def _nearest(self, i: int, assigned: dict[int, list[int]]) -> tuple[int, ...]:
        depth = self.sass_units[i].depth
        for k in (*range(i - 1, -1, -1), *range(i + 1, len(self.sass_units))):
            if k in assigned and self.sass_units[k].depth == depth:
                return self._pcs((assigned[k][0],))
        return (0,)

    def _ratio(self, i: int, j: int, members: list[int]) -> float:
        """How many PTX trips one pass of the machine loop (or straight copy) around unit i covers."""
        header = self.sass_units[i].header
        together = [k for k in members if self.sass_units[k].header == header] if header is not None else [i]
        have: Features = Counter()
        for k in together:
            have.update(self.sass_features[k])
        want = Counter(self.ptx_features[j])
        for k in together:
            for merged in self.merged.get(k, ()):
                want.update(self.ptx_features[merged])
        strong = [k for k in want if k[0] in _STRONG and have[k]]
        if strong:
            ratio = max(have[k] / want[k] for k in strong)
        else:
            shared = [k for k in want if have[k]]
            ratio = sum(have[k] for k in shared) / max(1, sum(want[k] for k in shared)) if shared else 1.0
            return float(round(ratio)) if ratio >= 2.5 else 1.0
        return float(round(ratio)) if ratio >= 1.5 else 1.0

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
                wanted[op.memory.space, _family(op.memory.operation), op.line].append(op)
        for key, ops in wanted.items():
            found = [
                item for item in main if item.memory and (item.memory[0], _family(item.memory[1]), item.line) == key
            ]
            if key[1] == "atomic":
                self._atomics(ops, found, forms)
            else:
                self._widths(key, ops, found, forms)
        extra = Counter(
            (item.memory[0], _family(item.memory[1]), item.line) for item in main if item.memory is not None
        )
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
            for index in range(place.start, place.end):
                kept.append(self.function.instructions[index])
                if place.group is not None:
                    self.copies[self.function.instructions[index].offset] = place.ratio
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
        self, key: Key, ops: list[ptx_view.Op], found: list[SassInstruction], forms: dict[int, AccessForm]
    ) -> None:
        space, operation, line = key
        if not found:
            self.mismatches.append(f"line {line}: the PTX has {len(ops)} {space} {operation}s, the machine code none")
            for op in ops:
                assert op.memory is not None
                forms[op.pc] = AccessForm(op.memory.bytes, op.pc)
            return
        ratio = max((self.copies.get(item.offset, 1.0) for item in found), default=1.0)
        widths = Counter(item.width for item in found)
        left = {width: round(count / ratio) for width, count in widths.items()}
        runs = _runs(ops)
        for run in sorted(runs, key=lambda run: -sum(_bytes(op) for op in run)):
            at = 0
            while at < len(run):
                start = _offset(run[at])
                taken = [run[at]]
                for width in sorted((w for w, n in left.items() if n > 0 and w > _bytes(run[at])), reverse=True):
                    group = [op for op in run[at:] if _offset(op) + _bytes(op) <= start + width]
                    if sum(_bytes(op) for op in group) == width:
                        taken = group
                        left[width] -= 1
                        break
                else:
                    own = _bytes(run[at])
                    left[own] = left.get(own, 0) - 1
                total = sum(_bytes(op) for op in taken)
                for op in taken:
                    forms[op.pc] = AccessForm(total, taken[0].pc)
                at += len(taken)
        wrong = {width: count for width, count in left.items() if count and width <= 16}
        if wrong and not self._excused(wrong, space, line):
            have = sum(w * n for w, n in widths.items()) / ratio
            want = sum(_bytes(op) for op in ops)
            self.mismatches.append(
                f"line {line}: the PTX has {len(ops)} {space} {operation}s of {want} bytes a lane, "
                f"the machine code {sum(widths.values()) / ratio:g} of {have:g}"
            )

    def _excused(self, wrong: dict[int, int], space: object, line: object) -> bool:
        """A compare-and-swap loop re-reads what it adds to."""
        return space == "shared" and any(op.line == line and _shared_atomic(op) for op in self.ops)

    def _branches(self) -> frozenset[int]:
        real: Counter[int | None] = Counter()
        for index, item in enumerate(self.function.instructions):
            conditional = bool(item.guard) or "UP" in item.operands.partition("`")[0]
            if item.root in ("BRA", "BRX", "EXIT", "RET") and conditional and not self.function.is_helper(index):
                real[item.line] += 1
        kept = set()
        for op in self.ops:
            if op.name in ("bra", "brx") and op.guarded and real[op.line] > 0:
                real[op.line] -= 1
                kept.add(op.pc)
        return frozenset(kept)


def _shared_atomic(op: ptx_view.Op) -> bool:
    return op.memory is not None and op.memory.space == "shared" and op.name in ("atom", "red")


def _family(operation: str) -> str:
    return "atomic" if operation in ("atomic", "reduction") else operation


def _bytes(op: ptx_view.Op) -> int:
    return op.memory.bytes if op.memory else 0


def _offset(op: ptx_view.Op) -> int:
    return op.memory.offset if op.memory else 0


def _runs(ops: list[ptx_view.Op]) -> list[list[ptx_view.Op]]:
    """Accesses off one base register whose bytes follow on each other, in address order."""
    bases: dict[int | None, list[ptx_view.Op]] = defaultdict(list)
    for op in ops:
        bases[op.memory.base if op.memory else None].append(op)
    runs: list[list[ptx_view.Op]] = []
    for members in bases.values():
        members = sorted(members, key=_offset)
        run = [members[0]]
        for op in members[1:]:
            if _offset(op) == _offset(run[-1]) + _bytes(run[-1]):
                run.append(op)
            else:
                runs.append(run)
                run = [op]
        runs.append(run)
    return runs


def _containment(small: Features, large: Features) -> float:
    """The share of `small` that `large` holds."""
    total = sum(_WEIGHT[str(k[0])] * n for k, n in small.items())
    held = sum(_WEIGHT[str(k[0])] * min(n, large[k]) for k, n in small.items())
    return held / total if total else 0.0


def _pipes(places: list[Place], function: SassFunction) -> npt.NDArray[np.float64]:
    """Machine instructions of each pipe in each place, shape (places, PIPES)."""
    matrix = np.zeros((len(places), len(PIPES)))
    for number, place in enumerate(places):
        for index in range(place.start, place.end):
            matrix[number, PIPES.index(function.instructions[index].pipe)] += 1
    return matrix
