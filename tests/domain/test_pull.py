"""Pull: over families whose report names the conflicts, how often the rewrite that only removes them is picked."""

from dataclasses import replace

import pytest

from sparktrace_tui.domain.quiz.question import Evidence
from sparktrace_tui.domain.scoring.pull import Answer, Share, conflict_fixes, newcombe, pull
from tests.runs.games_support import FAMILIES, fixes, small_set, winner

FIXES = {"one": {"pad"}, "two": {"pad", "skew"}}


def answer(family: str, evidence: Evidence, first: str | None, second: str | None = None, **more: object) -> Answer:
    return Answer("a-set", family, evidence, first, second, **more)  # type: ignore[arg-type]


def test_the_rewrites_that_only_remove_conflicts_come_from_what_they_address_and_from_the_key() -> None:
    captures = small_set()
    found = conflict_fixes(captures, FAMILIES)
    assert found == {name: frozenset(fixes(name)) for name in ("stride_smem", "clamp_smem", "matmul_tiled")}
    assert found["clamp_smem"] == {"padded"}
    assert all(winner(name) not in found[name] for name in found)


def test_a_winner_that_addresses_the_conflicts_is_no_lure_and_a_family_without_another_is_left_out() -> None:
    captures = small_set()
    clamp = captures.captures["clamp_smem"]
    times = {
        name: replace(record, time=replace(record.time, median_ms=0.1)) if name == "padded" and record.time else record
        for name, record in clamp.variants.items()
    }
    changed = replace(captures, captures={**captures.captures, "clamp_smem": replace(clamp, variants=times)})
    assert "clamp_smem" not in conflict_fixes(changed, FAMILIES)
    bare = replace(captures, captures={"clamp_smem": replace(clamp, report=captures.captures["softmax"].report)})
    assert conflict_fixes(bare, FAMILIES) == {}


def test_pull_is_full_minus_ablated_with_source_beside_it() -> None:
    answers = [
        answer("one", "source", "reg"), answer("one", "full", "pad"), answer("one", "full", "pad"),
        answer("one", "ablated", "reg"), answer("one", "ablated", "pad"),
        answer("two", "full", "skew"), answer("two", "full", None), answer("two", "ablated", "reg"),
        answer("two", "ablated", "reg"), answer("two", "source", "pad"),
        answer("else", "full", "pad"), answer("two", "full", "pad", seen=True),
    ]  # fmt: skip
    found = pull(answers, FIXES, seed=0)
    assert found is not None
    assert {e: s.text for e, s in found.picks.items()} == {"source": "1/2", "full": "3/4", "ablated": "1/4"}
    assert found.value == pytest.approx(0.5)
    assert found.families == ("one", "two")
    assert found.by_families is not None
    # Both families moved by the same 2/2 - 1/2 and 1/2 - 0/2, so no draw of families gives another difference.
    assert (found.by_families.low, found.by_families.high) == (0.5, 0.5)
    assert found.by_answers is not None
    assert found.by_answers.low < 0.0 < 0.5 < found.by_answers.high


def test_kept_counts_two_step_games_whose_first_pick_was_a_lure() -> None:
    answers = [
        answer("one", "full", "pad", "pad", two_step=True), answer("one", "full", "pad", "reg", two_step=True),
        answer("one", "full", "pad", None, two_step=True), answer("one", "full", "reg", "reg", two_step=True),
        answer("one", "full", "pad"), answer("two", "source", "skew", "pad", two_step=True),
    ]  # fmt: skip
    found = pull(answers, FIXES, seed=0)
    assert found is not None
    assert found.kept["full"] == Share(1, 3)
    assert found.kept["source"] == Share(0, 1)
    assert found.kept["ablated"].value is None


def test_arms_dealt_between_families_have_no_interval_by_families_and_a_missing_arm_no_value() -> None:
    dealt = [answer("one", "full", "pad"), answer("two", "ablated", "reg")]
    found = pull(dealt, FIXES, seed=0)
    assert found is not None
    assert found.value == 1.0
    assert found.by_families is None
    assert found.by_answers is not None
    one_has_both = pull([*dealt, answer("one", "ablated", "reg")], FIXES, seed=0)
    assert one_has_both is not None
    assert one_has_both.by_families is None
    alone = pull(dealt[:1], FIXES, seed=0)
    assert alone is not None
    assert alone.value is None
    assert alone.by_answers is None


def test_sets_are_never_pooled_and_nothing_asked_is_no_pull() -> None:
    one = answer("one", "full", "pad")
    with pytest.raises(ValueError, match="more than one set: a-set, b-set"):
        pull([one, replace(one, set_id="b-set")], FIXES, seed=0)
    assert pull([replace(one, family="else"), replace(one, seen=True)], FIXES, seed=0) is None


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    # Newcombe 1998, table II, method 10.
    [(Share(56, 70), Share(48, 80), 0.0524, 0.3339), (Share(9, 10), Share(3, 10), 0.1705, 0.8090)],
)
def test_the_interval_of_a_difference_is_newcombes(first: Share, second: Share, low: float, high: float) -> None:
    found = newcombe(first, second)
    assert found is not None
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-5)
