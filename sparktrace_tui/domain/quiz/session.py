"""Which questions a session asks in which arm: families in a drawn order, arms dealt evenly between them by seed."""

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import CAUSAL_FAMILIES
from sparktrace_tui.domain.quiz.question import ORDERS, Evidence, Order, answer_key
from sparktrace_tui.domain.report.ablation import ablate


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
    families: Collection[str],
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
    asked = _asked(captures, families)
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


def draw_once(
    captures: CaptureSet,
    families: Collection[str],
    *,
    seed: int,
    recorded: Sequence[tuple[str, str]] | None = None,
) -> tuple[Draw, ...]:
    """Each kept family once (of a replay: each pair it recorded once), drawn as in `draw`, in the order of the set."""
    asked = _asked(captures, families)
    count = len(asked) if recorded is None else sum(family in asked for family, _ in recorded)
    draws = draw(captures, families, seed=seed, recorded=recorded)
    return tuple(sorted((d for _, d in zip(range(count), draws, strict=False)), key=lambda d: asked.index(d.family)))


def _asked(captures: CaptureSet, families: Collection[str]) -> list[str]:
    return [name for name in captures.captures if name in families and answer_key(captures, name) is not None]


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
