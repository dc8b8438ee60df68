"""The key rule: winners, ratios, near ties and what is not a question."""

from sparktrace_tui.domain.kernel.capture import Capture, ModelStability, Time, VariantRecord
from sparktrace_tui.domain.kernel.key import decide


def emulated(times: dict[str, float], first: int = 200, verdict: str = "correct") -> Capture:
    records = {name: VariantRecord(verdict, Time(ms)) for name, ms in times.items()}
    return Capture("f", "emulated", records, stability=ModelStability(200, first))


def measured(blocks: dict[str, tuple[float, ...]]) -> Capture:
    records = {name: VariantRecord("correct", Time(sorted(b)[len(b) // 2], False, b)) for name, b in blocks.items()}
    return Capture("f", "measured", records)


def test_the_lowest_modelled_time_wins_and_the_original_is_no_candidate() -> None:
    decision = decide(emulated({"original": 0.1, "a": 2.0, "b": 1.0, "c": 3.0, "d": 1.5}))
    assert (decision.winner, decision.ratio, decision.kept) == ("b", 1.5, True)


def test_a_modelled_gap_under_1_25_is_too_close_to_model() -> None:
    decision = decide(emulated({"a": 1.0, "b": 1.249, "c": 3.0, "d": 3.0}))
    assert not decision.kept
    assert "too close to model" in decision.reason
    assert decide(emulated({"a": 1.0, "b": 1.25, "c": 3.0, "d": 3.0})).kept


def test_a_winner_that_the_constants_can_topple_is_not_kept() -> None:
    times = {"a": 1.0, "b": 1.5, "c": 3.0, "d": 3.0}
    assert decide(emulated(times, first=190)).kept
    decision = decide(emulated(times, first=189))
    assert not decision.kept
    assert "94%" in decision.reason


def test_a_wrong_variant_leaves_no_question() -> None:
    decision = decide(emulated({"a": 1.0, "b": 2.0}, verdict="race"))
    assert decision.winner is None
    assert decision.reason == "not all correct: a, b"


def test_the_measured_ratio_is_the_median_over_blocks_of_best_other_over_winner() -> None:
    decision = decide(
        measured({"a": (1.0, 1.0, 1.0, 1.0, 1.0), "b": (1.1, 1.2, 1.3, 1.4, 1.5), "c": (9.0,) * 5, "d": (9.0,) * 5})
    )
    assert decision.ratio == 1.3
    assert (decision.winner, decision.blocks_first, decision.kept) == ("a", 5, True)


def test_a_winner_first_in_three_of_five_blocks_is_unstable() -> None:
    decision = decide(measured({"a": (1.0, 1.0, 1.0, 2.0, 2.0), "b": (1.5, 1.5, 1.5, 1.6, 1.6), "c": (9.0,) * 5}))
    assert not decision.kept
    assert decision.reason == "unstable: first in 3 of 5 blocks"


def test_a_measured_gap_under_1_08_is_a_near_tie() -> None:
    assert "near tie" in decide(measured({"a": (1.0,) * 5, "b": (1.07,) * 5})).reason
    assert decide(measured({"a": (1.0,) * 5, "b": (1.08,) * 5})).kept


def test_without_times_there_is_no_winner() -> None:
    capture = Capture("f", "published", {"a": VariantRecord("not checked"), "b": VariantRecord("not checked")})
    assert decide(capture).winner is None
