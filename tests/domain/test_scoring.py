"""The statistics equal a reference's, and a score keeps its holes."""

import random

import pytest
from scipy import stats

from sparktrace_tui.domain.quiz.grading import Outcome
from sparktrace_tui.domain.quiz.question import EVIDENCE, Evidence
from sparktrace_tui.domain.scoring.counts import Cell, Row, Scored, noise_note, score
from sparktrace_tui.domain.scoring.statistics import bootstrap, paired, quantile, sign_test, wilson


@pytest.mark.parametrize("asked", [1, 2, 15, 30, 90, 1000])
def test_wilson_equals_scipys(asked: int) -> None:
    for hits in {0, 1, asked // 3, asked // 2, asked - 1, asked}:
        for level in (0.8, 0.95, 0.99):
            ours = wilson(hits, asked, level)
            theirs = stats.binomtest(hits, asked).proportion_ci(level, method="wilson")
            assert ours is not None
            assert (ours.low, ours.high) == (pytest.approx(theirs.low, abs=1e-9), pytest.approx(theirs.high, abs=1e-9))


def test_wilson_of_nothing_is_not_known_and_of_all_wrong_has_a_width() -> None:
    assert wilson(0, 0) is None
    none_right = wilson(0, 30)
    assert none_right is not None
    assert none_right.high > 0.1  # z²/(n + z²) = 3.84/33.84 = 0.114


def test_the_sign_test_equals_scipys_binomial_test() -> None:
    for up in range(12):
        for down in range(12):
            expected = stats.binomtest(up, up + down).pvalue if up + down else 1.0
            assert sign_test(up, down) == pytest.approx(expected, abs=1e-12)


def test_pairs_are_questions_that_both_arms_have() -> None:
    first = {"a": True, "b": True, "c": False, "d": False, "only here": True}
    second = {"a": True, "b": False, "c": True, "d": False}
    result = paired(first, second)
    assert (result.both, result.only_first, result.only_second, result.neither) == (1, 1, 1, 1)
    assert (result.asked, result.difference, result.p) == (4, 0, 1.0)


def test_the_bootstrap_is_the_same_for_a_seed_and_near_the_normal_interval() -> None:
    draw = random.Random(5)
    values = [draw.gauss(10, 2) for _ in range(200)]

    def mean(sample: object) -> float:
        return sum(sample) / len(sample)  # type: ignore[call-overload, arg-type, no-any-return]

    one = bootstrap(values, mean, seed=1)
    assert one == bootstrap(values, mean, seed=1)
    assert one != bootstrap(values, mean, seed=2)
    assert one is not None
    half = 1.96 * stats.sem(values)
    assert (one.high - one.low) / 2 == pytest.approx(half, rel=0.1)
    assert bootstrap([], mean, seed=1) is None


def test_quantiles_are_interpolated_as_numpys() -> None:
    assert [quantile([1.0, 2.0, 4.0], at) for at in (0, 0.25, 0.5, 0.75, 1)] == [1.0, 1.5, 2.0, 3.0, 4.0]


def run_of(outcomes: dict[Evidence, list[tuple[Outcome, str]]], expected: int = 90) -> Row | None:
    items = [
        Scored(f"f{n // 2}", evidence, "forward" if n % 2 == 0 else "mirror", outcome, cause)
        for evidence, values in outcomes.items()
        for n, (outcome, cause) in enumerate(values)
    ]
    return score("p", "s", "emulated", "readable", items, expected=expected)


RIGHT: tuple[Outcome, str] = ("correct", "")
WRONG: tuple[Outcome, str] = ("wrong", "")
CUT: tuple[Outcome, str] = ("no_letter", "truncated")
GONE: tuple[Outcome, str] = ("no_turn", "overloaded")


def test_a_truncated_trace_counts_as_a_failure_and_stands_apart_from_a_wrong_letter() -> None:
    row = run_of({e: [RIGHT] * 27 + [WRONG] + [CUT] * 2 for e in EVIDENCE})
    assert row is not None
    cell = row.cells["source"]
    assert (cell.text, cell.wrong, dict(cell.no_letter), cell.failures) == ("27/30", 1, {"truncated": 2}, 2)
    assert row.total is not None
    assert row.total.text == "81/90"


def test_an_item_without_a_turn_leaves_the_denominator_and_the_total_with_it() -> None:
    row = run_of({"source": [RIGHT] * 30, "full": [RIGHT] * 29 + [GONE], "ablated": [WRONG] * 30})
    assert row is not None
    assert (row.cells["full"].text, row.cells["full"].no_turn) == ("29/29", 1)
    assert row.total is None
    assert row.full_minus_source is None


def test_a_part_of_a_run_has_no_total() -> None:
    row = run_of({"source": [RIGHT] * 30, "full": [RIGHT] * 28 + [WRONG] * 2})
    assert row is not None
    assert row.total is None
    assert row.full_minus_source == -2
    assert row.cells["ablated"].text == "n/a"


def test_a_run_in_which_no_turn_came_back_is_left_out_and_never_zero() -> None:
    assert run_of({e: [GONE] * 30 for e in EVIDENCE}) is None


def test_one_question_that_moved_is_called_noise_and_many_are_not() -> None:
    few = run_of({"source": [RIGHT] * 30, "full": [RIGHT] * 29 + [WRONG]})
    many = run_of({"source": [RIGHT] * 30, "full": [RIGHT] * 20 + [WRONG] * 10})
    assert few is not None
    assert many is not None
    one, ten = few.effect("source", "full"), many.effect("source", "full")
    assert one is not None
    assert ten is not None
    assert one.p == 1.0
    assert noise_note(one) == "1 question of 30 moved, -1 net: this could be noise (p = 1)."
    assert ten.p == pytest.approx(2 * 0.5**10)
    assert "more than noise" in noise_note(ten)


def test_the_interval_of_an_effect_draws_families_and_not_single_questions() -> None:
    row = run_of({"source": [RIGHT] * 30, "full": [RIGHT] * 26 + [WRONG] * 4})
    assert row is not None
    found = row.effect_interval("source", "full", seed=3)
    assert found == row.effect_interval("source", "full", seed=3)
    assert found is not None
    assert found.low <= -4 / 30 <= found.high
    # Two families of fifteen lost both questions: the share's deviation is sqrt(2/15 * 13/15 / 15) = 0.088.
    assert found.low == pytest.approx(-4 / 30 - 1.96 * 0.088, abs=0.06)
    assert found.high <= 0


def test_cells_add_up_with_their_failures() -> None:
    whole = Cell(1, 2, {"none": 1}, 1) + Cell(3, 0, {"none": 1, "refused": 2}, 0)
    assert (whole.correct, whole.wrong, dict(whole.no_letter), whole.no_turn) == (4, 2, {"none": 2, "refused": 2}, 1)
    assert whole.text == "4/10"
