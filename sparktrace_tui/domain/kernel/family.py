"""A kernel family: one question's original and four rewrites, what they compute, and how they are checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sparktrace_tui.domain.kernel.plan import (
    Array,
    Fill,
    Launch,
    ResolvedLaunch,
    Scalar,
    Size,
    resolve_launches,
)

ORIGINAL = "original"

FAMILY_IDS = (
    "stride_copy", "stride_smem", "clamp_smem", "stride_expf", "matmul_tiled", "transpose", "row_reduce",
    "atomic_reduce", "scale_relu", "launch_chain", "softmax", "layernorm", "histogram", "warp_reduce",
    "register_reuse",
)  # fmt: skip
CAUSAL_FAMILIES = ("stride_smem", "clamp_smem", "matmul_tiled")


@dataclass(frozen=True)
class Variant:
    """The original (id `original`) or a rewrite: a source, a plan, and for a rewrite what it addresses.

    `description` is one neutral line, the only words about it a reader sees; `addresses` holds Nsight rule ids.
    """

    id: str
    source_name: str
    source: str
    launches: tuple[Launch, ...]
    description: str = ""
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """One verification: a size, and the fills that replace the arrays' own."""

    size: Size
    fills: Mapping[str, Fill] = field(default_factory=dict)


@dataclass(frozen=True)
class Contract:
    """What a variant must keep of NaN, signed zeros and denormals, and in words what else is promised.

    nan: `match` (NaN exactly where the reference has it) or `absent` (inputs hold none).
    signed_zero: `exact` or `any`. denormal: `kept` or `may_flush`.
    """

    nan: str = "match"
    signed_zero: str = "any"
    denormal: str = "kept"
    text: str = ""


@dataclass(frozen=True)
class Family:
    """All of `kernels/<id>/` but its README, which is shown after the reveal only."""

    id: str
    title: str
    summary: str
    timed: str
    inputs: str
    problem: Size
    arrays: Mapping[str, Array]
    scalars: Mapping[str, Scalar]
    checks: tuple[Check, ...]
    contract: Contract
    original: Variant
    rewrites: tuple[Variant, ...]

    @property
    def variants(self) -> tuple[Variant, ...]:
        return (self.original, *self.rewrites)

    def variant(self, variant_id: str) -> Variant:
        """The variant of that id; KeyError where there is none."""
        for variant in self.variants:
            if variant.id == variant_id:
                return variant
        raise KeyError(variant_id)

    def launches(self, variant_id: str, size: Size) -> tuple[ResolvedLaunch, ...]:
        return resolve_launches(self.variant(variant_id).launches, self.arrays, self.scalars, size)
