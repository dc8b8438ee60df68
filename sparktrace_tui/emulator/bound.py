"""A kernel bound to a launch and a memory: its operands, its instructions as actions, its memories as cells."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sparktrace_tui.domain.kernel.plan import ResolvedLaunch
from sparktrace_tui.emulator import ops_convert, ops_float, ops_int, ops_memory, ops_warp
from sparktrace_tui.emulator.counters import Fault
from sparktrace_tui.emulator.counting import Ledger
from sparktrace_tui.emulator.lanes import UNSIGNED, Bits
from sparktrace_tui.emulator.masks import Batch, Mask
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.ops import Action, Operands, uncovered
from sparktrace_tui.emulator.parameters import parameter_block, special_values
from sparktrace_tui.emulator.program import (
    Segment,
    Slice,
    is_memory,
    results,
    segments_of,
    sources,
)
from sparktrace_tui.emulator.ptx import Instruction, Kernel

if TYPE_CHECKING:
    from sparktrace_tui.emulator.checks import Checks

_IGNORED = ("membar", "fence", "prefetch", "prefetchu", "nanosleep", "discard", "applypriority", "pmevent")


class Stopped(Exception):
    """The launch cannot go on; the fault says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(frozen=True)
class Step:
    action: Action
    writes: int
    slots: tuple[int, ...]
    guard: int
    negated: bool


class Bound:
    """What a launch needs before and while it runs; the batch and the mask are those of the moment."""

    def __init__(
        self,
        kernel: Kernel,
        launch: ResolvedLaunch,
        memory: DeviceMemory,
        chosen: Slice,
        *,
        ledger: Ledger | None,
        checks: "Checks | None",
        seed: int,
        budget: int,
    ) -> None:
        self.kernel, self.launch, self.memory, self.slice = kernel, launch, memory, chosen
        self.ledger, self.checks, self.budget = ledger, checks, budget
        self.random = np.random.default_rng(seed)
        base = memory.place_globals("module", kernel.globals) if kernel.globals else 0
        self.operands = Operands(kernel, base)
        self.slots = self.operands.slots
        self.constants = _cells(kernel.constants)
        self.params = _cells(parameter_block(kernel, launch, memory))
        self.shared_bytes = kernel.dynamic_shared_offset + launch.shared_bytes
        if not launch.shared_bytes:
            self.shared_bytes = max(kernel.static_shared_bytes, 0)
        self._read = {slot for ins in kernel.instructions for slot in sources(ins)}
        self.segments = segments_of(kernel, chosen)
        self.by_start = {segment.start: segment for segment in self.segments}
        self.steps_taken = 0
        self._shared: Bits | None = None
        self._local: Bits | None = None
        self._cells: dict[tuple[str, int], Bits] = {}
        self.batch = Batch(np.zeros(1, np.int64), np.ones(1), 1, np.zeros(1, np.int32))
        self.mask = self.all = self.live = Mask(self.batch, None)
        self.block_rows = np.zeros((1, 1), np.int64)
        self.thread_columns = np.zeros((1, 1), np.int64)
        self.plans = [self._plan(segment) for segment in self.segments]
        self.preset = special_values(self.operands, launch, self.shared_bytes)

    def is_read(self, slot: int) -> bool:
        """Whether any instruction uses the register."""
        return slot in self._read

    def _plan(self, segment: Segment) -> tuple[tuple[Action, ...] | None, tuple[Step, ...], int]:
        steps = []
        end = segment.end - (1 if segment.closer is not None else 0)
        for ins in self.kernel.instructions[segment.start : end]:
            if not (self.slice.needed[ins.pc] or is_memory(ins)) or ins.name in _IGNORED:
                continue
            action = self._action(ins)
            if action is None:
                continue
            slots = results(ins) if self.slice.needed[ins.pc] else ()
            bits = sum(1 << slot for slot in set(slots))
            guard = ins.guard.slot if ins.guard is not None else -1
            steps.append(Step(action, bits, slots, guard, ins.guard_negated))
        writes = 0
        for step in steps:
            writes |= step.writes
        plain = None if any(step.guard >= 0 for step in steps) else tuple(step.action for step in steps)
        return plain, tuple(steps), writes

    def _action(self, ins: Instruction) -> Action | None:
        makers: tuple[Callable[[], Action | None], ...] = (
            lambda: ops_memory.build(self, ins),
            lambda: ops_warp.build(self, ins),
            lambda: ops_convert.build(self.operands, ins),
            lambda: ops_int.build(self.operands, ins),
            lambda: ops_float.build(self.operands, ins),
        )
        for maker in makers:
            action = maker()
            if action is not None:
                return action
        raise uncovered(ins)

    def shared_cells(self, width: int) -> Bits:
        """Shared memory as (B, cells of `width` bytes)."""
        key = ("shared", width)
        if key not in self._cells:
            if self._shared is None:
                size = -(-max(self.shared_bytes, 16) // 16) * 16
                self._shared = np.zeros((self.batch.count, size), np.uint8)
            self._cells[key] = self._shared.view(UNSIGNED[width])
        return self._cells[key]

    def local_cells(self, width: int) -> Bits:
        """Local memory as (B, T, cells of `width` bytes)."""
        key = ("local", width)
        if key not in self._cells:
            if self._local is None:
                size = -(-max(self.kernel.local_bytes, 16) // 16) * 16
                self._local = np.zeros((self.batch.count, self.batch.threads, size), np.uint8)
            self._cells[key] = self._local.view(UNSIGNED[width])
        return self._cells[key]

    def atomic_order(self, on: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """The order in which active lanes perform an atomic: as they lie when counting, drawn when checking."""
        count = int(np.count_nonzero(on))
        if self.checks is None:
            return np.arange(count)
        return self.random.permutation(count)

    def place_of(self, block: int, thread: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Block and thread coordinates of a lane of the batch."""
        return _coordinates(int(self.batch.blocks[block]), self.launch.grid), _coordinates(thread, self.launch.block)

    def fault(self, kind: str, message: str, block: int, thread: int, line: int | None) -> Fault:
        where = self.place_of(block, thread)
        return Fault(kind, message, self.kernel.name, where[0], where[1], line)

    def escaped(self, ins: Instruction, places: Bits, limit: int, mask: Mask) -> None:
        """An access that leaves its memory while nothing is being checked."""
        shape = (self.batch.count, self.batch.threads)
        bad = np.broadcast_to((places < 0) | (places >= limit), shape) & mask.full()
        rows, columns = np.nonzero(bad)
        row, column = (int(rows[0]), int(columns[0])) if rows.size else (0, 0)
        raise Stopped(self.fault("out_of_bounds", f"an access leaves its memory: {ins.text}", row, column, ins.line))


def _cells(data: bytes) -> dict[int, Bits]:
    raw = np.zeros(-(-max(len(data), 1) // 16) * 16, np.uint8)
    raw[: len(data)] = np.frombuffer(data, np.uint8)
    return {width: raw.view(UNSIGNED[width]) for width in (1, 2, 4, 8)}


def _coordinates(index: int, extents: tuple[int, int, int]) -> tuple[int, int, int]:
    x, rest = index % extents[0], index // extents[0]
    return x, rest % extents[1], rest // extents[1]


def block_index(blocks: npt.NDArray[np.int64], grid: tuple[int, int, int], axis: str) -> Bits:
    match axis:
        case "x":
            index = blocks % grid[0]
        case "y":
            index = blocks // grid[0] % grid[1]
        case _:
            index = blocks // (grid[0] * grid[1])
    if bool((index == index[0]).all()):
        index = index[:1]
    return index.astype(np.uint32)[:, None]
