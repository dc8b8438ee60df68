"""A quiz session: deals the questions one after another, goes on with one that was left, and knows the score."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.domain.quiz.question import EVIDENCE, ORDERS
from sparktrace_tui.domain.quiz.recorded import RecordedGame
from sparktrace_tui.domain.quiz.session import Draw
from sparktrace_tui.players.protocol import Player
from sparktrace_tui.runs.match import HUMAN, Match
from sparktrace_tui.runs.questions import build_question
from sparktrace_tui.store.games import GameLog, game_logs, read_game_log
from sparktrace_tui.ui.sitting import short_name, summary, tally


class ForgivingLog(GameLog):
    """A game log whose failure is said once and ends no game."""

    def __init__(self, path: Path, on_problem: Callable[[str], None]) -> None:
        super().__init__(path)
        self._on_problem, self._failed = on_problem, False

    def append(self, record: dict[str, Any]) -> None:
        try:
            super().append(record)
        except CannotReadOrWrite as error:
            if not self._failed:
                self._failed = True
                self._on_problem(str(error))


@dataclass(frozen=True)
class LeftOpen:
    """A question of a person that was left before its end: its log, and the game of each seat."""

    path: Path
    seats: tuple[RecordedGame, ...]

    @property
    def family(self) -> str:
        return self.seats[0].family

    @property
    def step(self) -> int:
        """The step that comes next, 1 or 2."""
        return len(self.seats[0].picks) + 1


def left_open(set_id: str, data_dir: Path | None = None) -> LeftOpen | None:
    """The last question that this person was asked on a set, where it is not finished."""
    for path in reversed(game_logs(data_dir)):
        try:
            games = read_game_log(path)
        except CannotReadOrWrite:
            continue
        mine = [game.game for game in games if game.set_id == set_id and game.seat == 0 and game.player == HUMAN]
        if mine:
            seats = tuple(game for game in games if game.game == max(mine))
            return None if seats[0].finished else LeftOpen(path, seats)
    return None


@dataclass
class Session:
    """The questions of one sitting. `draws` says what is asked next; `open` comes before, once; `went_on` says
    whether it could."""

    captures: CaptureSet
    families: Mapping[str, Family]
    draws: Iterator[Draw]
    rival: Player | None = None
    length: int | None = 5
    seed: int = 0
    data_dir: Path | None = None
    open: LeftOpen | None = None
    matches: list[Match] = field(default_factory=list)
    went_on: bool = False

    def begin(self, on_problem: Callable[[str], None]) -> None:
        """Open the log of this sitting; `on_problem` is told once where it cannot be written."""
        self._on_problem = on_problem
        self._log = ForgivingLog(GameLog.new(self.data_dir).path, on_problem)

    def next(self, seen: Collection[str], on_change: Callable[[int], None]) -> Match | None:
        """Deal the next question; None where the session is over. `seen` families are not scored."""
        if self.length is not None and len(self.matches) >= self.length:
            return None
        match = self._left(seen, on_change) or self._drawn(seen, on_change)
        if match is not None:
            self.matches.append(match)
        return match

    def _players(self) -> list[tuple[str, Player | None]]:
        found: list[tuple[str, Player | None]] = [(HUMAN, None)]
        if self.rival is not None:
            found.append((self.rival.name, self.rival))
        return found

    def _left(self, seen: Collection[str], on_change: Callable[[int], None]) -> Match | None:
        """The question that was left, as it stood; None where there is none, or it is no longer the same question."""
        left, self.open = self.open, None
        if left is None or left.family not in self.families:
            return None
        told = left.seats[0]
        asked = [(evidence, order) for evidence in EVIDENCE for order in ORDERS]
        arm = next((arm for arm in asked if arm == (told.evidence, told.order)), None)
        if arm is None:
            return None
        log = ForgivingLog(left.path, self._on_problem)
        try:
            match = self._match(Draw(told.family, *arm), log, seen, on_change, left.seats)
        except ValueError:  # Another rival, or other options.
            return None
        self.went_on = match is not None
        return match

    def _drawn(self, seen: Collection[str], on_change: Callable[[int], None]) -> Match | None:
        for draw in self.draws:
            if (match := self._match(draw, self._log, seen, on_change)) is not None:
                return match
        return None

    def _match(
        self,
        draw: Draw,
        log: GameLog,
        seen: Collection[str],
        on_change: Callable[[int], None],
        resumed: tuple[RecordedGame, ...] = (),
    ) -> Match | None:
        family = self.families[draw.family]
        recorded = self.rival is not None and self.rival.name.startswith("replay:")
        question = build_question(self.captures, family, draw.evidence, draw.order, recorded=recorded)
        if question is None:
            return None
        return Match(
            question,
            self.captures,
            family,
            self._players(),
            log=log,
            seed=self.seed,
            seen=draw.family in seen or any(game.seen for game in resumed),
            on_change=on_change,
            resumed=resumed,
        )

    def score(self) -> str:
        """`you 2, nano 1, streak 2`: right at the end, of the questions that count."""
        mine = tally([match.seats[0].game for match in self.matches])
        said = f"you {mine.right}"
        if self.rival is not None:
            both = [match.seats[1].game for match in self.matches if match.rival_visible]
            said += f", {short_name(self.rival.name)} {tally(both).right}"
        return said + (f", streak {mine.streak}" if mine.streak > 1 else "")

    def abandon(self) -> None:
        """Leave the question that is open; nothing of it is scored."""
        if self.matches:
            match = self.matches[-1]
            for seat, side in enumerate(match.seats):
                if not side.game.over:
                    match.abandon(seat)

    def summary_lines(self) -> list[str]:
        """The session so far, [] where nothing was asked."""
        if not self.matches:
            return []
        names = ["you"] + ([self.rival.name] if self.rival else [])
        games = [[seat.game for seat in match.seats] for match in self.matches]
        return list(summary(self.captures, self.seed, games, names))
