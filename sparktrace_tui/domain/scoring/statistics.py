"""The few statistics that say whether a difference of some questions is more than noise."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True)
class Interval:
    """Both ends of an interval, at `level`."""

    low: float
    high: float
    level: float = 0.95


def wilson(hits: int, asked: int, level: float = 0.95) -> Interval | None:
    """The Wilson score interval of a share (Wilson 1927, without continuity correction); None where nothing was asked.

    It stays sensible at none and at all right, where the plain interval has no width.
    """
    if asked == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = hits / asked
    middle = (share + z * z / (2 * asked)) / (1 + z * z / asked)
    half = z / (1 + z * z / asked) * math.sqrt(share * (1 - share) / asked + z * z / (4 * asked * asked))
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    high = 1.0 if hits == asked else min(1.0, middle + half)
    return Interval(low, high, level)


def sign_test(up: int, down: int) -> float:
    """The two-sided exact sign test: how likely a split at least so uneven is by a fair coin; 1 where nothing moved.

    On the discordant pairs of two arms this is McNemar's exact test (McNemar 1947).
    """
    moved = up + down
    if moved == 0:
        return 1.0
    tail = sum(math.comb(moved, i) for i in range(min(up, down) + 1))
    return min(1.0, 2 * tail / (1 << moved))


@dataclass(frozen=True)
class Paired:
    """Two arms over the same questions: how many only the one, and only the other, got right."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def asked(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def difference(self) -> int:
        """Second minus first, in questions."""
        return self.only_second - self.only_first

    @property
    def p(self) -> float:
        """McNemar's exact two-sided p."""
        return sign_test(self.only_second, self.only_first)


def paired(first: Mapping[K, bool], second: Mapping[K, bool]) -> Paired:
    """Pair two arms by question; a question that only one arm has is left out."""
    shared = [(first[key], second[key]) for key in first if key in second]
    return Paired(
        both=sum(a and b for a, b in shared),
        only_first=sum(a and not b for a, b in shared),
        only_second=sum(b and not a for a, b in shared),
        neither=sum(not a and not b for a, b in shared),
    )


def bootstrap(
    groups: Sequence[T],
    statistic: Callable[[Sequence[T]], float],
    *,
    seed: int,
    draws: int = 2000,
    level: float = 0.95,
) -> Interval | None:
    """The percentile bootstrap interval (Efron 1979) of a statistic over groups drawn with replacement.

    A group is a family with all its answers: the two orders of a family are not independent. None without groups.
    """
    if not groups:
        return None
    rng = random.Random(seed)
    values = sorted(statistic(rng.choices(groups, k=len(groups))) for _ in range(draws))
    return Interval(quantile(values, (1 - level) / 2), quantile(values, (1 + level) / 2), level)


def quantile(ordered: Sequence[float], at: float) -> float:
    """The linearly interpolated quantile of sorted values (type 7 of Hyndman and Fan 1996)."""
    place = at * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
