"""Grades, derived from a log and never written into it: a better grader grades old runs again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.quiz.grading import GRADER_VERSION, GRADERS, Grade, Grader, Reading, grade
from sparktrace_tui.runs.guards import effective_stop, is_prompt_cut
from sparktrace_tui.runs.log import Header, Record, latest, log_hash, read_log
from sparktrace_tui.store.files import to_json, write_atomic

# The guards decide grades too, so they are part of the version by which grades are cached.
VERSION = f"{GRADER_VERSION}.1"


@dataclass(frozen=True)
class Graded:
    """An item with its grade by each grader; `variant` is what the graded letter stands for under the readable one."""

    record: Record
    grades: Mapping[Grader, Grade]

    @property
    def variant(self) -> str | None:
        letter = self.grades["readable"].letter
        return None if letter is None else self.record.options.get(letter)


def grade_record(record: Record, winner: str) -> dict[Grader, Grade]:
    """Both grades of a record. The letter is mapped back by the record's own options before it is compared."""
    reply = record.reply
    if reply.stop == "no_turn":
        return {grader: Grade("no_turn", reply.fault or "no_turn") for grader in GRADERS}
    if is_prompt_cut(record.prompt_chars, reply.usage.input):
        return {grader: Grade("no_turn", "cut_prompt") for grader in GRADERS}
    key = next((letter for letter, variant in record.options.items() if variant == winner), "")
    if reply.variant is not None:
        return {grader: _picked(record, reply.variant, winner) for grader in GRADERS}
    return {grader: grade(reply.text, effective_stop(reply), key, grader) for grader in GRADERS}


def _picked(record: Record, variant: str, winner: str) -> Grade:
    letter = next((letter for letter, name in record.options.items() if name == variant), None)
    if letter is None:
        return Grade("no_letter", "none")
    return Grade("correct" if variant == winner else "wrong", "", Reading("letter", letter, "recorded"))


def grade_log(path: Path, *, cache: bool = True) -> tuple[Header, list[Graded]]:
    """The graded items of a log, from the cache beside it where that fits log and grader, else derived and cached.

    A cache that cannot be read or written costs time only.
    """
    header, records, _ = read_log(path)
    items = list(latest(records).values())
    cached = _read_cache(path) if cache else None
    if cached is not None and len(cached) == len(items):
        return header, [Graded(r, g) for r, g in zip(items, cached, strict=True)]
    graded = [Graded(r, grade_record(r, header.answers.get(r.family, ""))) for r in items]
    if cache:
        _write_cache(path, graded)
    return header, graded


def cache_path(log: Path) -> Path:
    """Where the grades of a log are cached."""
    return log.with_name(log.name + ".grades.json")


def _read_cache(log: Path) -> list[dict[Grader, Grade]] | None:
    try:
        value = json.loads(cache_path(log).read_text(encoding="utf-8"))
        if value["grader"] != VERSION or value["log_sha256"] != log_hash(log):
            return None
        return [{g: _grade_from(entry[g]) for g in GRADERS} for entry in value["grades"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_cache(log: Path, graded: list[Graded]) -> None:
    value = {
        "grader": VERSION,
        "log_sha256": log_hash(log),
        "grades": [{g: _grade_to(item.grades[g]) for g in GRADERS} for item in graded],
    }
    try:
        write_atomic(cache_path(log), to_json(value))
    except SparkTraceError:
        return


def _grade_to(value: Grade) -> dict[str, Any]:
    reading = value.reading
    return {
        "outcome": value.outcome,
        "cause": value.cause,
        "kind": reading.kind,
        "letter": reading.letter,
        "rule": reading.rule,
        "span": reading.span,
        "unclosed": reading.unclosed,
    }


def _grade_from(value: Mapping[str, Any]) -> Grade:
    span = value["span"]
    reading = Reading(
        value["kind"], value["letter"], value["rule"], None if span is None else (span[0], span[1]), value["unclosed"]
    )
    return Grade(value["outcome"], value["cause"], reading)
