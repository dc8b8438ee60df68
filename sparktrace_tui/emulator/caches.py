"""L1 and L2 by traffic distance: which of the sectors a launch asks for hit, and what reaches L2 and memory.

A line is taken to be resident while less than a cache's capacity has been allocated since it was last touched. That
is least-recently-used by allocations: it needs one stamp a line, and no sets. L1 is followed on one SM that stands for
all; L2 sees what misses there. Lines are 128 bytes of four sectors, fetched one by one (in pairs where memory moves
64-byte bursts). L2 writes back; L1 writes through and keeps nothing of a store.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator.counters import Traffic
from sparktrace_tui.emulator.profile import DeviceProfile

SECTOR = 32
_LINE = 4  # sectors
_NONE = np.zeros(0, np.int64)
# A wider range than this is covered as it is touched.
_MOST_SPANNED = 1 << 25
_MOST_ATOMIC_SECTORS = 1 << 14


class Cache:
    """One cache as stamps over a growing range of sectors.

    A line or sector that was never touched holds zeros, so that what is not reached costs no memory: the clock starts
    beyond a whole capacity, and epochs count from one.
    """

    def __init__(self, capacity: float, burst_sectors: int = 1, span: tuple[int, int] | None = None) -> None:
        """span: the first and last sector that touches are expected in."""
        self.capacity = capacity / SECTOR
        self.burst = burst_sectors
        self.clock = float(math.ceil(self.capacity))
        self.epoch = 0
        self.base: int | None = None
        self._resize(0)
        if span is not None and span[1] - span[0] < _MOST_SPANNED:
            self._cover(*span)

    def _resize(self, sectors: int) -> None:
        lines = sectors // _LINE
        self.line_stamp = np.zeros(lines, np.int64)
        self.line_epoch = np.zeros(lines, np.int32)
        self.sector_epoch = np.zeros(sectors, np.int32)
        self.dirty_epoch = np.zeros(sectors, np.int32)
        self.mark = np.zeros(sectors, np.int32)

    def _cover(self, low: int, high: int) -> None:
        """Make the arrays span sectors low to high, keeping what they hold."""
        if self.base is not None and low >= self.base and high < self.base + self.sector_epoch.size:
            return
        low &= ~1023
        if self.base is None:
            self.base = low
        size = self.sector_epoch.size
        start = min(low, self.base)
        end = max(high + 1, self.base + size)
        end = start + (max(end - start, 2 * size) + 1023) // 1024 * 1024
        stamp, line, sector, dirty = self.line_stamp, self.line_epoch, self.sector_epoch, self.dirty_epoch
        at = self.base - start
        self.base = start
        self._resize(end - start)
        self.line_stamp[at // _LINE : at // _LINE + stamp.size] = stamp
        self.line_epoch[at // _LINE : at // _LINE + line.size] = line
        self.sector_epoch[at : at + sector.size] = sector
        self.dirty_epoch[at : at + dirty.size] = dirty

    def touch(self, sectors: npt.NDArray[np.int64], *, dirty: bool = False) -> "Touch":
        """Touch sectors (any order, repeats allowed: only the first of a sector can miss)."""
        if sectors.size == 0:
            return Touch(0, 0, 0, np.zeros(0, np.int64))
        self._cover(int(sectors.min()), int(sectors.max()))
        assert self.base is not None
        places = sectors - self.base
        lines = places >> 2
        # A line is resident while its stamp is later than this.
        stale_at = math.floor(self.clock - self.capacity)
        epochs = self.line_epoch[lines]
        held = self.sector_epoch[places] == epochs
        held &= self.line_stamp[lines] > stale_at
        self.epoch += 1
        missing = fetched = _NONE
        allocated = 0
        if not held.all():
            missing = self._distinct(places[~held])
            fetched = missing
            if self.burst == 2 and not dirty:
                fetched = self._distinct(np.concatenate((missing, missing ^ 1)))
            touched = fetched >> 2
            stale = touched[self.line_stamp[touched] <= stale_at]
            if stale.size:
                self.line_epoch[stale] = self.epoch
                allocated = _LINE * self._distinct(stale << 2).size
                self.clock += allocated
            self.sector_epoch[fetched] = self.line_epoch[touched]
            epochs = self.line_epoch[lines] if dirty else epochs
        self.line_stamp[lines] = int(self.clock)
        soiled = 0
        if dirty:
            clean = places[self.dirty_epoch[places] != epochs]
            if clean.size:
                clean = self._distinct(clean)
                self.dirty_epoch[clean] = self.line_epoch[clean >> 2]
            soiled = clean.size
        return Touch(missing.size, fetched.size, soiled, missing + self.base, allocated)

    def _distinct(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        order = np.arange(places.size, dtype=np.int32)
        self.mark[places] = order
        kept: npt.NDArray[np.int64] = places[self.mark[places] == order]
        return kept

    def empty(self, capacity: float) -> None:
        """Forget all that is held, and go on with another capacity in bytes."""
        self.capacity = capacity / SECTOR
        self.clock = float(math.floor(self.clock) + math.ceil(self.capacity))

    def skip(self, sectors: float) -> None:
        """Let allocations go by that were not followed (blocks that were not sampled)."""
        self.clock += sectors


@dataclass(frozen=True)
class Touch:
    """Of one touch: distinct sectors that missed, sectors fetched (whole bursts), sectors newly dirty, the missed, and
    how many sectors' room was allocated."""

    misses: int
    fetched: int
    soiled: int
    missed: npt.NDArray[np.int64]
    allocated: int = 0


@dataclass
class _Access:
    """Running sums of one instruction: sectors followed in L1, their hits, all sectors, L2 misses; by array the sectors
    fetched from memory (weighted, and as followed), and the sectors newly dirty."""

    fetched: npt.NDArray[np.float64]
    fetched_once: npt.NDArray[np.float64]
    store: bool = False
    atomic: bool = False
    followed: float = 0.0
    l1_hits: float = 0.0
    sectors: float = 0.0
    l2_misses: float = 0.0
    soiled: float = 0.0
    addresses: dict[int, float] = field(default_factory=dict)


class Hierarchy:
    """The caches of a device over the launches of a plan: L2 is kept between them, L1 is not.

    extents: the first and last byte of each array, so that what is read over and over from an array that fits in L2
    is not counted as cold again in every sampled wave.
    """

    def __init__(self, profile: DeviceProfile, extents: Sequence[tuple[int, int]] = ()) -> None:
        self.profile = profile
        self.extents = sorted(extents)
        self._span = (self.extents[0][0] // SECTOR, max(end for _, end in extents) // SECTOR) if extents else None
        self.l2 = Cache(profile["cache.l2"], 2 if profile["dram.burst"] > SECTOR else 1, self._span)
        self._starts = np.array([first // SECTOR for first, _ in self.extents], np.int64)
        self.l1 = Cache(0, span=self._span)
        self.begin(0)

    def begin(self, shared_per_sm: int) -> None:
        """Start a launch whose resident blocks take `shared_per_sm` bytes out of each SM's L1."""
        self.l1.empty(max(self.profile["cache.l1"] - shared_per_sm, 16 * 1024))
        self.followed: int | None = None
        self.accesses: dict[int, _Access] = {}
        self._clock = self.l2.clock
        self._least = float("inf")
        self._owed = [0.0, 0.0]
        self._passed = 0.0

    def pass_over(self, followed: int, blocks: int) -> None:
        """Let `blocks` blocks go by that are not run, as many allocations each as the `followed` so far had.

        Sampled waves lie apart: what one of them fetched must not be found by the next as if nothing came between.
        Arrays that all fit in L2 together push nothing out.
        """
        if followed and sum(-(-(last - first + 1) // SECTOR) for first, last in self.extents) > self.l2.capacity:
            gone = (self.l2.clock - self._clock - self._passed) / followed * blocks
            self._passed += gone
            self.l2.skip(gone)

    def touch(
        self,
        pc: int,
        store: bool,
        atomic: bool,
        starts: npt.NDArray[np.int64],
        pattern: npt.NDArray[np.int64],
        sm: npt.NDArray[np.int32],
        repeat: float,
    ) -> None:
        """One execution of a global access: sectors starts[i] + pattern[j] on SM sm[i], and how often it counts.

        Trips of a long loop may be told in bursts that count for the trips between. What those would have allocated
        is let go by once the bursts are over.
        """
        row = self.accesses.get(pc)
        if row is None:
            arrays = len(self.extents) + 1
            row = self.accesses[pc] = _Access(np.zeros(arrays), np.zeros(arrays), store, atomic)
        self._least = min(self._least, repeat)
        between = repeat / self._least - 1
        if between < 0.5 and any(self._owed):
            self._settle()
        row.sectors += starts.size * pattern.size * repeat
        if not store and not atomic and self._touch_l1(row, starts, pattern, sm, repeat, between):
            return  # what hits in L1 is not seen by L2
        sectors = _sectors(starts, pattern)
        if atomic:
            self._count_atomics(row, sectors, repeat)
        seen = self.l2.touch(sectors, dirty=store or atomic)
        self._owed[1] += seen.allocated * between
        row.l2_misses += seen.misses * repeat
        row.soiled += seen.soiled * repeat
        if not store and seen.misses:
            owners = np.searchsorted(self._starts, seen.missed, side="right")
            counts = np.bincount(owners, minlength=len(self.extents) + 1) * (seen.fetched / seen.misses)
            row.fetched += counts * repeat
            row.fetched_once += counts

    def _settle(self) -> None:
        self.l1.skip(self._owed[0])
        self.l2.skip(self._owed[1])
        self._owed = [0.0, 0.0]

    def _touch_l1(
        self,
        row: _Access,
        starts: npt.NDArray[np.int64],
        pattern: npt.NDArray[np.int64],
        sm: npt.NDArray[np.int32],
        repeat: float,
        between: float,
    ) -> bool:
        """Touch the followed SM's L1; whether all that it asked for was there, and so, by its example, everywhere."""
        if self.followed is None:
            if not sm.size:
                return False
            self.followed = int(sm[sm.size // 2])
        mine = _sectors(starts[sm == self.followed], pattern)
        if not mine.size:
            return False
        seen = self.l1.touch(mine)
        self._owed[0] += seen.allocated * between
        row.followed += mine.size * repeat
        row.l1_hits += (mine.size - seen.misses) * repeat
        return seen.misses == 0

    def _count_atomics(self, row: _Access, sectors: npt.NDArray[np.int64], repeat: float) -> None:
        if len(row.addresses) < _MOST_ATOMIC_SECTORS:
            for sector, count in zip(*np.unique(sectors, return_counts=True), strict=True):
                row.addresses[int(sector)] = row.addresses.get(int(sector), 0.0) + float(count) * repeat

    def hit_rates(self, pc: int) -> tuple[float, float]:
        """Of a load: the share of its sectors found in L1, and of the rest the share found in L2."""
        row = self.accesses.get(pc)
        if row is None or not row.sectors:
            return 0.0, 0.0
        l1 = row.l1_hits / row.followed if row.followed else 0.0
        asked = row.sectors * (1 - l1)
        return l1, max(0.0, 1 - row.l2_misses / asked) if asked else 0.0

    def hottest(self, pc: int) -> float:
        """Of an atomic: how many requests touch its most used sector; infinite where none was followed."""
        row = self.accesses.get(pc)
        if row is None or not row.addresses:
            return float("inf")
        return max(row.addresses.values())

    def finish(self, share_sampled: float, asked: Mapping[int, float] | None = None) -> Traffic:
        """The launch's traffic; `share_sampled` of its blocks were followed (the rest pass L2 unseen).

        asked: the exact number of sectors each instruction asked for, by pc; what was followed is scaled to it.
        """
        self._settle()
        traffic = Traffic()
        arrays = len(self.extents) + 1
        fetched, once, soiled = np.zeros(arrays), np.zeros(arrays), 0.0
        for pc, row in self.accesses.items():
            if asked is not None and pc in asked and row.sectors:
                self._scale(row, asked[pc] / row.sectors)
            if row.atomic:
                traffic.l2_atomic += row.sectors
            elif row.store:
                traffic.l2_write += row.sectors
            else:
                l1, _ = self.hit_rates(pc)
                traffic.l1_hits += row.sectors * l1
                traffic.l2_read += row.sectors * (1 - l1)
            traffic.l1_sectors += row.sectors
            fetched += row.fetched
            once += row.fetched_once
            soiled += row.soiled
        footprint = 0.0
        for number, (first, last) in enumerate(self.extents):
            size = -(-(last - first + 1) // SECTOR)
            if size <= self.l2.capacity:
                fetched[number + 1] = min(fetched[number + 1], max(size, once[number + 1]))
            if once[number + 1] or soiled:
                footprint += size
        traffic.dram_read = float(fetched.sum()) * SECTOR
        if footprint > self.l2.capacity or not self.extents:
            traffic.dram_write = soiled * SECTOR
        if 0 < share_sampled < 1:
            mine = self.l2.clock - self._clock - self._passed
            self.l2.skip(max(0.0, mine * (1 / share_sampled - 1) - self._passed))
        return traffic

    @staticmethod
    def _scale(row: _Access, factor: float) -> None:
        for name in ("followed", "l1_hits", "sectors", "l2_misses", "soiled"):
            setattr(row, name, getattr(row, name) * factor)
        row.fetched *= factor
        row.addresses = {sector: count * factor for sector, count in row.addresses.items()}


def _sectors(starts: npt.NDArray[np.int64], pattern: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Every start plus every number of the pattern, start by start."""
    if pattern.size == 1:
        return starts + pattern
    return (starts[:, None] + pattern[None, :]).reshape(-1)
