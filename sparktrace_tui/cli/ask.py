"""`sparktrace ask FAMILY --player P`: one question, one reply, both grades."""

import argparse
import asyncio
from collections.abc import Mapping
from typing import Any

from sparktrace_tui.cli.common import chosen_sets, family_folders
from sparktrace_tui.cli.output import emit, harmless
from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.domain.quiz.grading import Grade
from sparktrace_tui.domain.quiz.question import answer_key
from sparktrace_tui.players.protocol import Message, Player, Reply
from sparktrace_tui.players.registry import make_player
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.runs.engine import Item, record_of
from sparktrace_tui.runs.grades import grade_record
from sparktrace_tui.runs.match import reply_to_json
from sparktrace_tui.runs.plan import item_for
from sparktrace_tui.runs.questions import build_question
from sparktrace_tui.store.families import read_family


def run(arguments: argparse.Namespace) -> int:
    folders = family_folders(arguments.kernels)
    if arguments.family not in folders:
        raise UsageError(f"no family {arguments.family!r}", hint=f"Families: {', '.join(folders)}.")
    player = make_player(arguments.player)
    if isinstance(player, ReplayPlayer):
        arguments.captures = [player.set_id]
    (capture_set,) = chosen_sets(arguments)[:1]
    family = read_family(folders[arguments.family])
    question = build_question(
        capture_set, family, arguments.evidence, arguments.order, recorded=isinstance(player, ReplayPlayer)
    )
    winner = answer_key(capture_set, family.id)
    if question is None or winner is None:
        raise BadInput(
            f"{family.id} is not a question on {capture_set.id} with {arguments.evidence} evidence",
            hint="`sparktrace families` says which are kept and why.",
        )
    item = item_for(question, capture_set, family, seed=arguments.seed)
    record = record_of(item, asyncio.run(_ask(player, item)))
    reply, grades, key = record.reply, grade_record(record, winner), question.letter_of(winner)
    document = {
        "player": player.name,
        "set": capture_set.id,
        "provenance": capture_set.provenance,
        "family": family.id,
        "evidence": question.evidence,
        "order": question.order,
        "options": dict(question.options),
        "reply": reply_to_json(reply),
        "grades": {name: _grade_json(g) for name, g in grades.items()},
        "key": key,
    }
    emit(document, arguments.format, _text(reply, grades, key), [_row(document)])
    return 1 if reply.stop == "no_turn" else 0


async def _ask(player: Player, item: Item) -> Reply:
    try:
        return await player.reply((Message("user", item.prompt),), item.context)
    finally:
        await player.close()


def _grade_json(found: Grade) -> dict[str, Any]:
    return {
        "outcome": found.outcome,
        "cause": found.cause,
        "letter": found.letter,
        "rule": found.reading.rule,
        "span": found.reading.span,
    }


def _row(document: dict[str, Any]) -> dict[str, Any]:
    keep = ("player", "set", "provenance", "family", "evidence", "order", "key")
    return {name: document[name] for name in keep} | {
        f"{grader}_{what}": found[what]
        for grader, found in document["grades"].items()
        for what in ("letter", "outcome")
    }


def _text(reply: Reply, grades: Mapping[Any, Grade], key: str) -> str:
    lines = [harmless(reply.text)] if reply.text else []
    lines += [f"no turn: {error}" for error in reply.errors if reply.stop == "no_turn"]
    for grader, found in grades.items():
        letter = f" {found.letter}" if found.letter else ""
        why = f" ({found.cause})" if found.cause else ""
        lines.append(f"{grader}:{letter} {found.outcome.replace('_', ' ')}{why}")
    lines.append(f"key: {key}")
    return "\n".join(lines)
