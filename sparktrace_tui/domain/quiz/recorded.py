"""Games as their log tells them: records of steps in, one game a seat out, and a game to be played on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sparktrace_tui.domain.quiz.game import UNSCORED_FAILURES, Deal, Game, Outcome, Pick, outcome_of


@dataclass(frozen=True)
class RecordedGame:
    """One seat's game. `game` counts the games of its log from 1.

    winner and regrets (chosen time over best time, a pick each, None where unknown) are known once the end is
    recorded. replies: the records of what a player of ours answered, oldest first.
    """

    log: str
    game: int
    seat: int
    player: str
    set_id: str
    provenance: str
    family: str
    evidence: str
    order: str
    options: Mapping[str, str]
    seen: bool = False
    seed: int = 0
    picks: tuple[Pick, ...] = ()
    failure: str | None = None
    abandoned: bool = False
    winner: str | None = None
    regrets: tuple[float | None, ...] = ()
    replies: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    @property
    def finished(self) -> bool:
        """Two picks, or a failure: nothing is left to play. An abandoned game is not finished."""
        return self.failure is not None or len(self.picks) == 2

    @property
    def ended(self) -> bool:
        """Finished, with its end on record."""
        return self.finished and self.winner is not None

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None where it has not, or where a turn did not come back."""
        if not self.finished or self.winner is None:
            return None
        return outcome_of([pick.variant for pick in self.picks], self.winner, self.failure)

    @property
    def scored(self) -> bool:
        """Whether it counts: it has an outcome, and its family had not been revealed to this person before."""
        return self.outcome is not None and not self.seen

    @property
    def no_turn(self) -> bool:
        """Whether it ended without a turn of the player's."""
        return self.failure in UNSCORED_FAILURES


def recorded_games(records: Iterable[Mapping[str, Any]], log: str = "") -> tuple[RecordedGame, ...]:
    """The games of one log, oldest first, seat by seat; a record that makes no sense where it stands is left out.

    A record belongs to the game its `game` names, in older logs to the last one dealt.
    """
    found: dict[tuple[int, int], RecordedGame] = {}
    last = 0
    for record in records:
        try:
            number = int(record.get("game", last + (record["event"] == "deal")))
            if record["event"] == "deal":
                last = number
                dealt = [_dealt(record, log, number, seat) for seat in range(len(record["players"]))]
                found.update({(number, seat): game for seat, game in enumerate(dealt)})
            elif record["event"] == "resume":
                for key in [key for key in found if key[0] == number]:
                    found[key] = replace(
                        found[key], abandoned=False, seen=found[key].seen or bool(record.get("seen", False))
                    )
            else:
                key = (number, int(record["seat"]))
                found[key] = _stepped(found[key], record)
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return tuple(found.values())


def _dealt(record: Mapping[str, Any], log: str, number: int, seat: int) -> RecordedGame:
    return RecordedGame(
        log=log,
        game=number,
        seat=seat,
        player=str(record["players"][seat]),
        set_id=str(record["set"]),
        provenance=str(record["provenance"]),
        family=str(record["family"]),
        evidence=str(record["evidence"]),
        order=str(record["order"]),
        options={str(letter): str(variant) for letter, variant in record["options"].items()},
        seen=bool(record.get("seen", False)),
        seed=int(record.get("seed", 0)),
    )


def _stepped(game: RecordedGame, record: Mapping[str, Any]) -> RecordedGame:
    """The game after one more record; the same where the record cannot follow."""
    match record["event"]:
        case "pick" if not game.finished and record["step"] == len(game.picks):
            variant = str(record["variant"])
            if variant not in game.options.values():
                return game
            seconds = record.get("seconds")
            return replace(game, picks=(*game.picks, Pick(variant, None if seconds is None else float(seconds))))
        case "fail" if not game.finished and record["step"] == len(game.picks):
            return replace(game, failure=str(record["kind"]))
        case "reply" if not game.finished:
            return replace(game, replies=(*game.replies, dict(record)))
        case "abandon" if not game.finished:
            return replace(game, abandoned=True)
        case "end" if game.finished and record.get("winner") is not None:
            regrets = tuple(None if value is None else float(value) for value in record["regret"])
            return replace(game, winner=str(record["winner"]), regrets=regrets)
        case _:
            return game


def open_matches(games: Iterable[RecordedGame]) -> tuple[tuple[RecordedGame, ...], ...]:
    """The matches that can be played on, all their seats together, in the order of `games`: those in which the first
    seat has a pick to make yet."""
    matches: dict[tuple[str, int], list[RecordedGame]] = {}
    for game in games:
        matches.setdefault((game.log, game.game), []).append(game)
    return tuple(tuple(seats) for seats in matches.values() if not seats[0].finished)


def rebuild(deal: Deal, recorded: RecordedGame) -> Game:
    """The game as it stood after its last recorded step, open again where it was abandoned.

    ValueError where the deal is of another question than the recorded game.
    """
    for name in ("set_id", "family", "evidence", "order"):
        if getattr(deal, name) != getattr(recorded, name):
            raise ValueError(f"{name} is {getattr(recorded, name)!r} in the log and {getattr(deal, name)!r} here")
    if dict(deal.options) != dict(recorded.options):
        raise ValueError(f"the options of {deal.family} are no longer those of the log")
    letters = {variant: letter for letter, variant in deal.options.items()}
    game = Game(deal)
    for pick in recorded.picks:
        game = game.choose(letters[pick.variant]).confirm(pick.seconds)
    return game if recorded.failure is None else game.fail(recorded.failure)


def settled(recorded: RecordedGame, deal: Deal) -> RecordedGame:
    """A finished game whose end was not recorded (a kill just before), with what the deal knows of it."""
    if not recorded.finished or recorded.winner is not None:
        return recorded
    game = rebuild(deal, recorded)
    return replace(recorded, winner=deal.winner, regrets=tuple(game.regret(i) for i in range(len(game.picks))))
