"""One line of help for a metric, and which direction is better: our own words, looked up by name or by
label.
"""

from dataclasses import dataclass
from typing import Literal

from sparktrace_tui.domain.report.report import Metric

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Help:
    """What a metric means, and whether more of it is better for a kernel that does the same work."""

    text: str
    better: Better


_UP: Better = "higher"
_DOWN: Better = "lower"
_NONE: Better = "neither"

# By metric name, without the roll-up where every roll-up means the same. Then the labels that pages print for it.
_ENTRIES: tuple[tuple[tuple[str, ...], str, Better], ...] = (
    (("gpu__time_duration", "Duration"), "How long the launch ran on the GPU.", _DOWN),
    (("gpc__cycles_elapsed.max", "Elapsed Cycles"), "GPU clocks from the first to the last of the launch.", _DOWN),
    (
        ("sm__throughput", "Compute (SM) Throughput"),
        "The busiest compute unit, in percent of its peak: near 100 the arithmetic or issue limits the kernel.",
        _NONE,
    ),
    (
        ("gpu__compute_memory_throughput", "Memory Throughput"),
        "The busiest part of the memory system (L1, L2, DRAM or the pipes to them), in percent of its peak.",
        _NONE,
    ),
    (
        ("gpu__dram_throughput", "DRAM Throughput"),
        "Traffic to device memory in percent of its peak; some integrated GPUs do not have this counter.",
        _NONE,
    ),
    (
        ("l1tex__throughput", "L1/TEX Cache Throughput", "L1TEX Throughput"),
        "How busy the L1/texture and shared-memory unit is, in percent of its peak.",
        _NONE,
    ),
    (
        ("lts__throughput", "L2 Cache Throughput", "L2 Throughput"),
        "How busy the L2 cache is, in percent of its peak.",
        _NONE,
    ),
    (
        ("sm__cycles_active.avg", "SM Active Cycles", "Average SM Active Cycles"),
        "Clocks in which a multiprocessor had at least one warp, averaged over all of them.",
        _DOWN,
    ),
    (("gpc__cycles_elapsed.avg.per_second", "SM Frequency"), "The multiprocessors' clock while the kernel ran.", _NONE),
    (("dram__cycles_elapsed.avg.per_second", "DRAM Frequency"), "The memory clock while the kernel ran.", _NONE),
    (
        ("dram__bytes.sum.per_second",),
        "Bytes moved to and from device memory each second.",
        _UP,
    ),
    (
        ("dram__bytes_read", "dram__bytes_op_read"),
        "Bytes read from device memory; more than the kernel's inputs means data is fetched again.",
        _DOWN,
    ),
    (("dram__bytes_write", "dram__bytes_op_write"), "Bytes written to device memory.", _DOWN),
    (
        ("gpu__compute_memory_access_throughput", "Mem Busy"),
        "How busy the caches and the memory themselves are, in percent of peak.",
        _NONE,
    ),
    (
        ("gpu__compute_memory_request_throughput", "Max Bandwidth"),
        "How full the links between the parts of the memory system are, in percent of peak.",
        _NONE,
    ),
    (
        ("sm__memory_throughput", "Mem Pipes Busy"),
        "How busy the multiprocessors' pipes for memory instructions are, in percent of peak.",
        _NONE,
    ),
    (("l1tex__t_sector_hit_rate", "L1/TEX Hit Rate"), "Share of 32-byte sectors found in L1.", _UP),
    (("lts__t_sector_hit_rate", "L2 Hit Rate"), "Share of 32-byte sectors found in L2.", _UP),
    (
        ("lts__average_gcomp_input_sector_success_rate", "L2 Compression Success Rate"),
        "Share of sectors that L2 could keep compressed; 0 where compression is not used.",
        _NONE,
    ),
    (
        ("sm__inst_executed.avg.per_cycle_active", "Executed Ipc Active"),
        "Warp instructions executed a clock in which the multiprocessor was active; 4 is the most.",
        _UP,
    ),
    (
        ("sm__inst_executed.avg.per_cycle_elapsed", "Executed Ipc Elapsed"),
        "Warp instructions executed a clock of the launch, idle clocks included.",
        _UP,
    ),
    (
        ("sm__inst_issued.avg.per_cycle_active", "Issued Ipc Active"),
        "Warp instructions issued a clock; above the executed figure, some were issued again.",
        _UP,
    ),
    (
        ("sm__inst_issued.avg.pct_of_peak_sustained_active", "Issue Slots Busy"),
        "Share of the schedulers' issue slots that were used.",
        _UP,
    ),
    (
        ("sm__instruction_throughput", "SM Busy"),
        "The busiest instruction pipe of the multiprocessor, in percent of its peak.",
        _UP,
    ),
    (
        ("smsp__issue_active.avg.pct_of_peak_sustained_active", "One or More Eligible"),
        "Share of clocks in which a scheduler had a warp ready to issue.",
        _UP,
    ),
    (
        ("smsp__issue_inst0.avg.pct_of_peak_sustained_active", "No Eligible"),
        "Share of clocks in which a scheduler had no warp ready: latency that is not hidden.",
        _DOWN,
    ),
    (
        ("smsp__issue_active.avg.per_cycle_active", "Issued Warp Per Scheduler"),
        "Instructions issued by one scheduler a clock; 1 is the most.",
        _UP,
    ),
    (
        ("smsp__warps_active.avg.per_cycle_active", "Active Warps Per Scheduler"),
        "Warps resident on one scheduler on average: what there is to hide latency with.",
        _UP,
    ),
    (
        ("smsp__warps_eligible.avg.per_cycle_active", "Eligible Warps Per Scheduler"),
        "Warps ready to issue on one scheduler on average; under 1, issue slots stay empty.",
        _UP,
    ),
    (
        ("smsp__average_warp_latency_per_inst_issued", "Warp Cycles Per Issued Instruction"),
        "Clocks between two instructions of one warp: the latency that other warps must hide.",
        _DOWN,
    ),
    (
        ("smsp__average_warps_active_per_inst_executed", "Warp Cycles Per Executed Instruction"),
        "As the issued figure, counted over executed instructions.",
        _DOWN,
    ),
    (
        ("smsp__thread_inst_executed_per_inst_executed", "Avg. Active Threads Per Warp"),
        "Lanes of a warp that take part in an instruction; 32 means no divergence.",
        _UP,
    ),
    (
        ("smsp__thread_inst_executed_pred_on_per_inst_executed", "Avg. Not Predicated Off Threads Per Warp"),
        "Lanes that take part and are not switched off by a predicate.",
        _UP,
    ),
    (
        (
            "smsp__inst_executed.sum",
            "sm__inst_executed.sum",
            "Executed Instructions",
            "inst_executed",
            "Instructions Executed",
        ),
        "Warp instructions executed in the whole launch.",
        _DOWN,
    ),
    (("smsp__inst_issued.sum", "Issued Instructions"), "Warp instructions issued, repeats included.", _DOWN),
    (("launch__block_size", "Block Size"), "Threads in a block.", _NONE),
    (("launch__grid_size", "Grid Size"), "Blocks in the grid.", _NONE),
    (("launch__thread_count", "Threads"), "Threads in the whole launch.", _NONE),
    (
        ("launch__registers_per_thread", "Registers Per Thread"),
        "Registers each thread holds; many of them leave room for fewer warps.",
        _DOWN,
    ),
    (
        ("launch__shared_mem_per_block_static", "Static Shared Memory Per Block"),
        "Shared memory that the kernel declares, for each block.",
        _DOWN,
    ),
    (
        ("launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block"),
        "Shared memory asked for at the launch, for each block.",
        _DOWN,
    ),
    (
        ("launch__waves_per_multiprocessor", "Waves Per SM"),
        "How many times the grid fills the GPU; a small fraction over a whole number leaves it idle at the end.",
        _NONE,
    ),
    (("launch__sm_count", "# SMs"), "Multiprocessors of the GPU.", _NONE),
    (
        ("sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy"),
        "Warps that fit on a multiprocessor, in percent of the most it can hold.",
        _UP,
    ),
    (
        ("sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"),
        "Warps that were resident on average, in percent of the most a multiprocessor can hold.",
        _UP,
    ),
    (
        ("sm__maximum_warps_avg_per_active_cycle", "Theoretical Active Warps per SM"),
        "Warps that fit on a multiprocessor with this kernel's registers, shared memory and block size.",
        _UP,
    ),
    (
        ("sm__warps_active.avg.per_cycle_active", "Achieved Active Warps Per SM"),
        "Warps resident on a multiprocessor on average.",
        _UP,
    ),
    (("launch__occupancy_limit_registers", "Block Limit Registers"), "Blocks that fit by their registers.", _UP),
    (("launch__occupancy_limit_shared_mem", "Block Limit Shared Mem"), "Blocks that fit by their shared memory.", _UP),
    (("launch__occupancy_limit_warps", "Block Limit Warps"), "Blocks that fit by their warps.", _UP),
    (("launch__occupancy_limit_blocks", "Block Limit SM"), "The most blocks a multiprocessor takes.", _UP),
    (
        ("smsp__sass_average_branch_targets_threads_uniform", "Branch Efficiency"),
        "Share of branches that all lanes of a warp take the same way.",
        _UP,
    ),
    (("smsp__inst_executed_op_branch.sum", "Branch Instructions"), "Branches executed, counted a warp.", _DOWN),
    (
        ("smsp__sass_branch_targets_threads_divergent", "Avg. Divergent Branches"),
        "Branches whose lanes went two ways, averaged over the schedulers.",
        _DOWN,
    ),
    (
        ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared",),
        "Extra passes through the shared-memory banks because lanes met in one bank (arbitration included).",
        _DOWN,
    ),
    (
        ("smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared",),
        "The same, counted at the instructions: without what other traffic causes.",
        _DOWN,
    ),
    (
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared"),
        "Passes that shared-memory accesses took through the data pipe; one a clean 32-bit access of a warp.",
        _DOWN,
    ),
    (("l1tex__data_pipe_lsu_wavefronts",), "Passes of all load/store accesses through the L1 data pipe.", _DOWN),
    (
        ("memory_l1_wavefronts_shared", "L1 Wavefronts Shared"),
        "Passes through shared memory, at this instruction or line.",
        _DOWN,
    ),
    (
        ("memory_l1_wavefronts_shared_ideal", "L1 Wavefronts Shared Ideal"),
        "Passes that an access of this width needs at the least.",
        _NONE,
    ),
    (
        ("derived__memory_l1_wavefronts_shared_excessive", "L1 Wavefronts Shared Excessive"),
        "Passes beyond the ideal access pattern; another measure than the hardware's conflicts.",
        _DOWN,
    ),
    (
        ("derived__memory_l1_conflicts_shared_nway", "L1 Conflicts Shared N-Way"),
        "How many ways an access of this instruction splits; the kernel's sum of it means nothing.",
        _DOWN,
    ),
    (
        ("smsp__inst_executed_op_shared_ld", "smsp__sass_inst_executed_op_shared_ld"),
        "Warp instructions that load from shared memory.",
        _DOWN,
    ),
    (
        ("smsp__inst_executed_op_shared_st", "smsp__sass_inst_executed_op_shared_st"),
        "Warp instructions that store to shared memory.",
        _DOWN,
    ),
    (
        ("smsp__inst_executed_op_shared_atom", "smsp__sass_inst_executed_op_shared_atom"),
        "Warp instructions that do an atomic in shared memory.",
        _DOWN,
    ),
    (
        ("smsp__inst_executed_op_global_ld", "smsp__sass_inst_executed_op_global_ld"),
        "Warp instructions that load from global memory.",
        _DOWN,
    ),
    (
        ("smsp__inst_executed_op_global_st", "smsp__sass_inst_executed_op_global_st"),
        "Warp instructions that store to global memory.",
        _DOWN,
    ),
    (
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld",),
        "32-byte sectors that global loads ask of L1; four a request is a fully used 128-byte line of floats.",
        _DOWN,
    ),
    (("l1tex__t_sectors_pipe_lsu_mem_global_op_st",), "32-byte sectors that global stores touch.", _DOWN),
    (("l1tex__t_requests_pipe_lsu_mem_global_op_ld",), "Global load requests, one a warp instruction.", _DOWN),
    (("l1tex__t_requests_pipe_lsu_mem_global_op_st",), "Global store requests, one a warp instruction.", _DOWN),
    (
        ("memory_l2_theoretical_sectors_global", "L2 Theoretical Sectors Global"),
        "Sectors that global accesses of this instruction or line ask for.",
        _DOWN,
    ),
    (
        ("derived__memory_l2_theoretical_sectors_global_excessive", "L2 Theoretical Sectors Global Excessive"),
        "Sectors asked for beyond what coalesced accesses would need.",
        _DOWN,
    ),
    (("lts__t_sectors",), "32-byte sectors that reach L2.", _DOWN),
    (("lts__t_sectors_op_read", "lts__t_sectors_srcunit_tex_op_read"), "Sectors read from L2.", _DOWN),
    (("lts__t_sectors_op_write", "lts__t_sectors_srcunit_tex_op_write"), "Sectors written to L2.", _DOWN),
    (("lts__t_sectors_op_atom", "lts__t_sectors_op_red"), "Sectors that atomics and reductions touch in L2.", _DOWN),
    (
        ("lts__t_sectors_aperture_device", "lts__t_sectors_aperture_sysmem"),
        "Sectors by where the memory is: stands in for DRAM traffic on GPUs without its counters.",
        _DOWN,
    ),
    (("l1tex__t_set_conflicts",), "L1 tag lookups that met in one cache set; not shared-memory banks.", _DOWN),
    (("l1tex__data_bank_reads", "l1tex__data_bank_writes"), "How busy the L1 data banks are.", _NONE),
)  # fmt: skip

_STALLS = {
    "barrier": "at a barrier, for other warps of the block",
    "branch_resolving": "for a branch target",
    "dispatch_stall": "for the dispatcher",
    "drain": "for stores to drain before it ends",
    "imc_miss": "for a constant that was not in its cache",
    "lg_throttle": "for a free slot in the queue of global and local memory",
    "long_scoreboard": "for global, local or texture data",
    "math_pipe_throttle": "for a free math pipe",
    "membar": "at a memory fence",
    "mio_throttle": "for a free slot in the queue of shared memory and special functions",
    "misc": "for something rare",
    "no_instruction": "for instructions to be fetched",
    "not_selected": "though ready: the scheduler chose another warp",
    "selected": "not at all: it was chosen",
    "short_scoreboard": "for shared memory or a special function",
    "sleeping": "asleep by its own wish",
    "tex_throttle": "for a free slot in the texture queue",
    "wait": "for a fixed latency between two instructions",
}

_BY_NAME = {name: Help(text, better) for names, text, better in _ENTRIES for name in names}


def explain(metric: Metric | str) -> Help | None:
    """Help for a metric (or a name or label); None where there is none. The longest known name decides."""
    for key in (metric,) if isinstance(metric, str) else (metric.name, metric.label):
        if key and (found := _named(key)):
            return found
    return None


def _named(key: str) -> Help | None:
    if found := _BY_NAME.get(key):
        return found
    if "issue_stalled_" in key:
        return _stall(key.partition("issue_stalled_")[2])
    if key.startswith("Stall "):
        return _stall(key.removeprefix("Stall ").lower().replace(" ", "_"))
    parts = key.split(".")
    while len(parts) > 1:
        parts.pop()
        if found := _BY_NAME.get(".".join(parts)):
            return found
    base = parts[0]
    while "_" in base.partition("__")[2]:  # _op_ld, _mem_shared, ...: the wider counter's help
        base = base.rpartition("_")[0]
        if found := _BY_NAME.get(base):
            return found
    return None


def _stall(rest: str) -> Help | None:
    reason = max((k for k in _STALLS if rest.startswith(k) or k.startswith(rest)), key=len, default=None)
    if reason is None:
        return None
    better = _NONE if reason in ("selected", "not_selected") else _DOWN
    return Help(f"Time (or samples) in which a warp waited {_STALLS[reason]}.", better)


def better(metric: Metric | str) -> Better:
    """Which direction of a metric is better; `neither` where it does not say, or is not known."""
    found = explain(metric)
    return found.better if found else _NONE
