"""Who last wrote and read each cell of shared memory, and which accesses no barrier keeps apart.

Each thread has an epoch (the barriers of its block it has passed) and a warp epoch (its `__syncwarp` calls). Two
accesses of one cell by different threads, one of them a write, are a race where they fall in one epoch: between
warps always, within a warp where the warp epoch is the same too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator.counters import Operation

_MANY = 1 << 20  # several threads, of more than one warp
_NONE = -1
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Accesses:
    """Cells touched by one instruction: block, thread, cell and (for stores) value, one entry a lane and cell."""

    block: Ints
    thread: Ints
    cell: Ints
    value: npt.NDArray[np.uint64] | None


@dataclass(frozen=True)
class Finding:
    """The first access of a kind at fault, and the thread it clashes with (-1 or very large where not one)."""

    kind: str
    block: int
    thread: int
    cell: int
    other: int


class RaceTracker:
    """Epochs by (block, thread), and the last writer and the readers by (block, cell)."""

    def __init__(self, shape: tuple[int, int], cells: int) -> None:
        count = shape[0] * cells
        self.cells = cells
        self.epoch = np.zeros(shape, np.int64)
        self.warp_epoch = np.zeros(shape, np.int64)
        self.clock = np.zeros(shape[0], np.int64)
        self.writer = np.full(count, _NONE, np.int32)
        self.writer_warp = np.full(count, _NONE, np.int32)
        self.write_epoch = np.zeros(count, np.int32)
        self.write_warp_epoch = np.zeros(count, np.int32)
        self.written = np.zeros(count, np.uint64)
        self.by_atomic = np.zeros(count, bool)
        self.low_reader = np.full(count, _MANY, np.int32)
        self.high_reader = np.full(count, _NONE, np.int32)
        self.read_epoch = np.full(count, _NONE, np.int32)
        self.read_warp_epoch = np.zeros(count, np.int32)

    def access(self, operation: Operation, accesses: Accesses) -> Iterator[Finding]:
        """Checks one instruction's accesses against those before it, and remembers them."""
        place = accesses.block * self.cells + accesses.cell
        thread = accesses.thread
        epoch = self.epoch[accesses.block, thread]
        warp_epoch = self.warp_epoch[accesses.block, thread]
        atomic = operation in ("atomic", "reduction")
        found: list[tuple[str, npt.NDArray[np.bool_], npt.NDArray[np.int32]]] = []
        writer = self.writer[place]
        if operation != "store":
            found.append(("uninitialised_shared", writer == _NONE, writer))
        clash = (writer != _NONE) & (writer != thread) & (self.write_epoch[place] == epoch)
        if atomic:
            clash &= ~self.by_atomic[place]
        near = self.writer_warp[place] == thread // 32
        in_step = self.write_warp_epoch[place] == warp_epoch
        if operation == "store":
            assert accesses.value is not None
            same = (self.written[place] == accesses.value) & ~self.by_atomic[place]
            found.append(("benign_race", clash & same & (~near | in_step), writer))
            clash &= ~same
        found.append(("race", clash & ~near, writer))
        found.append(("warp_race", clash & near & in_step, writer))
        if operation != "load":
            found.extend(self._after_reads(place, thread, epoch, warp_epoch))
        if operation == "store":
            found.extend(self._among_themselves(accesses, place))
        for kind, where, other in found:
            if where.any():
                at = int(where.argmax())
                yield Finding(kind, int(accesses.block[at]), int(thread[at]), int(accesses.cell[at]), int(other[at]))
        if operation == "load":
            self._note_reads(place, thread, epoch, warp_epoch)
        else:
            self._note_writes(accesses, place, epoch, warp_epoch, atomic)

    def _after_reads(
        self, place: Ints, thread: Ints, epoch: Ints, warp_epoch: Ints
    ) -> list[tuple[str, npt.NDArray[np.bool_], npt.NDArray[np.int32]]]:
        """Writes over cells that others read in the same epoch."""
        low, high = self.low_reader[place], self.high_reader[place]
        read = (self.read_epoch[place] == epoch) & (high != _NONE)
        others = read & ((low != thread) | (high != thread))
        far = (low // 32 != thread // 32) | (high // 32 != thread // 32)
        other = np.where((low != thread) & ((low // 32 != thread // 32) | (high // 32 == thread // 32)), low, high)
        in_step = self.read_warp_epoch[place] == warp_epoch
        return [("race", others & far, other), ("warp_race", others & ~far & in_step, other)]

    def _among_themselves(
        self, accesses: Accesses, place: Ints
    ) -> list[tuple[str, npt.NDArray[np.bool_], npt.NDArray[np.int32]]]:
        """Lanes of one store that hit the same cell."""
        order = np.argsort(place, kind="stable")
        ordered = place[order]
        twin = np.zeros(place.size, bool)
        twin[1:] = ordered[1:] == ordered[:-1]
        if not twin.any():
            return []
        assert accesses.value is not None
        before = np.concatenate(([0], order[:-1]))
        other = accesses.thread[before]
        mine = accesses.thread[order]
        twin &= other != mine
        same = accesses.value[before] == accesses.value[order]
        near = other // 32 == mine // 32
        found = []
        for kind, where in (
            ("benign_race", twin & same), ("race", twin & ~same & ~near), ("warp_race", twin & ~same & near),
        ):  # fmt: skip
            flags = np.zeros(place.size, bool)
            flags[order] = where
            others = np.zeros(place.size, np.int32)
            others[order] = other
            found.append((kind, flags, others))
        return found

    def _note_reads(self, place: Ints, thread: Ints, epoch: Ints, warp_epoch: Ints) -> None:
        low, high = self.low_reader[place], self.high_reader[place]
        alone = (low // 32 == thread // 32) & (high // 32 == thread // 32)
        stale = (self.read_epoch[place] != epoch) | (alone & (self.read_warp_epoch[place] != warp_epoch))
        old = place[stale]
        self.low_reader[old], self.high_reader[old] = _MANY, _NONE
        self.read_epoch[place] = epoch
        self.read_warp_epoch[place] = warp_epoch
        np.minimum.at(self.low_reader, place, thread.astype(np.int32))
        np.maximum.at(self.high_reader, place, thread.astype(np.int32))

    def _note_writes(self, accesses: Accesses, place: Ints, epoch: Ints, warp_epoch: Ints, atomic: bool) -> None:
        thread = accesses.thread.astype(np.int32)
        warp = thread // 32
        if atomic:
            thread, warp = self._several(place, thread, warp, epoch)
        self.writer[place] = thread
        self.writer_warp[place] = warp
        self.write_epoch[place] = epoch
        self.write_warp_epoch[place] = warp_epoch
        self.by_atomic[place] = atomic
        if accesses.value is not None:
            self.written[place] = accesses.value

    def _several(
        self, place: Ints, thread: npt.NDArray[np.int32], warp: npt.NDArray[np.int32], epoch: Ints
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Atomics may meet in a cell: whether one thread, or one warp, is the only one there in this epoch."""
        cells, inverse = np.unique(place, return_inverse=True)
        ends = [np.full(cells.size, fill, np.int32) for fill in (_MANY, _NONE, _MANY, _NONE)]
        for end, function, values in zip(
            ends, (np.minimum, np.maximum, np.minimum, np.maximum), (thread, thread, warp, warp), strict=True
        ):
            function.at(end, inverse, values)
        low, high, low_warp, high_warp = (end[inverse] for end in ends)
        earlier = self.by_atomic[place] & (self.write_epoch[place] == epoch)
        one_thread = (low == high) & ~(earlier & (self.writer[place] != low))
        one_warp = (low_warp == high_warp) & ~(earlier & (self.writer_warp[place] != low_warp))
        return np.where(one_thread, low, _MANY), np.where(one_warp, low_warp, _MANY)
