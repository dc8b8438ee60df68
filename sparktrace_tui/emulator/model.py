"""Modelled time of a launch: an interval analysis over a device profile, with no constant per kernel.

docs/model.md tells the whole of it. In short: the average block is cut into phases at its barriers. Each phase asks
so many clocks of every pipe of the SM (P) and has a latency that one warp alone would need (L). With one resident
block a phase takes P + L; with R of them, the SM takes the pipe time of R blocks or the time of one, whichever is
longer. Memory, L2, atomics and the launching of blocks are limits of the whole chip beside it. Limits that nearly tie
do not overlap perfectly: they combine by a power mean. Then the launch cost is added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator.profile import DeviceProfile
from sparktrace_tui.emulator.sass import PIPES
from sparktrace_tui.emulator.scoreboard import LatencyClass

VERSION = "1"
SECTOR = 32
# The SM's resources a block's demand is reckoned in, and what each is called where it binds.
UNITS = (
    "issue", "fma", "imad", "alu", "xu", "fp64", "uniform", "branch", "lsu", "l1", "l1_fill", "shuffle", "vote",
    "reduce", "barrier",
)  # fmt: skip
LABELS: Mapping[str, str] = {
    "issue": "instruction issue",
    "fma": "FMA pipe",
    "imad": "integer multiply pipe",
    "alu": "ALU pipe",
    "xu": "special-function pipe",
    "fp64": "FP64 pipe",
    "uniform": "uniform datapath",
    "branch": "branch unit",
    "lsu": "load/store issue",
    "l1": "L1 data",
    "l1_fill": "L1 fill",
    "shuffle": "shuffle",
    "vote": "vote",
    "reduce": "warp reduce",
    "barrier": "barrier",
    "shared": "shared-memory pipe",
    "latency": "latency",
    "dram": "DRAM bandwidth",
    "l2": "L2 bandwidth",
    "atomic": "atomics",
    "blocks": "block launch",
    "launch": "kernel launch",
}


@dataclass(frozen=True)
class PhaseDemand:
    """What the average block asks for between two barriers, `count` times alike.

    pipes: warp instructions of each of sass.PIPES. wavefronts: of shared memory. sectors: asked of L1.
    latency: the critical path of one warp, in counts of latency classes.
    """

    count: float
    pipes: npt.NDArray[np.float64]
    wavefronts: float
    sectors: float
    latency: Mapping[LatencyClass, float]


@dataclass(frozen=True)
class Demand:
    """Everything the model needs of a launch that does not depend on the profile's constants.

    hits: of each load (by pc) the shares of its sectors that hit in L1, and of the rest in L2. Bytes and sectors are
    of the whole launch. same_address: atomic operations on the most used address. chained: attempts of shared
    compare-and-swap loops a block, one after the other.
    """

    blocks: int
    resident: int
    warps_per_block: int
    phases: tuple[PhaseDemand, ...]
    hits: Mapping[int, tuple[float, float]]
    dram_bytes: float
    l2_sectors: float
    l2_read_sectors: float
    same_address: float = 0.0
    atomic_sectors: float = 0.0
    chained: float = 0.0

    @cached_property
    def columns(self) -> "DemandColumns":
        """The phases as arrays, made once for all profiles."""
        pipes = np.array([phase.pipes for phase in self.phases]).reshape(-1, len(PIPES))
        return DemandColumns(
            counts=np.array([phase.count for phase in self.phases]),
            pipes={name: pipes[:, index].copy() for index, name in enumerate(PIPES)},
            issued=pipes.sum(axis=1),
            wavefronts=np.array([phase.wavefronts for phase in self.phases]),
            sectors=np.array([phase.sectors for phase in self.phases]),
        )

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for demands that take equal times on every profile."""
        return (
            self.blocks,
            self.resident,
            self.warps_per_block,
            tuple((p.count, p.pipes.tobytes(), p.wavefronts, p.sectors, *p.latency.items()) for p in self.phases),
            tuple(sorted(self.hits.items())),
            self.dram_bytes,
            self.l2_sectors,
            self.l2_read_sectors,
            self.same_address,
            self.atomic_sectors,
            self.chained,
        )


@dataclass(frozen=True)
class DemandColumns:
    """The phases of a demand side by side: arrays of shape (phases,), the pipes by their name."""

    counts: npt.NDArray[np.float64]
    pipes: Mapping[str, npt.NDArray[np.float64]]
    issued: npt.NDArray[np.float64]
    wavefronts: npt.NDArray[np.float64]
    sectors: npt.NDArray[np.float64]


@dataclass(frozen=True)
class LaunchTime:
    """A modelled time in ms, what bounds it, and each bound's share (they add up to 1).

    clocks: SM clocks without the launch cost. unit_clocks: busy clocks of each SM resource, averaged over the SMs.
    percent: throughput of `sm`, `memory`, `l1`, `l2`, `dram` in percent of peak, as the report words them.
    phase_clocks: (pipe clocks, latency clocks) of each phase of the average block.
    """

    ms: float
    by: str
    shares: Mapping[str, float]
    clocks: float
    limits_ms: Mapping[str, float]
    unit_clocks: Mapping[str, float]
    percent: Mapping[str, float]
    phase_clocks: tuple[tuple[float, float], ...] = field(repr=False, default=())


def predict(profile: DeviceProfile, demand: Demand) -> LaunchTime:
    """The modelled time of one launch."""
    power = profile["model.overlap"]
    sms = profile.limit("sms")
    clock_hz = profile["clock.sm"] * 1e9
    counts, wavefronts = demand.columns.counts, demand.columns.wavefronts
    units = _unit_clocks(profile, demand)
    pipe = units.max(axis=1)
    latency = _latency_clocks(profile, demand)
    alone_pipe = float(counts @ pipe)
    alone_latency = float(counts @ latency) + profile["latency.block_start"]
    alone_latency += demand.chained * profile["latency.atomic_shared"]
    totals = counts @ units
    busiest = float(totals.max())
    full, rest = divmod(demand.blocks, sms * demand.resident)
    rounds: list[tuple[float, int]] = [(float(full), demand.resident)] if full else []
    if rest:
        rounds.append((1.0, -(-rest // sms)))
    sm_clocks = pipe_part = latency_part = 0.0
    for times, resident in rounds:
        if resident == 1:
            clocks, ours, theirs = alone_pipe + alone_latency, alone_pipe, alone_latency
        else:
            ours, theirs = (resident * busiest) ** power, (alone_pipe + alone_latency) ** power
            clocks = (ours + theirs) ** (1 / power)
            if theirs:
                ours += theirs * alone_pipe / (alone_pipe + alone_latency)
                theirs *= alone_latency / (alone_pipe + alone_latency)
        sm_clocks += times * clocks
        pipe_part += times * clocks * ours / (ours + theirs)
        latency_part += times * clocks * theirs / (ours + theirs)
    unit = UNITS[int(totals.argmax())]
    shared_total = float(counts @ wavefronts)
    if unit == "l1" and shared_total > 0.5 * totals[UNITS.index("l1")]:
        unit = "shared"
    limits = {
        "sm": sm_clocks / clock_hz,
        "dram": demand.dram_bytes / (profile["dram.bandwidth"] * 1e9),
        "l2": demand.l2_sectors * SECTOR / (profile["cache.l2_bandwidth"] * 1e9),
        "atomic": max(
            demand.same_address / (profile["atomic.same_address"] * 1e9),
            demand.atomic_sectors / (profile["atomic.spread"] * 1e9),
        ),
        "blocks": demand.blocks / (profile["launch.blocks"] * 1e6),
    }
    seconds = sum(limit**power for limit in limits.values()) ** (1 / power)
    launch = profile["launch.kernel"] * 1e-6
    total = seconds + launch
    shares: dict[str, float] = {"launch": launch / total}
    for name, limit in limits.items():
        part = (limit / seconds) ** power * seconds / total if seconds else 0.0
        if name == "sm":
            shares[unit] = part * pipe_part / sm_clocks
            shares["latency"] = part * latency_part / sm_clocks
        else:
            shares[name] = part
    elapsed = seconds * clock_hz
    per_sm = demand.blocks / sms
    unit_clocks = {name: float(totals[i]) * per_sm for i, name in enumerate(UNITS)}
    unit_clocks["shared"] = shared_total * per_sm / profile["rate.shared"]
    return LaunchTime(
        ms=total * 1e3,
        by=LABELS[max(shares, key=lambda name: shares[name])],
        shares={LABELS[name]: share for name, share in shares.items()},
        clocks=elapsed,
        limits_ms={LABELS.get(name, "SM"): limit * 1e3 for name, limit in limits.items()},
        unit_clocks=unit_clocks,
        percent=_percent(profile, demand, unit_clocks, elapsed, seconds),
        phase_clocks=tuple(zip(pipe.tolist(), latency.tolist(), strict=True)),
    )


def predict_plan(profile: DeviceProfile, demands: Sequence[Demand]) -> tuple[float, tuple[LaunchTime, ...]]:
    """The modelled ms of a plan, launches one after the other, and each launch's own time."""
    times = tuple(predict(profile, demand) for demand in demands)
    return sum(time.ms for time in times), times


def _unit_clocks(profile: DeviceProfile, demand: Demand) -> npt.NDArray[np.float64]:
    """Busy clocks of each unit in each phase of a block, shape (phases, UNITS)."""
    phases = demand.columns
    count, wavefronts, sectors = phases.pipes, phases.wavefronts, phases.sectors
    # Fewer warps than schedulers leave schedulers idle: a pipe's lanes belong to them in equal parts.
    spread = profile.limit("schedulers") / min(profile.limit("schedulers"), demand.warps_per_block * demand.resident)
    lanes = 32.0 * spread
    fill = demand.l2_read_sectors / demand.blocks * SECTOR
    weight = phases.counts @ sectors
    columns = {
        "issue": phases.issued * spread / profile.limit("schedulers"),
        "fma": lanes * (count["fma"] + count["imad"]) / profile["rate.fma"]
        + lanes * count["half"] / profile["rate.half"],
        "imad": lanes * count["imad"] / profile["rate.imad"],
        "alu": lanes * count["alu"] / profile["rate.alu"],
        "xu": lanes * count["xu"] / profile["rate.xu"],
        "fp64": lanes * count["fp64"] / profile["rate.fp64"],
        "uniform": count["uniform"] / profile["rate.uniform"],
        "branch": count["branch"] / profile["rate.branch"],
        "lsu": count["lsu"] / profile["rate.lsu"],
        "l1": wavefronts / profile["rate.shared"] + sectors / profile["rate.l1"],
        "l1_fill": sectors / weight * fill / profile["rate.l1_fill"] if weight else sectors * 0.0,
        "shuffle": 32.0 * count["shuffle"] / profile["rate.shuffle"],
        "vote": 32.0 * count["vote"] / profile["rate.vote"],
        "reduce": 32.0 * count["reduce"] / profile["rate.reduce"],
        "barrier": count["barrier"] / profile["rate.barrier"],
    }
    return np.stack([columns[name] for name in UNITS], axis=1)


def _latency_clocks(profile: DeviceProfile, demand: Demand) -> npt.NDArray[np.float64]:
    prices: dict[LatencyClass, float] = {"issue": 1.0}
    result = np.zeros(len(demand.phases))
    for number, phase in enumerate(demand.phases):
        total = 0.0
        for kind, count in phase.latency.items():
            price = prices.get(kind)
            if price is None:
                price = prices[kind] = _price(profile, demand, kind)
            total += count * price
        result[number] = total
    return result


def _price(profile: DeviceProfile, demand: Demand, kind: LatencyClass) -> float:
    match kind:
        case ("global", int(pc)):
            l1, l2 = demand.hits.get(pc, (0.0, 0.0))
            beyond = l2 * profile["latency.l2"] + (1 - l2) * profile["latency.dram"]
            return l1 * profile["latency.l1"] + (1 - l1) * beyond
        case str(name):
            return profile[f"latency.{name}"]
    raise AssertionError(kind)


def _percent(
    profile: DeviceProfile, demand: Demand, unit_clocks: Mapping[str, float], elapsed: float, seconds: float
) -> dict[str, float]:
    """Throughputs in percent of peak sustained, as Nsight's speed-of-light section breaks them down."""

    def share(name: str) -> float:
        return 100 * unit_clocks[name] / elapsed if elapsed else 0.0

    dram = 100 * demand.dram_bytes / seconds / (profile["dram.peak"] * 1e9) if seconds else 0.0
    l2 = 100 * demand.l2_sectors * SECTOR / seconds / (profile["cache.l2_bandwidth"] * 1e9) if seconds else 0.0
    l1 = max(share("l1"), share("l1_fill"))
    instruction_units = ("issue", "fma", "imad", "alu", "xu", "fp64", "uniform", "branch", "lsu", "barrier")
    return {
        "sm": min(100.0, max(share(name) for name in instruction_units)),
        "l1": min(100.0, l1),
        "l2": min(100.0, l2),
        "dram": min(100.0, dram),
        "memory": min(100.0, max(l1, l2, dram, share("lsu"))),
        "issue": share("issue"),
    }
