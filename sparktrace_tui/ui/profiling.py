"""Profiling from the explorer: which set of the user's it goes into, its steps in words, and the work itself.

Everything here but `Phases` may take minutes: call it off the UI thread.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sparktrace_tui.domain.kernel.family import ORIGINAL, Family
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.domain.report.serial import report_from_json
from sparktrace_tui.store.paths import user_data_dir

if TYPE_CHECKING:
    from sparktrace_tui.backends.client import Client
    from sparktrace_tui.backends.protocol import Profile

Phase = Literal["compile", "verify", "time", "profile"]
PHASES: tuple[Phase, ...] = ("compile", "verify", "time", "profile")
_BEGINS: dict[str, Phase] = {
    "compile": "compile",
    "verify": "verify",
    "warm-up": "time",
    "block": "time",
    "model": "time",
    "check": "time",
    "count": "profile",
    "ncu": "profile",
    "read": "profile",
}


@dataclass(frozen=True)
class Job:
    """What to profile: a family, and one variant of it or (None) the family alone. `here` is the user's data folder."""

    family: Family
    folder: Path
    variant: str | None
    backend: str
    device: str
    here: Path

    @property
    def captures(self) -> Path:
        return self.here / "captures"


@dataclass(frozen=True)
class Profiled:
    """What came of it: the folder of the set, the report of the profiled variant (None without ncu), and remarks."""

    into: Path
    report: Report | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Phases:
    """How far the work is: the phases that were entered, and what is done now."""

    entered: tuple[Phase, ...] = ()
    now: str = ""

    def after(self, what: str, text: str) -> "Phases":
        """The state after a step: `what` it is about, such as `clamp_smem/padded`, and what is done with it."""
        phase = _BEGINS.get(text.split(" ")[0])
        entered = self.entered if phase is None or phase in self.entered else (*self.entered, phase)
        return Phases(entered, f"{what.rpartition('/')[2]}: {text}")

    def sign(self, phase: Phase, over: bool) -> str:
        """`✓` done, `▸` now, `·` to come or left out."""
        if phase not in self.entered:
            return "·"
        return "✓" if over or phase != self.entered[-1] else "▸"


def set_name(backend: str, device: str) -> str:
    """The user's own set of that device. An emulated one is never named like a bundled one, which it would hide."""
    from sparktrace_tui.backends.select import default_set_name

    return default_set_name(backend, device) + ("-here" if backend == "emulated" else "")


def is_own(path: Path, data_dir: Path | None) -> bool:
    """Whether a set's folder is one of the user's: what is in it was made here."""
    return ((data_dir or user_data_dir()) / "captures").resolve() in path.resolve().parents


def run_job(job: Job, client: "Client", step: Callable[[str, str], None]) -> Profiled:
    """Capture the family into the user's set, and then profile the variant asked for, which changes no time.

    A family that is there already is captured anew only where it was asked for and can differ: on a GPU. Raises what
    the worker raises; every finished step is kept, and the next try goes on after it.
    """
    from sparktrace_tui.backends.capture import Plan, add_profile, capture_set
    from sparktrace_tui.backends.protocol import Options

    device = job.device if job.backend == "emulated" else str(client.hello().device["id"])
    into = job.captures / set_name(job.backend, device)
    options = Options()
    again = job.variant is None and job.backend != "emulated"
    made = capture_set(client, Plan([job.folder], [job.family], into, options, again=again), step)
    capture = made.captures[job.family.id]
    notes = tuple(text for key in ("problems", "notes") if (text := capture.made.get(key)))
    if job.variant is None or job.variant == ORIGINAL:
        return Profiled(into, capture.report, notes)
    found: list[Profile] = []
    add_profile(client, job.folder, job.family, job.variant, into, options, step, found.append)
    report = report_from_json(found[0].report) if found[0].report is not None else None
    return Profiled(into, report, found[0].notes)
