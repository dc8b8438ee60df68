"""Units of PTX and of machine code, matched in order by what they hold: accesses, barriers, shuffles, source lines."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np

from sparktrace_tui.emulator import flow, ptx_view
from sparktrace_tui.emulator.ptx import Kernel
from sparktrace_tui.emulator.sass import SassFunction, SassInstruction

Key = tuple[object, ...]
Features = Counter[Key]
# Features that a unit cannot have by chance, and what each kind weighs when units are compared.
STRONG = frozenset({"memory", "barrier", "pipe"})
_WEIGHT = {"memory": 6.0, "barrier": 6.0, "pipe": 3.0, "line": 1.0}


class Matcher:
    """Both sides' units and features; `assigned` gives the PTX unit of a machine unit, `merged` those beside it that
    the assembler folded into the same machine unit."""

    def __init__(self, kernel: Kernel, function: SassFunction) -> None:
        self.kernel, self.function = kernel, function
        self.ops = ptx_view.view(kernel)
        self.ptx_units = flow.units(ptx_view.nodes(self.ops, kernel))
        self.sass_units = flow.units([self._node(i) for i in range(len(function.instructions))])
        self.ptx_features = [self._ptx_features(u) for u in self.ptx_units]
        self.sass_features = [self._sass_features(u) for u in self.sass_units]

    def _node(self, index: int) -> flow.Node:
        instruction = self.function.instructions[index]
        labels = self.function.labels
        # Up to compute capability 8.9 a CALL into the kernel's own code is a jump.
        jumps = instruction.root == "CALL" and not self._calls_helper(index)
        targets: tuple[int, ...] = ()
        if (jumps or instruction.root in ("BRA", "BRX", "JMP", "BREAK")) and instruction.target in labels:
            targets = (labels[instruction.target or ""],)
        conditional = bool(instruction.guard) or "UP" in instruction.operands.partition("`")[0]
        falls = not (jumps or instruction.ends_block) or conditional
        return flow.Node(targets, falls, instruction.root in ("BAR", "CALL") and not jumps)

    def _calls_helper(self, index: int) -> bool:
        instruction = self.function.instructions[index]
        target = self.function.labels.get(instruction.target or "")
        return instruction.root == "CALL" and (target is None or self.function.is_helper(target))

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
            features.update(self._sass_feature(self.function.instructions[index]))
        return features

    def _sass_feature(self, item: SassInstruction) -> dict[Key, int]:
        if item.memory is not None:
            return {("memory", item.memory[0], family(item.memory[1]), item.line): item.width}
        if item.root == "BAR":
            return {("barrier", item.line): 1}
        if item.pipe in ("shuffle", "vote"):
            return {("pipe", item.pipe, item.line): 1}
        if item.root in ("REDUX", "CREDUX"):
            return {("pipe", "redux", item.line): 1}
        if item.root == "MUFU":
            return {("pipe", "xu", item.line): 1}
        return {("line", item.line): 1}

    def assign(self) -> dict[int, list[int]]:
        """The PTX units of every machine unit: in-order matches first, then what lies between them."""
        self.merged: dict[int, list[int]] = defaultdict(list)
        if not self.sass_units:
            return {}
        pairs = self._in_order()
        assigned: dict[int, list[int]] = {i: [j] for i, j in pairs}
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
        loops = self._loop_pairs(pairs)
        for i, unit in enumerate(self.sass_units):
            if i in assigned or self.function.is_helper(unit.start) or self._is_cold(unit):
                continue
            best = self._best(i, pairs, loops)
            if best is not None and _containment(self.sass_features[i], self.ptx_features[best]) > 0:
                assigned[i] = [best]
        return assigned

    def _loop_pairs(self, pairs: list[tuple[int, int]]) -> dict[int, int]:
        """For each machine loop (by header) the PTX loop that most of its matched units lie in."""
        votes: dict[int, Counter[int]] = defaultdict(Counter)
        for i, j in pairs:
            mine, theirs = self.sass_units[i].header, self.ptx_units[j].header
            if mine is not None and theirs is not None:
                votes[mine][theirs] += 1
        return {header: counts.most_common(1)[0][0] for header, counts in votes.items()}

    def _best(self, i: int, pairs: list[tuple[int, int]], loops: Mapping[int, int]) -> int | None:
        """The PTX unit that an unmatched machine unit belongs to: of its loop, between its neighbours, or anywhere."""
        everywhere = range(len(self.ptx_units))
        header = self.sass_units[i].header
        if header is not None and header in loops:
            inside = [j for j in everywhere if self.ptx_units[j].header == loops[header]]
            return max(inside, key=lambda j: self._likeness(i, j), default=None)
        low = max((j for k, j in pairs if k < i), default=0)
        high = min((j for k, j in pairs if k > i), default=len(self.ptx_units) - 1)
        anchors = [key for key in self.sass_features[i] if key[0] in STRONG]
        near = [
            j
            for j in range(low, high + 1)
            if self.ptx_units[j].depth == self.sass_units[i].depth
            and (not anchors or any(self.ptx_features[j][key] for key in anchors))
            and _containment(self.sass_features[i], self.ptx_features[j]) > 0
        ]
        return max(near or everywhere, key=lambda j: self._likeness(i, j), default=None)

    def _likeness(self, i: int, j: int) -> float:
        """How well machine unit i may be a copy or a part of PTX unit j; a copy may be peeled out of its loop."""
        within = _containment(self.ptx_features[j], self.sass_features[i])
        without = _containment(self.sass_features[i], self.ptx_features[j])
        deeper = self.sass_units[i].depth - self.ptx_units[j].depth
        penalty = 0.3 * deeper if deeper > 0 else -0.05 * deeper
        return max(within, without) + 0.5 * min(within, without) - penalty

    def _is_cold(self, unit: flow.Unit) -> bool:
        """Whether the unit does nothing but call a helper (the slow path of a division or a root)."""
        return self._calls_helper(unit.end - 1)

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

    def _unit_at(self, pc: int) -> int:
        return bisect_right([unit.start for unit in self.ptx_units], pc) - 1


def family(operation: str) -> str:
    """`load`, `store`, or `atomic` for atomics and reductions alike: the assembler makes one of the other."""
    return "atomic" if operation in ("atomic", "reduction") else operation


def _containment(small: Features, large: Features) -> float:
    """The share of `small` that `large` holds."""
    total = sum(_WEIGHT[str(k[0])] * n for k, n in small.items())
    held = sum(_WEIGHT[str(k[0])] * min(n, large[k]) for k, n in small.items())
    return held / total if total else 0.0
