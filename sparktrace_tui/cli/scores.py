"""`sparktrace scores [LOG...]`: the tables of runs and of games, each with its set and what its key is."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sparktrace_tui.cli.common import family_folders, read_all
from sparktrace_tui.cli.output import emit, say, table
from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.domain.quiz.game import CHANCE_WITHIN_TWO, Outcome
from sparktrace_tui.domain.quiz.question import EVIDENCE
from sparktrace_tui.domain.scoring.counts import Row, noise_note
from sparktrace_tui.domain.scoring.games import GameRow
from sparktrace_tui.domain.scoring.statistics import Interval
from sparktrace_tui.runs.frames import score_rows
from sparktrace_tui.runs.games import (
    PullRow,
    game_pulls,
    game_score_rows,
    is_game_log,
    read_all_games,
    run_pull,
    sets_by_id,
)
from sparktrace_tui.store.captures import find_set
from sparktrace_tui.store.games import game_logs
from sparktrace_tui.store.paths import user_data_dir

CHANCE = (
    f"By chance: {CHANCE_WITHIN_TWO:.0%} within two different picks, {CHANCE_WITHIN_TWO / 2:.0%} where both are one."
)


def run(arguments: argparse.Namespace) -> int:
    paths = [Path(p).expanduser() for p in arguments.logs]
    for path in paths:
        if not path.is_file():
            raise CannotReadOrWrite(f"no run or game log {path}", hint="`sparktrace run` and `play` write them.")
    if not paths:
        paths = [*sorted((user_data_dir() / "runs").glob("*.jsonl")), *game_logs()]
    played = [path for path in paths if is_game_log(path)]
    runs = [path for path in paths if path not in played]
    find = sets_by_id([find_set(name) for name in arguments.captures])
    families = read_all(family_folders(arguments.kernels)) if paths else {}
    rows = [row for path in runs for row in score_rows(path)]
    games = read_all_games(played, find)
    game_table = game_score_rows(games)
    pulls = [run_pull(path, find, families, seed=arguments.seed) for path in runs]
    pulls += game_pulls(games, find, families, seed=arguments.seed)
    document: dict[str, Any] = {
        "scores": [row_to_json(row) for row in rows],
        "games": [game_row_to_json(row) for row in game_table],
        "pull": [pull_to_json(row) for row in pulls],
        "chance_within_two": CHANCE_WITHIN_TWO,
    }
    if arguments.format == "csv" and rows and game_table:
        say("CSV holds the runs alone; name game logs to have theirs")
    parts = [rows_text(rows)] if rows else []
    parts += [games_text(game_table)] if game_table else []
    parts += [pulls_text(pulls)] if any(row.pull for row in pulls) else []
    text = "\n\n".join(parts) or "nothing has a score yet; `sparktrace run` and `sparktrace play` make one"
    emit(document, arguments.format, text, document["scores"] or document["games"])
    return 0


def row_to_json(row: Row) -> dict[str, Any]:
    """One row with its cells, failures apart, and the effect of the report with its noise."""
    document: dict[str, Any] = {
        "player": row.player,
        "set": row.set_id,
        "provenance": row.provenance,
        "grader": row.grader,
    }
    for evidence in EVIDENCE:
        cell = row.cells[evidence]
        document[evidence] = cell.text
        document[f"{evidence}_no_letter"] = cell.failures
        document[f"{evidence}_no_turn"] = cell.no_turn
    document["total"] = row.total.text if row.total else None
    document["full_minus_source"] = row.full_minus_source
    effect = row.effect("source", "full")
    document["full_minus_source_p"] = round(effect.p, 6) if effect else None
    return document


def rows_text(rows: Sequence[Row]) -> str:
    """The table for people: cells, total, the last column full minus source, and what the difference is worth."""
    lines = []
    for row in rows:
        cells = [row.cells[e].text for e in EVIDENCE]
        failures = row.whole.failures
        total = row.total.text if row.total else "n/a"
        difference = "n/a" if row.full_minus_source is None else f"{row.full_minus_source:+d}"
        where = f"{row.set_id} ({row.provenance})"
        lines.append((row.player, where, row.grader, *cells, total, failures, row.whole.no_turn, difference))
    headers = ("player", "set", "grader", *EVIDENCE, "total", "no letter", "no turn", "full - source")
    text = table(headers, lines, right=(3, 4, 5, 6, 7, 8, 9))
    notes = [
        f"{row.player} on {row.set_id}, {row.grader}, full against source: {noise_note(effect)}"
        for row in rows
        if (effect := row.effect("source", "full")) is not None
    ]
    return "\n".join([text, *([""] if notes else []), *notes])


def game_row_to_json(row: GameRow) -> dict[str, Any]:
    """One row of games; evidence `all` is every kind together."""
    first, second = row.regret
    interval = _interval(row.within_two.interval)
    return {
        "player": row.player,
        "set": row.set_id,
        "provenance": row.provenance,
        "evidence": row.evidence or "all",
        "games": row.games,
        **{outcome.value.replace(" ", "_"): count for outcome, count in row.outcomes.items()},
        "within_two": row.within_two.hits,
        "within_two_low": interval and interval[0],
        "within_two_high": interval and interval[1],
        "mean_regret_first": None if first is None else round(first, 6),
        "mean_regret_second": None if second is None else round(second, 6),
        "seen": row.seen,
        "no_turn": row.no_turn,
        "left": row.left,
    }


_SHORT = {
    Outcome.HELD_RIGHT: "held right",
    Outcome.SWITCHED_TO_RIGHT: "to right",
    Outcome.HELD_WRONG: "held wrong",
    Outcome.SWITCHED_FROM_RIGHT: "from right",
    Outcome.SWITCHED_WRONG: "wrong to wrong",
    Outcome.NO_LETTER: "no letter",
}


def games_text(rows: Sequence[GameRow]) -> str:
    """The table of games, with what chance gives."""
    lines = []
    for row in rows:
        first, second = (None if r is None else f"{r:.2f}x" for r in row.regret)
        counts = [row.outcomes[outcome] for outcome in _SHORT]
        where = f"{row.set_id} ({row.provenance})"
        lines.append((row.player, where, row.evidence or "all", row.games, *counts, row.within_two.text, first, second,
                      row.seen, row.no_turn, row.left))  # fmt: skip
    headers = ("games of", "set", "evidence", "games", *_SHORT.values(), "within two", "mean regret", "at second",
               "seen", "no turn", "left")  # fmt: skip
    return f"{table(headers, lines, right=tuple(range(3, len(headers))))}\n\n{CHANCE}"


def pull_to_json(row: PullRow) -> dict[str, Any]:
    """One pull with its counts and both intervals; None is not known, and `why` says why."""
    document: dict[str, Any] = {
        "player": row.player,
        "set": row.set_id,
        "provenance": row.provenance,
        "of": row.source,
        "pull": None,
        "why": row.why,
    }
    if row.pull is None:
        return document
    value = row.pull.value
    return {
        **document,
        "pull": None if value is None else round(value, 6),
        "by_families": _interval(row.pull.by_families),
        "by_answers": _interval(row.pull.by_answers),
        "families": list(row.pull.families),
        "picks": {e: {"hits": s.hits, "asked": s.asked} for e, s in row.pull.picks.items()},
        "kept": {e: {"hits": s.hits, "asked": s.asked} for e, s in row.pull.kept.items()},
    }


def pulls_text(rows: Sequence[PullRow]) -> str:
    """The pulls that are known: shares by evidence, the difference in points, and how sure it is."""
    lines = []
    for row in rows:
        if row.pull is None:
            continue
        value = row.pull.value
        shares = [row.pull.picks[e].text for e in EVIDENCE]
        lines.append((row.player, f"{row.set_id} ({row.provenance})", row.source, *shares,
                      None if value is None else f"{100 * value:+.0f}", _points(row.pull.by_families),
                      _points(row.pull.by_answers), row.pull.kept["full"].text, len(row.pull.families)))  # fmt: skip
    headers = ("pull of", "set", "of", *EVIDENCE, "pull", "by families", "by answers", "kept in full", "families")
    note = (
        "Pull: picks of the rewrite that only removes the conflicts, full minus ablated, in points, over the families "
        "whose report names them; 95% intervals."
    )
    return f"{table(headers, lines, right=tuple(range(3, len(headers))))}\n\n{note}"


def _points(interval: Interval | None) -> str | None:
    return None if interval is None else f"{100 * interval.low:+.0f} to {100 * interval.high:+.0f}"


def _interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [round(interval.low, 6), round(interval.high, 6)]
