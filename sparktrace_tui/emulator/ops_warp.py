"""Instructions in which the lanes of a warp see one another: shuffles, votes, matches, reductions, warp barriers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sparktrace_tui.emulator import lanes
from sparktrace_tui.emulator.access import by_warp
from sparktrace_tui.emulator.lanes import SIGNED, Bits
from sparktrace_tui.emulator.ops import Action, uncovered
from sparktrace_tui.emulator.ptx import Instruction, Pair, Reg

if TYPE_CHECKING:
    from sparktrace_tui.emulator.bound import Bound

_LANE = np.arange(32)
_BIT = np.uint32(1) << _LANE.astype(np.uint32)


def build(engine: "Bound", ins: Instruction) -> Action | None:
    """The action of a warp instruction; None where it is not one."""
    match ins.name:
        case "shfl":
            return _Shuffle(engine, ins).act
        case "vote" | "activemask":
            return _Vote(engine, ins).act
        case "match":
            return _Match(engine, ins).act
        case "redux":
            return _Reduction(engine, ins).act
        case "elect":
            return _Elect(engine, ins).act
        case "bar" | "barrier" if "warp" in ins.parts:
            return lambda: engine.checks.warp_barrier(engine.mask) if engine.checks is not None else None
    return None


class _Warp:
    """What these instructions share: operands laid out by warp and results laid back."""

    def __init__(self, engine: "Bound", ins: Instruction) -> None:
        self.engine, self.ins = engine, ins

    def rows(self, *values: Bits) -> int:
        return int(max(self.engine.mask.rows, *(value.shape[0] for value in values)))

    def value(self, slot: int) -> Bits:
        return lanes.full(self.engine.slots[slot])

    def active(self, rows: int) -> Bits:
        """(rows, warps, 32)."""
        active = self.engine.mask.active
        return np.broadcast_to(active, (rows, *active.shape[1:]))

    def layout(self, value: Bits, rows: int) -> Bits:
        threads = self.engine.batch.threads
        return by_warp(np.broadcast_to(value, (rows, threads)), threads)

    def write(self, reg: Any, value: Bits) -> None:
        """(rows, warps, 32) or (rows, warps, 1) into a register."""
        if not isinstance(reg, Reg):
            return
        threads = self.engine.batch.threads
        if value.shape[1:] == (1, 1) or (value.shape[2] == 1 and value.shape[1] == 1):
            self.engine.slots[reg.slot] = value[:, :, 0]
            return
        full = np.broadcast_to(value, (*value.shape[:2], 32)).reshape(value.shape[0], -1)
        self.engine.slots[reg.slot] = full[:, :threads]


class _Shuffle(_Warp):
    """shfl.sync d|p, a, b, c, membermask."""

    def __init__(self, engine: "Bound", ins: Instruction) -> None:
        super().__init__(engine, ins)
        if ins.parts[1] != "sync" or ins.parts[-1] != "b32":
            raise uncovered(ins)
        self.mode = ins.parts[2]
        first = ins.operands[0]
        self.target, self.valid = (first.first, first.second) if isinstance(first, Pair) else (first, None)
        self.source, self.lane, self.clamp = (engine.operands.source(o, 4, ins) for o in ins.operands[1:4])

    def act(self) -> None:
        a, b, c = self.value(self.source), self.value(self.lane), self.value(self.clamp)
        rows = self.rows(a, b, c)
        data, lane_arg, clamp = self.layout(a, rows), self.layout(b, rows), self.layout(c, rows)
        b_lane = (lane_arg & np.uint32(31)).astype(np.int64)
        clamp_value = (clamp & np.uint32(31)).astype(np.int64)
        segment = ((clamp >> np.uint32(8)) & np.uint32(31)).astype(np.int64)
        top = (_LANE & segment) | (clamp_value & ~segment)
        low = _LANE & segment
        match self.mode:
            case "up":
                j = _LANE - b_lane
                valid = j >= top
            case "down":
                j = _LANE + b_lane
                valid = j <= top
            case "bfly":
                j = _LANE ^ b_lane
                valid = j <= top
            case "idx":
                j = low | (b_lane & ~segment)
                valid = j <= top
            case _:
                raise uncovered(self.ins)
        j = np.where(valid, j, _LANE)
        active = self.active(rows)
        if self.engine.checks is not None:
            reads_idle = active & ~np.take_along_axis(active, j, axis=2)
            if reads_idle.any():
                self.engine.checks.idle_lane(self.ins, reads_idle, j)
        self.write(self.target, np.take_along_axis(data, j, axis=2))
        self.write(self.valid, np.broadcast_to(valid, data.shape))


class _Vote(_Warp):
    """vote.sync.{all,any,uni,ballot} and activemask."""

    def __init__(self, engine: "Bound", ins: Instruction) -> None:
        super().__init__(engine, ins)
        self.target = ins.operands[0]
        self.mode = "active" if ins.name == "activemask" else ins.parts[2]
        if ins.name == "vote" and ins.parts[1] != "sync":
            raise uncovered(ins)
        self.source = engine.operands.source(ins.operands[1], 0, ins) if ins.name == "vote" else -1
        self.members = engine.operands.source(ins.operands[2], 4, ins) if ins.name == "vote" else -1

    def act(self) -> None:
        if self.mode == "active":
            active = self.active(self.engine.mask.rows)
            self.write(self.target, np.where(active, _BIT, np.uint32(0)).sum(axis=2, keepdims=True, dtype=np.uint32))
            return
        p, m = self.value(self.source), self.value(self.members)
        rows = self.rows(p, m)
        active = self.active(rows) & ((self.layout(m, rows) & _BIT) != 0)
        test = self.layout(p, rows).astype(bool)
        match self.mode:
            case "all":
                result = (test | ~active).all(axis=2, keepdims=True)
            case "any":
                result = (test & active).any(axis=2, keepdims=True)
            case "uni":
                every = (test | ~active).all(axis=2, keepdims=True)
                result = every | ~(test & active).any(axis=2, keepdims=True)
            case "ballot":
                result = np.where(test & active, _BIT, np.uint32(0)).sum(axis=2, keepdims=True, dtype=np.uint32)
            case _:
                raise uncovered(self.ins)
        self.write(self.target, result)


class _Match(_Warp):
    """match.{any,all}.sync d[|p], a, membermask."""

    def __init__(self, engine: "Bound", ins: Instruction) -> None:
        super().__init__(engine, ins)
        first = ins.operands[0]
        self.target, self.flag = (first.first, first.second) if isinstance(first, Pair) else (first, None)
        width = 8 if ins.parts[-1] == "b64" else 4
        self.source = engine.operands.source(ins.operands[1], width, ins)
        self.members = engine.operands.source(ins.operands[2], 4, ins)
        self.all = "all" in ins.parts

    def act(self) -> None:
        a, m = self.value(self.source), self.value(self.members)
        rows = self.rows(a, m)
        data = self.layout(a, rows)
        active = self.active(rows) & ((self.layout(m, rows) & _BIT) != 0)
        result = np.zeros(data.shape, np.uint32)
        for lane in range(32):
            same = (data[:, :, lane : lane + 1] == data) & active & active[:, :, lane : lane + 1]
            result |= np.where(same, _BIT[lane], np.uint32(0))
        if not self.all:
            self.write(self.target, result)
            return
        members = np.where(active, _BIT, np.uint32(0)).sum(axis=2, keepdims=True, dtype=np.uint32)
        equal = ((result == members) | ~active).all(axis=2, keepdims=True)
        self.write(self.target, np.where(equal, members, np.uint32(0)))
        self.write(self.flag, equal)


class _Reduction(_Warp):
    """redux.sync.{add,min,max,and,or,xor} over the active members, and min and max of floats."""

    def __init__(self, engine: "Bound", ins: Instruction) -> None:
        super().__init__(engine, ins)
        self.target = ins.operands[0]
        self.source = engine.operands.source(ins.operands[1], 4, ins)
        self.members = engine.operands.source(ins.operands[2], 4, ins)
        self.name, self.type = ins.parts[2], ins.parts[-1]
        known: tuple[str, ...] = ("add", "min", "max") if self.type in ("u32", "s32") else ("and", "or", "xor")
        if self.type == "f32":
            known = ("min", "max")
        if self.name not in known or self.type not in ("u32", "s32", "b32", "f32") or "abs" in ins.parts:
            raise uncovered(ins)

    def act(self) -> None:
        a, m = self.value(self.source), self.value(self.members)
        rows = self.rows(a, m)
        members = self.layout(m, rows)
        active = self.active(rows) & ((members & _BIT) != 0)
        data = self.layout(a, rows)
        if self.type == "f32":
            self._floats(data.view(np.float32), active)
            return
        seen = data.view(SIGNED[4]) if self.type == "s32" else data
        limits = np.iinfo(seen.dtype)
        choices: dict[str, tuple[Callable[..., Any], int]] = {
            "add": (np.add, 0), "min": (np.minimum, limits.max), "max": (np.maximum, limits.min),
            "and": (np.bitwise_and, 0xFFFFFFFF), "or": (np.bitwise_or, 0), "xor": (np.bitwise_xor, 0),
        }  # fmt: skip
        function, neutral = choices[self.name]
        masked = np.where(active, seen, seen.dtype.type(neutral))
        result = function.reduce(masked, axis=2, keepdims=True, dtype=seen.dtype)  # type: ignore[attr-defined]
        self.write(self.target, result.view(np.uint32))

    def _floats(self, data: Any, active: Bits) -> None:
        neutral = np.float32(np.inf if self.name == "min" else -np.inf)
        masked = np.where(active & ~np.isnan(data), data, neutral)
        result = masked.min(axis=2, keepdims=True) if self.name == "min" else masked.max(axis=2, keepdims=True)
        nan = (np.isnan(data) & active).any(axis=2, keepdims=True)
        only = ~(active & ~np.isnan(data)).any(axis=2, keepdims=True)
        gone = nan if "NaN" in self.ins.parts else nan & only
        bits = result.astype(np.float32).view(np.uint32)
        self.write(self.target, np.where(gone, np.uint32(0x7FFFFFFF), bits))


class _Elect(_Warp):
    """elect.sync d|p, membermask: the lowest active lane."""

    def __init__(self, engine: "Bound", ins: Instruction) -> None:
        super().__init__(engine, ins)
        first = ins.operands[0]
        if not isinstance(first, Pair):
            raise uncovered(ins)
        self.target, self.flag = first.first, first.second

    def act(self) -> None:
        active = self.active(self.engine.mask.rows)
        leader = active.argmax(axis=2)[:, :, None]
        self.write(self.target, leader.astype(np.uint32))
        self.write(self.flag, (leader == _LANE) & active)
