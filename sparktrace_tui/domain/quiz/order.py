"""The forward option order of a set: drawn once by seed, so that each letter is the key about equally often."""

import random
from collections.abc import Mapping, Sequence

LETTERS = ("A", "B", "C", "D")


def draw_orders(
    families: Mapping[str, Sequence[str]], winners: Mapping[str, str | None], seed: int
) -> dict[str, tuple[str, ...]]:
    """A forward order of the four rewrites of each family.

    families: id -> rewrite ids. winners: id -> the winning rewrite, or None where there is none. Over the families
    with a winner each letter is the key n // 4 times or once more: with fifteen, three or four times, and every
    letter with its mirror seven or eight.
    """
    rng = random.Random(f"order:{seed}")
    decided = [family for family in families if winners.get(family) is not None]
    letters = list(LETTERS) * (len(decided) // 4)
    letters += rng.sample(LETTERS, len(decided) % 4)
    rng.shuffle(letters)
    key = dict(zip(decided, letters, strict=True))
    return {
        family: _order(rewrites, winners.get(family), key.get(family), rng) for family, rewrites in families.items()
    }


def _order(rewrites: Sequence[str], winner: str | None, letter: str | None, rng: random.Random) -> tuple[str, ...]:
    others = sorted(r for r in rewrites if r != winner)
    rng.shuffle(others)
    if winner is not None and letter is not None:
        others.insert(LETTERS.index(letter), winner)
    return tuple(others)
