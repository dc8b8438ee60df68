"""What a quiz is to be: its length, evidence, order and rival; the last choice is kept in the user's data folder."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.quiz.question import EVIDENCE, ORDERS, Evidence, Order
from sparktrace_tui.store.files import to_json, write_atomic
from sparktrace_tui.store.paths import user_data_dir

T = TypeVar("T")

LENGTHS: tuple[int | None, ...] = (1, 5, 15, None)
ARMS: tuple[Evidence | None, ...] = (None, "full", "ablated", "source")
BOTH_ORDERS: tuple[Order | None, ...] = (None, *ORDERS)


@dataclass(frozen=True)
class QuizChoices:
    """length: how many questions, None for endless. evidence and order: None to draw them. rival: a player's name.

    resume: whether a question that was left open comes first.
    """

    length: int | None = 5
    evidence: Evidence | None = None
    order: Order | None = None
    rival: str | None = None
    resume: bool = True


def _path(data_dir: Path | None) -> Path:
    return (data_dir or user_data_dir()) / "quiz.json"


def remembered(data_dir: Path | None, otherwise: QuizChoices) -> QuizChoices:
    """The last choice, each part of it that still makes sense; `otherwise` where there is none."""
    try:
        value: Any = json.loads(_path(data_dir).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return otherwise
    if not isinstance(value, dict):
        return otherwise
    found = otherwise
    if value.get("length", 0) in LENGTHS:
        found = replace(found, length=value["length"])
    if value.get("evidence", "") in (None, *EVIDENCE):
        found = replace(found, evidence=value["evidence"])
    if value.get("order", "") in (None, *ORDERS):
        found = replace(found, order=value["order"])
    if isinstance(value.get("rival"), str) or value.get("rival", "") is None:
        found = replace(found, rival=value["rival"])
    return found


def remember(choices: QuizChoices, data_dir: Path | None) -> None:
    """Keep a choice for the next time; CannotReadOrWrite where that cannot be done."""
    value = {name: getattr(choices, name) for name in ("length", "evidence", "order", "rival")}
    write_atomic(_path(data_dir), to_json(value))


def rivals() -> tuple[str | None, ...]:
    """Nobody, the baselines, and whoever has games on record. A model is named by hand."""
    from sparktrace_tui.players.baselines import BASELINES
    from sparktrace_tui.store.replays import all_replays

    names = [f"baseline:{name}" for name in BASELINES]
    try:
        recorded = sorted({f"replay:{replay.player}" for replay in all_replays() if replay.player != "human"})
    except SparkTraceError:
        recorded = []
    return (None, *names, *recorded)


def following(values: Sequence[T], now: T) -> T:
    """The value after `now`, round the end; the first where `now` is none of them."""
    return values[(values.index(now) + 1) % len(values)] if now in values else values[0]
