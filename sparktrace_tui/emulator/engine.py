"""Runs one batch of blocks in lockstep: fragments of lanes by pc, the smallest first, barriers between them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator import lanes
from sparktrace_tui.emulator.bound import Bound, Step, Stopped, block_index
from sparktrace_tui.emulator.lanes import Bits, Value
from sparktrace_tui.emulator.masks import Batch, Mask
from sparktrace_tui.emulator.ops import uncovered
from sparktrace_tui.emulator.program import Segment, is_barrier
from sparktrace_tui.emulator.ptx import Imm, Instruction, Reg

__all__ = ["Engine", "Stopped"]


@dataclass
class _Parked:
    """Lanes that wait at a barrier."""

    segment: Segment
    mask: Mask
    barrier: int
    expected: int | None


class Engine(Bound):
    """Takes a bound kernel through a batch of blocks."""

    def run(self, batch: Batch) -> None:
        """All blocks of the batch from the first instruction to the last; raises Stopped."""
        self.batch = batch
        self.operands.reset()
        self._shared = self._local = None
        self._cells.clear()
        self.block_rows = np.arange(batch.count)[:, None]
        self.thread_columns = np.arange(batch.threads)[None, :]
        for slot, value in self.preset.items():
            self.slots[slot] = value
        for name, slot in self.operands.specials.items():
            if name.startswith("%ctaid"):
                self.slots[slot] = block_index(batch.blocks, self.launch.grid, name[-1])
        self.all = Mask(batch, None)
        if self.ledger is not None:
            self.ledger.start_batch()
        if self.checks is not None:
            self.checks.start_batch(self)
        self.live = self.all
        self.runnable: dict[int, Mask] = {0: self.all}
        self.parked: list[_Parked] = []
        self.steps_taken = 0
        with np.errstate(all="ignore"):
            while self.runnable or self.parked:
                if not self.runnable:
                    self._release()
                    continue
                start = min(self.runnable)
                self._run_segment(self.by_start[start], self.runnable.pop(start))

    def _run_segment(self, segment: Segment, mask: Mask) -> None:
        length = segment.end - segment.start
        self.steps_taken += length
        if self.steps_taken > self.budget:
            self._endless(segment, mask)
        if self.ledger is not None:
            self.ledger.executed(segment.index, length, mask)
        plain, steps, writes = self.plans[segment.index]
        self.mask = mask
        protected = self._protected() if self.runnable or self.parked else 0
        if plain is not None and not writes & protected:
            for action in plain:
                action()
        else:
            for step in steps:
                self._guarded(step, mask, protected)
        self._close(segment, mask)

    def _protected(self) -> int:
        """The registers that lanes elsewhere still need, as bits."""
        bits = 0
        for start in self.runnable:
            bits |= self.by_start[start].live_in
        for parked in self.parked:
            bits |= parked.segment.live_at_close
        return bits

    def _guarded(self, step: Step, mask: Mask, protected: int) -> None:
        slots = self.slots
        if step.guard >= 0:
            test = lanes.full(slots[step.guard])
            mask = mask.narrowed(~test if step.negated else test)
            if not mask.any():
                return
        elif not step.writes & protected:
            step.action()
            return
        self.mask, whole = mask, self.mask
        before = [slots[slot] for slot in step.slots]
        step.action()
        self.mask = whole
        if mask.lanes is None:
            return
        for slot, old in zip(step.slots, before, strict=True):
            slots[slot] = lanes.choose(mask.lanes, slots[slot], old)

    def _close(self, segment: Segment, mask: Mask) -> None:
        closer = segment.closer
        if closer is None:
            self._enter(segment.end, mask)
            return
        if is_barrier(closer):
            self._arrive(segment, closer, mask)
            return
        taken: Mask | None = mask
        left: Mask | None = None
        if closer.guard is not None:
            test = lanes.full(self.slots[closer.guard.slot])
            taken, left = self._divide(closer, mask, ~test if closer.guard_negated else test)
        match closer.name:
            case "bra":
                if left is not None:
                    self._enter(segment.end, left)
                if taken is not None:
                    self._enter(closer.operands[0].pc, taken)  # type: ignore[union-attr]
            case "brx":
                self._jump(closer, mask)
            case "ret" | "exit":
                if left is not None:
                    self._enter(segment.end, left)
                if taken is not None:
                    self._leave(taken)
            case _:
                raise uncovered(closer)

    def _divide(self, closer: Instruction, mask: Mask, test: Bits) -> tuple[Mask | None, Mask | None]:
        if test.size == 1:
            return (mask, None) if bool(test.flat[0]) else (None, mask)
        if mask.lanes is None:
            count = int(np.count_nonzero(test))
            if count == 0:
                return None, mask
            if count == test.size:
                return mask, None
            taken, left = Mask(self.batch, test), Mask(self.batch, ~test)
        else:
            on = mask.lanes & test
            off = mask.lanes & ~test
            if not on.any():
                return None, mask
            if not off.any():
                return mask, None
            taken, left = Mask(self.batch, on), Mask(self.batch, off)
        if self.ledger is not None:
            self.ledger.split(closer.pc, taken, left)
        return taken, left

    def _jump(self, closer: Instruction, mask: Mask) -> None:
        index = lanes.full(self.slots[closer.operands[0].slot])  # type: ignore[union-attr]
        if index.size == 1:
            self._enter(closer.table[int(index.flat[0])], mask)
            return
        for number, target in enumerate(closer.table):
            chosen = index == number
            on = chosen if mask.lanes is None else mask.lanes & chosen
            if on.any():
                self._enter(target, Mask(self.batch, on))

    def _enter(self, pc: int, mask: Mask) -> None:
        """Lanes arrive at a segment, and join those already there."""
        segment = self.by_start.get(pc)
        if segment is None:
            self._leave(mask)
            return
        there = self.runnable.get(pc)
        if there is not None:
            mask = self._joined(there, mask)
        if segment.only_returns:
            self.runnable.pop(pc, None)
            self._count_return(segment, mask)
            self._leave(mask)
            return
        self.runnable[pc] = mask

    def _count_return(self, segment: Segment, mask: Mask) -> None:
        if self.ledger is not None:
            self.ledger.executed(segment.index, 1, mask)

    def _joined(self, a: Mask, b: Mask) -> Mask:
        if a.lanes is None or b.lanes is None:
            return self.all
        union = a.lanes | b.lanes
        live = self.live
        if live.lanes is None:
            if bool(union.all()):
                return self.all
        elif live.lanes.shape == union.shape and bool((union == live.lanes).all()):
            return live
        return Mask(self.batch, union)

    def _leave(self, mask: Mask) -> None:
        if mask.lanes is None or (not self.runnable and not self.parked):
            self.live = Mask(self.batch, np.zeros((1, self.batch.threads), bool))
            return
        rest = ~mask.lanes if self.live.lanes is None else self.live.lanes & ~mask.lanes
        self.live = Mask(self.batch, rest)
        self._adopt_live()

    def _adopt_live(self) -> None:
        """Lets the only fragment left carry the mask of the live lanes, so that equal masks are one object."""
        if len(self.runnable) == 1 and not self.parked:
            (start,) = self.runnable
            mask = self.runnable[start]
            live = self.live.lanes
            if live is not None and mask.lanes is not None and mask.lanes.shape == live.shape:
                self.live = mask if bool((mask.lanes == live).all()) else self.live

    def _arrive(self, segment: Segment, closer: Instruction, mask: Mask) -> None:
        barrier, expected = self._barrier_operands(closer)
        everyone = mask is self.live or (mask.lanes is not None and self._is_live(mask))
        if self.checks is not None:
            self.checks.arrived(closer, mask)
        if everyone and not self.parked and not self.runnable and expected in (None, self.batch.warps * 32):
            if self.checks is not None:
                self.checks.passed_together()
            self._passed(closer, mask, None)
            self._enter(segment.end, mask)
            return
        self.parked.append(_Parked(segment, mask, barrier, expected))

    def _is_live(self, mask: Mask) -> bool:
        live = self.live.lanes
        return live is not None and mask.lanes is not None and np.array_equal(
            np.broadcast_to(mask.lanes, np.broadcast_shapes(mask.lanes.shape, live.shape)),
            np.broadcast_to(live, np.broadcast_shapes(mask.lanes.shape, live.shape)),
        )  # fmt: skip

    def _barrier_operands(self, closer: Instruction) -> tuple[int, int | None]:
        if "arrive" in closer.parts:
            raise uncovered(closer)
        operands = list(closer.operands)
        if "red" in closer.parts:
            operands = [*operands[1:-1]]
        numbers: list[int] = []
        for operand in operands:
            if isinstance(operand, Imm):
                numbers.append(operand.value)
            elif isinstance(operand, Reg):
                value = lanes.full(self.slots[operand.slot])
                if value.size > 1 and len(np.unique(value)) > 1:
                    raise uncovered(closer, "a barrier number that differs by thread")
                numbers.append(int(value.flat[0]))
        return (numbers[0] if numbers else 0), (numbers[1] if len(numbers) > 1 else None)

    def _passed(self, closer: Instruction, mask: Mask, blocks: npt.NDArray[np.bool_] | None) -> None:
        """A barrier released its lanes: the results of a reduction, the next phase, the next epoch."""
        if "red" in closer.parts:
            self._reduce(closer, mask)
        if self.checks is not None:
            self.checks.barrier(mask)
        if self.ledger is None:
            return
        self.ledger.settle()
        phase = self.ledger.phase
        if blocks is None or bool(blocks.all()):
            self.ledger.phase = phase + 1
            return
        array = np.full(self.batch.count, phase) if isinstance(phase, int) else phase.copy()
        array[blocks] += 1
        self.ledger.phase = array

    def _reduce(self, closer: Instruction, mask: Mask) -> None:
        target, operand = closer.operands[0], closer.operands[-1]
        assert isinstance(target, Reg)
        assert isinstance(operand, Reg)
        shape = (self.batch.count, self.batch.threads)
        on: Bits = mask.full()
        test: Bits = np.broadcast_to(lanes.full(self.slots[operand.slot]), shape)
        if "popc" in closer.parts:
            result: Value = np.count_nonzero(test & on, axis=1).astype(np.uint32)[:, None]
        elif "and" in closer.parts:
            result = np.all(test | ~on, axis=1)[:, None]
        else:
            result = np.any(test & on, axis=1)[:, None]
        old = self.slots[target.slot]
        self.slots[target.slot] = result if mask.lanes is None else lanes.choose(mask.lanes, result, old)

    def _release(self) -> None:
        """Every lane waits: lets go the blocks of which all have come, or finds that none ever will."""
        count, threads = self.batch.count, self.batch.threads
        live = self.live.full().sum(axis=1)
        moved = False
        for barrier in sorted({parked.barrier for parked in self.parked}):
            group = [parked for parked in self.parked if parked.barrier == barrier]
            waiting = np.zeros((count, threads), bool)
            for parked in group:
                waiting |= parked.mask.full()
            expected = next((parked.expected for parked in group if parked.expected is not None), None)
            if expected is None:
                free = (waiting.sum(axis=1) == live) & (live > 0)
            else:
                padded = Mask(self.batch, waiting).active.any(axis=2).sum(axis=1) * 32
                free = padded == expected
            if not free.any():
                continue
            moved = True
            whole = Mask(self.batch, waiting & free[:, None])
            if self.checks is not None:
                self.checks.released([(p.segment.closer, p.mask) for p in group], free, expected is not None)
            self._passed(group[0].segment.closer, whole, free)  # type: ignore[arg-type]
            for parked in group:
                self.parked.remove(parked)
                go = parked.mask.full() & free[:, None]
                stay = parked.mask.full() & ~free[:, None]
                if stay.any():
                    self.parked.append(_Parked(parked.segment, Mask(self.batch, stay), barrier, parked.expected))
                if go.any():
                    self._enter(parked.segment.end, self._same(Mask(self.batch, go)))
            break
        if not moved:
            self._stuck()

    def _same(self, mask: Mask) -> Mask:
        if mask.lanes is not None and self.live.lanes is None and bool(mask.lanes.all()):
            return self.all
        return self.live if self._is_live(mask) else mask

    def _stuck(self) -> None:
        parked = self.parked[0]
        rows, columns = np.nonzero(parked.mask.full())
        block = int(rows[0])
        waiting = np.zeros(self.batch.threads, bool)
        for other in self.parked:
            if other.barrier == parked.barrier:
                waiting |= other.mask.full()[block]
        line = parked.segment.closer.line if parked.segment.closer else None
        raise Stopped(
            self.fault(
                "barrier_divergence",
                f"is one of {int(waiting.sum())} threads, of {int(self.live.full()[block].sum())}, "
                "that wait at a barrier the others do not reach",
                block, int(columns[0]), line,
            )
        )  # fmt: skip

    def _endless(self, segment: Segment, mask: Mask) -> None:
        rows, columns = np.nonzero(mask.full())
        line = next((i.line for i in self.kernel.instructions[segment.start : segment.end] if i.line is not None), None)
        raise Stopped(
            self.fault(
                "endless", f"still running after {self.budget} instructions", int(rows[0]), int(columns[0]), line
            )
        )
