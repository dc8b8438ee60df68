"""What came of games: outcomes, hits within two picks, regret; never pooled over sets, seen families left out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sparktrace_tui.domain.quiz.game import Outcome
from sparktrace_tui.domain.quiz.question import EVIDENCE, Evidence
from sparktrace_tui.domain.quiz.recorded import RecordedGame
from sparktrace_tui.domain.scoring.pull import Answer, Share

Group = tuple[str, str, str]


@dataclass(frozen=True)
class GameRow:
    """One player's finished games on one set under one kind of evidence (None: all of them).

    within_two: how often either pick was the winner, against CHANCE_WITHIN_TWO for two different picks. regret: the
    mean over the known ones, first pick and second. Beside what is counted: games of families seen before, games
    without a turn, and games that were left.
    """

    player: str
    set_id: str
    provenance: str
    evidence: Evidence | None
    outcomes: Mapping[Outcome, int]
    within_two: Share
    regret: tuple[float | None, float | None]
    seen: int
    no_turn: int
    left: int

    @property
    def games(self) -> int:
        """The games that count."""
        return sum(self.outcomes.values())


def groups_of(games: Iterable[RecordedGame]) -> dict[Group, list[RecordedGame]]:
    """Games by player, set and provenance, in the order they came."""
    groups: dict[Group, list[RecordedGame]] = {}
    for game in games:
        groups.setdefault((game.player, game.set_id, game.provenance), []).append(game)
    return groups


def game_rows(games: Sequence[RecordedGame]) -> list[GameRow]:
    """The rows of the games of one group: each kind of evidence that was asked, then all together."""
    asked = [e for e in EVIDENCE if any(game.evidence == e for game in games)]
    rows = [_row(e, [game for game in games if game.evidence == e]) for e in asked]
    return rows if len(asked) == 1 else [*rows, _row(None, games)] if rows else []


def _row(evidence: Evidence | None, games: Sequence[RecordedGame]) -> GameRow:
    scored = [game for game in games if game.scored]
    counted = Counter(game.outcome for game in scored)
    regrets = [[r for game in scored for r in game.regrets[i : i + 1] if r is not None] for i in (0, 1)]
    first, second = (fmean(values) if values else None for values in regrets)
    hits = sum(any(pick.variant == game.winner for pick in game.picks) for game in scored)
    return GameRow(
        player=games[0].player,
        set_id=games[0].set_id,
        provenance=games[0].provenance,
        evidence=evidence,
        outcomes={outcome: counted[outcome] for outcome in Outcome},
        within_two=Share(hits, len(scored)),
        regret=(first, second),
        seen=sum(game.seen and game.outcome is not None for game in games),
        no_turn=sum(game.no_turn for game in games),
        left=sum(not game.finished for game in games),
    )


def answers_of(games: Iterable[RecordedGame]) -> list[Answer]:
    """The finished games as answers for the pull; a turn that did not come back is none."""
    found = []
    for game in games:
        evidence = next((e for e in EVIDENCE if e == game.evidence), None)
        if evidence is None or not game.finished or (game.no_turn and not game.picks):
            continue
        picks = [*(pick.variant for pick in game.picks), None, None]
        found.append(
            Answer(game.set_id, game.family, evidence, picks[0], picks[1], two_step=not game.no_turn, seen=game.seen)
        )
    return found
