"""Game logs and run logs as what they say of a reader: rows of games, and the pull of a report's conflict lines."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from sparktrace_tui.domain.errors import CannotReadOrWrite, SparkTraceError
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.domain.quiz.question import EVIDENCE, ORDERS, Question, answer_key
from sparktrace_tui.domain.quiz.recorded import RecordedGame, settled
from sparktrace_tui.domain.scoring.games import GameRow, answers_of, game_rows, groups_of
from sparktrace_tui.domain.scoring.pull import Answer, Pull, conflict_fixes, pull
from sparktrace_tui.runs.grades import Graded, grade_log
from sparktrace_tui.runs.match import deal_from
from sparktrace_tui.store.captures import read_set, set_folders
from sparktrace_tui.store.games import read_game_log

SetById = Callable[[str], CaptureSet | None]


@dataclass(frozen=True)
class PullRow:
    """The pull of one player on one set, over one run or over the player's games; `pull` is None where it cannot be
    told, and `why` says why."""

    player: str
    set_id: str
    provenance: str
    source: Literal["run", "games"]
    pull: Pull | None
    why: str = ""


def is_game_log(path: Path) -> bool:
    """Whether the first readable record of a file is a game's deal. CannotReadOrWrite where it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except json.JSONDecodeError:
                    continue
                return isinstance(record, dict) and record.get("event") == "deal"
    except OSError as error:
        raise CannotReadOrWrite(f"cannot read {path}: {error.strerror or error}") from error
    return False


def sets_by_id(named: Sequence[Path] = ()) -> SetById:
    """Opens capture sets by id, each once: those in the folders named, then the user's and the bundled ones. None for
    one that is not here or cannot be read."""
    folders = {**set_folders(), **{folder.name: folder for folder in named}}
    opened: dict[str, CaptureSet | None] = {}

    def find(set_id: str) -> CaptureSet | None:
        if set_id not in opened:
            try:
                opened[set_id] = read_set(folders[set_id]) if set_id in folders else None
            except SparkTraceError:
                opened[set_id] = None
        return opened[set_id]

    return find


def read_all_games(paths: Iterable[Path], find: SetById) -> list[RecordedGame]:
    """Every game of the logs, oldest first. A game that was killed after its last pick gets its end from its set, where
    that is here and its question still the same."""
    return [_with_end(game, find) for path in paths for game in read_game_log(path)]


def _with_end(game: RecordedGame, find: SetById) -> RecordedGame:
    if not game.finished or game.ended:
        return game
    capture_set = find(game.set_id)
    evidence = next((e for e in EVIDENCE if e == game.evidence), None)
    order = next((o for o in ORDERS if o == game.order), None)
    if capture_set is None or evidence is None or order is None:
        return game
    question = Question(game.set_id, capture_set.provenance, game.family, evidence, order, game.options, "")
    try:
        return settled(game, deal_from(question, capture_set, game.seen))
    except (ValueError, KeyError):
        return game


def game_score_rows(games: Sequence[RecordedGame]) -> list[GameRow]:
    """The rows of every player on every set."""
    return [row for group in groups_of(games).values() for row in game_rows(group)]


def game_pulls(
    games: Sequence[RecordedGame], find: SetById, families: Mapping[str, Family], *, seed: int = 0
) -> list[PullRow]:
    """The pull of every player on every set, over games. A game with another winner than the set has now is left
    out."""
    rows = []
    for (player, set_id, provenance), group in groups_of(games).items():
        capture_set = find(set_id)
        winners = {} if capture_set is None else {game.family: answer_key(capture_set, game.family) for game in group}
        same = [game for game in group if game.winner in (None, winners.get(game.family))]
        rows.append(
            replace(
                _pull_row(answers_of(same), capture_set, families, seed=seed),
                player=player,
                set_id=set_id,
                provenance=provenance,
                source="games",
            )
        )
    return rows


def run_pull(path: Path, find: SetById, families: Mapping[str, Family], *, seed: int = 0) -> PullRow:
    """The pull of a run, by the readable grader. A family whose winner in the log is not the set's now is left out."""
    header, graded = grade_log(path)
    capture_set = find(header.set_id)
    same = [
        item
        for item in graded
        if capture_set is not None
        and header.answers.get(item.record.family) == answer_key(capture_set, item.record.family)
    ]
    row = _pull_row(run_answers(header.set_id, same), capture_set, families, seed=seed)
    return replace(row, player=header.player, set_id=header.set_id, provenance=header.provenance)


def run_answers(set_id: str, graded: Iterable[Graded]) -> list[Answer]:
    """The items of a run that had a turn."""
    return [
        Answer(set_id, item.record.family, evidence, item.variant)
        for item in graded
        for evidence in EVIDENCE
        if evidence == item.record.evidence and item.grades["readable"].outcome != "no_turn"
    ]


def _pull_row(
    answers: Sequence[Answer], capture_set: CaptureSet | None, families: Mapping[str, Family], *, seed: int
) -> PullRow:
    blank = PullRow("", "", "", "run", None)
    if capture_set is None:
        return replace(blank, why="its capture set is not here")
    fixes = conflict_fixes(capture_set, families)
    if not fixes:
        return replace(blank, why="no report of the set holds the bank-conflict rule")
    found = pull(answers, fixes, seed=seed)
    return replace(blank, pull=found, why="" if found else "no family whose report holds the bank-conflict rule")
