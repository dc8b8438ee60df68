"""The two-step game of one player, as a pure state machine: pick, see the picked rewrite's time, pick again.

Nothing here knows a screen, a model or a clock: moves come in, a new state comes out. What may be shown is asked of
`visible_times` and `answer`, which give nothing early.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sparktrace_tui.domain.kernel.capture import Provenance, Time
from sparktrace_tui.domain.quiz.question import Evidence, Order


class Stage(StrEnum):
    """Where a game stands."""

    FIRST = "first"
    SECOND = "second"
    DONE = "done"
    ABANDONED = "abandoned"


class Outcome(StrEnum):
    """What a finished game shows of its player."""

    HELD_RIGHT = "held right"
    SWITCHED_TO_RIGHT = "switched to right"
    HELD_WRONG = "held wrong"
    SWITCHED_FROM_RIGHT = "switched from right"
    SWITCHED_WRONG = "switched wrong to wrong"
    NO_LETTER = "no letter"


# Failures that are not the player's: no turn came back, or its server had cut the prompt. They have no outcome.
UNSCORED_FAILURES = ("no_turn", "cut_prompt")


class IllegalMove(ValueError):
    """A move that the stage does not allow; the state is unchanged."""


@dataclass(frozen=True)
class Deal:
    """The question a game is about. `times` and `winner` are the key; `seen` games count in no score."""

    set_id: str
    provenance: Provenance
    family: str
    evidence: Evidence
    order: Order
    options: Mapping[str, str]
    times: Mapping[str, Time | None]
    winner: str
    seen: bool = False


@dataclass(frozen=True)
class Pick:
    """A confirmed choice: the variant, and the seconds it took (None where unknown, as in a replay)."""

    variant: str
    seconds: float | None = None


@dataclass(frozen=True)
class Game:
    """One player's game on one deal. `pending` is a choice not yet confirmed."""

    deal: Deal
    stage: Stage = Stage.FIRST
    pending: str | None = None
    picks: tuple[Pick, ...] = ()
    failure: str | None = None

    def choose(self, letter: str) -> "Game":
        """Mark a letter; another letter replaces it."""
        self._must_be_open()
        if letter not in self.deal.options:
            raise IllegalMove(f"{letter} is not one of {', '.join(self.deal.options)}")
        return replace(self, pending=self.deal.options[letter])

    def undo(self) -> "Game":
        """Take back a choice that is not confirmed; a confirmed one stays."""
        self._must_be_open()
        return replace(self, pending=None)

    def confirm(self, seconds: float | None = None) -> "Game":
        """Make the pending choice the pick of this step."""
        self._must_be_open()
        if self.pending is None:
            raise IllegalMove("nothing is chosen yet")
        picks = (*self.picks, Pick(self.pending, seconds))
        stage = Stage.SECOND if self.stage is Stage.FIRST else Stage.DONE
        return replace(self, stage=stage, pending=None, picks=picks)

    def fail(self, kind: str) -> "Game":
        """The player gave no letter at this step: `truncated`, `refused`, `ambiguous`, `none`, or one of
        UNSCORED_FAILURES."""
        self._must_be_open()
        return replace(self, stage=Stage.DONE, pending=None, failure=kind)

    def abandon(self) -> "Game":
        """Leave the game; what was picked stays on record and nothing is scored."""
        self._must_be_open()
        return replace(self, stage=Stage.ABANDONED, pending=None)

    def _must_be_open(self) -> None:
        if self.stage not in (Stage.FIRST, Stage.SECOND):
            raise IllegalMove(f"the game is {self.stage.value}")

    @property
    def over(self) -> bool:
        return self.stage in (Stage.DONE, Stage.ABANDONED)

    @property
    def visible_times(self) -> dict[str, Time | None]:
        """The times this player may see: none, then the picked rewrite's alone, then all."""
        match self.stage:
            case Stage.DONE:
                return dict(self.deal.times)
            case Stage.SECOND:
                picked = self.picks[0].variant
                return {picked: self.deal.times.get(picked)}
            case _:
                return {}

    @property
    def answer(self) -> str | None:
        """The winner, once the game is done."""
        return self.deal.winner if self.stage is Stage.DONE else None

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None while it runs, when it was abandoned, or when a turn never came back (or was asked
        with a cut prompt)."""
        if self.stage is not Stage.DONE:
            return None
        return outcome_of([pick.variant for pick in self.picks], self.deal.winner, self.failure)

    def regret(self, step: int) -> float | None:
        """Chosen time over best time of the pick at `step` (0 or 1), once the game is done; None where unknown."""
        if self.stage is not Stage.DONE or step >= len(self.picks):
            return None
        chosen, best = self.deal.times.get(self.picks[step].variant), self.deal.times.get(self.deal.winner)
        if chosen is None or best is None:
            return None
        return chosen.median_ms / best.median_ms


def outcome_of(picks: Sequence[str], winner: str, failure: str | None = None) -> Outcome | None:
    """The outcome of a finished game from its picked variants; None for one of UNSCORED_FAILURES.

    ValueError where a game without a failure has not two picks.
    """
    if failure is not None:
        return None if failure in UNSCORED_FAILURES else Outcome.NO_LETTER
    first, second = picks
    match first == winner, second == winner:
        case True, True:
            return Outcome.HELD_RIGHT
        case False, True:
            return Outcome.SWITCHED_TO_RIGHT
        case True, False:
            return Outcome.SWITCHED_FROM_RIGHT
        case _:
            return Outcome.HELD_WRONG if first == second else Outcome.SWITCHED_WRONG


# A hit within two distinct picks out of four, without reading anything.
CHANCE_WITHIN_TWO = 0.5
