"""Emulates a kernel of the user's own: checked at its plan's size where that is small, counted, timed by the model."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sparktrace_tui.backends.emulated import describe, problem_memory
from sparktrace_tui.backends.inputs import draw
from sparktrace_tui.domain.kernel.plan import Array, ResolvedLaunch, Size
from sparktrace_tui.domain.report.serial import report_to_json
from sparktrace_tui.emulator import machine, toolchain
from sparktrace_tui.emulator.counters import Fault
from sparktrace_tui.emulator.estimate import Prepared, estimate, kernel_of, prepare
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.metrics import plan_counters
from sparktrace_tui.emulator.profile import DeviceProfile
from sparktrace_tui.emulator.report import emulated_report

# Fault checks work out every value; above so many threads in the plan they would keep a person waiting.
CHECKED_THREADS = 1 << 18


def emulate_source(
    device: DeviceProfile,
    source: str,
    name: str,
    arrays: Mapping[str, Array],
    size: Size,
    launches: tuple[ResolvedLaunch, ...],
    *,
    sampling: bool = True,
    seed: int = 0,
) -> dict[str, Any]:
    """All that the emulator knows of a source under a plan, as a JSON value. Times in ms, modelled.

    Raises BadInput where the source does not compile, or the plan does not fit the kernels it names.
    """
    compiled = toolchain.compile_cuda(source, name, device.arch)
    prepared = prepare(compiled, name)
    notes = [*compiled.warnings, *prepared.mismatches]
    threads = sum(launch.blocks * launch.threads_per_block for launch in launches)
    faults: tuple[Fault, ...] = ()
    if threads <= CHECKED_THREADS:
        faults, benign = _faults(prepared, launches, arrays, size, seed)
        notes += [describe(fault, name) for fault in benign]
    else:
        notes.append(f"not checked for faults: {threads} threads, over {CHECKED_THREADS}; a smaller size is")
    if faults:
        return {
            "source": name,
            "device": device.id,
            "provenance": "emulated",
            "faults": [{**asdict(fault), "text": describe(fault, name)} for fault in faults],
            "notes": notes,
        }
    memory = problem_memory(arrays, size, launches, prepared, seed)
    found = estimate(prepared, launches, memory, device, sampling=sampling, seed=seed)
    report = emulated_report(device, found, source)
    longest = found.dominant
    return {
        "source": name,
        "device": device.id,
        "provenance": "emulated",
        "compiler": compiled.compiler,
        "time_ms": float(f"{found.ms:.6g}"),
        "bound": longest.time.by,
        "shares": {k: round(v, 4) for k, v in longest.time.shares.items()},
        "resources": {
            "registers": longest.resources.registers,
            "shared_bytes": longest.shared_bytes,
            "local_bytes": longest.resources.local_bytes,
            "blocks_per_sm": longest.occupancy.blocks,
            "occupancy": round(longest.occupancy.share, 4),
        },
        "counters": plan_counters(device, found),
        "report": report_to_json(report),
        "faults": [],
        "notes": notes,
    }


def _faults(
    prepared: Prepared,
    launches: tuple[ResolvedLaunch, ...],
    arrays: Mapping[str, Array],
    size: Size,
    seed: int,
) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    contents = {name: draw(array, array.resolve_shape(size), array.fill, seed) for name, array in arrays.items()}
    memory = DeviceMemory(contents)
    benign: list[Fault] = []
    for launch in launches:
        result = machine.run(kernel_of(prepared, launch), launch, memory, mode="verify", seed=seed)
        benign += result.benign
        if result.faults:
            return result.faults, tuple(benign)
    return (), tuple(benign)
