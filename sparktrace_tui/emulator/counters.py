"""What one emulated launch counts: the contract between the interpreter, the timing model and the report.

Totals are for the whole launch (scaled up where blocks were sampled). "Warp instructions" are counted once a warp
with any active lane; "thread instructions" once an active lane.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Space = Literal["shared", "global", "local", "constant"]
Operation = Literal["load", "store", "atomic", "reduction"]


@dataclass
class Access:
    """Totals of one (space, operation). Shared accesses count wavefronts and conflicts, global ones sectors.

    requests: warp-level memory instructions. wavefronts, conflicts: as NSIGHT's shared tables (conflicts =
    wavefronts - groups). sectors: 32-byte sectors asked of L1. ideal_sectors: the fewest that could hold the bytes.
    bytes: bytes the active lanes asked for. serialised: for atomics, the sum over warps of the largest number of
    lanes that hit one address (same-address serialisation).
    """

    requests: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    bytes: int = 0
    serialised: int = 0


@dataclass
class LineCounters:
    """What one source line did, by Nsight's meaning."""

    warp_instructions: int = 0
    thread_instructions: int = 0
    accesses: dict[tuple[Space, Operation], Access] = field(default_factory=dict)


@dataclass
class Segment:
    """What the average block does between two barriers (or launch start, or its end).

    issue: warp instructions by pipe (`alu`, `fma`, `fp64`, `xu`, `lsu`, `branch`, `barrier`, `uniform`, ...).
    shared_wavefronts: summed over loads, stores and atomics. lsu: warp-level load/store instructions (all spaces).
    latency: clocks one warp alone needs through it, dependences and its own memory level parallelism considered,
    in units of a latency table: kept as counts of dependent steps on the longest chain, by latency class.
    """

    issue: dict[str, float] = field(default_factory=dict)
    shared_wavefronts: float = 0.0
    lsu: float = 0.0
    chain: dict[str, float] = field(default_factory=dict)
    l1_sectors: float = 0.0
    l2_sectors: float = 0.0
    dram_sectors: float = 0.0


@dataclass
class LaunchCounters:
    """All counts of one launch."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int  # static and dynamic, a block
    registers: int
    local_bytes: int = 0
    blocks: int = 0
    sampled_blocks: int = 0
    warps: int = 0
    warp_instructions: int = 0
    thread_instructions: int = 0
    by_class: dict[str, int] = field(default_factory=dict)
    accesses: dict[tuple[Space, Operation], Access] = field(default_factory=dict)
    lines: dict[int, LineCounters] = field(default_factory=dict)
    barriers: int = 0  # warp-level bar.sync executions
    branches: int = 0
    divergent_branches: int = 0
    l2_read_sectors: int = 0
    l2_write_sectors: int = 0
    dram_read_bytes: int = 0
    dram_write_bytes: int = 0
    segments: list[Segment] = field(default_factory=list)

    def access(self, space: Space, operation: Operation) -> Access:
        return self.accesses.setdefault((space, operation), Access())


@dataclass(frozen=True)
class Fault:
    """A kernel's misdeed, found by the checks: what, where, and in whose hands.

    kind: `out_of_bounds`, `misaligned`, `uninitialised_shared`, `race`, `warp_race`, `benign_race`,
    `barrier_divergence`, `inactive_lane_shuffle`, `endless`, ...
    """

    kind: str
    message: str
    kernel: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    line: int | None = None
    detail: Mapping[str, str] = field(default_factory=dict)
