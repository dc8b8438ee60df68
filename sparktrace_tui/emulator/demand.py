"""From a launch's counts and its machine code to the demand that the timing model prices."""

from collections.abc import Mapping, Sequence

import numpy as np

from sparktrace_tui.emulator import flow, ptx_view, scoreboard
from sparktrace_tui.emulator.caches import Hierarchy
from sparktrace_tui.emulator.counters import LaunchCounters, Phase
from sparktrace_tui.emulator.model import Demand, PhaseDemand
from sparktrace_tui.emulator.occupancy import Occupancy
from sparktrace_tui.emulator.profile import DeviceProfile
from sparktrace_tui.emulator.ptx import Kernel
from sparktrace_tui.emulator.sass_align import Alignment
from sparktrace_tui.emulator.scoreboard import LatencyClass, PhaseLatency


def demand(
    profile: DeviceProfile,
    kernel: Kernel,
    counters: LaunchCounters,
    alignment: Alignment,
    occupancy: Occupancy,
    hierarchy: Hierarchy | None = None,
) -> Demand:
    """What a launch asks of the machine; `hierarchy` gives hit rates and the hottest atomic address."""
    ops = ptx_view.view(kernel)
    retries = shared_retries(counters, alignment)
    latencies = _latencies(profile, kernel, ops, counters, alignment, hierarchy)
    traffic = counters.traffic
    same = spread = chained = 0.0
    for pc, access in counters.accesses.items():
        if access.operation not in ("atomic", "reduction"):
            continue
        if access.space == "global":
            # A request's longest queue is taken to be at the hottest sector, wherever it touches that.
            touched = hierarchy.hottest(pc) if hierarchy is not None else float("inf")
            same += access.serialised * min(1.0, touched / max(1, access.requests))
            spread += access.sectors
        elif pc in alignment.cas_loops:
            chained += access.serialised / counters.blocks
    return Demand(
        blocks=counters.blocks,
        resident=min(occupancy.blocks, max(1, -(-counters.blocks // profile.limit("sms")))),
        warps_per_block=counters.warps_per_block,
        phases=_phases(counters, alignment, latencies, retries),
        hits={pc: hierarchy.hit_rates(pc) for pc in counters.accesses} if hierarchy is not None else {},
        dram_bytes=traffic.dram_read + traffic.dram_write,
        l2_sectors=traffic.l2_read + traffic.l2_write + traffic.l2_atomic,
        l2_read_sectors=traffic.l2_read,
        same_address=same,
        atomic_sectors=spread,
        chained=chained,
    )


def shared_retries(counters: LaunchCounters, alignment: Alignment) -> dict[int, float]:
    """Passes of each shared compare-and-swap loop, by pc of the atomic: one for each lane that hits an address."""
    return {pc: float(counters.accesses[pc].serialised) for pc in alignment.cas_loops if pc in counters.accesses}


def _latencies(
    profile: DeviceProfile,
    kernel: Kernel,
    ops: Sequence[ptx_view.Op],
    counters: LaunchCounters,
    alignment: Alignment,
    hierarchy: Hierarchy | None,
) -> list[PhaseLatency]:
    leaders = {unit.start: 1 for unit in flow.units(ptx_view.nodes(tuple(ops), kernel))}
    for place in alignment.places:
        if place.pcs and place.ratio > 1:
            leaders[place.pcs[0]] = max(leaders[place.pcs[0]], round(place.ratio))
        # Units that the assembler merged by predication are scheduled as one.
        for pc in set(place.pcs) - {min(place.pcs, default=0)}:
            leaders.pop(pc, None)
    nominal = _Nominal(profile, hierarchy)
    # A compare-and-swap loop is one chain for the whole block (`chained`): a warp's own pass is walked once here.
    return scoreboard.phases(ops, leaders, alignment.forms, counters.trace_pc, nominal)


class _Nominal(dict[LatencyClass, float]):
    """The profile's latencies, with those of loads looked up by where they hit."""

    def __init__(self, profile: DeviceProfile, hierarchy: Hierarchy | None) -> None:
        super().__init__()
        self.profile, self.hierarchy = profile, hierarchy

    def __missing__(self, kind: LatencyClass) -> float:
        match kind:
            case ("global", int(pc)):
                l1, l2 = self.hierarchy.hit_rates(pc) if self.hierarchy is not None else (0.0, 0.0)
                beyond = l2 * self.profile["latency.l2"] + (1 - l2) * self.profile["latency.dram"]
                price = l1 * self.profile["latency.l1"] + (1 - l1) * beyond
            case str(name):
                price = self.profile[f"latency.{name}"]
            case _:
                raise KeyError(kind)
        self[kind] = price
        return price


def _phases(
    counters: LaunchCounters,
    alignment: Alignment,
    latencies: Sequence[PhaseLatency],
    retries: Mapping[int, float],
) -> tuple[PhaseDemand, ...]:
    """Phases with equal demand are kept once with a count; the trace's latencies are spread over them in order."""
    phases = counters.phases or [Phase(np.asarray(counters.warp_executions, float) / counters.blocks)]
    executions = np.array([phase.executions for phase in phases])
    totals = executions.sum(axis=0)
    per_block = {pc: count / counters.blocks for pc, count in retries.items()}
    runs = alignment.place_executions(executions, {pc: count for pc, count in per_block.items() if totals[pc]})
    pipes = runs @ alignment.pipe_matrix
    merged: dict[tuple[object, ...], list[float]] = {}
    kept: dict[tuple[object, ...], PhaseDemand] = {}
    matched = len(latencies) == len(phases) and counters.trace_scale == 1.0
    average = _average(latencies, counters.trace_scale)
    extra = _shared_atomics(counters, alignment)
    for number, phase in enumerate(phases):
        wavefronts = sum(phase.shared_wavefronts.values())
        wavefronts += sum(extra[pc] * phase.executions[pc] / totals[pc] for pc in extra if totals[pc])
        sectors = sum(phase.sectors.values())
        latency = latencies[number].counts if matched else average
        key = (pipes[number].tobytes(), round(wavefronts, 6), round(sectors, 6), tuple(latency.items()))
        merged.setdefault(key, []).append(1.0)
        share = 1.0 if matched else 1.0 / len(phases)
        kept.setdefault(
            key,
            PhaseDemand(1.0, pipes[number], wavefronts, sectors, {k: v * share for k, v in latency.items()}),
        )
    return tuple(
        PhaseDemand(float(len(merged[key])), p.pipes, p.wavefronts, p.sectors, p.latency) for key, p in kept.items()
    )


def _shared_atomics(counters: LaunchCounters, alignment: Alignment) -> dict[int, float]:
    """Wavefronts a block that lanes on one address add to a shared atomic, beyond those counted for its banks."""
    added = {}
    for pc, access in counters.accesses.items():
        if access.space == "shared" and access.serialised and pc not in alignment.popc_atomics:
            added[pc] = max(0.0, access.serialised - access.wavefronts) / counters.blocks
    return added


def _average(latencies: Sequence[PhaseLatency], scale: float) -> dict[LatencyClass, float]:
    total: dict[LatencyClass, float] = {}
    for latency in latencies:
        for kind, count in latency.counts.items():
            total[kind] = total.get(kind, 0.0) + count * scale
    return total
