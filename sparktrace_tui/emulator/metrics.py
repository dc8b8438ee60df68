"""The emulator's counts under Nsight's metric names; docs/counters.md says what each means and how it differs."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator.counters import Access, LaunchCounters, Operation
from sparktrace_tui.emulator.demand import shared_retries
from sparktrace_tui.emulator.estimate import LaunchEstimate, PlanEstimate
from sparktrace_tui.emulator.profile import DeviceProfile
from sparktrace_tui.emulator.sass import PIPES

_OPERATIONS: Mapping[Operation, str] = {"load": "ld", "store": "st", "atomic": "atom", "reduction": "red"}
# Which of Nsight's pipes each of ours is, for instruction counts; the rest have no counter of this form.
_NSIGHT_PIPE = {"alu": "alu", "lsu": "lsu", "xu": "xu", "fp64": "fp64", "uniform": "uniform"}


def plan_counters(profile: DeviceProfile, plan: PlanEstimate) -> dict[str, float]:
    """Counters of a whole plan: sums add up over the launches, ratios are of the sums, `launch__*` of the dominant."""
    result: dict[str, float] = {}
    for launch in plan.launches:
        for name, value in sums(profile, launch).items():
            result[name] = result.get(name, 0) + value
    result |= ratios(result, plan.launches)
    result |= launch_attributes(plan.dominant)
    return dict(sorted(result.items()))


def launch_counters(profile: DeviceProfile, launch: LaunchEstimate) -> dict[str, float]:
    """All counters of one launch."""
    result = sums(profile, launch)
    result |= ratios(result, (launch,))
    return dict(sorted((result | launch_attributes(launch)).items()))


def executions(launch: LaunchEstimate) -> npt.NDArray[np.float64]:
    """Warp executions of each machine instruction over the whole launch, shape (instructions,)."""
    counts = launch.counters.warp_executions.astype(float)
    return launch.alignment.instruction_executions(counts, shared_retries(launch.counters, launch.alignment))


def sums(profile: DeviceProfile, launch: LaunchEstimate) -> dict[str, float]:
    """The counters that add up over launches, by Nsight's name with its `.sum`: whole numbers, as ints."""
    counters, traffic = launch.counters, launch.counters.traffic
    runs = executions(launch)
    found: dict[str, float] = {"smsp__inst_executed.sum": round(float(runs.sum()))}
    instructions = launch.alignment.function.instructions
    for pipe, name in _NSIGHT_PIPE.items():
        mine = np.array([item.pipe == pipe for item in instructions], bool)
        found[f"sm__inst_executed_pipe_{name}.sum"] = round(float(runs[mine].sum()))
    branches = np.array([item.root in ("BRA", "BRX", "JMP") for item in instructions], bool)
    found["smsp__inst_executed_op_branch.sum"] = round(float(runs[branches].sum()))
    found["smsp__sass_branch_targets_threads_divergent.sum"] = sum(
        int(counters.divergent[pc]) for pc in launch.alignment.branches
    )
    found["smsp__sass_branch_targets_threads_uniform.sum"] = sum(
        int(counters.warp_executions[pc] - counters.divergent[pc]) for pc in launch.alignment.branches
    )
    found |= _shared(counters)
    found |= _global(counters)
    found["derived__memory_l1_wavefronts_shared_excessive"] = sum(
        shared_excess(launch, pc, access) for pc, access in counters.accesses.items()
    )
    found["derived__memory_l2_theoretical_sectors_global_excessive"] = sum(
        global_excess(access) for access in counters.accesses.values()
    )
    found["lts__t_sectors_op_read.sum"] = round(traffic.l2_read)
    found["lts__t_sectors_op_write.sum"] = round(traffic.l2_write)
    found["lts__t_sectors_op_atom.sum"] = round(traffic.l2_atomic)
    if profile.has_dram_counters:
        found["dram__bytes_read.sum"] = round(traffic.dram_read)
        found["dram__bytes_write.sum"] = round(traffic.dram_write)
    return found


def _shared(counters: LaunchCounters) -> dict[str, float]:
    found: dict[str, float] = {}
    wavefronts = conflicts = 0
    kinds: tuple[tuple[str, tuple[Operation, ...]], ...] = (
        ("ld", ("load",)),
        ("st", ("store",)),
        ("atom", ("atomic", "reduction")),
    )
    for names, operations in kinds:
        access = counters.total("shared", *operations)
        found[f"smsp__sass_inst_executed_op_shared_{names}.sum"] = access.requests
        found[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{names}.sum"] = access.wavefronts
        found[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{names}.sum"] = access.conflicts
        wavefronts, conflicts = wavefronts + access.wavefronts, conflicts + access.conflicts
    found["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] = wavefronts
    found["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"] = conflicts
    return found


def _global(counters: LaunchCounters) -> dict[str, float]:
    found: dict[str, float] = {}
    for operation, name in _OPERATIONS.items():
        access = counters.total("global", operation)
        found[f"l1tex__t_requests_pipe_lsu_mem_global_op_{name}.sum"] = access.requests
        found[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{name}.sum"] = access.sectors
    found["l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"] = counters.total("local", "load").requests
    found["l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"] = counters.total("local", "store").requests
    return found


def ratios(found: Mapping[str, float], launches: tuple[LaunchEstimate, ...]) -> dict[str, float]:
    """Rates in percent and bytes a sector, where there is something to divide by."""
    result = {
        f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{name}.ratio": used
        for name, used in bytes_per_sector(launches).items()
    }
    hits = sum(launch.counters.traffic.l1_hits for launch in launches)
    asked = sum(launch.counters.traffic.l1_sectors for launch in launches)
    if asked:
        result["l1tex__t_sector_hit_rate.pct"] = 100 * hits / asked
    l2 = [
        (launch.l2_hit, t.l2_read + t.l2_write + t.l2_atomic)
        for launch in launches
        for t in [launch.counters.traffic]
        if launch.l2_hit is not None
    ]
    if total := sum(weight for _, weight in l2):
        result["lts__t_sector_hit_rate.pct"] = 100 * sum(rate * weight for rate, weight in l2) / total
    uniform = found["smsp__sass_branch_targets_threads_uniform.sum"]
    divergent = found["smsp__sass_branch_targets_threads_divergent.sum"]
    if uniform + divergent:
        result["smsp__sass_average_branch_targets_threads_uniform.pct"] = 100 * uniform / (uniform + divergent)
    return result


def bytes_per_sector(launches: tuple[LaunchEstimate, ...]) -> dict[str, float]:
    """Bytes used of each global sector moved, for `ld` and `st` where there are any (at most 32: lanes may share)."""
    result: dict[str, float] = {}
    operations: tuple[Operation, ...] = ("load", "store")
    for operation in operations:
        totals = [launch.counters.total("global", operation) for launch in launches]
        if sectors := sum(total.sectors for total in totals):
            ideal = sum(total.ideal_sectors for total in totals)
            result[_OPERATIONS[operation]] = 32.0 * ideal / sectors
    return result


def launch_attributes(launch: LaunchEstimate) -> dict[str, float]:
    """What Nsight keeps under `launch__*`, and the occupancy they allow."""
    fits = launch.occupancy
    found: dict[str, float | None] = {
        "launch__block_size": launch.launch.threads_per_block,
        "launch__grid_size": launch.launch.blocks,
        "launch__thread_count": launch.launch.threads_per_block * launch.launch.blocks,
        "launch__registers_per_thread": launch.resources.registers,
        "launch__shared_mem_per_block_static": launch.resources.static_shared_bytes,
        "launch__shared_mem_per_block_dynamic": launch.launch.shared_bytes,
        "launch__occupancy_limit_blocks": fits.block_limit_sm,
        "launch__occupancy_limit_warps": fits.block_limit_warps,
        "launch__occupancy_limit_registers": fits.block_limit_registers,
        "launch__occupancy_limit_shared_mem": fits.block_limit_shared,
        "sm__maximum_warps_per_active_cycle_pct": 100 * fits.share,
    }
    return {name: value for name, value in found.items() if value is not None}


def shared_excess(launch: LaunchEstimate, pc: int, access: Access) -> int:
    """Wavefronts of a shared access beyond what its bytes need at 128 a wavefront (Nsight's "excessive")."""
    if access.space != "shared":
        return 0
    form = launch.alignment.forms.get(pc)
    width = form.width if form is not None else 4
    return max(0, access.wavefronts - access.requests * max(1, width // 4))


def global_excess(access: Access) -> int:
    """Sectors of a global access beyond the fewest that could hold its bytes."""
    return max(0, access.sectors - access.ideal_sectors) if access.space == "global" else 0


def pipe_percent(launch: LaunchEstimate) -> dict[str, float]:
    """How busy each pipe of the SM is, in percent of the launch's clocks."""
    clocks = launch.time.clocks
    return {
        name: 100 * launch.time.unit_clocks[name] / clocks if clocks else 0.0
        for name in (*PIPES, "issue", "l1", "shared")
        if name in launch.time.unit_clocks
    }
