"""The glossary's entries: what each metric means in our own words, and which direction is better."""

from typing import Literal

Better = Literal["higher", "lower", "neither"]

UP: Better = "higher"
DOWN: Better = "lower"
NEITHER: Better = "neither"

# By metric name, without the roll-up where every roll-up means the same. Then the labels that pages print for it.
ENTRIES: tuple[tuple[tuple[str, ...], str, Better], ...] = (
    (("gpu__time_duration", "Duration"), "How long the launch ran on the GPU.", DOWN),
    (("gpc__cycles_elapsed.max", "Elapsed Cycles"), "GPU clocks from the first to the last of the launch.", DOWN),
    (
        ("sm__throughput", "Compute (SM) Throughput"),
        "The busiest compute unit, in percent of its peak: near 100 the arithmetic or issue limits the kernel.",
        NEITHER,
    ),
    (
        ("gpu__compute_memory_throughput", "Memory Throughput"),
        "The busiest part of the memory system (L1, L2, DRAM or the pipes to them), in percent of its peak.",
        NEITHER,
    ),
    (
        ("gpu__dram_throughput", "DRAM Throughput"),
        "Traffic to device memory in percent of its peak; some integrated GPUs do not have this counter.",
        NEITHER,
    ),
    (
        ("l1tex__throughput", "L1/TEX Cache Throughput", "L1TEX Throughput"),
        "How busy the L1/texture and shared-memory unit is, in percent of its peak.",
        NEITHER,
    ),
    (
        ("lts__throughput", "L2 Cache Throughput", "L2 Throughput"),
        "How busy the L2 cache is, in percent of its peak.",
        NEITHER,
    ),
    (
        ("sm__cycles_active.avg", "SM Active Cycles", "Average SM Active Cycles"),
        "Clocks in which a multiprocessor had at least one warp, averaged over all of them.",
        DOWN,
    ),
    (("gpc__cycles_elapsed.avg.per_second", "SM Frequency"), "The clock of the SMs during the run.", NEITHER),
    (("dram__cycles_elapsed.avg.per_second", "DRAM Frequency"), "The memory clock while the kernel ran.", NEITHER),
    (
        ("dram__bytes.sum.per_second",),
        "Bytes moved to and from device memory each second.",
        UP,
    ),
    (
        ("dram__bytes_read", "dram__bytes_op_read"),
        "Bytes read from device memory; more than the kernel's inputs means data is fetched again.",
        DOWN,
    ),
    (("dram__bytes_write", "dram__bytes_op_write"), "Bytes written to device memory.", DOWN),
    (
        ("gpu__compute_memory_access_throughput", "Mem Busy"),
        "How busy the caches and the memory themselves are, in percent of peak.",
        NEITHER,
    ),
    (
        ("gpu__compute_memory_request_throughput", "Max Bandwidth"),
        "How full the links between the parts of the memory system are, in percent of peak.",
        NEITHER,
    ),
    (
        ("sm__memory_throughput", "Mem Pipes Busy"),
        "How busy the multiprocessors' pipes for memory instructions are, in percent of peak.",
        NEITHER,
    ),
    (("l1tex__t_sector_hit_rate", "L1/TEX Hit Rate"), "Share of 32-byte sectors found in L1.", UP),
    (("lts__t_sector_hit_rate", "L2 Hit Rate"), "Share of 32-byte sectors found in L2.", UP),
    (
        ("lts__average_gcomp_input_sector_success_rate", "L2 Compression Success Rate"),
        "Share of sectors that L2 could keep compressed; 0 where compression is not used.",
        NEITHER,
    ),
    (
        ("sm__inst_executed.avg.per_cycle_active", "Executed Ipc Active"),
        "Warp instructions executed a clock in which the multiprocessor was active; 4 is the most.",
        UP,
    ),
    (
        ("sm__inst_executed.avg.per_cycle_elapsed", "Executed Ipc Elapsed"),
        "Warp instructions executed a clock of the launch, idle clocks included.",
        UP,
    ),
    (
        ("sm__inst_issued.avg.per_cycle_active", "Issued Ipc Active"),
        "Warp instructions issued a clock; above the executed figure, some were issued again.",
        UP,
    ),
    (
        ("sm__inst_issued.avg.pct_of_peak_sustained_active", "Issue Slots Busy"),
        "Share of the schedulers' issue slots that were used.",
        UP,
    ),
    (
        ("sm__instruction_throughput", "SM Busy"),
        "The busiest instruction pipe of the multiprocessor, in percent of its peak.",
        UP,
    ),
    (
        ("smsp__issue_active.avg.pct_of_peak_sustained_active", "One or More Eligible"),
        "Share of clocks in which a scheduler had a warp ready to issue.",
        UP,
    ),
    (
        ("smsp__issue_inst0.avg.pct_of_peak_sustained_active", "No Eligible"),
        "Share of clocks in which a scheduler had no warp ready: latency that is not hidden.",
        DOWN,
    ),
    (
        ("smsp__issue_active.avg.per_cycle_active", "Issued Warp Per Scheduler"),
        "Instructions issued by one scheduler a clock; 1 is the most.",
        UP,
    ),
    (
        ("smsp__warps_active.avg.per_cycle_active", "Active Warps Per Scheduler"),
        "Warps resident on one scheduler on average: what there is to hide latency with.",
        UP,
    ),
    (
        ("smsp__warps_eligible.avg.per_cycle_active", "Eligible Warps Per Scheduler"),
        "Warps ready to issue on one scheduler on average; under 1, issue slots stay empty.",
        UP,
    ),
    (
        ("smsp__average_warp_latency_per_inst_issued", "Warp Cycles Per Issued Instruction"),
        "Clocks between two instructions of one warp: the latency that other warps must hide.",
        DOWN,
    ),
    (
        ("smsp__average_warps_active_per_inst_executed", "Warp Cycles Per Executed Instruction"),
        "As the issued figure, counted over executed instructions.",
        DOWN,
    ),
    (
        ("smsp__thread_inst_executed_per_inst_executed", "Avg. Active Threads Per Warp"),
        "Lanes of a warp that take part in an instruction; 32 means no divergence.",
        UP,
    ),
    (
        ("smsp__thread_inst_executed_pred_on_per_inst_executed", "Avg. Not Predicated Off Threads Per Warp"),
        "Lanes that take part and are not switched off by a predicate.",
        UP,
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
        DOWN,
    ),
    (("smsp__inst_issued.sum", "Issued Instructions"), "Warp instructions issued, repeats included.", DOWN),
    (("launch__block_size", "Block Size"), "Threads in a block.", NEITHER),
    (("launch__grid_size", "Grid Size"), "Blocks in the grid.", NEITHER),
    (("launch__thread_count", "Threads"), "Threads in the whole launch.", NEITHER),
    (
        ("launch__registers_per_thread", "Registers Per Thread"),
        "Registers each thread holds; many of them leave room for fewer warps.",
        DOWN,
    ),
    (
        ("launch__shared_mem_per_block_static", "Static Shared Memory Per Block"),
        "Shared memory that the kernel declares, for each block.",
        DOWN,
    ),
    (
        ("launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block"),
        "Shared memory asked for at the launch, for each block.",
        DOWN,
    ),
    (
        ("launch__waves_per_multiprocessor", "Waves Per SM"),
        "How many times the grid fills the GPU; a small fraction over a whole number leaves it idle at the end.",
        NEITHER,
    ),
    (("launch__sm_count", "# SMs"), "Multiprocessors of the GPU.", NEITHER),
    (
        ("sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy"),
        "Warps that fit on a multiprocessor, in percent of the most it can hold.",
        UP,
    ),
    (
        ("sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"),
        "Warps that were resident on average, in percent of the most a multiprocessor can hold.",
        UP,
    ),
    (
        ("sm__maximum_warps_avg_per_active_cycle", "Theoretical Active Warps per SM"),
        "Warps that fit on a multiprocessor with this kernel's registers, shared memory and block size.",
        UP,
    ),
    (
        ("sm__warps_active.avg.per_cycle_active", "Achieved Active Warps Per SM"),
        "Warps resident on a multiprocessor on average.",
        UP,
    ),
    (("launch__occupancy_limit_registers", "Block Limit Registers"), "Blocks that fit by their registers.", UP),
    (("launch__occupancy_limit_shared_mem", "Block Limit Shared Mem"), "Blocks that fit by their shared memory.", UP),
    (("launch__occupancy_limit_warps", "Block Limit Warps"), "Blocks that fit by their warps.", UP),
    (("launch__occupancy_limit_blocks", "Block Limit SM"), "The most blocks a multiprocessor takes.", UP),
    (
        ("smsp__sass_average_branch_targets_threads_uniform", "Branch Efficiency"),
        "Share of branches that all lanes of a warp take the same way.",
        UP,
    ),
    (("smsp__inst_executed_op_branch.sum", "Branch Instructions"), "Branches executed, counted a warp.", DOWN),
    (
        ("smsp__sass_branch_targets_threads_divergent", "Avg. Divergent Branches"),
        "Branches whose lanes went two ways, averaged over the schedulers.",
        DOWN,
    ),
    (
        ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared",),
        "Extra passes through the shared-memory banks because lanes met in one bank (arbitration included).",
        DOWN,
    ),
    (
        ("smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared",),
        "The same, counted at the instructions: without what other traffic causes.",
        DOWN,
    ),
    (
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared"),
        "Passes that shared-memory accesses took through the data pipe; one a clean 32-bit access of a warp.",
        DOWN,
    ),
    (("l1tex__data_pipe_lsu_wavefronts",), "Passes of all load/store accesses through the L1 data pipe.", DOWN),
    (
        ("memory_l1_wavefronts_shared", "L1 Wavefronts Shared"),
        "Passes through shared memory, at this instruction or line.",
        DOWN,
    ),
    (
        ("memory_l1_wavefronts_shared_ideal", "L1 Wavefronts Shared Ideal"),
        "Passes that an access of this width needs at the least.",
        NEITHER,
    ),
    (
        ("derived__memory_l1_wavefronts_shared_excessive", "L1 Wavefronts Shared Excessive"),
        "Passes beyond the ideal access pattern; another measure than the hardware's conflicts.",
        DOWN,
    ),
    (
        ("derived__memory_l1_conflicts_shared_nway", "L1 Conflicts Shared N-Way"),
        "How many ways an access of this instruction splits; the kernel's sum of it means nothing.",
        DOWN,
    ),
    (
        ("smsp__inst_executed_op_shared_ld", "smsp__sass_inst_executed_op_shared_ld"),
        "Warp instructions that load from shared memory.",
        DOWN,
    ),
    (
        ("smsp__inst_executed_op_shared_st", "smsp__sass_inst_executed_op_shared_st"),
        "Warp instructions that store to shared memory.",
        DOWN,
    ),
    (
        ("smsp__inst_executed_op_shared_atom", "smsp__sass_inst_executed_op_shared_atom"),
        "Warp instructions that do an atomic in shared memory.",
        DOWN,
    ),
    (
        ("smsp__inst_executed_op_global_ld", "smsp__sass_inst_executed_op_global_ld"),
        "Warp instructions that load from global memory.",
        DOWN,
    ),
    (
        ("smsp__inst_executed_op_global_st", "smsp__sass_inst_executed_op_global_st"),
        "Warp instructions that store to global memory.",
        DOWN,
    ),
    (
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld",),
        "32-byte sectors that global loads ask of L1; four a request is a fully used 128-byte line of floats.",
        DOWN,
    ),
    (("l1tex__t_sectors_pipe_lsu_mem_global_op_st",), "32-byte sectors that global stores touch.", DOWN),
    (("l1tex__t_requests_pipe_lsu_mem_global_op_ld",), "Global load requests, one a warp instruction.", DOWN),
    (("l1tex__t_requests_pipe_lsu_mem_global_op_st",), "Global store requests, one a warp instruction.", DOWN),
    (
        ("memory_l2_theoretical_sectors_global", "L2 Theoretical Sectors Global"),
        "Sectors that global accesses of this instruction or line ask for.",
        DOWN,
    ),
    (
        ("derived__memory_l2_theoretical_sectors_global_excessive", "L2 Theoretical Sectors Global Excessive"),
        "Sectors asked for beyond what coalesced accesses would need.",
        DOWN,
    ),
    (("lts__t_sectors",), "32-byte sectors that reach L2.", DOWN),
    (("lts__t_sectors_op_read", "lts__t_sectors_srcunit_tex_op_read"), "Sectors read from L2.", DOWN),
    (("lts__t_sectors_op_write", "lts__t_sectors_srcunit_tex_op_write"), "Sectors written to L2.", DOWN),
    (("lts__t_sectors_op_atom", "lts__t_sectors_op_red"), "Sectors that atomics and reductions touch in L2.", DOWN),
    (
        ("lts__t_sectors_aperture_device", "lts__t_sectors_aperture_sysmem"),
        "Sectors by where the memory is: stands in for DRAM traffic on GPUs without its counters.",
        DOWN,
    ),
    (("l1tex__t_set_conflicts",), "L1 tag lookups that met in one cache set; not shared-memory banks.", DOWN),
    (
        ("lts__average_gcomp_output_sector_compression_achieved_rate", "L2 Compression Ratio"),
        "How small L2 made the sectors that it compressed.",
        NEITHER,
    ),
    (
        ("smsp__inst_executed.avg", "Avg. Executed Instructions Per Scheduler"),
        "Warp instructions executed, for each scheduler.",
        DOWN,
    ),
    (
        ("smsp__inst_issued.avg", "Avg. Issued Instructions Per Scheduler"),
        "Warp instructions issued, repeats included, for each scheduler.",
        DOWN,
    ),
    (("launch__func_cache_config", "Function Cache Configuration"), "The split of L1 that is preferred.", NEITHER),
    (
        ("launch__shared_mem_per_block_driver", "Driver Shared Memory Per Block"),
        "Shared memory that the driver takes in each block.",
        NEITHER,
    ),
    (
        ("launch__shared_mem_config_size", "Shared Memory Configuration Size"),
        "The part of L1 that was set aside as shared memory.",
        NEITHER,
    ),
    (("launch__uses_green_context", "Uses Green Context"), "Whether it ran on a part of the GPU.", NEITHER),
    (
        ("derived__smsp__inst_executed_op_branch_pct", "Branch Instructions Ratio"),
        "Share of all instructions that are branches.",
        DOWN,
    ),
    (
        ("l1tex__cycles_active.avg", "Average L1 Active Cycles", "lts__cycles_active.avg", "Average L2 Active Cycles"),
        "Clocks in which this cache had work, averaged over its parts.",
        DOWN,
    ),
    (
        (
            "smsp__cycles_active.avg",
            "Average SMSP Active Cycles",
            "dram__cycles_active.avg",
            "Average DRAM Active Cycles",
        ),
        "Clocks in which this unit had work, averaged over its parts.",
        DOWN,
    ),
    (
        ("sm__cycles_elapsed.sum", "Total SM Elapsed Cycles", "smsp__cycles_elapsed.sum", "Total SMSP Elapsed Cycles"),
        "Clocks of the launch, summed over all parts of this unit.",
        DOWN,
    ),
    (
        ("l1tex__cycles_elapsed.sum", "Total L1 Elapsed Cycles", "lts__cycles_elapsed.sum", "Total L2 Elapsed Cycles"),
        "Clocks of the launch, summed over all parts of this cache.",
        DOWN,
    ),
    (
        ("dram__cycles_elapsed.sum", "Total DRAM Elapsed Cycles"),
        "Memory clocks of the launch, summed over all channels.",
        DOWN,
    ),
    (
        (
            "profiler__pmsampler_pass_groups",
            "# Pass Groups",
            "profiler__pmsampler_buffer_size_bytes",
            "Maximum Buffer Size",
            "profiler__pmsampler_dropped_samples",
            "Dropped Samples",
            "profiler__pmsampler_interval_time",
            "Maximum Sampling Interval",
        ),
        "How the profiler sampled over time; says nothing of the kernel.",
        NEITHER,
    ),
    (("l1tex__data_bank_reads", "l1tex__data_bank_writes"), "How busy the L1 data banks are.", NEITHER),
)  # fmt: skip

STALLS = {
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
