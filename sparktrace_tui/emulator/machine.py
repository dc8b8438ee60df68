"""The emulator's front: one launch, either checked (values and faults) or counted (addresses and trip counts)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.plan import ResolvedLaunch
from sparktrace_tui.emulator.counters import Access, AccessForm, Fault, LaunchCounters, Phase
from sparktrace_tui.emulator.counting import Hierarchy, Ledger
from sparktrace_tui.emulator.engine import Engine, Stopped
from sparktrace_tui.emulator.masks import Batch
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.program import lanes_at_once, slice_of
from sparktrace_tui.emulator.ptx import Kernel

COUNT_BUDGET = 40_000_000
VERIFY_BUDGET = 3_000_000
_BYTES_AT_ONCE = 1 << 28

__all__ = ["Hierarchy", "RunResult", "Sample", "needs_data", "run"]


@dataclass(frozen=True)
class Sample:
    """Which blocks are run when counting: `waves` contiguous waves of `resident_blocks`, and the grid's edges."""

    resident_blocks: int
    waves: int = 2


@dataclass(frozen=True)
class RunResult:
    """What a launch gave: counters when counting, faults (and none of the counters) when checking."""

    counters: LaunchCounters | None
    faults: tuple[Fault, ...] = ()
    benign: tuple[Fault, ...] = ()


@dataclass
class _Selection:
    """The blocks to run, in batches that are waves, with the weight of each block."""

    batches: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], bool]] = field(default_factory=list)
    repeat: float = 1.0

    @property
    def blocks(self) -> int:
        return sum(len(batch[0]) for batch in self.batches)


def needs_data(kernel: Kernel) -> bool:
    """Whether counting this kernel depends on what global memory holds."""
    return slice_of(kernel).loads_global


def run(
    kernel: Kernel,
    launch: ResolvedLaunch,
    memory: DeviceMemory,
    *,
    mode: Literal["verify", "count"],
    forms: Mapping[int, AccessForm] | None = None,
    hierarchy: Hierarchy | None = None,
    sample: Sample | None = None,
    seed: int = 0,
    budget: int | None = None,
    keep_data: bool = False,
    resident_blocks: int | None = None,
    sms: int = 1,
) -> RunResult:
    """Runs one launch over `memory`.

    verify: every value is worked out, every access checked, blocks in an order drawn from `seed`; faults are
    returned, never raised. count: only what reaches an address or a branch is worked out, unless `keep_data`;
    `sample` limits the blocks that are run, `resident_blocks` says how many make a wave (for the caches), blocks
    go to `sms` in turn. `budget` is the most instructions a warp may run. Raises BadInput for what is not covered.
    """
    _check_shape(launch)
    if mode == "verify":
        from sparktrace_tui.emulator.verify import verify

        faults, benign = verify(kernel, launch, memory, seed=seed, budget=budget or VERIFY_BUDGET)
        return RunResult(None, faults, benign)
    steps = budget or COUNT_BUDGET
    return _count(
        kernel, launch, memory, forms, hierarchy, sample, seed, steps, keep_data, resident_blocks, sms
    )  # fmt: skip


def _check_shape(launch: ResolvedLaunch) -> None:
    if launch.threads_per_block > 1024 or min(launch.block) < 1 or launch.block[2] > 64:
        raise BadInput(f"a block of {launch.block} threads cannot be launched (1 to 1,024 threads)")
    if min(launch.grid) < 1:
        raise BadInput(f"a grid of {launch.grid} blocks cannot be launched")


def _count(
    kernel: Kernel, launch: ResolvedLaunch, memory: DeviceMemory, forms: Mapping[int, AccessForm] | None,
    hierarchy: Hierarchy | None, sample: Sample | None, seed: int, budget: int, keep_data: bool,
    resident_blocks: int | None, sms: int,
) -> RunResult:  # fmt: skip
    chosen = slice_of(kernel, everything=keep_data)
    ledger = Ledger(forms, hierarchy)
    engine = Engine(kernel, launch, memory, chosen, ledger=ledger, checks=None, seed=seed, budget=budget)
    wave = sample.resident_blocks if sample is not None else resident_blocks
    limit = lanes_at_once(kernel, chosen, _BYTES_AT_ONCE)
    selection = _select(launch, limit, sample, wave if hierarchy is not None or sample is not None else None)
    threads = launch.threads_per_block
    traced = len(selection.batches) // 2 if sample is None else min(1, len(selection.batches) - 1)
    if selection.batches and not selection.batches[traced][2]:
        traced = 0
    per_wave = wave or 1
    try:
        run = 0
        following = 0
        for number, (blocks, weights, in_wave) in enumerate(selection.batches):
            if hierarchy is not None and in_wave:
                ledger.settle()
                hierarchy.pass_over(run, int(blocks[0]) - following)
                run, following = run + len(blocks), int(blocks[-1]) + 1
            ledger.repeat = selection.repeat if in_wave else 0.0
            ledger.trace_at = (len(blocks) // 2, 0) if number == traced else None
            turn = (blocks % per_wave % sms).astype(np.int32)
            engine.run(Batch(blocks, weights, threads, turn))
    except Stopped as stopped:
        return RunResult(None, (stopped.fault,))
    ledger.settle()
    return RunResult(_result(kernel, launch, engine, ledger, selection))


def _select(launch: ResolvedLaunch, lanes: int, sample: Sample | None, wave: int | None) -> _Selection:
    total = launch.blocks
    limit = max(1, lanes // launch.threads_per_block)
    if sample is None or total <= sample.resident_blocks * (sample.waves + 1):
        size = min(limit, wave) if wave else limit
        batches = [
            (np.arange(start, min(start + size, total)), np.ones(min(size, total - start)), True)
            for start in range(0, total, size)
        ]
        return _Selection(batches)
    resident = sample.resident_blocks
    waves = total // resident
    picks = sorted({round(i * (waves - 1) / max(sample.waves, 1)) for i in range(sample.waves)})
    runs = [np.arange(pick * resident, (pick + 1) * resident) for pick in picks]
    chosen = np.concatenate(runs)
    strata = _strata(chosen, launch.grid)
    extra = []
    sizes = _stratum_sizes(launch.grid)
    for stratum, size in sizes.items():
        have = int((strata == stratum).sum())
        if have < min(size, 1):
            extra.append(_first_of(stratum, launch.grid, min(size, 2)))
    rest = np.concatenate(extra) if extra else np.zeros(0, np.int64)
    every = np.concatenate([chosen, rest])
    of = _strata(every, launch.grid)
    weights = np.zeros(len(every))
    for stratum, size in sizes.items():
        members = of == stratum
        weights[members] = size / int(members.sum())
    selection = _Selection(repeat=total / len(chosen))
    done = 0
    for blocks in runs:
        for start in range(0, len(blocks), limit):
            part = blocks[start : start + limit]
            selection.batches.append((part, weights[done : done + len(part)], True))
            done += len(part)
    for start in range(0, len(rest), limit):
        part = rest[start : start + limit]
        selection.batches.append((part, weights[done : done + len(part)], False))
        done += len(part)
    return selection


def _edge(index: npt.NDArray[np.int64], extent: int) -> npt.NDArray[np.int64]:
    """0 for the first of an axis, 2 for the last, 1 between."""
    if extent == 1:
        return np.ones_like(index)
    return np.where(index == extent - 1, 2, np.where(index == 0, 0, 1))


def _strata(blocks: npt.NDArray[np.int64], grid: tuple[int, int, int]) -> npt.NDArray[np.int64]:
    x, y, z = blocks % grid[0], blocks // grid[0] % grid[1], blocks // (grid[0] * grid[1])
    return _edge(x, grid[0]) + 3 * _edge(y, grid[1]) + 9 * _edge(z, grid[2])


def _axis_sizes(extent: int) -> tuple[int, int, int]:
    return (0, 1, 0) if extent == 1 else (1, max(extent - 2, 0), 1)


def _stratum_sizes(grid: tuple[int, int, int]) -> dict[int, int]:
    """How many blocks lie at each combination of first, middle and last along the axes."""
    sizes = {}
    for z, many_z in enumerate(_axis_sizes(grid[2])):
        for y, many_y in enumerate(_axis_sizes(grid[1])):
            for x, many_x in enumerate(_axis_sizes(grid[0])):
                if many_x * many_y * many_z:
                    sizes[x + 3 * y + 9 * z] = many_x * many_y * many_z
    return sizes


def _first_of(stratum: int, grid: tuple[int, int, int], count: int) -> npt.NDArray[np.int64]:
    """`count` blocks of a stratum, next to one another along the first axis that allows it."""
    places = []
    for axis, extent in enumerate(grid):
        edge = stratum // 3**axis % 3
        if extent == 1:
            places.append(np.zeros(1, np.int64))
        elif edge == 1:
            places.append(np.arange(1, min(1 + count, extent - 1)))
        else:
            places.append(np.array([0 if edge == 0 else extent - 1]))
    x, y, z = np.meshgrid(*places, indexing="ij")
    return np.sort((x + grid[0] * (y + grid[1] * z)).reshape(-1))[:count].astype(np.int64)


def _result(
    kernel: Kernel, launch: ResolvedLaunch, engine: Engine, ledger: Ledger, selection: _Selection
) -> LaunchCounters:
    size = len(kernel.instructions)
    warps, threads, divergent = (np.zeros(size, np.int64) for _ in range(3))
    for segment in engine.segments:
        warps[segment.start : segment.end] = round(ledger.warps.get(segment.index, 0.0))
        threads[segment.start : segment.end] = round(ledger.threads.get(segment.index, 0.0))
    for pc, count in ledger.divergent.items():
        divergent[pc] = round(count)
    accesses = {pc: Access(*ledger.kinds[pc], **_rounded(row)) for pc, row in sorted(ledger.accesses.items())}
    blocks = launch.blocks
    phases = []
    for kept in ledger.phases:
        executions = np.zeros(size)
        for index, value in kept.executions.items():
            segment = engine.segments[index]
            executions[segment.start : segment.end] = value / blocks
        phases.append(
            Phase(
                executions,
                {pc: value / blocks for pc, value in kept.shared.items()},
                {pc: value / blocks for pc, value in kept.sectors.items()},
            )
        )
    trace_pc, trace_cost = _trace(engine, ledger)
    scale = (ledger.trace_length + ledger.trace_skipped) / ledger.trace_length if ledger.trace_length else 1.0
    return LaunchCounters(
        kernel=kernel.name,
        grid=launch.grid,
        block=launch.block,
        shared_bytes=engine.shared_bytes,
        blocks=blocks,
        sampled_blocks=selection.blocks,
        warps_per_block=-(-launch.threads_per_block // 32),
        warp_executions=warps,
        thread_executions=threads,
        divergent=divergent,
        accesses=accesses,
        phases=phases,
        trace_pc=trace_pc,
        trace_cost=trace_cost,
        trace_scale=scale,
    )


def _rounded(row: Mapping[str, float]) -> dict[str, Any]:
    return {name: round(value) for name, value in row.items()}


def _trace(engine: Engine, ledger: Ledger) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    pieces, costs = [], []
    by_turn: dict[int, dict[int, int]] = {}
    for turn, pc, cost in ledger.trace_costs:
        by_turn.setdefault(turn - 1, {})[pc] = cost
    for turn, index in enumerate(ledger.trace_segments):
        segment = engine.segments[index]
        pcs = np.arange(segment.start, segment.end, dtype=np.int32)
        spent = np.zeros(len(pcs), np.int32)
        for pc, amount in by_turn.get(turn, {}).items():
            spent[pc - segment.start] = amount
        pieces.append(pcs)
        costs.append(spent)
    if not pieces:
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    return np.concatenate(pieces), np.concatenate(costs)
