"""Where a warp's shared accesses fall: one block of every kernel of a plan is run, and its first accesses kept."""

from collections.abc import Mapping, Sequence

import numpy as np

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.machine_code import BANKS, SharedAccess
from sparktrace_tui.domain.kernel.plan import ResolvedLaunch
from sparktrace_tui.emulator.access import WARP, by_warp, quarters_merge
from sparktrace_tui.emulator.counters import AccessForm, Operation, Space
from sparktrace_tui.emulator.counting import Ledger
from sparktrace_tui.emulator.engine import Engine, Stopped
from sparktrace_tui.emulator.estimate import Prepared, kernel_of
from sparktrace_tui.emulator.lanes import Value, full
from sparktrace_tui.emulator.machine import COUNT_BUDGET
from sparktrace_tui.emulator.masks import Batch, Mask
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.program import slice_of

_First = tuple[int, Operation, int, tuple[int | None, ...]]  # warp, operation, bytes a lane, addresses


class _Recorder(Ledger):
    """A ledger that also keeps, for each shared access, the addresses of its first execution."""

    def __init__(self, forms: Mapping[int, AccessForm]) -> None:
        super().__init__(forms, None)
        self.first: dict[int, _First] = {}

    def access(
        self, pc: int, space: Space, operation: Operation, address: Value, offset: int, width: int, mask: Mask,
        aggregated: bool = False,
    ) -> None:  # fmt: skip
        super().access(pc, space, operation, address, offset, width, mask, aggregated)
        if space != "shared" or pc in self.first or pc not in self._widths:
            return
        threads = mask.batch.threads
        active = mask.active[0]
        if not active.any():
            return
        warp = int(np.flatnonzero(active.any(axis=1))[0])
        places = by_warp(full(address).astype(np.int64) + offset, threads)[0, warp]
        lanes = tuple(int(a) if on else None for a, on in zip(places, active[warp], strict=True))
        self.first[pc] = (warp, operation, self._widths[pc], lanes)


def shared_accesses(
    prepared: Prepared, launches: Sequence[ResolvedLaunch], memory: DeviceMemory
) -> tuple[SharedAccess, ...]:
    """Every shared access that block 0 of each kernel of a plan performs, in the order of the code.

    A kernel that is launched several times is run once, at its first launch. Widths are those of the machine code,
    so loads that the assembler merges are one access. Raises BadInput where the block cannot be run.
    """
    found: list[SharedAccess] = []
    for launch in {launch.kernel: launch for launch in reversed(launches)}.values():
        kernel = kernel_of(prepared, launch)
        chosen = slice_of(kernel)
        recorder = _Recorder(prepared.alignments[launch.kernel].forms)
        engine = Engine(kernel, launch, memory, chosen, ledger=recorder, checks=None, seed=0, budget=COUNT_BUDGET)
        block = Batch(np.zeros(1, np.int64), np.ones(1), launch.threads_per_block, np.zeros(1, np.int32))
        try:
            engine.run(block)
        except Stopped as stopped:
            raise BadInput(f"{prepared.source_name}: {stopped.fault.message}") from stopped
        recorder.settle()
        for pc, (warp, operation, width, lanes) in sorted(recorder.first.items()):
            instruction = kernel.instructions[pc]
            groups = lane_groups(lanes, width)
            words, worst, wavefronts = bank_words(lanes, groups, width)
            row = recorder.accesses[pc]
            found.append(
                SharedAccess(
                    launch.kernel, instruction.line, operation, width, " ".join(instruction.text.split()), warp,
                    lanes, groups, words, worst, wavefronts, round(row["requests"]), round(row["wavefronts"]),
                    round(row["conflicts"]),
                )
            )  # fmt: skip
    return tuple(found)


def lane_groups(lanes: Sequence[int | None], width: int) -> tuple[tuple[int, ...], ...]:
    """The active lanes that are served together: all 32, half-warps of 8-byte and quarters of 16-byte accesses.

    The two quarters of a half are one group where `access.quarters_merge` says so.
    """
    match width:
        case 8:
            sizes = [16, 16]
        case 16:
            addresses = np.array([[0 if a is None else a for a in lanes]], np.int64)
            merged = quarters_merge(addresses, np.array([[a is not None for a in lanes]]))[0]
            sizes = [size for half in merged for size in ([16] if half else [8, 8])]
        case _:
            sizes = [WARP]
    groups, start = [], 0
    for size in sizes:
        groups.append(tuple(lane for lane in range(start, start + size) if lanes[lane] is not None))
        start += size
    return tuple(group for group in groups if group)


def bank_words(
    lanes: Sequence[int | None], groups: Sequence[Sequence[int]], width: int
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Distinct words in each bank, summed over the groups and the most in one group; and the wavefronts."""
    total, worst, wavefronts = [0] * BANKS, [0] * BANKS, 0
    for group in groups:
        words: set[int] = set()
        for lane in group:
            address = lanes[lane]
            assert address is not None
            words.update(range(address >> 2, (address + width - 1 >> 2) + 1))
        counts = [0] * BANKS
        for word in words:
            counts[word % BANKS] += 1
        total = [a + b for a, b in zip(total, counts, strict=True)]
        worst = [max(a, b) for a, b in zip(worst, counts, strict=True)]
        wavefronts += max(counts)
    return tuple(total), tuple(worst), wavefronts
