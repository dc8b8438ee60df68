"""The two-step game: no sequence of moves shows a time early, scores twice or loses a pick."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sparktrace_tui.domain.kernel.capture import Time
from sparktrace_tui.domain.quiz.game import Deal, Game, IllegalMove, Outcome, Stage

TIMES = {"pad": Time(0.98), "reg": Time(0.621), "flat": Time(10.2, approximate=True), "tile": None}
LETTERS = dict(zip("ABCD", TIMES, strict=True))


def deal(order: str = "forward") -> Deal:
    options = LETTERS if order == "forward" else dict(zip("ABCD", reversed(TIMES), strict=True))
    return Deal("gb10-published", "published", "clamp_smem", "full", order, options, TIMES, "reg")  # type: ignore[arg-type]


def play(*variants: str, order: str = "forward") -> Game:
    game = Game(deal(order))
    for variant in variants:
        letter = next(k for k, v in game.deal.options.items() if v == variant)
        game = game.choose(letter).confirm()
    return game


@pytest.mark.parametrize(
    ("picks", "outcome"),
    [
        (("reg", "reg"), Outcome.HELD_RIGHT),
        (("pad", "reg"), Outcome.SWITCHED_TO_RIGHT),
        (("pad", "pad"), Outcome.HELD_WRONG),
        (("reg", "pad"), Outcome.SWITCHED_FROM_RIGHT),
        (("pad", "flat"), Outcome.SWITCHED_WRONG),
    ],
)
@pytest.mark.parametrize("order", ["forward", "mirror"])
def test_outcomes_do_not_depend_on_the_order_of_the_options(
    picks: tuple[str, ...], outcome: Outcome, order: str
) -> None:
    game = play(*picks, order=order)
    assert game.outcome == outcome
    assert tuple(pick.variant for pick in game.picks) == picks


def test_after_the_first_pick_its_time_alone_is_visible() -> None:
    assert play("pad").visible_times == {"pad": Time(0.98)}
    assert play("pad").answer is None
    assert play("pad", "pad").visible_times == TIMES


def test_a_confirmed_pick_cannot_be_taken_back_and_a_pending_one_can() -> None:
    game = Game(deal()).choose("A").undo()
    assert game == Game(deal())
    assert play("pad").undo().picks == play("pad").picks


def test_regret_is_chosen_time_over_best_time() -> None:
    game = play("pad", "reg")
    assert game.regret(0) == pytest.approx(0.98 / 0.621)
    assert game.regret(1) == 1.0
    assert play("tile", "reg").regret(0) is None


def test_a_cut_off_reply_is_no_letter_and_a_turn_that_never_came_is_no_outcome() -> None:
    assert Game(deal()).fail("truncated").outcome is Outcome.NO_LETTER
    assert play("pad").fail("none").outcome is Outcome.NO_LETTER
    assert Game(deal()).fail("no_turn").outcome is None


def test_confirming_nothing_is_illegal() -> None:
    with pytest.raises(IllegalMove, match="nothing is chosen"):
        Game(deal()).confirm()


class AnyMoves(RuleBasedStateMachine):
    """Every order of moves, legal or not."""

    @initialize()
    def start(self) -> None:
        self.game = Game(deal())
        self.confirmed: list[str] = []

    @rule(letter=st.sampled_from("ABCDEZ"))
    def choose(self, letter: str) -> None:
        self.attempt(lambda: self.game.choose(letter))

    @rule()
    def undo(self) -> None:
        self.attempt(lambda: self.game.undo())

    @rule(seconds=st.floats(0, 1e6))
    def confirm(self, seconds: float) -> None:
        pending = self.game.pending
        if self.attempt(lambda: self.game.confirm(seconds)):
            assert pending is not None
            self.confirmed.append(pending)

    @rule(kind=st.sampled_from(["truncated", "no_turn", "none"]))
    def fail(self, kind: str) -> None:
        self.attempt(lambda: self.game.fail(kind))

    @rule()
    def abandon(self) -> None:
        self.attempt(lambda: self.game.abandon())

    def attempt(self, move) -> bool:  # type: ignore[no-untyped-def]
        before = self.game
        try:
            self.game = move()
        except IllegalMove:
            assert self.game is before
            return False
        assert not before.over
        return True

    @invariant()
    def nothing_shows_early(self) -> None:
        visible = self.game.visible_times
        if self.game.stage is Stage.DONE:
            assert visible == TIMES
        else:
            assert self.game.answer is None
            assert self.game.outcome is None
            assert set(visible) <= {pick.variant for pick in self.game.picks}

    @invariant()
    def no_pick_is_lost_or_scored_twice(self) -> None:
        assert [pick.variant for pick in self.game.picks] == self.confirmed
        assert len(self.confirmed) <= 2


TestAnyMoves = AnyMoves.TestCase
TestAnyMoves.settings = settings(max_examples=150, stateful_step_count=12, deadline=None)
