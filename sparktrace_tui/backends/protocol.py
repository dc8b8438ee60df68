"""What a backend does: verify a variant, time a family, profile a variant. Values that travel as JSON."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Hello:
    """What a backend is: its provenance word, the device, and the tools it uses with their versions."""

    backend: str
    provenance: str
    device: Mapping[str, Any]
    facts: Mapping[str, str]


@dataclass(frozen=True)
class CheckResult:
    """One verification at one size: a verdict (`correct`, `wrong`, `race`, ...) and, where not correct, why."""

    size: Mapping[str, float]
    verdict: str
    message: str = ""


@dataclass(frozen=True)
class Verification:
    """All checks of one variant; `verdict` is the first that is not correct. `notes` are benign findings."""

    variant: str
    verdict: str
    checks: tuple[CheckResult, ...]
    notes: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        return next((check.message for check in self.checks if check.verdict != "correct"), "")


@dataclass(frozen=True)
class Timing:
    """The time of one variant's plan. Modelled ones carry the bound and the model-stability draws (ms).

    `wrong` says what was wrong with the result at the problem size, looked at after timing ("" where nothing was).
    `raw` is what a measurement kept (see backends/timing.py).
    """

    variant: str
    median_ms: float
    blocks_ms: tuple[float, ...] = ()
    bound: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)
    draws_ms: tuple[float, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)
    wrong: str = ""


@dataclass(frozen=True)
class Profile:
    """A variant's counters (Nsight metric names, summed over the plan), resources, and its report as JSON.

    `notes` says how it was taken (sampling, mismatches with the machine code).
    """

    variant: str
    counters: Mapping[str, float]
    resources: Mapping[str, float | int | None]
    report: Mapping[str, Any] | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """How to work: the seed of inputs and orders, whether grids may be sampled, and the checks' strictness.

    report: whether a real GPU's profile runs Nsight Compute, or gives resources alone. keep_reports: the folder that
    its .ncu-rep files go to ("" for the cache). ncu_limit_s: how long one run of Nsight Compute may take.
    """

    seed: int = 0
    sampling: bool = True
    sanitizer: bool = False
    report: bool = True
    keep_reports: str = ""
    ncu_limit_s: float = 300.0


class Backend(Protocol):
    """One device, emulated or real."""

    def hello(self) -> Hello:
        """What this backend is."""
        ...

    def verify(self, folder: Path, variant: str, options: Options, progress: Progress) -> Verification:
        """Run a variant on every check size and compare it with the reference."""
        ...

    def time(self, folder: Path, variants: tuple[str, ...], options: Options, progress: Progress) -> tuple[Timing, ...]:
        """Time the plans of variants against each other at the problem size."""
        ...

    def profile(self, folder: Path, variant: str, options: Options, progress: Progress) -> Profile:
        """Counters and report of a variant at the problem size."""
        ...


def to_json(value: Any) -> Any:
    """A dataclass of this module as a JSON value."""
    return asdict(value)


def verification_from_json(value: Mapping[str, Any]) -> Verification:
    checks = tuple(CheckResult(**check) for check in value["checks"])
    return Verification(value["variant"], value["verdict"], checks, tuple(value["notes"]))


def timing_from_json(value: Mapping[str, Any]) -> Timing:
    return Timing(**{**value, "blocks_ms": tuple(value["blocks_ms"]), "draws_ms": tuple(value["draws_ms"])})


def profile_from_json(value: Mapping[str, Any]) -> Profile:
    return Profile(**{**value, "notes": tuple(value["notes"])})
