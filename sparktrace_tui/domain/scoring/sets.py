"""Two capture sets side by side: whose winners differ, how alike the orders are, ratios of times and counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from sparktrace_tui.domain.kernel.capture import Capture, CaptureSet
from sparktrace_tui.domain.kernel.key import Decision, decide


@dataclass(frozen=True)
class Pair:
    """One figure in both sets; `ratio` is right over left, None where either is missing or the left one is 0."""

    left: float | None
    right: float | None

    @property
    def ratio(self) -> float | None:
        if self.left is None or self.right is None or self.left == 0:
            return None
        return self.right / self.left


@dataclass(frozen=True)
class FamilyComparison:
    """One family in both sets.

    `times` is in ms by variant, `counters` by variant and Nsight name. `rank_correlation` is Spearman's over the
    variants that have a time in both, the original among them; None under three of them, or where one side ties all.
    """

    family: str
    left: Decision
    right: Decision
    times: Mapping[str, Pair]
    counters: Mapping[str, Mapping[str, Pair]]
    rank_correlation: float | None

    @property
    def same_winner(self) -> bool | None:
        """None where a set has no winner."""
        if self.left.winner is None or self.right.winner is None:
            return None
        return self.left.winner == self.right.winner


@dataclass(frozen=True)
class SetComparison:
    """Two sets over the families that both hold; `only_left` and `only_right` name the others."""

    left: str
    right: str
    families: tuple[FamilyComparison, ...]
    only_left: tuple[str, ...]
    only_right: tuple[str, ...]

    @property
    def differing(self) -> tuple[FamilyComparison, ...]:
        """The families whose winners differ."""
        return tuple(f for f in self.families if f.same_winner is False)

    @property
    def same_winners(self) -> tuple[int, int]:
        """How many families have the same winner, of those with one in both."""
        known = [f.same_winner for f in self.families if f.same_winner is not None]
        return sum(known), len(known)

    @property
    def rank_correlation(self) -> float | None:
        """The median over families."""
        known = [f.rank_correlation for f in self.families if f.rank_correlation is not None]
        return median(known) if known else None

    @property
    def time_ratio(self) -> float | None:
        """The median ratio of times, right over left, over all variants of all families."""
        known = [r for f in self.families for pair in f.times.values() if (r := pair.ratio) is not None]
        return median(known) if known else None


def compare_sets(left: CaptureSet, right: CaptureSet) -> SetComparison:
    """Compare two sets family by family, in the left one's order."""
    shared = [family for family in left.captures if family in right.captures]
    return SetComparison(
        left=f"{left.id} ({left.label})",
        right=f"{right.id} ({right.label})",
        families=tuple(_family(left.captures[name], right.captures[name]) for name in shared),
        only_left=tuple(name for name in left.captures if name not in right.captures),
        only_right=tuple(name for name in right.captures if name not in left.captures),
    )


def _family(left: Capture, right: Capture) -> FamilyComparison:
    variants = [*left.variants, *(name for name in right.variants if name not in left.variants)]
    times = {name: Pair(_ms(left, name), _ms(right, name)) for name in variants}
    both = [pair for pair in times.values() if pair.left is not None and pair.right is not None]
    return FamilyComparison(
        family=left.family,
        left=decide(left),
        right=decide(right),
        times=times,
        counters={name: _counters(left, right, name) for name in variants},
        rank_correlation=spearman([p.left or 0.0 for p in both], [p.right or 0.0 for p in both]),
    )


def _ms(capture: Capture, variant: str) -> float | None:
    record = capture.variants.get(variant)
    return record.time.median_ms if record is not None and record.time is not None else None


def _counters(left: Capture, right: Capture, variant: str) -> dict[str, Pair]:
    """The counters that both sets hold of a variant: what one lacks is not a difference."""
    if variant not in left.variants or variant not in right.variants:
        return {}
    mine, other = left.variants[variant].counters, right.variants[variant].counters
    return {name: Pair(mine[name], other[name]) for name in mine if name in other}


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Spearman's rank correlation, ties by average ranks; None for fewer than three pairs or a side of one value.

    Source: Spearman, The Proof and Measurement of Association between Two Things, 1904; Pearson's r of the ranks.
    """
    if len(left) != len(right):
        raise ValueError(f"{len(left)} values against {len(right)}")
    if len(left) < 3:
        return None
    a, b = _ranks(left), _ranks(right)
    mean = (len(left) + 1) / 2
    spread = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    if spread == 0:
        return None
    return sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True)) / float(spread**0.5)


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(values)
    return [order.index(v) + (order.count(v) + 1) / 2 for v in values]


def time_rows(comparison: SetComparison) -> list[dict[str, object]]:
    """One row a variant: both times (ms), their ratio, and whether it wins in either set."""
    return [
        {
            "family": family.family,
            "variant": name,
            "left_ms": pair.left,
            "right_ms": pair.right,
            "ratio": pair.ratio,
            "left_winner": family.left.winner == name,
            "right_winner": family.right.winner == name,
            "rank_correlation": family.rank_correlation,
        }
        for family in comparison.families
        for name, pair in family.times.items()
    ]


def counter_rows(comparison: SetComparison) -> list[dict[str, object]]:
    """One row a counter that both sets hold."""
    return [
        {
            "family": family.family,
            "variant": variant,
            "counter": name,
            "left": pair.left,
            "right": pair.right,
            "ratio": pair.ratio,
        }
        for family in comparison.families
        for variant, counters in family.counters.items()
        for name, pair in counters.items()
    ]
