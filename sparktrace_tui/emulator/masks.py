"""Which lanes are active, and what a count over them weighs when sampled blocks stand for others."""

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator.access import WARP, by_warp
from sparktrace_tui.emulator.lanes import Bits

Floats = npt.NDArray[np.float64]


class Batch:
    """The blocks run together: their numbers in the grid, the weight of each in the totals, and the SM of each."""

    def __init__(
        self, blocks: npt.NDArray[np.int64], weights: Floats, threads: int, sms: npt.NDArray[np.int32]
    ) -> None:
        self.blocks, self.weights, self.threads, self.sms = blocks, weights, threads, sms
        self.count = len(blocks)
        self.warps = -(-threads // WARP)
        self.weight = float(weights.sum())

    def total(self, values: Bits) -> float:
        """The weighted sum over all blocks of `values` of shape (1 or B, ...), one row for all where it is one."""
        if values.shape[0] == 1:
            return float(values.sum()) * self.weight
        return float(values.reshape(self.count, -1).sum(axis=1) @ self.weights)

    def by_block(self, values: Bits) -> Floats:
        """The sum of each block, (B,)."""
        sums = values.reshape(values.shape[0], -1).sum(axis=1).astype(np.float64)
        return np.broadcast_to(sums, (self.count,)) if sums.size == 1 else sums


class Mask:
    """A set of lanes, as small as it can be: `lanes` of shape (1, T), (B, 1) or (B, T), None for all."""

    __slots__ = ("_active", "_threads", "_warps", "batch", "lanes", "memo")

    def __init__(self, batch: Batch, lanes: Bits | None) -> None:
        self.batch, self.lanes = batch, lanes
        self._active: Bits | None = None
        self._warps = self._threads = -1.0
        self.memo: dict[int, tuple[object, Mask]] = {}

    @property
    def active(self) -> Bits:
        """(1 or B, warps, 32)."""
        if self._active is None:
            lanes = self.lanes if self.lanes is not None else np.ones((1, 1), bool)
            self._active = by_warp(lanes, self.batch.threads, False).astype(bool)
        return self._active

    @property
    def by_block(self) -> bool:
        """Whether the mask takes or leaves whole blocks."""
        return self.lanes is not None and self.lanes.shape[1] == 1

    @property
    def rows(self) -> int:
        return 1 if self.lanes is None else self.lanes.shape[0]

    @property
    def warps(self) -> float:
        """The weighted number of warps with an active lane."""
        if self._warps < 0:
            self._warps = self.batch.total(np.any(self.active, axis=2))
        return self._warps

    @property
    def threads(self) -> float:
        if self._threads < 0:
            self._threads = self.batch.total(self.active)
        return self._threads

    def full(self) -> npt.NDArray[np.bool_]:
        """(B, T)."""
        shape = (self.batch.count, self.batch.threads)
        if self.lanes is None:
            return np.ones(shape, bool)
        return np.broadcast_to(self.lanes, shape)

    def narrowed(self, chosen: Bits) -> "Mask":
        """The lanes of this mask for which `chosen` holds; the same object for the same question."""
        if chosen.size == 1 and bool(chosen.flat[0]):
            return self
        found = self.memo.get(id(chosen))
        if found is not None and found[0] is chosen:
            return found[1]
        lanes = chosen if self.lanes is None else self.lanes & chosen
        made = Mask(self.batch, np.broadcast_to(lanes, (1, self.batch.threads)) if lanes.size == 1 else lanes)
        if chosen.shape[0] == 1 and len(self.memo) < 64:
            self.memo[id(chosen)] = (chosen, made)
        return made

    def any(self) -> bool:
        return self.lanes is None or bool(self.lanes.any())
