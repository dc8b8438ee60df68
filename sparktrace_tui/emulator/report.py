"""The emulated report: the dominant launch's counts in Nsight's sections, names, labels and units."""

import numpy as np

from sparktrace_tui.domain.report.report import (
    Instance,
    Instruction,
    KernelLaunch,
    Metric,
    Origin,
    Report,
    Section,
    SourceLine,
    Table,
    Value,
)
from sparktrace_tui.emulator import metrics, model, rules
from sparktrace_tui.emulator.estimate import LaunchEstimate, PlanEstimate
from sparktrace_tui.emulator.metrics import plan_counters
from sparktrace_tui.emulator.profile import DeviceProfile

__all__ = ["emulated_report", "launch_report", "plan_counters"]

SECTION_NAMES = {
    "SpeedOfLight": "GPU Speed Of Light Throughput",
    "ComputeWorkloadAnalysis": "Compute Workload Analysis",
    "MemoryWorkloadAnalysis": "Memory Workload Analysis",
    "MemoryWorkloadAnalysis_Tables": "Memory Workload Analysis Tables",
    "SchedulerStats": "Scheduler Statistics",
    "InstructionStats": "Instruction Statistics",
    "LaunchStats": "Launch Statistics",
    "Occupancy": "Occupancy",
    "SourceCounters": "Source Counters",
}


def emulated_report(profile: DeviceProfile, plan: PlanEstimate, source: str = "") -> Report:
    """The report of the plan's dominant launch; a note says which of how many it is."""
    launch = plan.dominant
    number = next(i for i, other in enumerate(plan.launches, 1) if other is launch)
    notes = []
    if len(plan.launches) > 1:
        share = launch.time.ms / plan.ms if plan.ms else 0.0
        notes.append(
            f"launch {number} of {len(plan.launches)}, the one that takes the longest: "
            f"{100 * share:.0f}% of the plan's modelled time"
        )
    return launch_report(profile, launch, plan.compiler, source, tuple(notes), plan.source_name)


def launch_report(
    profile: DeviceProfile,
    launch: LaunchEstimate,
    compiler: str,
    source: str = "",
    notes: tuple[str, ...] = (),
    source_name: str = "",
) -> Report:
    """The report of one launch. What the model does not know is left out or None, never 0."""
    counts = metrics.launch_counters(profile, launch)
    fired = rules.evaluate(profile, launch)
    counters = launch.counters
    if counters.sampled_blocks < counters.blocks:
        notes = (*notes, f"counted on {counters.sampled_blocks} of {counters.blocks} blocks and scaled up")
    bodies = {
        "SpeedOfLight": _speed_of_light(profile, launch),
        "ComputeWorkloadAnalysis": _compute(launch, counts),
        "MemoryWorkloadAnalysis": _memory(profile, launch, counts),
        "MemoryWorkloadAnalysis_Tables": (),
        "SchedulerStats": _scheduler(profile, launch),
        "InstructionStats": _instructions(profile, launch, counts),
        "LaunchStats": _launch(profile, launch),
        "Occupancy": _occupancy(launch),
        "SourceCounters": _source_counters(profile, counts),
    }
    sections = tuple(
        Section(
            id=name,
            name=SECTION_NAMES[name],
            metrics=body,
            rules=tuple(rule for rule in fired if rules.SECTION_OF[rule.id] == name),
            tables=_tables(launch, counts) if name == "MemoryWorkloadAnalysis_Tables" else (),
        )
        for name, body in bodies.items()
    )
    shown = {metric.name for section in sections for metric in section.metrics}
    raw = tuple(Metric(name, "", _unit(name), value) for name, value in counts.items() if name not in shown)
    return Report(
        launch=KernelLaunch(
            kernel=launch.kernel.name,
            grid=launch.launch.grid,
            block=launch.launch.block,
            compute_capability=profile.compute_capability,
            device_name=profile.name,
        ),
        origin=Origin(
            form="emulated",
            tool=f"SparkTrace emulator, model {model.VERSION}, device profile {profile.id}, {compiler}",
            provenance="emulated",
            notes=notes,
        ),
        sections=sections,
        raw=raw,
        source=_source(launch, source, source_name),
        instructions=_machine_code(launch, source_name),
    )


def _speed_of_light(profile: DeviceProfile, launch: LaunchEstimate) -> tuple[Metric, ...]:
    time, percent = launch.time, launch.time.percent
    seconds = time.clocks / (profile["clock.sm"] * 1e9)
    found = [
        Metric("smsp__cycles_elapsed.avg.per_second", "SM Frequency", "Ghz", profile["clock.sm"]),
        Metric("gpc__cycles_elapsed.max", "Elapsed Cycles", "cycle", round(time.clocks)),
        Metric(
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
            "Memory Throughput",
            "%",
            percent["memory"],
        ),
    ]
    if profile.has_dram_counters:
        found.append(
            Metric("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput", "%", percent["dram"])
        )
    found += [
        Metric("gpu__time_duration.sum", "Duration", "us", seconds * 1e6),
        Metric("l1tex__throughput.avg.pct_of_peak_sustained_active", "L1/TEX Cache Throughput", "%", percent["l1"]),
        Metric("lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 Cache Throughput", "%", percent["l2"]),
        Metric("sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "%", percent["sm"]),
    ]
    return tuple(found)


def _compute(launch: LaunchEstimate, counts: dict[str, float]) -> tuple[Metric, ...]:
    issue = launch.time.percent["issue"]
    return (
        Metric("sm__inst_executed.avg.per_cycle_elapsed", "Executed Ipc Elapsed", "inst/cycle", issue / 25),
        Metric("sm__inst_issued.avg.pct_of_peak_sustained_active", "Issue Slots Busy", "%", issue),
        Metric(
            "sm__instruction_throughput.avg.pct_of_peak_sustained_active", "SM Busy", "%", launch.time.percent["sm"]
        ),
    )


def _memory(profile: DeviceProfile, launch: LaunchEstimate, counts: dict[str, float]) -> tuple[Metric, ...]:
    found = []
    seconds = launch.time.clocks / (profile["clock.sm"] * 1e9)
    if profile.has_dram_counters:
        rate = launch.demand.dram_bytes / seconds / 1e9 if seconds else None
        found.append(Metric("dram__bytes.sum.per_second", "Memory Throughput", "Gbyte/s", rate))
    percent = launch.time.percent
    busy = max(percent["l1"], percent["l2"])
    found += [
        Metric("gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed", "Mem Busy", "%", busy),
        Metric("l1tex__t_sector_hit_rate.pct", "L1/TEX Hit Rate", "%", counts.get("l1tex__t_sector_hit_rate.pct")),
        Metric("lts__t_sector_hit_rate.pct", "L2 Hit Rate", "%", counts.get("lts__t_sector_hit_rate.pct")),
        Metric(
            "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
            "Mem Pipes Busy",
            "%",
            metrics.pipe_percent(launch)["lsu"],
        ),
    ]
    return tuple(found)


def _tables(launch: LaunchEstimate, counts: dict[str, float]) -> tuple[Table, ...]:
    shared = []
    for word, name in (("Load", "ld"), ("Store", "st"), ("Atomic", "atom")):
        requests = counts[f"smsp__sass_inst_executed_op_shared_{name}.sum"]
        wavefronts = counts[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{name}.sum"]
        conflicts = counts[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{name}.sum"]
        shared.append((f"Shared {word}", *(_whole(x) for x in (requests, requests, wavefronts, conflicts))))
    shared.append(("Total", *(_whole(sum(int(row[i].replace(",", "")) for row in shared)) for i in range(1, 5))))
    rows = []
    for word, name in (("Load", "ld"), ("Store", "st"), ("Atomic ALU", "atom"), ("Reduction", "red")):
        requests = counts[f"l1tex__t_requests_pipe_lsu_mem_global_op_{name}.sum"]
        sectors = counts[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{name}.sum"]
        each = f"{sectors / requests:.2f}" if requests else "n/a"
        rows.append((f"Global {word}", _whole(requests), _whole(sectors), each))
    return (
        Table("Shared Memory", ("", "Instructions", "Requests", "Wavefronts", "Bank Conflicts"), tuple(shared)),
        Table("L1/TEX Cache", ("", "Requests", "Sectors", "Sectors/Req"), tuple(rows)),
    )


def _scheduler(profile: DeviceProfile, launch: LaunchEstimate) -> tuple[Metric, ...]:
    issue = launch.time.percent["issue"]
    return (
        Metric("smsp__issue_active.avg.pct_of_peak_sustained_active", "One or More Eligible", "%", issue),
        Metric("smsp__issue_active.avg.per_cycle_active", "Issued Warp Per Scheduler", "", issue / 100),
        Metric("smsp__issue_inst0.avg.pct_of_peak_sustained_active", "No Eligible", "%", 100 - issue),
    )


def _instructions(profile: DeviceProfile, launch: LaunchEstimate, counts: dict[str, float]) -> tuple[Metric, ...]:
    total = counts["smsp__inst_executed.sum"]
    by_opcode: dict[str, float] = {}
    runs = metrics.executions(launch)
    for item, count in zip(launch.alignment.function.instructions, runs, strict=True):
        by_opcode[item.root] = by_opcode.get(item.root, 0.0) + float(count)
    instances = tuple(
        Instance(opcode, round(count)) for opcode, count in sorted(by_opcode.items(), key=lambda x: -x[1]) if count
    )
    schedulers = profile.limit("sms") * profile.limit("schedulers")
    return (
        Metric("smsp__inst_executed.avg", "Avg. Executed Instructions Per Scheduler", "inst", total / schedulers),
        Metric("smsp__inst_executed.sum", "Executed Instructions", "inst", total),
        Metric("sass__inst_executed_per_opcode", "Executed Instructions By Opcode", "inst", total, instances=instances),
    )


def _launch(profile: DeviceProfile, launch: LaunchEstimate) -> tuple[Metric, ...]:
    plan, resources = launch.launch, launch.resources
    waves = plan.blocks / (profile.limit("sms") * launch.occupancy.blocks)
    return (
        Metric("launch__block_size", "Block Size", "", plan.threads_per_block),
        Metric("launch__grid_size", "Grid Size", "", plan.blocks),
        Metric("launch__registers_per_thread", "Registers Per Thread", "register/thread", resources.registers),
        Metric(
            "launch__shared_mem_per_block_driver",
            "Driver Shared Memory Per Block",
            "byte/block",
            profile.limit("shared_reserved"),
        ),
        Metric(
            "launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block", "byte/block", plan.shared_bytes
        ),
        Metric(
            "launch__shared_mem_per_block_static",
            "Static Shared Memory Per Block",
            "byte/block",
            resources.static_shared_bytes,
        ),
        Metric("device__attribute_multiprocessor_count", "# SMs", "SM", profile.limit("sms")),
        Metric("launch__thread_count", "Threads", "thread", plan.blocks * plan.threads_per_block),
        Metric("launch__waves_per_multiprocessor", "Waves Per SM", "", waves),
    )


def _occupancy(launch: LaunchEstimate) -> tuple[Metric, ...]:
    fits = launch.occupancy
    return (
        Metric("launch__occupancy_limit_blocks", "Block Limit SM", "block", fits.block_limit_sm),
        Metric("launch__occupancy_limit_registers", "Block Limit Registers", "block", fits.block_limit_registers),
        Metric("launch__occupancy_limit_shared_mem", "Block Limit Shared Mem", "block", fits.block_limit_shared),
        Metric("launch__occupancy_limit_warps", "Block Limit Warps", "block", fits.block_limit_warps),
        Metric("sm__maximum_warps_per_active_cycle", "Theoretical Active Warps per SM", "warp", fits.warps),
        Metric("sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy", "%", 100 * fits.share),
        Metric("sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy", "%", None),
    )


def _source_counters(profile: DeviceProfile, counts: dict[str, float]) -> tuple[Metric, ...]:
    branches = counts["smsp__inst_executed_op_branch.sum"]
    schedulers = profile.limit("sms") * profile.limit("schedulers")
    total = counts["smsp__inst_executed.sum"]
    divergent = counts["smsp__sass_branch_targets_threads_divergent.sum"]
    return (
        Metric(
            "derived__smsp__inst_executed_op_branch_pct",
            "Branch Instructions Ratio",
            "%",
            branches / total if total else None,
        ),
        Metric("smsp__inst_executed_op_branch.sum", "Branch Instructions", "inst", branches),
        Metric(
            "smsp__sass_average_branch_targets_threads_uniform.pct",
            "Branch Efficiency",
            "%",
            counts.get("smsp__sass_average_branch_targets_threads_uniform.pct"),
        ),
        Metric(
            "smsp__sass_branch_targets_threads_divergent.avg", "Avg. Divergent Branches", "", divergent / schedulers
        ),
    )


def _source(launch: LaunchEstimate, source: str, name: str) -> tuple[SourceLine, ...]:
    """Every line with code, and what was counted there."""
    lines: dict[int, dict[str, Value]] = {}

    def add(line: int | None, metric: str, value: float) -> None:
        if line is not None:
            row = lines.setdefault(line, {})
            before = row.get(metric, 0)
            row[metric] = value + (before if isinstance(before, int | float) else 0)

    for item, count in zip(launch.alignment.function.instructions, metrics.executions(launch), strict=True):
        add(item.line, "inst_executed", round(float(count)))
    for pc, access in launch.counters.accesses.items():
        line = launch.kernel.instructions[pc].line
        if access.space == "shared":
            add(line, "memory_l1_wavefronts_shared", access.wavefronts)
            add(line, "derived__memory_l1_wavefronts_shared_excessive", metrics.shared_excess(launch, pc, access))
            add(line, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared", access.conflicts)
        elif access.space == "global":
            add(line, "memory_l2_theoretical_sectors_global", access.sectors)
            add(line, "derived__memory_l2_theoretical_sectors_global_excessive", metrics.global_excess(access))
    texts = source.splitlines()
    return tuple(
        SourceLine(name, line, texts[line - 1] if line <= len(texts) else "", dict(found))
        for line, found in sorted(lines.items())
    )


def _machine_code(launch: LaunchEstimate, name: str) -> tuple[Instruction, ...]:
    runs = np.rint(metrics.executions(launch)).astype(np.int64)
    return tuple(
        Instruction(item.offset, item.text, name, item.line, {"inst_executed": int(count)})
        for item, count in zip(launch.alignment.function.instructions, runs, strict=True)
    )


def _whole(value: float) -> str:
    return f"{round(value):,}"


def _unit(name: str) -> str:
    if name.endswith(("_pct", ".pct")):
        return "%"
    if "bytes_per_sector" in name:
        return "byte/sector"
    if "sectors" in name:
        return "sector"
    if "bytes" in name:
        return "byte"
    if "inst_executed" in name:
        return "inst"
    return ""
