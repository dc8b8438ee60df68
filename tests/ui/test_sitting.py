"""A quiz's session: arms dealt evenly between families, seen families last, scores without the seen."""

from collections import Counter
from dataclasses import replace
from itertools import islice

from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.quiz.game import Deal, Game
from sparktrace_tui.ui.sitting import arms, draw, summary, tally
from tests.ui.conftest import ORDER, TIMES, clamp_set

NAMES = ("stride_smem", "clamp_smem", "matmul_tiled", "softmax", "layernorm")


def wide_set() -> CaptureSet:
    """Five families with the one report (three causal ones), all kept."""
    one = clamp_set()
    captures = {name: replace(one.captures["clamp_smem"], family=name) for name in NAMES}
    return replace(one, captures=captures, order=dict.fromkeys(NAMES, ORDER))


def deal(seen: bool = False) -> Deal:
    one = clamp_set().captures["clamp_smem"]
    times = {name: one.variants[name].time for name in TIMES}
    return Deal("s", "emulated", "clamp_smem", "full", "forward", dict(zip("ABCD", ORDER, strict=True)), times,
                "registers", seen)  # fmt: skip


def played(first: str, second: str, seen: bool = False) -> Game:
    return Game(deal(seen)).choose(first).confirm().choose(second).confirm()


def test_each_round_asks_every_family_once_and_the_arms_are_balanced_over_the_causal_ones() -> None:
    captures = wide_set()
    families = dict.fromkeys(NAMES)
    found = list(islice(draw(captures, families, seed=7), 5 * 12))
    for start in range(0, 60, 5):
        assert {d.family for d in found[start : start + 5]} == set(NAMES)
    causal = Counter(d.evidence for d in found if d.family in NAMES[:3])
    assert causal == {"source": 12, "full": 12, "ablated": 12}


def test_the_same_seed_draws_the_same_session_and_another_seed_another() -> None:
    families = dict.fromkeys(NAMES)
    one, two, other = (list(islice(draw(wide_set(), families, seed=s), 15)) for s in (1, 1, 2))
    assert one == two
    assert one != other


def test_families_seen_before_come_last() -> None:
    found = list(islice(draw(wide_set(), dict.fromkeys(NAMES), seed=1, seen=("softmax", "clamp_smem")), 5))
    assert {d.family for d in found[3:]} == {"softmax", "clamp_smem"}


def test_a_set_without_a_report_asks_from_the_source_alone() -> None:
    assert arms(clamp_set(with_report=False), "clamp_smem") == ("source",)
    assert arms(clamp_set(), "clamp_smem") == ("source", "full", "ablated")
    asked = draw(clamp_set(with_report=False), {"clamp_smem": None}, seed=0, evidence="full")
    assert list(islice(asked, 3)) == []


def test_a_replay_is_asked_only_what_it_recorded() -> None:
    pairs = (("clamp_smem", "full"), ("row_reduce", "source"))
    found = list(islice(draw(wide_set(), dict.fromkeys(NAMES), seed=1, recorded=pairs), 3))
    assert {(d.family, d.evidence) for d in found} == {("clamp_smem", "full")}


def test_a_family_that_is_not_kept_is_not_asked() -> None:
    near = {**TIMES, "padded": 0.65}
    assert list(islice(draw(clamp_set(times=near), {"clamp_smem": None}, seed=0), 1)) == []


def test_the_tally_leaves_out_seen_and_abandoned_games_and_counts_the_streak() -> None:
    games = [
        played("B", "B"), played("A", "C"), played("C", "B"), played("B", "B", seen=True), played("B", "B"),
        Game(deal()).choose("A").abandon(),
    ]  # fmt: skip
    score = tally(games)
    assert (score.asked, score.first_right, score.right, score.streak, score.seen) == (4, 2, 3, 2, 1)
    failed = tally([*games, Game(deal()).fail("truncated")])
    assert (failed.asked, failed.right, failed.streak) == (5, 3, 0)


def test_the_summary_names_set_provenance_seed_and_chance() -> None:
    lines = summary(clamp_set(), 7, [[played("C", "B"), played("A", "A")]], ["you", "baseline:always-a"])
    assert lines[0] == "SparkTrace quiz on gb10-test (gb10 · emulated), seed 7"
    assert "you C then B: switched to right, 1.58x then 1.00x the best time" in lines[1]
    assert "baseline:always-a A then A: held wrong, 16.04x then 16.04x the best time" in lines[1]
    assert lines[2] == "you: 1 of 1 right at the end, 0 at the first pick"
    assert "50% within two" in lines[-1]
