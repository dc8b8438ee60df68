"""The option orders of a set."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sparktrace_tui.domain.quiz.order import LETTERS, draw_orders

FAMILIES = {f"f{i}": ("a", "b", "c", "d") for i in range(15)}
WINNERS = {f"f{i}": "abcd"[i * 7 % 4] for i in range(15)}


@given(st.integers(0, 10_000))
def test_each_letter_is_the_key_three_or_four_times_and_seven_or_eight_with_the_mirror(seed: int) -> None:
    orders = draw_orders(FAMILIES, WINNERS, seed)
    keys = Counter(LETTERS[orders[f].index(WINNERS[f])] for f in FAMILIES)
    mirrored = Counter(LETTERS[orders[f][::-1].index(WINNERS[f])] for f in FAMILIES)
    assert all(keys[letter] in (3, 4) for letter in LETTERS)
    assert all(keys[letter] + mirrored[letter] in (7, 8) for letter in LETTERS)


@given(st.integers(0, 10_000))
def test_an_order_holds_each_rewrite_once_and_comes_back_with_its_seed(seed: int) -> None:
    orders = draw_orders(FAMILIES, {**WINNERS, "f3": None}, seed)
    assert all(sorted(order) == ["a", "b", "c", "d"] for order in orders.values())
    assert orders == draw_orders(FAMILIES, {**WINNERS, "f3": None}, seed)
