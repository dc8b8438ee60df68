"""The emulated device: verifies by running PTX on lanes, times by the model over a device profile."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparktrace_tui.backends.inputs import NUMPY_DTYPES, AnyArray, draw
from sparktrace_tui.backends.protocol import Hello, Options, Profile, Progress, Timing, Verification
from sparktrace_tui.backends.verification import Ran, verify_variant
from sparktrace_tui.domain.kernel.family import Family, Variant
from sparktrace_tui.domain.kernel.machine_code import SharedAccess
from sparktrace_tui.domain.kernel.plan import Array, ResolvedLaunch, Size
from sparktrace_tui.domain.report.serial import report_to_json
from sparktrace_tui.emulator import machine, model, toolchain
from sparktrace_tui.emulator import profile as profiles
from sparktrace_tui.emulator.bankmap import shared_accesses
from sparktrace_tui.emulator.counters import Fault
from sparktrace_tui.emulator.estimate import PlanEstimate, Prepared, estimate, first_of_each, kernel_of, prepare
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.metrics import plan_counters
from sparktrace_tui.emulator.report import emulated_report
from sparktrace_tui.store.families import read_family

STABILITY_DRAWS = 200

_VERDICTS: Mapping[str, str] = {
    "race": "race",
    "warp_race": "race",
    "endless": "hang",
    "barrier_divergence": "hang",
}


class EmulatedBackend:
    """One device profile. What was compiled and counted is kept for as long as the worker lives."""

    def __init__(self, device: str) -> None:
        self.device = profiles.load(device)
        self._sources: dict[tuple[str, str], Prepared] = {}
        self._estimates: dict[tuple[str, str, str, bool, int], PlanEstimate] = {}
        self._drawn: tuple[str, dict[str, AnyArray]] = ("", {})

    def hello(self) -> Hello:
        profile = self.device
        return Hello(
            backend="emulated",
            provenance="emulated",
            device={
                "id": profile.id,
                "name": profile.name,
                "compute_capability": profile.compute_capability,
                "sms": profile.limit("sms"),
                "bandwidth_gb_s": profile["dram.peak"],
                "l2_mb": profile["cache.l2"] / 2**20,
            },
            facts={
                "profile": profile.id,
                "compiler": toolchain.compiler_version(),
                "model": model.VERSION,
            },
        )

    def verify(self, folder: Path, variant: str, options: Options, progress: Progress) -> Verification:
        """Every check under every fault check, blocks in random order; the machine code must agree with the PTX."""
        family = read_family(folder)
        prepared = self._prepared(family.variant(variant))

        def run_plan(launches: tuple[ResolvedLaunch, ...], arrays: dict[str, AnyArray]) -> Ran:
            return run_checked(prepared, launches, arrays, options.seed)

        found = verify_variant(family, folder, variant, options.seed, run_plan, progress)
        if found.verdict == "correct" and prepared.mismatches:
            return Verification(variant, "mismatch", found.checks, prepared.mismatches)
        return found

    def time(self, folder: Path, variants: tuple[str, ...], options: Options, progress: Progress) -> tuple[Timing, ...]:
        """Modelled times, and for the model's stability the times under 200 seeded draws of the constants."""
        family = read_family(folder)
        rng = random.Random(f"stability:{options.seed}")
        draws = [self.device.scaled(rng) for _ in range(STABILITY_DRAWS)]
        timings = []
        for name in variants:
            progress(f"model {name}")
            found = self._estimate(folder, family, name, options)
            bound = found.dominant.time.by
            shares = found.dominant.time.shares
            drawn = tuple(found.ms_on(profile) for profile in draws)
            timings.append(Timing(name, found.ms, bound=bound, shares=shares, draws_ms=drawn))
        return tuple(timings)

    def profile(self, folder: Path, variant: str, options: Options, progress: Progress) -> Profile:
        """Counters over the plan, resources and report of the launch that takes the longest."""
        family = read_family(folder)
        progress(f"count {variant}")
        found = self._estimate(folder, family, variant, options)
        longest = found.dominant
        sampled = [x for x in found.launches if x.counters.sampled_blocks < x.counters.blocks]
        notes = list(self._prepared(family.variant(variant)).mismatches)
        if sampled:
            blocks, total = sampled[0].counters.sampled_blocks, sampled[0].counters.blocks
            notes.append(f"sampled: {blocks} of {total} blocks of {sampled[0].launch.kernel}, in contiguous waves")
        return Profile(
            variant=variant,
            counters=plan_counters(self.device, found),
            resources={
                "registers": longest.resources.registers,
                "shared_bytes": longest.shared_bytes,
                "local_bytes": longest.resources.local_bytes,
                "blocks_per_sm": longest.occupancy.blocks,
                "occupancy": round(longest.occupancy.share, 4),
            },
            report=six_digits(report_to_json(emulated_report(self.device, found, family.variant(variant).source))),
            notes=tuple(notes),
        )

    def banks(self, folder: Path, variant: str, options: Options) -> tuple[SharedAccess, ...]:
        """The shared accesses of the first block of a variant's kernels, at the problem size."""
        family = read_family(folder)
        prepared = self._prepared(family.variant(variant))
        launches = family.launches(variant, family.problem)
        memory = problem_memory(family.arrays, family.problem, launches, prepared, options.seed)
        return shared_accesses(prepared, launches, memory)

    def _prepared(self, variant: Variant) -> Prepared:
        key = (variant.source_name, variant.source)
        if key not in self._sources:
            compiled = toolchain.compile_cuda(variant.source, variant.source_name, self.device.arch)
            self._sources[key] = prepare(compiled, variant.source_name)
        return self._sources[key]

    def _estimate(self, folder: Path, family: Family, variant: str, options: Options) -> PlanEstimate:
        source = family.variant(variant)
        key = (str(folder), variant, source.source, options.sampling, options.seed)
        if key not in self._estimates:
            prepared = self._prepared(source)
            launches = family.launches(variant, family.problem)
            inputs = repr((family.arrays, family.problem, options.seed))
            if self._drawn[0] != inputs:
                self._drawn = (inputs, {})
            memory = problem_memory(
                family.arrays, family.problem, launches, prepared, options.seed, drawn=self._drawn[1]
            )
            self._estimates[key] = estimate(
                prepared, launches, memory, self.device, sampling=options.sampling, seed=options.seed
            )
        return self._estimates[key]


def six_digits(value: Any) -> Any:
    """A JSON value with every float at six significant digits: as much as a model knows, and alike on every machine."""
    match value:
        case float():
            return float(f"{value:.6g}")
        case dict():
            return {key: six_digits(item) for key, item in value.items()}
        case list():
            return [six_digits(item) for item in value]
        case _:
            return value


def problem_memory(
    arrays: Mapping[str, Array],
    size: Size,
    launches: tuple[ResolvedLaunch, ...],
    prepared: Prepared,
    seed: int,
    drawn: dict[str, AnyArray] | None = None,
) -> DeviceMemory:
    """Device memory for counting. Contents are drawn only where an address or a branch depends on them.

    drawn: what was drawn of these arrays before, at this size and seed; it is added to.
    """
    drawn = {} if drawn is None else drawn
    data = any(machine.needs_data(kernel_of(prepared, launch)) for launch in first_of_each(launches))
    contents = {}
    for name, array in arrays.items():
        shape = array.resolve_shape(size)
        if data and name not in drawn:
            drawn[name] = draw(array, shape, array.fill, seed)
        contents[name] = drawn[name] if data else (shape, NUMPY_DTYPES[array.dtype])
    return DeviceMemory(contents, checked=False)


def run_checked(
    prepared: Prepared, launches: tuple[ResolvedLaunch, ...], arrays: dict[str, AnyArray], seed: int
) -> Ran:
    """Run a plan with every check on; the first fault ends it."""
    memory = DeviceMemory(arrays)
    notes: dict[str, None] = {}
    for launch in launches:
        result = machine.run(kernel_of(prepared, launch), launch, memory, mode="verify", seed=seed)
        notes.update(dict.fromkeys(describe(fault, prepared.source_name) for fault in result.benign))
        if result.faults:
            faults = tuple((_VERDICTS.get(f.kind, f.kind), describe(f, prepared.source_name)) for f in result.faults)
            return Ran({name: memory.read(name) for name in arrays}, faults, tuple(notes))
    hits = tuple(f"{hit.array}: a byte {hit.offset} from its start was changed" for hit in memory.guard_hits())
    return Ran({name: memory.read(name) for name in arrays}, (), tuple(notes), hits)


def describe(fault: Fault, source: str) -> str:
    """`original.cu:14: ... (block (0, 0, 0), thread (3, 1, 0))`."""
    place = f"{source}:{fault.line}: " if fault.line is not None else f"{source}: "
    return f"{place}{fault.message} (block {fault.block}, thread {fault.thread})"
