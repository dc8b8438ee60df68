"""From a compiled source and a launch plan to counters, occupancy and modelled time: what the backend calls."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.plan import ResolvedLaunch
from sparktrace_tui.emulator import machine, model, ptx, sass, sass_align, toolchain
from sparktrace_tui.emulator.caches import Hierarchy
from sparktrace_tui.emulator.counters import LaunchCounters
from sparktrace_tui.emulator.demand import demand as make_demand
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.model import Demand, LaunchTime
from sparktrace_tui.emulator.occupancy import Occupancy, occupancy
from sparktrace_tui.emulator.profile import DeviceProfile
from sparktrace_tui.emulator.ptx import Kernel
from sparktrace_tui.emulator.sass_align import Alignment
from sparktrace_tui.emulator.toolchain import KernelResources

SAMPLED_WAVES = 2
# How often a launch of the same shape is followed before the last result stands for the rest (the caches are warm).
_FOLLOWED_REPEATS = 3


@dataclass(frozen=True)
class Prepared:
    """A compiled source, its PTX and machine code side by side, by kernel name."""

    source_name: str
    compiler: str
    kernels: Mapping[str, Kernel]
    alignments: Mapping[str, Alignment]
    resources: Mapping[str, KernelResources]

    @property
    def mismatches(self) -> tuple[str, ...]:
        """What the PTX and the machine code disagree on, each with its kernel's name."""
        return tuple(f"{name}: {text}" for name, a in self.alignments.items() for text in a.mismatches)


@dataclass(frozen=True, eq=False)
class LaunchEstimate:
    """All that is modelled of one launch. `resources` are the compiler's, `shared_bytes` static and dynamic."""

    launch: ResolvedLaunch
    kernel: Kernel
    alignment: Alignment
    counters: LaunchCounters
    resources: KernelResources
    shared_bytes: int
    occupancy: Occupancy
    demand: Demand
    time: LaunchTime
    l1_hit: float | None
    l2_hit: float | None


@dataclass(frozen=True)
class PlanEstimate:
    """The launches of a plan in order, from a cold L2, and what was compiled by what."""

    launches: tuple[LaunchEstimate, ...]
    compiler: str = ""
    source_name: str = ""

    @property
    def ms(self) -> float:
        return sum(launch.time.ms for launch in self.launches)

    @property
    def dominant(self) -> LaunchEstimate:
        """The launch that takes the longest (the first of equals)."""
        return max(self.launches, key=lambda launch: launch.time.ms)

    def ms_on(self, profile: DeviceProfile) -> float:
        """The plan's time with other constants; the counts stay as they are."""
        return sum(model.predict(profile, demand).ms * count for demand, count in self._demands)

    @cached_property
    def _demands(self) -> tuple[tuple[Demand, int], ...]:
        """The demands that differ, and how many launches ask each."""
        counts = Counter(launch.demand.key for launch in self.launches)
        demands = {launch.demand.key: launch.demand for launch in self.launches}
        return tuple((demands[key], count) for key, count in counts.items())


def prepare(compiled: toolchain.Compiled, source_name: str) -> Prepared:
    """Read and align the PTX and the machine code of a compiled source."""
    kernels = ptx.parse(compiled.ptx).kernels
    functions = sass.parse(toolchain.disassemble(compiled.cubin), source_name)
    missing = sorted(set(kernels) - set(functions))
    if missing:
        raise BadInput(f"{source_name}: no machine code for the kernel {missing[0]}")
    return Prepared(
        source_name=source_name,
        compiler=compiled.compiler,
        kernels=kernels,
        alignments={name: sass_align.align(kernel, functions[name]) for name, kernel in kernels.items()},
        resources=compiled.kernels,
    )


def estimate(
    prepared: Prepared,
    launches: Sequence[ResolvedLaunch],
    memory: DeviceMemory,
    profile: DeviceProfile,
    *,
    sampling: bool = True,
    seed: int = 0,
) -> PlanEstimate:
    """Count and time the launches of a plan, in order, from a cold L2.

    sampling: follow two waves of resident blocks and the grid's edges, and scale; without it, every block.
    """
    hierarchy = Hierarchy(profile, [(r.address, r.address + r.size - 1) for r in memory.regions.values()])
    later_needs_data = _later_needs_data(prepared, launches)
    done: list[LaunchEstimate] = []
    seen: dict[ResolvedLaunch, list[LaunchEstimate]] = {}
    for launch, keep in zip(launches, later_needs_data, strict=True):
        before = seen.setdefault(launch, [])
        if len(before) >= _FOLLOWED_REPEATS and not keep:
            found = before[-1]
        else:
            found = _launch(prepared, launch, memory, profile, hierarchy, sampling and not keep, seed, keep)
            before.append(found)
        done.append(found)
    return PlanEstimate(tuple(done), prepared.compiler, prepared.source_name)


def _later_needs_data(prepared: Prepared, launches: Sequence[ResolvedLaunch]) -> list[bool]:
    """Whether, after each launch, one comes whose addresses or branches depend on what memory holds by then."""
    by_name = {launch.kernel: machine.needs_data(kernel_of(prepared, launch)) for launch in first_of_each(launches)}
    needs = [by_name[launch.kernel] for launch in launches]
    return [any(needs[i + 1 :]) for i in range(len(launches))]


def first_of_each(launches: Sequence[ResolvedLaunch]) -> tuple[ResolvedLaunch, ...]:
    """The first launch of each kernel."""
    return tuple({launch.kernel: launch for launch in reversed(launches)}.values())


def kernel_of(prepared: Prepared, launch: ResolvedLaunch) -> Kernel:
    """The kernel that a launch names; BadInput where the source has none of that name."""
    if launch.kernel not in prepared.kernels:
        raise BadInput(
            f"{prepared.source_name} has no kernel {launch.kernel}",
            hint=f'it has {", ".join(sorted(prepared.kernels)) or "none"}; use extern "C" for plain names',
        )
    return prepared.kernels[launch.kernel]


def _launch(
    prepared: Prepared, launch: ResolvedLaunch, memory: DeviceMemory, profile: DeviceProfile,
    hierarchy: Hierarchy, sampling: bool, seed: int, keep_data: bool,
) -> LaunchEstimate:  # fmt: skip
    kernel = kernel_of(prepared, launch)
    alignment = prepared.alignments[launch.kernel]
    resources = prepared.resources[launch.kernel]
    shared = resources.static_shared_bytes + launch.shared_bytes
    fits = occupancy(profile, launch.threads_per_block, resources.registers, shared)
    hierarchy.begin(fits.blocks * (shared + profile.limit("shared_reserved")) if shared else 0)
    wave = fits.blocks * profile.limit("sms")
    result = machine.run(
        kernel, launch, memory, mode="count", forms=alignment.forms, hierarchy=hierarchy,
        sample=machine.Sample(wave, SAMPLED_WAVES) if sampling else None, seed=seed, keep_data=keep_data,
        resident_blocks=wave, sms=profile.limit("sms"),
    )  # fmt: skip
    if result.counters is None:
        raise BadInput(f"{prepared.source_name}: {result.faults[0].message}")
    exact = {pc: float(access.sectors) for pc, access in result.counters.accesses.items()}
    sampled = result.counters.sampled_blocks / result.counters.blocks
    counters = replace(result.counters, traffic=hierarchy.finish(sampled, exact))
    wanted = make_demand(profile, kernel, counters, alignment, fits, hierarchy)
    traffic = counters.traffic
    loads = sum(row.sectors for row in hierarchy.accesses.values() if not row.store and not row.atomic)
    asked = traffic.l2_read + traffic.l2_write + traffic.l2_atomic
    missed = sum(row.l2_misses for row in hierarchy.accesses.values() if not row.store)
    return LaunchEstimate(
        launch=launch,
        kernel=kernel,
        alignment=alignment,
        counters=counters,
        resources=resources,
        shared_bytes=shared,
        occupancy=fits,
        demand=wanted,
        time=model.predict(profile, wanted),
        l1_hit=traffic.l1_hits / loads if loads else None,
        l2_hit=max(0.0, 1 - missed / asked) if asked else None,
    )
