"""Loads, stores and atomics: the access is counted or checked, and data moves where it is needed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator import lanes
from sparktrace_tui.emulator.atomics import ATOMIC_NAMES, perform
from sparktrace_tui.emulator.counters import Operation, Space
from sparktrace_tui.emulator.lanes import SIGNED, UNSIGNED, Bits, Value
from sparktrace_tui.emulator.masks import Mask
from sparktrace_tui.emulator.memory import (
    CONSTANT_WINDOW,
    GLOBAL_BASE,
    LOCAL_WINDOW,
    SHARED_WINDOW,
    WINDOW_BYTES,
)
from sparktrace_tui.emulator.ops import Action, uncovered
from sparktrace_tui.emulator.program import space_of
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Address, Instruction, Operand, Reg, Vector

if TYPE_CHECKING:
    from sparktrace_tui.emulator.bound import Bound

_ALLOWED = {
    "ld": {
        "global", "shared", "local", "const", "param", "nc", "ca", "cg", "cs", "cv", "lu", "volatile", "relaxed",
        "weak", "acquire", "cta", "gpu", "sys", "cluster", "v2", "v4", "v8", "L1::evict_last", "L1::evict_first",
        "L1::no_allocate", "L1::evict_normal", "L1::evict_unchanged", "L2::64B", "L2::128B", "L2::256B",
        "L2::evict_first", "L2::evict_last", "L2::evict_normal", "shared::cta", "param::entry",
    },
}  # fmt: skip
_ALLOWED["ldu"] = _ALLOWED["ld"]
_ALLOWED["st"] = _ALLOWED["ld"] | {"wb", "wt", "release"}
_SPACES: dict[str, Space] = {"global": "global", "shared": "shared", "local": "local", "const": "constant"}


def build(engine: "Bound", ins: Instruction) -> Action | None:
    """The action of a memory instruction; None where it is not one."""
    match ins.name:
        case "ld" | "ldu" | "st":
            for part in ins.parts[1:-1]:
                if part not in _ALLOWED[ins.name]:
                    raise uncovered(ins)
            if ins.parts[-1] not in TYPE_BYTES or ins.parts[-1] == "b128":
                raise uncovered(ins)
            return _Move(engine, ins).act
        case "atom" | "red":
            return _Atomic(engine, ins).act
    return None


class _Access:
    """What all memory instructions share: the address, the space, and the count or the check."""

    def __init__(self, engine: "Bound", ins: Instruction, operation: Operation, place: int, count: int) -> None:
        self.engine, self.ins, self.operation = engine, ins, operation
        self.count = count
        self.width = TYPE_BYTES[ins.parts[-1]]
        self.space = space_of(ins)
        operand = ins.operands[place]
        if not isinstance(operand, Address):
            raise uncovered(ins)
        if operand.space is not None and self.space == "generic":
            self.space = operand.space
        self.offset = operand.offset
        if operand.base is not None:
            self.base = operand.base.slot
        else:
            start = 0
            if operand.space == "global":
                start = engine.operands.global_base
            self.base = engine.operands.constant(start, 8)
        self.places: list[int] = []
        self.moves = engine.slice.moves_data[ins.pc]

    def where(self, mask: Mask) -> tuple[str, Value, int]:
        """The space of this execution, and the address in it. A generic address is told by its window."""
        address = self.engine.slots[self.base]
        if self.space != "generic":
            return self.space, address, self.offset
        seen = lanes.full(address)
        if mask.lanes is not None:
            seen = np.broadcast_to(seen, (self.engine.batch.count, self.engine.batch.threads))[mask.full()]
        if seen.size == 0:
            return "global", address, self.offset
        low, high = int(seen.min()) + self.offset, int(seen.max()) + self.offset
        for space, start in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("const", CONSTANT_WINDOW)):
            if start <= low and high < start + WINDOW_BYTES:
                return space, address, self.offset - start
        if low >= GLOBAL_BASE or high < SHARED_WINDOW:
            return "global", address, self.offset
        raise uncovered(self.ins, "lanes of one access in different state spaces")

    def prepare(self, mask: Mask) -> tuple[str, Value, int, Mask]:
        """Counts the access, or checks it and gives the lanes that may go on."""
        space, address, offset = self.where(mask)
        engine = self.engine
        if engine.ledger is not None:
            engine.ledger.access(
                self.ins.pc, _SPACES[space], self.operation, address, offset, self.width * self.count, mask
            )
        if engine.checks is not None:
            mask = engine.checks.access(
                self.ins, space, self.operation, lanes.full(address), offset, self.width, self.count, mask,
                [lanes.full(engine.slots[slot]) for slot in self.places],
            )  # fmt: skip
        return space, address, offset, mask

    def cells(self, space: str, address: Value, offset: int, mask: Mask) -> tuple[Bits, Any]:
        """The memory as an array of `width`-byte cells, and the index of each lane's first one."""
        engine = self.engine
        places = (lanes.full(address).astype(np.int64) + offset) >> (self.width.bit_length() - 1)
        match space:
            case "global":
                cells: Bits = engine.memory.views[self.width]
                places = places - (GLOBAL_BASE >> (self.width.bit_length() - 1))
                limit = cells.shape[0]
            case "const":
                cells = engine.constants[self.width]
                limit = cells.shape[0]
            case "shared":
                cells = engine.shared_cells(self.width)
                limit = cells.shape[1]
            case _:
                cells = engine.local_cells(self.width)
                limit = cells.shape[2]
        if mask.lanes is not None:
            places = np.where(mask.lanes, places, 0)
        last = self.count - 1
        if places.size and (int(places.min()) < 0 or int(places.max()) + last >= limit):
            engine.escaped(self.ins, places, limit, mask)
        return cells, places


class _Move(_Access):
    """ld and st of one to eight elements."""

    def __init__(self, engine: "Bound", ins: Instruction) -> None:
        loads = ins.name != "st"
        data = ins.operands[0 if loads else 1]
        items: tuple[Operand | None, ...] = data.items if isinstance(data, Vector) else (data,)
        super().__init__(engine, ins, "load" if loads else "store", 1 if loads else 0, len(items))
        self.items = items
        if self.space == "param":
            self.act: Action = self._parameter()
        elif loads:
            self.act = self._load
        else:
            self.places = [engine.operands.source(item, self.width, ins) for item in items if item is not None]
            self.act = self._store

    def _parameter(self) -> Action:
        engine, slots = self.engine, self.engine.slots
        if self.operation == "store":
            raise uncovered(self.ins)
        cells = engine.params[self.width]
        kept: dict[int, Value] = {}

        def act() -> None:
            address = lanes.full(slots[self.base])
            for index, item in enumerate(self.items):
                if not isinstance(item, Reg):
                    continue
                if address.size == 1:
                    place = (int(address.flat[0]) + self.offset) // self.width + index
                    if place not in kept:
                        kept[place] = self._extended(cells[place : place + 1].reshape(1, 1), item)
                    slots[item.slot] = kept[place]
                else:
                    places = (address.astype(np.int64) + self.offset) // self.width + index
                    slots[item.slot] = self._extended(cells[places], item)

        return act

    def _extended(self, value: Bits, target: Reg) -> Bits:
        if target.width == self.width:
            return value
        if self.ins.parts[-1][0] == "s":
            wide = value.view(SIGNED[self.width]).astype(SIGNED[target.width])
            return wide.view(UNSIGNED[target.width])
        return value.astype(UNSIGNED[target.width])

    def _load(self) -> None:
        engine = self.engine
        space, address, offset, mask = self.prepare(engine.mask)
        if not self.moves or not mask.any():
            return
        cells, places = self.cells(space, address, offset, mask)
        for index, item in enumerate(self.items):
            if isinstance(item, Reg):
                value = _fetch(space, cells, places + index if index else places, engine)
                engine.slots[item.slot] = self._extended(value, item)

    def _store(self) -> None:
        engine = self.engine
        space, address, offset, mask = self.prepare(engine.mask)
        if not self.moves or not mask.any():
            return
        cells, places = self.cells(space, address, offset, mask)
        for index, slot in enumerate(self.places):
            value = lanes.full(engine.slots[slot])
            if value.dtype.itemsize != self.width:
                value = value.astype(UNSIGNED[self.width])
            _put(space, cells, places + index if index else places, value, mask, engine)


def _fetch(space: str, cells: Bits, places: Bits, engine: "Bound") -> Bits:
    match space:
        case "global" | "const":
            return cells[places]
        case "shared":
            if places.shape[0] == 1:
                return cells[:, places[0]]
            return cells[engine.block_rows, places]
        case _:
            return cells[engine.block_rows, engine.thread_columns, places]


def _put(space: str, cells: Bits, places: Bits, value: Bits, mask: Mask, engine: "Bound") -> None:
    """Stores lane by lane; where lanes share a cell the last of the order wins."""
    count, threads = engine.batch.count, engine.batch.threads
    if mask.lanes is None and space == "shared" and places.shape[0] == 1:
        cells[:, places[0]] = value if places.shape[1] == value.shape[1] or value.shape[1] == 1 else value[:, -1:]
        return
    shape = (count, threads)
    on = mask.full()
    rows, columns = np.nonzero(on)
    where = np.broadcast_to(places, shape)[on]
    data = np.broadcast_to(value, shape)[on]
    match space:
        case "global":
            cells[where] = data
        case "shared":
            cells[rows, where] = data
        case "const":
            raise AssertionError("constant memory is read-only")
        case _:
            cells[rows, columns, where] = data


class _Atomic(_Access):
    """atom and red on global and shared memory, one lane after the other."""

    def __init__(self, engine: "Bound", ins: Instruction) -> None:
        self.returns = ins.name == "atom"
        first = 1 if self.returns else 0
        self.target = ins.operands[0] if self.returns else None
        used = isinstance(self.target, Reg) and engine.is_read(self.target.slot)
        super().__init__(engine, ins, "atomic" if used else "reduction", first, 1)
        self.used = used
        names = [part for part in ins.parts[1:-1] if part in ATOMIC_NAMES]
        known = {"global", "shared", "gpu", "cta", "sys", "relaxed", "acquire", "release", "acq_rel", "noftz",
                 "shared::cta", *ATOMIC_NAMES}  # fmt: skip
        if len(names) != 1 or any(part not in known for part in ins.parts[1:-1]):
            raise uncovered(ins)
        self.operation_name = names[0]
        self.values = [engine.operands.source(o, self.width, ins) for o in ins.operands[first + 1 :]]
        self.act: Callable[[], None] = self._atomic

    def _atomic(self) -> None:
        engine = self.engine
        space, address, offset, mask = self.prepare(engine.mask)
        if not self.moves or not mask.any():
            return
        if space not in ("global", "shared"):
            raise uncovered(self.ins)
        cells, places = self.cells(space, address, offset, mask)
        shape = (engine.batch.count, engine.batch.threads)
        on = mask.full()
        where = np.broadcast_to(places, shape)
        if space == "shared":
            where = where + engine.block_rows * cells.shape[1]
        flat = cells.reshape(-1)
        order = engine.atomic_order(on)
        values = [np.broadcast_to(lanes.full(engine.slots[v]), shape)[on][order] for v in self.values]
        old = perform(
            flat, cast(npt.NDArray[np.int64], where[on][order]), values, self.operation_name,
            self.ins.parts[-1], self.used, self.ins,
        )  # fmt: skip
        if space == "shared":
            cells[...] = flat.reshape(cells.shape)
        if self.used and old is not None and isinstance(self.target, Reg):
            result = np.zeros(shape, UNSIGNED[self.width])
            back = np.empty_like(old)
            back[order] = old
            result[on] = back
            engine.slots[self.target.slot] = result
