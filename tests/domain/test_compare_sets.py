"""Two capture sets side by side."""

import pytest

from sparktrace_tui.domain.kernel.capture import Capture, CaptureSet, Device, ModelStability, Time, VariantRecord
from sparktrace_tui.domain.scoring.sets import Pair, compare_sets, counter_rows, spearman, time_rows

CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"


def emulated(times: dict[str, float | None], counters: dict[str, float] | None = None) -> Capture:
    records = {
        name: VariantRecord("correct", None if ms is None else Time(ms), counters=(counters or {}))
        for name, ms in times.items()
    }
    return Capture("clamp_smem", "emulated", records, stability=ModelStability(200, 200))


def a_set(name: str, **captures: Capture) -> CaptureSet:
    return CaptureSet(name, "emulated", Device(name, name, "9.0"), captures)


SLOW = {"original": 10.0, "a": 1.0, "b": 2.0, "c": 4.0, "d": 8.0}


def test_spearman_of_the_same_order_is_one_of_the_reverse_minus_one() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)


def test_spearman_by_hand_with_one_swap_and_with_a_tie() -> None:
    # Ranks 1 2 3 4 5 against 2 1 3 4 5: 1 - 6 * (1 + 1) / (5 * 24) = 0.9.
    assert spearman([1, 2, 3, 4, 5], [2, 1, 3, 4, 5]) == pytest.approx(0.9)
    # Ranks 1 2 3 against 1.5 1.5 3: deviations -1 0 1 and -0.5 -0.5 1; 1.5 / sqrt(2 * 1.5).
    assert spearman([1, 2, 3], [5, 5, 9]) == pytest.approx(1.5 / 3**0.5)


def test_spearman_says_nothing_of_two_pairs_or_of_a_side_that_is_all_alike() -> None:
    assert spearman([1, 2], [1, 2]) is None
    assert spearman([1, 2, 3], [7, 7, 7]) is None


def test_winners_that_differ_are_named_and_times_have_ratios() -> None:
    swapped = {**SLOW, "a": 2.0, "b": 1.0}
    found = compare_sets(a_set("gb10", clamp_smem=emulated(SLOW)), a_set("h200", clamp_smem=emulated(swapped)))
    (family,) = found.differing
    assert (family.left.winner, family.right.winner) == ("a", "b")
    assert family.rank_correlation == pytest.approx(0.9)
    assert found.same_winners == (0, 1)
    assert family.times["a"].ratio == 2.0
    assert found.time_ratio == 1.0
    assert found.left == "gb10 (gb10 · emulated)"


def test_a_missing_figure_has_no_ratio_and_is_never_zero() -> None:
    partial = {**SLOW, "c": None}
    found = compare_sets(a_set("gb10", clamp_smem=emulated(SLOW)), a_set("h200", clamp_smem=emulated(partial)))
    rows = {row["variant"]: row for row in time_rows(found)}
    assert (rows["c"]["right_ms"], rows["c"]["ratio"]) == (None, None)
    assert rows["d"]["ratio"] == 1.0
    assert Pair(0.0, 5.0).ratio is None


def test_counters_are_compared_where_both_sets_hold_them() -> None:
    left = emulated(SLOW, {CONFLICTS: 100.0, "only_here": 1.0})
    right = emulated(SLOW, {CONFLICTS: 150.0})
    rows = counter_rows(compare_sets(a_set("gb10", clamp_smem=left), a_set("h200", clamp_smem=right)))
    assert {(row["variant"], row["counter"], row["ratio"]) for row in rows} == {(v, CONFLICTS, 1.5) for v in SLOW}


def test_families_of_one_set_alone_are_listed_and_not_compared() -> None:
    found = compare_sets(a_set("gb10", clamp_smem=emulated(SLOW), softmax=emulated(SLOW)), a_set("h200"))
    assert (found.families, found.only_left, found.only_right) == ((), ("clamp_smem", "softmax"), ())
    assert (found.rank_correlation, found.time_ratio) == (None, None)
