"""Counting mode's ledger: executions by segment, accesses by instruction, phases, the trace, and the cache's input."""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator import access
from sparktrace_tui.emulator.costs import Cost, by_lanes, global_cost, shared_cost
from sparktrace_tui.emulator.counters import AccessForm, Operation, Space
from sparktrace_tui.emulator.lanes import Bits, Sum, Value, full
from sparktrace_tui.emulator.masks import Batch, Mask

_TRACE_LIMIT = 16_000
_CACHE_LIMIT = 4096
_WHOLE_INSTRUCTIONS = 8192
_BURST_INSTRUCTIONS = 1024
_BURSTS = 16


class Hierarchy(Protocol):
    """The caches: told of every counted global access of the sampled waves, in the order of execution."""

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
        """Absolute 32-byte sectors starts[i] + pattern[j], unique within each warp's request, on SM sm[i]; `repeat`
        is how many times the access counts, where sampled waves stand for others."""

    def pass_over(self, followed: int, blocks: int) -> None:
        """`blocks` blocks that are not run come next; `followed` were run so far."""


class _Repeated:
    """The last access of an instruction where it repeats: equal addresses but for a shift, counted when it ends."""

    __slots__ = ("cost", "mask", "pending", "residue", "rows", "thread", "trace")

    def __init__(self, thread: Bits, mask: Mask, residue: int, cost: Cost, rows: Bits | None, trace: int) -> None:
        self.thread, self.mask, self.residue = thread, mask, residue
        self.cost, self.rows, self.trace = cost, rows, trace
        self.pending = 0


class PhaseLedger:
    """One phase's sums over the weighted blocks: warp executions by segment, wavefronts and sectors by pc."""

    def __init__(self) -> None:
        self.executions: dict[int, float] = {}
        self.shared: dict[int, float] = {}
        self.sectors: dict[int, float] = {}


class Ledger:
    """All counts of one launch while it runs."""

    def __init__(self, forms: Mapping[int, AccessForm] | None, hierarchy: Hierarchy | None) -> None:
        self.forms, self.hierarchy = forms or {}, hierarchy
        self.warps: dict[int, float] = {}
        self.threads: dict[int, float] = {}
        self.divergent: dict[int, float] = {}
        self.accesses: dict[int, dict[str, float]] = {}
        self.kinds: dict[int, tuple[Space, Operation]] = {}
        self.phases: list[PhaseLedger] = []
        self.phase: int | npt.NDArray[np.int64] = 0
        self.repeat = 0.0
        self.trace_at: tuple[int, int] | None = None
        self.trace_segments: list[int] = []
        self.trace_costs: list[tuple[int, int, int]] = []
        self.trace_skipped = 0
        self.trace_length = 0
        self._widths: dict[int, int] = {}
        self._touching = 1.0
        self._runs: dict[int, int] = {}
        self._repeated: dict[int, _Repeated] = {}
        self._cache: dict[tuple[object, ...], tuple[object, Cost]] = {}

    def start_batch(self) -> None:
        self.settle()
        self.phase = 0
        self._runs.clear()
        if len(self._cache) > _CACHE_LIMIT:
            self._cache.clear()

    def _phase(self, number: int) -> PhaseLedger:
        while len(self.phases) <= number:
            self.phases.append(PhaseLedger())
        return self.phases[number]

    def executed(self, segment: int, length: int, mask: Mask) -> None:
        """A segment of `length` instructions ran once for the lanes of the mask."""
        warps = mask.warps
        self.warps[segment] = self.warps.get(segment, 0.0) + warps
        self.threads[segment] = self.threads.get(segment, 0.0) + mask.threads
        if isinstance(self.phase, int):
            counts = self._phase(self.phase).executions
            counts[segment] = counts.get(segment, 0.0) + warps
        else:
            each = mask.batch.by_block(np.any(mask.active, axis=2)) * mask.batch.weights
            for number in np.unique(self.phase):
                counts = self._phase(int(number)).executions
                counts[segment] = counts.get(segment, 0.0) + float(each[self.phase == number].sum())
        if self.hierarchy is not None:
            self._thin(segment, length)
        if self.trace_at is not None and self._traced(mask):
            if self.trace_length < _TRACE_LIMIT:
                self.trace_segments.append(segment)
                self.trace_length += length
            else:
                self.trace_skipped += length

    def _thin(self, segment: int, length: int) -> None:
        """Of a long loop the caches are told all trips at first, then bursts that stand for the trips between."""
        runs = self._runs.get(segment, 0)
        self._runs[segment] = runs + 1
        whole = max(16, _WHOLE_INSTRUCTIONS // length)
        if runs < whole:
            self._touching = 1.0
        else:
            burst = max(4, _BURST_INSTRUCTIONS // length)
            self._touching = float(_BURSTS) if (runs - whole) // burst % _BURSTS == 0 else 0.0

    def settle(self) -> None:
        """Adds what repeated accesses have pending; before the phase or the batch changes, and at the end."""
        for pc, kept in self._repeated.items():
            if kept.pending:
                self._add(pc, self.kinds[pc][0], kept.cost, kept.rows, kept.mask, kept.pending)
        self._repeated.clear()

    def _traced(self, mask: Mask) -> bool:
        if mask.lanes is None:
            return True
        assert self.trace_at is not None
        block, warp = self.trace_at
        active = mask.active
        return bool(active[block if active.shape[0] > 1 else 0, warp].any())

    def split(self, pc: int, taken: Mask, left: Mask) -> None:
        """A branch sent lanes both ways."""
        both = np.any(taken.active, axis=2) & np.any(left.active, axis=2)
        self.divergent[pc] = self.divergent.get(pc, 0.0) + taken.batch.total(both)

    def access(
        self, pc: int, space: Space, operation: Operation, address: Value, offset: int, width: int, mask: Mask,
        aggregated: bool = False,
    ) -> None:  # fmt: skip
        """One execution of a memory instruction: `width` bytes a lane at `address + offset`."""
        kept = self._repeated.get(pc)
        if kept is not None:
            if address.__class__ is Sum and kept.thread is address.thread and kept.mask is mask:
                residue = address.residue()
                if residue >= 0 and not (residue + offset - kept.residue) & (3 if space == "shared" else 31):
                    kept.pending += 1
                    if self.hierarchy is not None and kept.cost.sectors is not None and self.touches:
                        start = address.block.astype(np.int64).reshape(-1) + offset
                        self._touch(pc, operation, kept.cost, start >> 5, mask.batch, kept.rows)
                    if kept.trace >= 0 and self.trace_length <= _TRACE_LIMIT:
                        self.trace_costs.append((len(self.trace_segments), pc, kept.trace))
                    return
            del self._repeated[pc]
            if kept.pending:
                self._add(pc, space, kept.cost, kept.rows, kept.mask, kept.pending)
        form = self.forms.get(pc)
        if form is not None:
            if form.leader != pc:
                return
            width, aggregated = form.width, aggregated or form.atomic_aggregated
        row = self.accesses.get(pc)
        if row is None:
            row = self.accesses[pc] = dict.fromkeys(
                ("requests", "wavefronts", "conflicts", "sectors", "ideal_sectors", "bytes", "serialised"), 0.0
            )
            self.kinds[pc] = (space, operation)
        self._widths[pc] = width
        match space:
            case "shared":
                cost, rows = self._shared_cost(address, offset, width, mask)
            case "global":
                cost, rows = self._global_cost(pc, operation, address, offset, width, mask)
            case "local":
                cost, rows = self._local_cost(address, offset, width, mask)
            case _:
                row["requests"] += mask.warps
                row["bytes"] += mask.threads * width
                return
        self._add(pc, space, cost, rows, mask, 1)
        atomic = operation in ("atomic", "reduction")
        if atomic:
            row["serialised"] += self._serialised(address, offset, mask, aggregated)
        trace = -1
        if self.trace_at is not None and self._traced(mask) and self.trace_length <= _TRACE_LIMIT:
            block, warp = self.trace_at
            amounts = cost.amount
            trace = int(amounts[block if amounts.shape[0] > 1 else 0, warp])
            self.trace_costs.append((len(self.trace_segments), pc, trace))
        if address.__class__ is Sum and not atomic and space != "local" and cost.totals is not None:
            residue = address.residue()
            if residue >= 0:
                thread = address.thread
                self._repeated[pc] = _Repeated(thread, mask, (residue + offset) & 31, cost, rows, trace)

    @property
    def touches(self) -> float:
        """How often an access counts for the caches; 0 where it is not to be told."""
        return self.repeat * self._touching

    def _add(self, pc: int, space: Space, cost: Cost, rows: Bits | None, mask: Mask, times: int) -> None:
        row = self.accesses[pc]
        batch = mask.batch
        if rows is not None:
            each = rows * batch.weights
            weight = float(each.sum())
        else:
            each, weight = batch.weights, batch.weight
        if cost.totals is not None:
            requests, amount, base = (total * weight for total in cost.totals)
        else:
            requests, amount, base = (
                float(part.reshape(batch.count, -1).sum(axis=1) @ each)
                for part in (cost.requests, cost.amount, cost.base)
            )
        row["requests"] += requests * times
        row["bytes"] += mask.threads * self._widths[pc] * times
        if space == "shared":
            row["wavefronts"] += amount * times
            row["conflicts"] += (amount - base) * times
        else:
            row["sectors"] += amount * times
            row["ideal_sectors"] += base * times
        self._phase_access(pc, space, cost, each * times, amount * times)

    def _phase_access(self, pc: int, space: Space, cost: Cost, each: Bits, amount: float) -> None:
        if isinstance(self.phase, int):
            phase = self._phase(self.phase)
            sums = phase.shared if space == "shared" else phase.sectors
            sums[pc] = sums.get(pc, 0.0) + amount
            return
        parts = np.broadcast_to(cost.amount.sum(axis=1), each.shape) * each
        for number in np.unique(self.phase):
            phase = self._phase(int(number))
            sums = phase.shared if space == "shared" else phase.sectors
            sums[pc] = sums.get(pc, 0.0) + float(parts[self.phase == number].sum())

    def _remember(self, key: tuple[object, ...], holds: object, make: Callable[[], Cost]) -> Cost:
        found = self._cache.get(key)
        if found is not None:
            return found[1]
        if len(self._cache) > _CACHE_LIMIT:
            self._cache.clear()
        cost = make()
        self._cache[key] = (holds, cost)
        return cost

    def _split_rows(self, mask: Mask) -> tuple[Bits | None, Bits | None, int]:
        """Lanes (1, T) within a block, whole blocks chosen (B,), and a key; None where all."""
        if mask.lanes is None:
            return None, None, 0
        if mask.by_block:
            return None, np.broadcast_to(mask.lanes[:, 0], (mask.batch.count,)).astype(np.float64), 0
        return mask.lanes, None, id(mask.lanes)

    def _shared_cost(self, address: Value, offset: int, width: int, mask: Mask) -> tuple[Cost, Bits | None]:
        batch = mask.batch
        lanes, rows, key = self._split_rows(mask)
        whole = lanes is None or lanes.shape[0] == 1
        if address.__class__ is Sum and whole:
            block = address.block
            skew = (int(np.bitwise_or.reduce(block, axis=None)) | offset) & 3
            thread = address.thread
            if skew == 0:
                return self._remember(
                    ("s", id(thread), key, width, batch.threads), (thread, mask),
                    lambda: shared_cost(batch.threads, thread.astype(np.int64), lanes, width),
                ), rows  # fmt: skip
        elif whole:
            assert isinstance(address, np.ndarray) or address.__class__ is Sum
            if address.__class__ is not Sum:
                array = full(address)
                if array.shape[1] == 1:
                    return self._remember(
                        ("u", key, width, batch.threads), mask,
                        lambda: shared_cost(batch.threads, np.zeros((1, 1), np.int64), lanes, width),
                    ), rows  # fmt: skip
                if array.shape[0] == 1 and offset & 3 == 0:
                    return self._remember(
                        ("s", id(array), key, width, batch.threads), (array, mask),
                        lambda: shared_cost(batch.threads, array.astype(np.int64), lanes, width),
                    ), rows  # fmt: skip
        return shared_cost(batch.threads, full(address).astype(np.int64) + offset, lanes, width), rows

    def _local_cost(self, address: Value, offset: int, width: int, mask: Mask) -> tuple[Cost, Bits | None]:
        places = by_lanes(full(address).astype(np.int64) + offset, mask)
        flat, active, shape = places
        sectors, ideal = access.local_sectors(flat, active, width)
        return Cost(np.any(active, axis=1).reshape(shape), sectors.reshape(shape), ideal.reshape(shape)), None

    def _global_cost(
        self, pc: int, operation: Operation, address: Value, offset: int, width: int, mask: Mask
    ) -> tuple[Cost, Bits | None]:
        batch = mask.batch
        lanes, rows, key = self._split_rows(mask)
        if lanes is not None and lanes.shape[0] > 1:
            cost = global_cost(batch.threads, full(address).astype(np.int64) + offset, mask, width)
            self._touch_rows(pc, operation, cost, batch)
            return cost, rows
        if address.__class__ is Sum:
            block, thread = address.block, address.thread
        else:
            array = full(address)
            if array.shape[0] > 1 and array.shape[1] > 1:
                cost = global_cost(batch.threads, array.astype(np.int64) + offset, Mask(batch, lanes), width)
                self._touch_rows(pc, operation, cost, batch, rows)
                return cost, rows
            block, thread = (array, _ZERO) if array.shape[1] == 1 else (_ZERO, array)
        start = block.astype(np.int64).reshape(-1) + offset
        residues = start & 31
        first = int(residues[0])
        if start.size == 1 or bool((residues == first).all()):
            cost = self._pattern(thread, lanes, key, mask, first, width)
            if self.hierarchy is not None and self.touches:
                self._touch(pc, operation, cost, start >> 5, batch, rows)
            return cost, rows
        amount = np.zeros((batch.count, batch.warps), np.int64)
        requests, base = np.zeros_like(amount), np.zeros_like(amount)
        for residue in np.unique(residues):
            chosen = residues == residue
            cost = self._pattern(thread, lanes, key, mask, int(residue), width)
            amount[chosen], requests[chosen], base[chosen] = cost.amount, cost.requests, cost.base
            if self.hierarchy is not None and self.touches:
                kept = chosen if rows is None else chosen & (rows > 0)
                self._touch(pc, operation, cost, start >> 5, batch, kept.astype(np.float64))
        return Cost(requests, amount, base), rows

    def _pattern(self, thread: Bits, lanes: Bits | None, key: int, mask: Mask, residue: int, width: int) -> Cost:
        threads = mask.batch.threads
        return self._remember(
            ("g", id(thread), key, residue, width, threads), (thread, mask),
            lambda: global_cost(threads, thread.astype(np.int64) + residue, Mask(mask.batch, lanes), width),
        )  # fmt: skip

    def _touch(self, pc: int, operation: Operation, cost: Cost, base: Bits, batch: Batch, rows: Bits | None) -> None:
        """A pattern at the sectors of every block of the batch that takes part."""
        assert self.hierarchy is not None
        assert cost.sectors is not None
        sms = batch.sms
        starts = base if base.size == batch.count else np.broadcast_to(base, (batch.count,))
        if rows is not None:
            chosen = rows > 0
            starts, sms = starts[chosen], sms[chosen]
        self.hierarchy.touch(
            pc, operation == "store", operation in ("atomic", "reduction"), starts, cost.sectors, sms, self.touches
        )  # fmt: skip

    def _touch_rows(self, pc: int, operation: Operation, cost: Cost, batch: Batch, rows: Bits | None = None) -> None:
        if self.hierarchy is None or not self.touches:
            return
        assert cost.sectors is not None
        sectors, sms = cost.sectors, np.repeat(batch.sms, cost.amount.sum(axis=1))
        if rows is not None:
            keep = np.repeat(rows > 0, cost.amount.sum(axis=1))
            sectors, sms = sectors[keep], sms[keep]
        self.hierarchy.touch(
            pc, operation == "store", operation in ("atomic", "reduction"), sectors, _ONE, sms, self.touches
        )  # fmt: skip

    def _serialised(self, address: Value, offset: int, mask: Mask, aggregated: bool) -> float:
        if aggregated:
            return mask.warps
        array = full(address)
        if array.shape[1] == 1:
            return mask.batch.total(mask.active.sum(axis=2))
        flat, active, shape = by_lanes(array.astype(np.int64) + offset, mask)
        return mask.batch.total(access.same_address_depth(flat, active).reshape(shape))


_ZERO = np.zeros((1, 1), np.uint64)
_ONE = np.zeros(1, np.int64)
