"""A quiz's session: what came of its questions so far, and its words. No screen in here."""

from collections.abc import Sequence
from dataclasses import dataclass

from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.quiz.game import Game, Outcome, Stage
from sparktrace_tui.domain.quiz.session import Draw, arms, draw
from sparktrace_tui.ui.text import one_line

__all__ = (
    "RIGHT", "Draw", "Score", "arms", "draw", "letters", "short_name", "steps", "summary", "tally",
)  # fmt: skip

RIGHT = (Outcome.HELD_RIGHT, Outcome.SWITCHED_TO_RIGHT)


@dataclass(frozen=True)
class Score:
    """A player's games so far. Seen and abandoned ones count nowhere; `streak` is the run of right answers now."""

    asked: int = 0
    first_right: int = 0
    right: int = 0
    streak: int = 0
    seen: int = 0


def tally(games: Sequence[Game]) -> Score:
    """The score of a player over its games, oldest first."""
    asked = first = right = streak = seen = 0
    for game in games:
        if game.stage is not Stage.DONE or game.outcome is None:
            continue
        if game.deal.seen:
            seen += 1
            continue
        asked += 1
        won = game.outcome in RIGHT
        first += bool(game.picks) and game.picks[0].variant == game.deal.winner
        right += won
        streak = streak + 1 if won else 0
    return Score(asked, first, right, streak, seen)


def letters(game: Game) -> str:
    """The picks by letter, `A then C`; `no letter` where there is none."""
    names = {variant: letter for letter, variant in game.deal.options.items()}
    return " then ".join(names[pick.variant] for pick in game.picks) or "no pick"


def summary(captures: CaptureSet, seed: int, games: Sequence[Sequence[Game]], names: Sequence[str]) -> tuple[str, ...]:
    """The session in plain text: a line a question, then a line a player. `games` holds the seats of each match."""
    lines = [f"SparkTrace quiz on {captures.id} ({captures.label}), seed {seed}"]
    for seats in games:
        deal = seats[0].deal
        said = []
        for name, game in zip(names, seats, strict=True):
            outcome = game.outcome.value if game.outcome else game.failure or game.stage.value
            regrets = [f"{r:.2f}x" for step in range(len(game.picks)) if (r := game.regret(step)) is not None]
            regret = f", {' then '.join(regrets)} the best time" if regrets else ""
            said.append(f"{name} {letters(game)}: {outcome}{regret}")
        note = " (seen before: not scored)" if deal.seen else ""
        lines.append(f"  {deal.family}, {deal.evidence}, {deal.order}: {'; '.join(said)}{note}")
    for place, name in enumerate(names):
        score = tally([seats[place] for seats in games])
        lines.append(
            f"{name}: {score.right} of {score.asked} right at the end, {score.first_right} at the first pick"
            + (f", {score.seen} seen before and not scored" if score.seen else "")
        )
    lines.append("By chance: 25% at the first pick, 50% within two different picks.")
    return tuple(lines)


def short_name(name: str) -> str:
    """A player's name for the header: what follows the first colon."""
    return one_line(name.partition(":")[2] or name)[:20]


def steps(game: Game, variant: str) -> tuple[int, ...]:
    """The steps (1, 2) at which a game picked a variant."""
    return tuple(place for place, pick in enumerate(game.picks, 1) if pick.variant == variant)
