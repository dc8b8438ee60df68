"""Nsight Compute as a child process: the command line, its limits, and what its complaints mean."""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sparktrace_tui.backends.processes import Done, python_path, run_limited
from sparktrace_tui.domain.errors import BadInput, MissingTool, SparkTraceError
from sparktrace_tui.nsight.command import ncu_command

VERSION_LIMIT_S = 30.0
PERMISSION_HINT = (
    "Run as root, or let users profile: put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
    "/etc/modprobe.d/ and reboot (docs: ERR_NVGPUCTRPERM)."
)


@dataclass(frozen=True)
class Profiled:
    """What a program is profiled as: the kernels by name, how many launches, and where their sources are."""

    program: Sequence[str]
    kernels: Sequence[str]
    launches: int
    sources: Path


def find_ncu() -> str | None:
    """ncu on the PATH, or where NVIDIA's installers put it (the newest)."""
    found = shutil.which("ncu")
    if found:
        return found
    places = [Path("/usr/local/cuda/bin/ncu"), *sorted(Path("/opt/nvidia/nsight-compute").glob("*/ncu"), reverse=True)]
    return next((str(p) for p in places if os.access(p, os.X_OK)), None)


def ncu_version(ncu: str) -> str | None:
    """Such as `2025.3.1`; None where it does not run or does not say."""
    try:
        done = run_limited([ncu, "--version"], VERSION_LIMIT_S, environment())
    except OSError:
        return None
    found = re.search(r"Version (\d+\.\d+\.\d+)", done.output)
    return found[1] if found else None


def command(ncu: str, profiled: Profiled, output: Path, clock_control: str = "none") -> list[str]:
    """The command that profiles the launches of one plan, with all sections and the source, into `output`."""
    options = ["--source-folders", str(profiled.sources), "--clock-control", clock_control]
    return ncu_command(
        profiled.program,
        kernel=profiled.kernels,
        count=profiled.launches,
        output=str(output),
        ncu=ncu,
        options=[*options, "--kernel-name-base", "function"],
    )


# The first argument is where our packages are: a profiler holds a Python of its own, which a PYTHONPATH would break.
_RUN_ONCE = (
    "import os, runpy, sys; sys.path[:0] = sys.argv.pop(1).split(os.pathsep); "
    "runpy.run_module('sparktrace_tui.backends.profile_once', run_name='__main__')"
)


def once_command(folder: Path, variant: str, device: str, seed: int) -> list[str]:
    """The program that runs one variant's plan once at the problem size, and launches nothing else."""
    return [
        sys.executable,
        "-c",
        _RUN_ONCE,
        python_path(),
        str(folder),
        variant,
        "--device",
        device,
        "--seed",
        str(seed),
    ]


def environment() -> dict[str, str]:
    """Ours in the C locale (ncu writes numbers in the user's), without the PYTHONPATH of this process."""
    return {**{name: value for name, value in os.environ.items() if name != "PYTHONPATH"}, "LC_ALL": "C"}


def profile(ncu: str, profiled: Profiled, output: Path, limit_s: float) -> tuple[str, ...]:
    """Profile into `output` (an .ncu-rep); returns what ncu warned of.

    MissingTool where counters may not be read, BadInput where no kernel was profiled, SparkTraceError for the rest.
    A report that was cut off is kept where ncu wrote one, and said so in the warnings.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    output.unlink(missing_ok=True)
    try:
        done = run_limited(command(ncu, profiled, output), limit_s, environment())
    except OSError as error:
        raise MissingTool(f"cannot run {ncu}: {error.strerror or error}", hint="Install Nsight Compute.") from error
    return _judge(done, output, limit_s)


def _judge(done: Done, output: Path, limit_s: float) -> tuple[str, ...]:
    warnings = tuple(line.strip() for line in re.findall(r"==WARNING==([^\n]*)", done.output))
    errors = [line.strip() for line in re.findall(r"==ERROR==([^\n]*)", done.output)]
    if "ERR_NVGPUCTRPERM" in done.output:
        raise MissingTool("this user may not read the GPU's counters (ERR_NVGPUCTRPERM)", hint=PERMISSION_HINT)
    if done.timed_out and not output.is_file():
        raise SparkTraceError(f"ncu ran past its limit of {limit_s:g} s and was stopped; it left no report")
    if done.timed_out:
        return (*warnings, f"ncu was stopped after {limit_s:g} s: the report is partial")
    if "No kernels were profiled" in done.output:
        raise BadInput("ncu profiled no kernel", hint=_last_line(done.output))
    if not output.is_file():
        reason = errors[0] if errors else _last_line(done.output)
        raise SparkTraceError(f"ncu left no report (exit {done.status}): {reason}")
    if done.status != 0 or errors:
        return (*warnings, f"ncu ended with status {done.status}: {errors[0] if errors else _last_line(done.output)}")
    return warnings


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"
