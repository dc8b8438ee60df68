"""A capture: all that is known of one family on one device, every figure under one provenance."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sparktrace_tui.domain.report.report import Report

Provenance = Literal["measured", "published", "emulated"]
PROVENANCES: tuple[Provenance, ...] = ("measured", "published", "emulated")

# What a time and a winner are called, by provenance: a modelled time is never shown as a measured one.
TIME_WORD: Mapping[Provenance, str] = {
    "measured": "measured",
    "published": "published",
    "emulated": "modelled",
}


@dataclass(frozen=True)
class Time:
    """Milliseconds for the whole plan: the median of the block medians, or a published or modelled figure.

    `blocks_ms` holds the five block medians of a measured time; other provenances have none, and none are made up.
    """

    median_ms: float
    approximate: bool = False
    blocks_ms: tuple[float, ...] = ()


@dataclass(frozen=True)
class Resources:
    """Per-thread registers, per-block bytes, and the occupancy they allow; None is not known."""

    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    blocks_per_sm: int | None = None
    occupancy: float | None = None


@dataclass(frozen=True)
class Bound:
    """What limits a modelled time: the leading limit and each limit's share of the time (0 to 1)."""

    by: str
    shares: Mapping[str, float]


@dataclass(frozen=True)
class VariantRecord:
    """One variant on one device. `counters` are keyed by Nsight metric names and summed over the plan.

    `verdict` is `correct`, `wrong`, `race`, `hang`, ... or `not checked` (a published figure).
    """

    verdict: str
    time: Time | None = None
    resources: Resources = field(default_factory=Resources)
    counters: Mapping[str, float] = field(default_factory=dict)
    bound: Bound | None = None
    approximate_counters: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelStability:
    """How often the winner stays first when every profile constant is scaled by a seeded 0.8 to 1.25."""

    draws: int
    first: int

    @property
    def share(self) -> float:
        return self.first / self.draws


@dataclass(frozen=True)
class Capture:
    """All that is known of a family on one device; `report` is the original's Nsight (or emulated) report.

    `made` records how: compiler and model version, seed, sampling, source hashes.
    """

    family: str
    provenance: Provenance
    variants: Mapping[str, VariantRecord]
    report: Report | None = None
    stability: ModelStability | None = None
    made: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Device:
    """What a prompt and a screen say of the GPU; None is not known."""

    id: str
    name: str
    compute_capability: str
    sms: int | None = None
    bandwidth_gb_s: float | None = None
    l2_mb: float | None = None


@dataclass(frozen=True)
class CaptureSet:
    """A folder of captures from one device and day, with the forward option order of each decided family."""

    id: str
    provenance: Provenance
    device: Device
    captures: Mapping[str, Capture]
    seed: int = 0
    order: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """`gb10 · emulated`, as it stands beside every number."""
        return f"{self.device.id} · {self.provenance}"
