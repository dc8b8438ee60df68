"""Checked runs: all values, all checks, blocks in an order drawn from the seed."""

import numpy as np

from sparktrace_tui.domain.kernel.plan import ResolvedLaunch
from sparktrace_tui.emulator.checks import Checks
from sparktrace_tui.emulator.counters import Fault
from sparktrace_tui.emulator.engine import Engine, Stopped
from sparktrace_tui.emulator.masks import Batch
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.program import lanes_at_once, slice_of
from sparktrace_tui.emulator.ptx import Kernel

_LANES_AT_ONCE = 1 << 16
_BYTES_AT_ONCE = 1 << 28
_MOST_GROUPS = 4


def verify(
    kernel: Kernel, launch: ResolvedLaunch, memory: DeviceMemory, *, seed: int, budget: int
) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    """Faults and benign races of one launch; arrays in `memory` hold what it computed.

    Blocks run in a random order, in a random number of groups one after the other; within a group in lockstep.
    A launch that hangs stops at the fault.
    """
    checks = Checks(kernel, memory)
    chosen = slice_of(kernel, everything=True)
    engine = Engine(kernel, launch, memory, chosen, ledger=None, checks=checks, seed=seed, budget=budget)
    random = np.random.default_rng(seed)
    order = random.permutation(launch.blocks)
    threads = launch.threads_per_block
    groups = int(random.integers(1, _MOST_GROUPS + 1))
    lanes = min(_LANES_AT_ONCE, lanes_at_once(kernel, chosen, _BYTES_AT_ONCE))
    size = max(1, min(lanes // threads, -(-launch.blocks // groups)))
    try:
        for start in range(0, launch.blocks, size):
            blocks = order[start : start + size]
            engine.run(Batch(blocks, np.ones(len(blocks)), threads, np.zeros(len(blocks), np.int32)))
    except Stopped as stopped:
        return (*checks.faults, stopped.fault), checks.benign
    return checks.faults, checks.benign
