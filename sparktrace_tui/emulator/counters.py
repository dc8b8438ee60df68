"""What the interpreter counts in one launch: the contract between it, the timing model and the report.

Everything is by PTX instruction (its index `pc` in the kernel), so that a later step can weigh it with what the
assembler made of it. Totals are for the whole launch, scaled up where blocks were sampled. "Warp" counts are once a
warp with any active lane; "thread" counts once an active lane.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

Space = Literal["shared", "global", "local", "constant"]
Operation = Literal["load", "store", "atomic", "reduction"]


@dataclass
class Access:
    """Totals of one memory instruction. Shared accesses count wavefronts and conflicts, global ones sectors.

    requests: warp-level memory instructions. wavefronts, conflicts: as Nsight's shared table (conflicts =
    wavefronts - groups of lanes). sectors: 32-byte sectors asked of L1. ideal_sectors: the fewest that could hold the
    bytes. bytes: bytes the active lanes asked for. serialised: for atomics, the sum over warps of the largest number
    of lanes that hit one address.
    """

    space: Space
    operation: Operation
    requests: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    bytes: int = 0
    serialised: int = 0


@dataclass(frozen=True)
class AccessForm:
    """How the machine code performs a PTX memory instruction (from the disassembly).

    width: bytes a lane, of the machine instruction. leader: the pc of the PTX instruction at the lowest address of the
    merged group; only the leader is counted, at the address it computes. atomic_aggregated: the compiler reduces
    in the warp first and one lane performs it.
    """

    width: int
    leader: int
    atomic_aggregated: bool = False


@dataclass
class Phase:
    """What the average sampled block does between two barriers (or its start, or its end).

    executions: warp-level executions by pc, a block. shared_wavefronts and sectors: by pc, a block.
    """

    executions: npt.NDArray[np.float64]
    shared_wavefronts: dict[int, float] = field(default_factory=dict)
    sectors: dict[int, float] = field(default_factory=dict)


@dataclass
class Traffic:
    """Sectors (32 bytes) by level of the memory system, for the whole launch.

    l1_hits: load sectors found in L1. l2_read, l2_write, l2_atomic: sectors that reach L2. dram_read, dram_write:
    bytes to memory, in 64-byte bursts where the device has them.
    """

    l1_sectors: float = 0.0
    l1_hits: float = 0.0
    l2_read: float = 0.0
    l2_write: float = 0.0
    l2_atomic: float = 0.0
    dram_read: float = 0.0
    dram_write: float = 0.0


@dataclass
class LaunchCounters:
    """All counts of one launch. `lines` maps pc to its 1-based source line (None where there is none).

    trace: the pcs that one whole representative warp executed, in order, and for each the shared wavefronts or
    global sectors of that execution (0 where it is neither): what a scoreboard needs. Long loops may be cut: then
    trace_scale says by how much the trace's time is to be multiplied.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    blocks: int
    sampled_blocks: int
    warps_per_block: int
    warp_executions: npt.NDArray[np.int64]
    thread_executions: npt.NDArray[np.int64]
    divergent: npt.NDArray[np.int64]  # by pc of a branch: warp executions that split
    accesses: dict[int, Access] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    traffic: Traffic = field(default_factory=Traffic)
    trace_pc: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    trace_cost: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    trace_scale: float = 1.0

    @property
    def warp_instructions(self) -> int:
        return int(self.warp_executions.sum())

    @property
    def thread_instructions(self) -> int:
        return int(self.thread_executions.sum())

    def total(self, space: Space, *operations: Operation) -> Access:
        """The sum over the instructions of one space and the given operations (all where none is given)."""
        result = Access(space, operations[0] if operations else "load")
        for access in self.accesses.values():
            if access.space == space and (not operations or access.operation in operations):
                for name in ("requests", "wavefronts", "conflicts", "sectors", "ideal_sectors", "bytes", "serialised"):
                    setattr(result, name, getattr(result, name) + getattr(access, name))
        return result


@dataclass(frozen=True)
class Fault:
    """A kernel's misdeed, found by the checks: what, where, and in whose hands.

    kind: `out_of_bounds`, `misaligned`, `uninitialised_shared`, `race`, `warp_race`, `benign_race`,
    `barrier_divergence`, `inactive_lane_shuffle`, `endless`.
    """

    kind: str
    message: str
    kernel: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    line: int | None = None
    detail: Mapping[str, str] = field(default_factory=dict)
