"""A real GPU behind the backend protocol: compiles, verifies, times and profiles with PyCUDA and Nsight Compute."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from sparktrace_tui.backends import ncu
from sparktrace_tui.backends.cache import CompileCache
from sparktrace_tui.backends.gpu_compile import Compiler, compile_source, find_compiler
from sparktrace_tui.backends.gpu_facts import ClockReader, bandwidth_gb_s, driver_version, host_architecture
from sparktrace_tui.backends.gpu_memory import Arena, free_bytes, require_room
from sparktrace_tui.backends.gpu_plan import Gpu, LoadedPlan
from sparktrace_tui.backends.gpu_report import read_counters
from sparktrace_tui.backends.gpu_stopwatch import GpuStopwatch
from sparktrace_tui.backends.inputs import AnyArray, draw_arrays
from sparktrace_tui.backends.protocol import Hello, Options, Profile, Progress, Timing, Verification
from sparktrace_tui.backends.sanitizer import sanitize
from sparktrace_tui.backends.timing import time_plans
from sparktrace_tui.backends.verification import (
    FATAL_VERDICTS,
    Ran,
    array_bytes,
    device_arrays,
    expected_outputs,
    judge,
    verify_variant,
)
from sparktrace_tui.domain.errors import BadInput, SparkTraceError, UsageError
from sparktrace_tui.domain.kernel.family import ORIGINAL, Family
from sparktrace_tui.domain.kernel.plan import ResolvedLaunch
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import user_cache_dir

FLUSH_OF_L2 = 2  # the flush buffer over the L2, at least
LEAST_FLUSH = 8 * 2**20


class PyCudaBackend:
    """One GPU by number. Owns its context, so it lives in a worker process; after a fault `lost` is true.

    A lost context takes no further call: the worker ends itself, and the client starts another.
    """

    def __init__(self, device: str) -> None:
        if not device.isdecimal():
            raise UsageError(f"a GPU is chosen by its number, not {device!r}", hint="Use --device 0 (or leave it out).")
        self.number = int(device)
        self.lost = False
        self.gpu = Gpu(self.number)
        self.compiler: Compiler = find_compiler()
        self.cache = CompileCache(user_cache_dir() / "kernels")
        self.clocks = ClockReader(self.gpu.device.pci_bus_id())
        self._set_mhz: list[float] = []
        self._plans: dict[tuple[str, str], LoadedPlan] = {}

    def close(self) -> None:
        """Leave the context; what a lost one held is gone with it."""
        self._plans.clear()
        if not self.lost:
            self.gpu.close()

    def hello(self) -> Hello:
        gpu = self.gpu
        found = ncu.find_ncu()
        cuda = gpu.driver.get_driver_version()
        facts = {
            "gpu": gpu.name,
            "sms": str(gpu.limits.limit("sms")),
            "driver": driver_version() or "n/a",
            "cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
            "compiler": self.compiler.version,
            "ncu": (ncu.ncu_version(found) if found else None) or "n/a",
            "pycuda": metadata.version("pycuda"),
            "host": host_architecture(),
            "clocks": self.clocks.source,
            "date": date.today().isoformat(),
        }
        return Hello(
            backend="pycuda",
            provenance="measured",
            device={
                "id": gpu.limits.id,
                "name": gpu.name,
                "compute_capability": gpu.limits.compute_capability,
                "sms": gpu.limits.limit("sms"),
                "bandwidth_gb_s": bandwidth_gb_s(gpu.attribute),
                "l2_mb": round(gpu.l2_bytes / 2**20, 1),
            },
            facts=facts,
        )

    def verify(self, folder: Path, variant: str, options: Options, progress: Progress) -> Verification:
        """Every check of the family on the device; compute-sanitizer after that where it is asked for."""
        family = read_family(folder)
        progress("compile")
        plan = self._plan(family, variant)

        def run_plan(launches: tuple[ResolvedLaunch, ...], arrays: dict[str, AnyArray]) -> Ran:
            return self._run(plan, launches, arrays)

        found = verify_variant(family, folder, variant, options.seed, run_plan, progress)
        if options.sanitizer and found.verdict == "correct":
            progress("compute-sanitizer")
            verdict, notes = sanitize(folder, variant, str(self.number), options.seed, found.checks)
            return replace(found, verdict=verdict, notes=(*found.notes, *notes))
        return found

    def time(self, folder: Path, variants: tuple[str, ...], options: Options, progress: Progress) -> tuple[Timing, ...]:
        """Times at the problem size by the method of docs/timing.md; each result is checked again afterwards."""
        family = read_family(folder)
        plans = {name: self._plan(family, name) for name in variants}
        restored = [name for name, array in family.arrays.items() if array.role == "inout"]
        flush = max(LEAST_FLUSH, FLUSH_OF_L2 * self.gpu.l2_bytes)
        sizes = array_bytes(family, family.problem)
        driver = self.gpu.driver
        require_room(sum(sizes.values()) + sum(sizes[n] for n in restored) + flush, self._free())
        arrays = draw_arrays(family, family.problem, {}, options.seed)
        with self._arena(arrays) as arena, self._arena({n: arrays[n] for n in restored}) as pristine:

            def restore(stream: Any) -> None:
                for name in restored:
                    driver.memcpy_dtod_async(arena.address(name), pristine.address(name), sizes[name], stream)

            calls = {
                name: [call for _, call in plan.calls(family.launches(name, family.problem), arena)]
                for name, plan in plans.items()
            }

            def enqueue(name: str) -> Any:
                mine = calls[name]

                def run(stream: Any) -> None:
                    for call in mine:
                        call(stream)

                return run

            try:
                watch = GpuStopwatch(driver, {name: enqueue(name) for name in variants}, restore, flush, self.clocks)
                timings = time_plans(
                    watch, variants, options.seed, label=family.id, set_mhz=self._set_mhz, progress=progress
                )
                watch.free()
            except driver.Error as error:
                self.lost = True
                raise SparkTraceError(f"{family.id}: the GPU failed while timing: {error}") from error
        clock = timings[0].raw["session"]["clock_mhz"] if timings else None
        if isinstance(clock, float):
            self._set_mhz.append(clock)
        progress("check the results again")
        wrong = self._check_again(family, folder, plans, arrays)
        return tuple(replace(t, wrong=wrong.get(t.variant, "")) for t in timings)

    def profile(self, folder: Path, variant: str, options: Options, progress: Progress) -> Profile:
        """Resources from the driver; counters and report from Nsight Compute, unless `options.report` is off."""
        family = read_family(folder)
        plan = self._plan(family, variant)
        launches = family.launches(variant, family.problem)
        resources = plan.resources(launches)
        if not options.report:
            return Profile(variant, {}, resources, None)
        found = ncu.find_ncu()
        if found is None:
            return Profile(variant, {}, resources, None, ("no report: ncu is not installed here",))
        name = family.id if variant == ORIGINAL else f"{family.id}.{variant}"
        keep = Path(options.keep_reports) if options.keep_reports else user_cache_dir() / "reports"
        output = keep / f"{name}.ncu-rep"
        progress("ncu")
        profiled = ncu.Profiled(
            ncu.once_command(folder, variant, str(self.number), options.seed),
            [launch.kernel for launch in launches],
            len(launches),
            folder,
        )
        notes = ncu.profile(found, profiled, output, options.ncu_limit_s)
        progress("read the report")
        read = read_counters(output, len(launches))
        return Profile(variant, read.counters, resources, read.report, (*notes, *read.notes))

    def _plan(self, family: Family, variant: str) -> LoadedPlan:
        chosen = family.variant(variant)
        key = (chosen.source_name, chosen.source)
        if key not in self._plans:
            binary = compile_source(self.compiler, chosen.source, chosen.source_name, self.gpu.arch, self.cache)
            try:
                self._plans[key] = LoadedPlan(self.gpu, binary.cubin, chosen.source_name)
            except self.gpu.driver.Error as error:
                raise BadInput(f"{chosen.source_name} does not load on {self.gpu.name}: {error}") from error
        return self._plans[key]

    def _free(self) -> int:
        return free_bytes(self.gpu.driver, self.gpu.integrated)

    def _arena(self, arrays: Mapping[str, AnyArray]) -> Arena:
        return Arena(self.gpu.driver, arrays, self._free())

    def _run(self, plan: LoadedPlan, launches: tuple[ResolvedLaunch, ...], arrays: dict[str, AnyArray]) -> Ran:
        with self._arena(arrays) as arena:
            fault = plan.run(launches, arena)
            if fault is not None:
                self.lost = self.lost or fault[0] in FATAL_VERDICTS
                return Ran(arrays, (fault,))
            after, hits = arena.download()
        return Ran(after, (), (), hits)

    def _check_again(
        self, family: Family, folder: Path, plans: Mapping[str, LoadedPlan], arrays: dict[str, AnyArray]
    ) -> dict[str, str]:
        """What is wrong, by variant, with the results at the problem size."""
        expected = expected_outputs(family, folder, family.problem, arrays)
        wrong = {}
        for name, plan in plans.items():
            ran = self._run(plan, family.launches(name, family.problem), device_arrays(family, arrays))
            verdict, message = judge(family, family.problem, arrays, expected, ran)
            if verdict != "correct":
                wrong[name] = f"{verdict} at the problem size: {message}"
            if self.lost:
                break
        return wrong
