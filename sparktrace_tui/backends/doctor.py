"""What works here of all that SparkTrace can use, and the fix for what does not; no key is shown."""

import importlib.util
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from sparktrace_tui.backends.gpu_compile import find_nvcc, nvcc_version
from sparktrace_tui.backends.gpu_facts import driver_version
from sparktrace_tui.backends.gpu_memory import available_in, show_bytes
from sparktrace_tui.backends.ncu import PERMISSION_HINT, find_ncu, ncu_version
from sparktrace_tui.backends.processes import python_path, run_limited
from sparktrace_tui.backends.sanitizer import find_sanitizer
from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.emulator import toolchain

State = Literal["ok", "warning", "missing", "not checked"]
PROBE_LIMIT_S = 45.0
STUCK_LOW = 0.5  # of the highest clock, while the device is busy
OLDEST = (7, 5)  # the oldest compute capability that the CUDA 13 compilers have a target for
_ADMIN, _PERFMON = 1 << 21, 1 << 38  # CAP_SYS_ADMIN, CAP_PERFMON
_PROFILER = "Install Nsight Compute (it comes with the CUDA toolkit), and put ncu on the PATH."


@dataclass(frozen=True)
class Finding:
    """One check: its name, how it stands, what was found, and what to do ("" where nothing is to be done)."""

    name: str
    state: State
    found: str
    fix: str = ""


@dataclass(frozen=True)
class Places:
    """Where the system tells of itself."""

    proc: Path = Path("/proc")

    @property
    def driver(self) -> Path:
        return self.proc / "driver" / "nvidia"


def examine(keys: Mapping[str, Sequence[str]], places: Places | None = None) -> tuple[Finding, ...]:
    """Every check in order; nothing is changed. `keys` holds each provider's environment variables: whether one is set
    is told, and no more.
    """
    places = places or Places()
    probe = _probe()
    return (
        _driver(places, probe),
        _device(probe),
        _pycuda(probe),
        _nvcc(probe),
        _nvrtc(),
        _ncu(),
        _permission(places),
        _reader(),
        _sanitizer(),
        _memory(places, probe),
        _clocks(probe),
        *(_key(provider, names) for provider, names in keys.items()),
    )


def _probe() -> dict[str, Any]:
    """What the probe saw; {"error": ...} where there is no driver, or where the probe died or hung."""
    environment = {**os.environ, "PYTHONPATH": python_path()}
    try:
        done = run_limited([sys.executable, "-m", "sparktrace_tui.backends.gpu_probe"], PROBE_LIMIT_S, environment)
    except OSError as error:
        return {"error": str(error)}
    if done.timed_out:
        return {"error": f"the driver gave no answer within {PROBE_LIMIT_S:g} s"}
    try:
        found: dict[str, Any] = json.loads(done.output.strip().splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        return {"error": f"looking at the devices failed (exit {done.status})"}
    return found


def _driver(places: Places, probe: Mapping[str, Any]) -> Finding:
    version = driver_version(places.driver / "version")
    error = str(probe.get("error") or "")
    if version is None and "does not load" in error:
        return Finding(
            "driver", "missing", "no NVIDIA driver", "Install the NVIDIA driver, or use the emulator, which needs none."
        )
    if "does not load" in error:
        return Finding("driver", "warning", f"{version}, but {error}", "Install the driver's user-space libraries.")
    cuda = f", CUDA up to {probe['cuda']}" if probe.get("cuda") else ""
    return Finding("driver", "ok", f"{version or 'version n/a'}{cuda}")


def _device(probe: Mapping[str, Any]) -> Finding:
    devices = probe.get("devices") or []
    if not devices:
        error = str(probe.get("error") or "the driver lists none")
        if "does not load" in error:
            return Finding("device", "missing", "no CUDA device", "A driver comes first (see above).")
        return Finding(
            "device", "missing", f"no CUDA device: {error}", "See what nvidia-smi says; check the container's --gpus."
        )
    shown = ", ".join(f"{d['name']} ({d['compute_capability']})" for d in devices)
    old = [d["name"] for d in devices if tuple(map(int, d["compute_capability"].split("."))) < OLDEST]
    if old:
        fix = "Use a CUDA 12 toolkit's nvcc for it: CUDA 13 compiles for 7.5 and later."
        return Finding("device", "warning", f"{shown}: {old[0]} is too old for CUDA 13", fix)
    return Finding("device", "ok", shown)


def _pycuda(probe: Mapping[str, Any]) -> Finding:
    fix = "Install it with: pip install 'sparktrace-tui[gpu]' (it is built from source, with nvcc on the PATH)."
    if importlib.util.find_spec("pycuda") is None:
        return Finding("PyCUDA", "missing", "not installed", fix)
    version = _version("pycuda")
    state = probe.get("pycuda")
    if not state:
        return Finding("PyCUDA", "not checked", f"{version}; it cannot be loaded without a driver")
    if state.get("error"):
        again = "Build it again on this machine: pip install --force-reinstall --no-cache-dir pycuda"
        return Finding("PyCUDA", "warning", f"{version} does not work: {state['error']}", again)
    built, cuda = state.get("built_for"), probe.get("cuda")
    if built and cuda and _numbers(built)[0] > _numbers(cuda)[0]:
        fix = f"Update the driver, or build PyCUDA with a CUDA {_numbers(cuda)[0]} toolkit."
        return Finding("PyCUDA", "warning", f"{version} was built for CUDA {built}; the driver has {cuda}", fix)
    return Finding("PyCUDA", "ok", f"{version}, built for CUDA {built}")


def _nvcc(probe: Mapping[str, Any]) -> Finding:
    nvcc = find_nvcc()
    version = nvcc_version(nvcc) if nvcc else None
    if nvcc is None:
        return Finding("nvcc", "missing", "not found", "Install the CUDA toolkit; without it NVRTC compiles.")
    if version is None:
        return Finding("nvcc", "warning", f"{nvcc} does not run", "Install the CUDA toolkit again.")
    cuda = probe.get("cuda")
    if cuda and _numbers(version)[0] > _numbers(cuda)[0]:
        fix = (
            f"Update the driver, or use a CUDA {_numbers(cuda)[0]} toolkit: its code does not load on an older driver."
        )
        return Finding("nvcc", "warning", f"{version} is newer than the driver's CUDA {cuda}", fix)
    return Finding("nvcc", "ok", version)


def _nvrtc() -> Finding:
    try:
        made = toolchain.compile_cuda('extern "C" __global__ void k(float *a) { a[0] = 1.0f; }\n', "doctor.cu")
    except SparkTraceError as error:
        return Finding("NVRTC", "missing", error.message, error.hint or "pip install 'sparktrace-tui[compile]'")
    return Finding("NVRTC", "ok", made.compiler)


def _ncu() -> Finding:
    ncu = find_ncu()
    if ncu is None:
        return Finding("ncu", "missing", "not found", _PROFILER)
    version = ncu_version(ncu)
    if version is None:
        return Finding("ncu", "warning", f"{ncu} does not run", _PROFILER)
    return Finding("ncu", "ok", version)


def _permission(places: Places) -> Finding:
    """Whether this user may read the GPU's counters: root, a capability, or a driver that lets everybody."""
    name = "profiling permission"
    try:
        parameters = (places.driver / "params").read_text(errors="replace")
    except OSError:
        return Finding(name, "not checked", "no driver here says who may profile")
    found = re.search(r"^RmProfilingAdminOnly:\s*(\d+)", parameters, flags=re.MULTILINE)
    if found is None:
        return Finding(name, "not checked", "the driver does not say who may profile")
    if found[1] == "0":
        return Finding(name, "ok", "every user may profile")
    if _capabilities(places) & (_ADMIN | _PERFMON):
        return Finding(name, "ok", "only administrators may profile, and this process is one")
    return Finding(name, "warning", "only administrators may profile (RmProfilingAdminOnly: 1)", PERMISSION_HINT)


def _capabilities(places: Places) -> int:
    try:
        status = (places.proc / "self" / "status").read_text()
    except OSError:
        return 0
    found = re.search(r"^CapEff:\s*([0-9a-f]+)", status, flags=re.MULTILINE)
    return int(found[1], 16) if found else 0


def _reader() -> Finding:
    if importlib.util.find_spec("ncu_report") is None:
        fix = "pip install 'sparktrace-tui[nsight]'; without it an installed ncu does the reading."
        return Finding("report reader", "missing", "ncu-report is not installed", fix)
    return Finding("report reader", "ok", f"ncu-report {_version('ncu-report')}")


def _sanitizer() -> Finding:
    if find_sanitizer() is None:
        return Finding(
            "compute-sanitizer", "missing", "not found", "It comes with the CUDA toolkit; only --sanitizer uses it."
        )
    return Finding("compute-sanitizer", "ok", "found")


def _memory(places: Places, probe: Mapping[str, Any]) -> Finding:
    devices = probe.get("devices") or []
    if not devices:
        return Finding("unified memory", "not checked", "no device")
    if not any(d["integrated"] for d in devices):
        return Finding("unified memory", "ok", "the GPU has memory of its own")
    free = available_in(places.proc / "meminfo")
    shown = "n/a" if free is None else show_bytes(free)
    if free is not None and free < 4 * 2**30:
        fix = "Close what uses memory: a plan takes up to about 1 GiB, and a full system hangs rather than fails."
        return Finding("unified memory", "warning", f"shared with the system, which has {shown} left", fix)
    return Finding("unified memory", "ok", f"shared with the system, which has {shown} left")


def _clocks(probe: Mapping[str, Any]) -> Finding:
    clock = probe.get("clock")
    if not clock:
        return Finding("clocks", "not checked", "no clock could be read")
    most, held = clock.get("max_mhz"), clock.get("held_back") or ()
    shown = f"{clock['mhz']:.0f} MHz while busy" + (f", at most {most:.0f}" if most else "")
    if held:
        return Finding(
            "clocks", "warning", f"{shown}; held back by {', '.join(held)}", "See to cooling and power supply."
        )
    if most and clock["mhz"] < STUCK_LOW * most:
        fix = "Unplug the machine's power for a minute: some units stay at a low clock until then."
        return Finding("clocks", "warning", f"{shown}: stuck low", fix)
    return Finding("clocks", "ok", shown)


def _key(provider: str, names: Sequence[str]) -> Finding:
    present = [name for name in names if os.environ.get(name)]
    if present:
        return Finding(f"{provider} key", "ok", f"{present[0]} is set")
    return Finding(f"{provider} key", "missing", "not set", f"Set {' or '.join(names)} to play {provider} models.")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "version n/a"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
