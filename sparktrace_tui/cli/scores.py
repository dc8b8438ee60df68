"""`sparktrace scores [LOG...]`: the table of runs, both graders, each with its set and what its key is."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sparktrace_tui.cli.output import emit, table
from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.domain.quiz.question import EVIDENCE
from sparktrace_tui.domain.scoring.counts import Row, noise_note
from sparktrace_tui.runs.frames import score_rows
from sparktrace_tui.store.paths import user_data_dir


def run(arguments: argparse.Namespace) -> int:
    paths = [Path(p).expanduser() for p in arguments.logs] or sorted((user_data_dir() / "runs").glob("*.jsonl"))
    for path in paths:
        if not path.is_file():
            raise CannotReadOrWrite(f"no run log {path}", hint="`sparktrace run` writes one.")
    rows = [row for path in paths for row in score_rows(path)]
    text = rows_text(rows) if rows else "no run has a score yet; `sparktrace run` makes one"
    emit({"scores": [row_to_json(row) for row in rows]}, arguments.format, text, [row_to_json(row) for row in rows])
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
