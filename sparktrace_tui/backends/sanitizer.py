"""compute-sanitizer over a variant's checks: memory errors and races that a right result can hide."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from sparktrace_tui.backends.ncu import environment, once_command
from sparktrace_tui.backends.processes import run_limited
from sparktrace_tui.backends.protocol import CheckResult

LIMIT_S = 120.0
_FOUND = 86  # the exit status asked for where something was found
TOOLS = {"memcheck": "out_of_bounds", "racecheck": "race"}


def find_sanitizer() -> str | None:
    """compute-sanitizer on the PATH, or in the toolkit."""
    found = shutil.which("compute-sanitizer")
    place = "/usr/local/cuda/bin/compute-sanitizer"
    return found or (place if os.access(place, os.X_OK) else None)


def sanitize(
    folder: Path, variant: str, device: str, seed: int, checks: Sequence[CheckResult]
) -> tuple[str, tuple[str, ...]]:
    """(verdict, notes): `correct` where neither tool found anything or none is here, with a note that says so."""
    tool = find_sanitizer()
    if tool is None:
        return "correct", ("compute-sanitizer is not installed here: memory and races were not checked by it",)
    notes = []
    for check, verdict in TOOLS.items():
        command = [tool, "--tool", check, "--error-exitcode", str(_FOUND), *once_command(folder, variant, device, seed)]
        try:
            done = run_limited([*command, "--checks"], LIMIT_S, environment())
        except OSError as error:
            return "correct", (f"compute-sanitizer cannot run: {error.strerror or error}",)
        if done.timed_out:
            notes.append(f"{check} ran past {LIMIT_S:g} s and was stopped")
        elif done.status == _FOUND:
            return verdict, (f"{check}: {first_finding(done.output)}",)
        elif done.status != 0:
            notes.append(f"{check} could not be done: {first_finding(done.output)}")
        else:
            notes.append(f"{check} found nothing in {len(checks)} checks")
    return "correct", tuple(notes)


def first_finding(output: str) -> str:
    """The first line that compute-sanitizer marks and that says something of the program."""
    lines = [line.strip() for line in re.findall(r"^=+ (?!COMPUTE-SANITIZER)(.*)$", output, flags=re.MULTILINE)]
    told = next((line for line in lines if line), None)
    return told or next((line for line in output.splitlines() if line.strip()), "it printed nothing")
