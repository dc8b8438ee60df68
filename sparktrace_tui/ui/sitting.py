"""A quiz's session: which questions are asked in which arm, and what came of them. No screen in here."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import CAUSAL_FAMILIES, Family
from sparktrace_tui.domain.quiz.game import Game, Outcome, Stage
from sparktrace_tui.domain.quiz.question import ORDERS, Evidence, Order, answer_key
from sparktrace_tui.domain.report.ablation import ablate
from sparktrace_tui.ui.text import one_line

RIGHT = (Outcome.HELD_RIGHT, Outcome.SWITCHED_TO_RIGHT)


@dataclass(frozen=True)
class Draw:
    """One question to ask: the family, the arm, and the option order."""

    family: str
    evidence: Evidence
    order: Order


def arms(captures: CaptureSet, family: str) -> tuple[Evidence, ...]:
    """The kinds of evidence this set can show of a family: `ablated` only where there is something to take out."""
    report = captures.captures[family].report
    if report is None:
        return ("source",)
    return ("source", "full") if ablate(report, "names").identical else ("source", "full", "ablated")


def draw(
    captures: CaptureSet,
    families: Mapping[str, Family],
    *,
    seed: int,
    evidence: Evidence | None = None,
    seen: Sequence[str] = (),
    recorded: Sequence[tuple[str, str]] | None = None,
    only: str | None = None,
) -> Iterator[Draw]:
    """Questions without end: families not seen first, each round in a new order.

    The arms are dealt between families from decks, so that they stay balanced: one deck for the families whose
    conflicts can be causal, one for the others. recorded: the (family, evidence) pairs that a replay can answer;
    then only those are drawn. only: a family that comes first.
    """
    rng = random.Random(f"quiz:{seed}")
    asked = [name for name in captures.captures if name in families and answer_key(captures, name) is not None]
    decks: dict[bool, list[Evidence]] = {True: [], False: []}
    pairs = [(f, e) for f, e in recorded or () if f in asked]
    if not asked or (recorded is not None and not pairs):
        return
    first_round = True
    while True:
        names = sorted(asked)
        rng.shuffle(names)
        if first_round:
            names.sort(key=lambda name: (name != only, name in seen))
        first_round = False
        if recorded is not None:
            round_pairs = [p for p in pairs if evidence is None or p[1] == evidence]
            if not round_pairs:
                return
            rng.shuffle(round_pairs)
            round_pairs.sort(key=lambda pair: pair[0] != only)
            for family, arm in round_pairs:
                yield Draw(family, _evidence(arm), rng.choice(ORDERS))
            continue
        before = len(names)
        for family in names:
            possible = arms(captures, family)
            if evidence is not None and evidence not in possible:
                before -= 1
                continue
            chosen = evidence or _deal(decks[family in CAUSAL_FAMILIES], possible, rng)
            yield Draw(family, chosen, rng.choice(ORDERS))
        if before == 0:
            return


def _evidence(name: str) -> Evidence:
    match name:
        case "source" | "full" | "ablated":
            return name
        case _:
            raise ValueError(f"{name!r} is no kind of evidence")


def _deal(deck: list[Evidence], possible: tuple[Evidence, ...], rng: random.Random) -> Evidence:
    """The next card of the deck that the family can have; an empty deck is shuffled anew."""
    for place, card in enumerate(deck):
        if card in possible:
            return deck.pop(place)
    fresh = list(possible)
    rng.shuffle(fresh)
    deck += fresh
    return deck.pop(len(deck) - len(fresh))


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
