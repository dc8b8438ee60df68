"""Nsight's rules on the emulator's counts: the same ids, thresholds and estimates, in sentences of our own.

The formulas are functions of their own, and tests feed them the counters of public reports (docs/counters.md): a
bank-conflict rule promises conflicts / wavefronts of the L1/TEX throughput; occupancy and issue-slot rules promise no
more than the speed of light leaves; access-pattern rules promise each sector's wasted share of the memory throughput.
"""

from collections.abc import Iterator, Mapping

from sparktrace_tui.domain.report.report import Rule, Table
from sparktrace_tui.emulator import metrics
from sparktrace_tui.emulator.counters import Operation
from sparktrace_tui.emulator.estimate import LaunchEstimate
from sparktrace_tui.emulator.profile import DeviceProfile

# Each rule's section; what a rewrite may say it `addresses` is one of these.
SECTION_OF: Mapping[str, str] = {
    "SOLBottleneck": "SpeedOfLight",
    "HighPipeUtilization": "ComputeWorkloadAnalysis",
    "MemoryCacheAccessPattern": "MemoryWorkloadAnalysis_Tables",
    "SharedMemoryConflicts": "MemoryWorkloadAnalysis_Tables",
    "IssueSlotUtilization": "SchedulerStats",
    "LaunchConfiguration": "LaunchStats",
    "TheoreticalOccupancy": "Occupancy",
    "UncoalescedGlobalAccess": "SourceCounters",
    "UncoalescedSharedAccess": "SourceCounters",
}
ADDRESSABLE_RULES = frozenset(SECTION_OF) | {"AchievedOccupancy"}
_CONFLICT_SHARE = 0.10
_TAIL_SHARE = 20.0
_PIPES = {
    "fma": "FMA", "alu": "ALU", "xu": "XU", "fp64": "FP64", "lsu": "LSU", "uniform": "Uniform",
}  # fmt: skip
_LIMITERS = {
    "warps": "the number of warps within each block",
    "registers": "the number of required registers",
    "shared": "the required amount of shared memory",
    "blocks": "the number of blocks that can fit on the SM",
}


def evaluate(profile: DeviceProfile, launch: LaunchEstimate) -> tuple[Rule, ...]:
    """The rules that fire on a launch, those with the largest estimated speedup first."""
    found = [
        *_bottleneck(profile, launch),
        *_pipe(launch),
        *_patterns(launch),
        *_conflicts(launch),
        *_issue_slots(profile, launch),
        *_launch(profile, launch),
        *_occupancy(profile, launch),
        *_uncoalesced_global(launch),
        *_uncoalesced_shared(launch),
    ]
    return tuple(sorted(found, key=lambda rule: -(rule.speedup or 0.0)))


def conflict_speedup(conflicts: float, wavefronts: float, l1_percent: float) -> float:
    """SharedMemoryConflicts, in percent; l1_percent is the L1/TEX throughput while active."""
    return conflicts / wavefronts * l1_percent


def pattern_speedup(bytes_used: float, memory_percent: float) -> float:
    """MemoryCacheAccessPattern, in percent, from the bytes used of each sector's 32."""
    return (1 - bytes_used / 32) * memory_percent


def slots_speedup(used_percent: float, sm_percent: float, memory_percent: float) -> float:
    """IssueSlotUtilization and TheoreticalOccupancy, in percent: the unused, at most what both throughputs leave."""
    return min(100 - used_percent, 100 - max(sm_percent, memory_percent))


def grid_speedup(blocks: int, sms: int) -> float:
    """LaunchConfiguration for a small grid, in percent: the share of the SMs without a block."""
    return 100 * (1 - blocks / sms)


def excess_speedup(excess: float, total: float, active_share: float = 1.0) -> float:
    """UncoalescedGlobalAccess and UncoalescedSharedAccess, in percent.

    active_share: of the elapsed cycles those in which L2 (global) or L1 (shared) was active; 1 in the model.
    """
    return 100 * excess / total * active_share


def _bottleneck(profile: DeviceProfile, launch: LaunchEstimate) -> Iterator[Rule]:
    compute, memory = launch.time.percent["sm"], launch.time.percent["memory"]
    leader = "memory" if memory >= compute else "compute"
    if launch.counters.blocks < profile.limit("sms"):
        yield Rule(
            "SOLBottleneck",
            "OPT",
            "Small Grid",
            f"With {launch.counters.blocks} blocks this grid cannot occupy all {profile.limit('sms')} SMs of the "
            "device at once. See Launch Statistics.",
        )
    elif max(compute, memory) >= 80:
        unit = _busiest_memory(launch) if leader == "memory" else "the compute pipelines"
        yield Rule(
            "SOLBottleneck",
            "INF",
            "High Throughput",
            f"More than 80% of the device's {leader} throughput is in use. Going faster means moving work from the "
            f"busiest unit to another; start with {unit} in the "
            f"{'Memory' if leader == 'memory' else 'Compute'} Workload Analysis section.",
        )
    elif max(compute, memory) < 60:
        yield Rule(
            "SOLBottleneck",
            "OPT",
            "Latency Issue",
            f"Both compute ({compute:.1f}%) and memory ({memory:.1f}%) stay below 60% of the device's peak: latency "
            "is the likely limit. See Scheduler Statistics for the issue slots left empty.",
        )
    else:
        yield Rule(
            "SOLBottleneck",
            "OPT",
            f"{leader.capitalize()} Bound",
            f"The {leader} side is used more ({max(compute, memory):.1f}% against {min(compute, memory):.1f}%). See "
            f"the {'Memory' if leader == 'memory' else 'Compute'} Workload Analysis section for its bottleneck.",
        )


def _busiest_memory(launch: LaunchEstimate) -> str:
    percent = launch.time.percent
    return {"l1": "L1", "l2": "L2", "dram": "DRAM"}[max(("l1", "l2", "dram"), key=lambda name: percent[name])]


def _pipe(launch: LaunchEstimate) -> Iterator[Rule]:
    busy = {name: share for name, share in metrics.pipe_percent(launch).items() if name in _PIPES}
    name = max(busy, key=lambda key: busy[key])
    if busy[name] >= 20:
        words = "it may well be the bottleneck" if busy[name] >= 80 else "it is not a bottleneck by itself"
        yield Rule(
            "HighPipeUtilization",
            "OPT" if busy[name] >= 80 else "INF",
            "High Utilization" if busy[name] >= 80 else "Balanced",
            f"{_PIPES[name]} is the busiest pipeline ({busy[name]:.1f}% of active cycles); {words}.",
        )


def _patterns(launch: LaunchEstimate) -> Iterator[Rule]:
    counts = metrics.bytes_per_sector((launch,))
    for short, word in (("ld", "Load"), ("st", "Store")):
        used = counts.get(short)
        if used is not None and used < 29:
            yield Rule(
                "MemoryCacheAccessPattern",
                "OPT",
                f"L1TEX Global {word} Access Pattern",
                f"Of the 32 bytes of each sector that global {word.lower()}s move through L1TEX, {used:.1f} are used "
                "on average. A stride between threads is a common reason. See Source Counters for the lines.",
                pattern_speedup(used, launch.time.percent["memory"]),
                "global",
            )


def _conflicts(launch: LaunchEstimate) -> Iterator[Rule]:
    kinds: tuple[tuple[str, tuple[Operation, ...]], ...] = (
        ("Load", ("load",)),
        ("Store", ("store",)),
        ("Atomic", ("atomic", "reduction")),
    )
    for word, operations in kinds:
        access = launch.counters.total("shared", *operations)
        if not access.wavefronts or access.conflicts < _CONFLICT_SHARE * access.wavefronts:
            continue
        share = access.conflicts / access.wavefronts
        yield Rule(
            "SharedMemoryConflicts",
            "OPT",
            f"Shared {word} Bank Conflicts",
            f"The access pattern of shared {word.lower()}s causes, on average, a "
            f"{access.wavefronts / access.requests:.1f}-way bank conflict across all {access.requests} shared "
            f"{word.lower()} requests. That makes {access.conflicts} bank conflicts, {100 * share:.2f}% of the "
            f"{access.wavefronts} wavefronts for shared {word.lower()}s. See Source Counters for the lines.",
            conflict_speedup(access.conflicts, access.wavefronts, launch.time.percent["l1"]),
            "global",
        )


def _issue_slots(profile: DeviceProfile, launch: LaunchEstimate) -> Iterator[Rule]:
    issued = launch.time.percent["issue"]
    if issued >= 60 or not issued:
        return
    yield Rule(
        "IssueSlotUtilization",
        "OPT",
        "",
        f"A scheduler can issue an instruction every cycle; for this kernel it issues one every {100 / issued:.1f} "
        f"cycles. It holds {launch.occupancy.warps / profile.limit('schedulers'):.2f} of at most "
        f"{profile.limit('warps') // profile.limit('schedulers')} warps, and in the cycles left empty none of them is "
        "ready. More warps, or fewer stalls in each, would fill the slots.",
        slots_speedup(issued, launch.time.percent["sm"], launch.time.percent["memory"]),
        "local",
    )


def _launch(profile: DeviceProfile, launch: LaunchEstimate) -> Iterator[Rule]:
    sms, blocks, threads = profile.limit("sms"), launch.counters.blocks, launch.launch.threads_per_block
    if threads % 32:
        yield Rule(
            "LaunchConfiguration",
            "OPT",
            "Block Size",
            f"Blocks of {threads} threads are not a multiple of the 32 threads of a warp: the last warp of each block "
            f"runs with {threads % 32} of 32 lanes.",
            100 * (1 - threads / (32 * -(-threads // 32))),
            "local",
        )
    if blocks < sms:
        yield Rule(
            "LaunchConfiguration",
            "OPT",
            "Small Grid",
            f"The grid has only {blocks} blocks, less than the device's {sms} SMs, and leaves some of them idle. Use "
            "smaller blocks, or give the grid more of them.",
            grid_speedup(blocks, sms),
            "global",
        )
        return
    waves = blocks / (sms * launch.occupancy.blocks)
    lost = 100 * (1 - waves / -(-blocks // (sms * launch.occupancy.blocks)))
    if waves > 1 and lost >= _TAIL_SHARE:
        yield Rule(
            "LaunchConfiguration",
            "OPT",
            "Tail Effect",
            f"The grid makes {waves:.2f} waves of blocks; the last, partial one keeps the device only partly busy. It "
            f"can account for up to {lost:.1f}% of the run time.",
            lost,
            "global",
        )


def _occupancy(profile: DeviceProfile, launch: LaunchEstimate) -> Iterator[Rule]:
    share = 100 * launch.occupancy.share
    if share >= 80:
        return
    schedulers = profile.limit("schedulers")
    yield Rule(
        "TheoreticalOccupancy",
        "OPT",
        "",
        f"A scheduler can hold {launch.occupancy.warps / schedulers:.2f} warps of this kernel, of the hardware's "
        f"{profile.limit('warps') // schedulers}. The theoretical occupancy ({share:.1f}%) is limited by "
        f"{_LIMITERS[launch.occupancy.limiter]}.",
        slots_speedup(share, launch.time.percent["sm"], launch.time.percent["memory"]),
        "local",
    )


def _uncoalesced_global(launch: LaunchEstimate) -> Iterator[Rule]:
    excess = {pc: metrics.global_excess(access) for pc, access in launch.counters.accesses.items()}
    total = sum(a.sectors for a in launch.counters.accesses.values() if a.space == "global")
    wasted = sum(excess.values())
    if total and wasted / total >= 0.05:
        yield Rule(
            "UncoalescedGlobalAccess",
            "OPT",
            "",
            f"Uncoalesced global accesses make {wasted} excessive sectors, {100 * wasted / total:.0f}% of {total}. The "
            "table names the lines they come from.",
            excess_speedup(wasted, total),
            "global",
            details=(_lines(launch, "L2 Theoretical Sectors Global Excessive", excess),),
        )


def _uncoalesced_shared(launch: LaunchEstimate) -> Iterator[Rule]:
    excess = {pc: metrics.shared_excess(launch, pc, access) for pc, access in launch.counters.accesses.items()}
    total = sum(a.wavefronts for a in launch.counters.accesses.values() if a.space == "shared")
    wasted = sum(excess.values())
    if total and wasted / total >= 0.05:
        yield Rule(
            "UncoalescedSharedAccess",
            "OPT",
            "",
            f"Uncoalesced shared accesses make {wasted} excessive wavefronts, {100 * wasted / total:.0f}% of {total}. "
            "The table names the lines they come from.",
            excess_speedup(wasted, total),
            "global",
            details=(_lines(launch, "L1 Wavefronts Shared Excessive", excess),),
        )


def _lines(launch: LaunchEstimate, title: str, excess: Mapping[int, int]) -> Table:
    by_line: dict[int | None, int] = {}
    for pc, count in excess.items():
        line = launch.kernel.instructions[pc].line
        by_line[line] = by_line.get(line, 0) + count
    total = sum(by_line.values()) or 1
    rows = tuple(
        ("n/a" if line is None else str(line), str(count), f"{100 * count / total:.0f}%")
        for line, count in sorted(by_line.items(), key=lambda item: -item[1])
        if count
    )
    return Table(title, ("Line", "Value", "Share"), rows[:5])
