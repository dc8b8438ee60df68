"""Finds what a kernel does wrong: bad addresses, unwritten shared memory, races, barriers and shuffles gone astray."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator.counters import Fault, Operation
from sparktrace_tui.emulator.lanes import Bits
from sparktrace_tui.emulator.masks import Mask
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.program import is_memory, space_of
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Address, Instruction, Kernel
from sparktrace_tui.emulator.races import Accesses, Finding, RaceTracker

if TYPE_CHECKING:
    from sparktrace_tui.emulator.bound import Bound

_WORDS = {
    "uninitialised_shared": "reads shared memory that nothing has written",
    "race": "races with thread {other} of another warp, with no barrier between, on",
    "warp_race": "races with thread {other} of its own warp, with no __syncwarp between, on",
    "benign_race": "writes the value that thread {other} also writes, with no barrier between, to",
}


def shared_unit(kernel: Kernel) -> int:
    """The narrowest access to shared memory in bytes: the grain at which races are told apart."""
    widths = [
        TYPE_BYTES[i.parts[-1]]
        for i in kernel.instructions
        if is_memory(i) and i.parts[-1] in TYPE_BYTES and _may_be_shared(i)
    ]
    return min([4, *widths])


def _may_be_shared(ins: Instruction) -> bool:
    space = space_of(ins)
    if space != "generic":
        return space == "shared"
    return any(isinstance(o, Address) and o.space in (None, "shared") for o in ins.operands)


class Checks:
    """Faults of one launch, the first of each kind and source line."""

    def __init__(self, kernel: Kernel, memory: DeviceMemory) -> None:
        self.kernel, self.memory = kernel, memory
        self.unit = shared_unit(kernel)
        self.found: dict[tuple[str, int | None, int], Fault] = {}
        self.engine: Bound | None = None

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(fault for fault in self.found.values() if fault.kind != "benign_race")

    @property
    def benign(self) -> tuple[Fault, ...]:
        return tuple(fault for fault in self.found.values() if fault.kind == "benign_race")

    def start_batch(self, engine: "Bound") -> None:
        """Fresh shared memory, epochs and barriers for the batch of the engine."""
        self.engine = engine
        shape = (engine.batch.count, engine.batch.threads)
        cells = -(-max(engine.shared_bytes, 1) // self.unit)
        self.tracker = RaceTracker(shape, cells)
        self.came: dict[int, npt.NDArray[np.bool_]] = {}

    def report(self, kind: str, message: str, block: int, thread: int, ins: Instruction | None) -> None:
        assert self.engine is not None
        line = ins.line if ins is not None else None
        key = (kind, line, ins.pc if ins is not None and line is None else -1)
        if key not in self.found:
            self.found[key] = self.engine.fault(kind, message, block, thread, line)

    def access(
        self, ins: Instruction, space: str, operation: Operation, address: Bits, offset: int, width: int, count: int,
        mask: Mask, values: Sequence[Bits],
    ) -> Mask:  # fmt: skip
        """Checks an access of `count` elements of `width` bytes; the lanes that may perform it."""
        assert self.engine is not None
        batch = self.engine.batch
        shape = (batch.count, batch.threads)
        places = np.broadcast_to(address.astype(np.int64) + offset, shape)
        on = mask.full()
        size = width * count
        odd = on & (places % size != 0)
        outside = on & ~self._inside(space, places, size)
        verb = "reads" if operation == "load" else "writes" if operation == "store" else "updates"
        bad = odd | outside
        if bad.any():
            if (odd & ~outside).any():
                block, thread = _first(odd & ~outside)
                where = self._name(space, int(places[block, thread]))
                self.report("misaligned", f"{verb} {size} bytes at {where}, which is not a multiple of {size} bytes",
                            block, thread, ins)  # fmt: skip
            if outside.any():
                block, thread = _first(outside)
                where = self._name(space, int(places[block, thread]))
                self.report("out_of_bounds", f"{verb} {size} bytes at {where}", block, thread, ins)
            on = on & ~bad
            mask = Mask(batch, on)
        if space == "shared":
            self._shared(ins, operation, places, width, count, on, values)
        return mask

    def _inside(self, space: str, places: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.bool_]:
        assert self.engine is not None
        if space == "global":
            return self.memory.inside(places, size)
        limit = {
            "shared": self.engine.shared_bytes,
            "local": self.kernel.local_bytes,
            "const": len(self.kernel.constants),
        }[space]
        return (places >= 0) & (places + size <= limit)

    def _name(self, space: str, place: int) -> str:
        assert self.engine is not None
        if space == "global":
            return self.memory.describe(place)
        for variable in self.kernel.variables.values():
            if variable.space == space and variable.offset <= place < variable.offset + variable.size:
                return f"byte {place - variable.offset} of {_source_name(variable.name)} ({space})"
        limit = self.engine.shared_bytes if space == "shared" else self.kernel.local_bytes
        return f"byte {place} of {space} memory, which has {limit} bytes"

    def _shared(
        self, ins: Instruction, operation: Operation, places: npt.NDArray[np.int64], width: int, count: int,
        on: npt.NDArray[np.bool_], values: Sequence[Bits],
    ) -> None:  # fmt: skip
        blocks, threads = np.nonzero(on)
        if blocks.size == 0:
            return
        start = places[on] // self.unit
        each = max(1, width // self.unit)
        total = each * count
        cells = (start[:, None] + np.arange(total)).reshape(-1)
        written = None
        if operation == "store":
            parts = [np.broadcast_to(v, on.shape)[on].astype(np.uint64) for v in values]
            written = np.repeat(np.stack(parts, axis=1), each, axis=1).reshape(-1)
        accesses = Accesses(np.repeat(blocks, total), np.repeat(threads, total), cells, written)
        for finding in self.tracker.access(operation, accesses):
            self._found(ins, finding)

    def _found(self, ins: Instruction, finding: Finding) -> None:
        assert self.engine is not None
        other = ""
        if 0 <= finding.other < self.engine.batch.threads:
            other = str(self.engine.place_of(finding.block, finding.other)[1])
        words = _WORDS[finding.kind].format(other=other or "(several)")
        where = self._name("shared", finding.cell * self.unit)
        joined = f"{words}: {where}" if finding.kind == "uninitialised_shared" else f"{words} {where}"
        self.report(finding.kind, joined, finding.block, finding.thread, ins)

    def warp_barrier(self, mask: Mask) -> None:
        """__syncwarp: the lanes of the mask are in step from here."""
        self.tracker.warp_epoch[mask.full()] += 1

    def barrier(self, mask: Mask) -> None:
        """A block barrier let the lanes of the mask go."""
        on = mask.full()
        self.tracker.clock[on.any(axis=1)] += 1
        self.tracker.epoch = np.where(on, self.tracker.clock[:, None], self.tracker.epoch)

    def arrived(self, closer: Instruction, mask: Mask) -> None:
        """Lanes came to a barrier: from now on every thread alive is expected there."""
        assert self.engine is not None
        alive = self.engine.live.full()
        for block in np.flatnonzero(mask.full().any(axis=1)):
            self.came.setdefault(int(block), alive[block].copy())

    def released(
        self, arrivals: Sequence[tuple[Instruction | None, Mask]], free: npt.NDArray[np.bool_], counted: bool
    ) -> None:
        """A barrier let blocks go after lanes came in turns: did all come, and to the same barrier?"""
        for block in np.flatnonzero(free):
            expected = self.came.pop(int(block), None)
            if counted:
                continue
            present = np.zeros(arrivals[0][1].full().shape[1], bool)
            lines: dict[int, Instruction] = {}
            for closer, mask in arrivals:
                here = mask.full()[block]
                present |= here
                if closer is not None and here.any():
                    lines[closer.pc] = closer
            first = next(iter(lines.values()))
            if expected is not None and (expected & ~present).any():
                thread = int(np.flatnonzero(expected & ~present)[0])
                self.report("barrier_divergence", f"never reaches the barrier at line {first.line}, at which "
                            f"{int(present.sum())} threads of its block wait", int(block), thread, first)  # fmt: skip
            elif len(lines) > 1:
                second = list(lines.values())[1]
                thread = next(
                    int(np.flatnonzero(m.full()[block])[0]) for c, m in arrivals if c is not None and c.pc == second.pc
                )
                self.report("barrier_divergence", f"waits at the barrier at line {second.line} while other threads "
                            f"of its block wait at line {first.line}", int(block), thread, second)  # fmt: skip

    def passed_together(self) -> None:
        """All lanes came at once: nothing is expected any more."""
        self.came.clear()

    def idle_lane(self, ins: Instruction, reads: npt.NDArray[np.bool_], lane: npt.NDArray[np.int64]) -> None:
        """A shuffle takes its value from a lane that does not take part."""
        row, warp, place = (int(axis[0]) for axis in np.nonzero(reads))
        source = int(np.broadcast_to(lane, reads.shape)[row, warp, place])
        self.report("inactive_lane_shuffle", f"takes a value from lane {source} of its warp, which does not take part",
                    row, warp * 32 + place, ins)  # fmt: skip


def _first(where: npt.NDArray[np.bool_]) -> tuple[int, int]:
    flat = int(where.argmax())
    return flat // where.shape[1], flat % where.shape[1]


def _source_name(mangled: str) -> str:
    """`tile` of `_ZZ6kernelE4tile`; other names as they are."""
    for length in range(1, min(len(mangled), 100)):
        digits = str(length)
        if mangled.startswith("_ZZ") and mangled.endswith(mangled[-length:]):
            head = mangled[: len(mangled) - length]
            if head.endswith(f"E{digits}"):
                return mangled[-length:]
    return mangled
