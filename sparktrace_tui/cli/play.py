"""`sparktrace play`: the two-step game, headless."""

import argparse
import asyncio
from dataclasses import replace
from typing import Any

from sparktrace_tui.cli.common import chosen_sets, family_folders
from sparktrace_tui.cli.output import emit, say, table
from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.domain.kernel.capture import TIME_WORD, CaptureSet
from sparktrace_tui.domain.quiz.game import CHANCE_WITHIN_TWO, UNSCORED_FAILURES
from sparktrace_tui.domain.quiz.session import Draw, draw_once
from sparktrace_tui.players.human import Human
from sparktrace_tui.players.protocol import Player
from sparktrace_tui.players.registry import make_player
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.runs.match import Match
from sparktrace_tui.runs.questions import build_question
from sparktrace_tui.store.captures import find_set, read_set
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.games import GameLog
from sparktrace_tui.store.seen import load_seen, mark_seen


def run(arguments: argparse.Namespace) -> int:
    if bool(arguments.families) == arguments.all:
        raise UsageError("name families to play, or --all", hint="For example: sparktrace play clamp_smem --player ...")
    players = [make_player(arguments.player)]
    if arguments.rival:
        players.append(make_player(arguments.rival))
    capture_set, players = _on_one_set(arguments, players)
    matches = asyncio.run(_play(arguments, capture_set, players))
    transcripts = [match.transcript(seat) for match in matches for seat in range(len(players))]
    document = {
        "set": capture_set.id,
        "provenance": capture_set.provenance,
        "device": capture_set.device.id,
        "seed": arguments.seed,
        "chance_within_two": CHANCE_WITHIN_TWO,
        "games": transcripts,
    }
    emit(document, arguments.format, _text(capture_set, transcripts), [_row(t) for t in transcripts])
    return 1 if any(t["failure"] in UNSCORED_FAILURES for t in transcripts) else 0


def _on_one_set(arguments: argparse.Namespace, players: list[Player]) -> tuple[CaptureSet, list[Player]]:
    """The set to play on. A replay is bound to the sets it was recorded on; another one asked for is a usage error."""
    replays = [player for player in players if isinstance(player, ReplayPlayer)]
    if not replays:
        sets = chosen_sets(arguments)
        if len(sets) > 1:
            raise UsageError("play uses one capture set; sets are never pooled")
        return sets[0], players
    known = list(dict.fromkeys(name for player in replays for name in player.set_ids))
    shared = [name for name in known if all(name in player.set_ids for player in replays)]
    wanted = [_set_id(name) for name in arguments.captures]
    if not shared or any(name not in shared for name in wanted):
        raise UsageError(f"the replay was recorded on {', '.join(known)}", hint="Leave --captures out, or name one.")
    if len(wanted) > 1:
        raise UsageError("play uses one capture set; sets are never pooled")
    chosen = wanted[0] if wanted else replays[0].set_id if replays[0].set_id in shared else shared[0]
    capture_set = read_set(find_set(chosen))
    say(f"captures: {capture_set.id} ({capture_set.label})")
    return capture_set, [p.bound_to(chosen) if isinstance(p, ReplayPlayer) else p for p in players]


def _set_id(name: str) -> str:
    """The id of a set named or given by its folder; an unknown name as it is."""
    try:
        return find_set(name).name
    except UsageError:
        return name


def _draws(
    arguments: argparse.Namespace, capture_set: CaptureSet, names: list[str], players: list[Player]
) -> list[Draw]:
    """What is asked: in the arm and order of the command, or as drawn by the seed. With `--all` a replay is asked only
    what it recorded."""
    replays = [player.recorded for player in players if isinstance(player, ReplayPlayer)]
    pairs: list[tuple[str, str]] | None = None
    if arguments.evidence != "drawn":
        pairs = [(name, arguments.evidence) for name in names]
    elif replays:
        pairs = [pair for pair in replays[0] if pair[0] in names]
    if pairs is not None and arguments.all:
        pairs = [pair for pair in pairs if all(pair in recorded for recorded in replays)]
    if arguments.order != "drawn" and arguments.evidence != "drawn" and pairs is not None:
        return [Draw(name, arguments.evidence, arguments.order) for name, _ in pairs]
    drawn = draw_once(capture_set, names, seed=arguments.seed, recorded=pairs)
    missing = [name for name in names if name not in {d.family for d in drawn}]
    for name in missing:
        _refuse(arguments, capture_set, name, arguments.evidence)
    return [d if arguments.order == "drawn" else replace(d, order=arguments.order) for d in drawn]


async def _play(arguments: argparse.Namespace, capture_set: CaptureSet, players: list[Player]) -> list[Match]:
    folders = family_folders(arguments.kernels)
    for name in arguments.families:
        if name not in folders:
            raise UsageError(f"no family {name!r}", hint=f"Families: {', '.join(folders)}.")
    recorded = any(isinstance(player, ReplayPlayer) for player in players)
    person = any(isinstance(player, Human) for player in players)
    seen = load_seen() if person else {}
    names = list(dict.fromkeys(arguments.families)) or [n for n in capture_set.captures if n in folders]
    log, matches = GameLog.new(), []
    try:
        for asked in _draws(arguments, capture_set, names, players):
            family = read_family(folders[asked.family])
            question = build_question(capture_set, family, asked.evidence, asked.order, recorded=recorded)
            if question is None:
                _refuse(arguments, capture_set, asked.family, asked.evidence)
                continue
            match = Match(
                question,
                capture_set,
                family,
                [(p.name, p) for p in players],
                log=log,
                seed=arguments.seed,
                seen=family.id in seen,
            )
            await asyncio.gather(*(match.play(seat) for seat in range(len(players))))
            matches.append(match)
            if person:
                mark_seen(family.id, capture_set.id)
    finally:
        for player in players:
            await player.close()
    return matches


def _refuse(arguments: argparse.Namespace, capture_set: CaptureSet, name: str, evidence: str) -> None:
    """Say that a family is not asked, and end there where it was named."""
    said = f"{name} is not a question on {capture_set.id} with {evidence} evidence"
    if not arguments.all:
        raise BadInput(said, hint="`sparktrace families` says which are kept and why.")
    say(said)


def _row(transcript: dict[str, Any]) -> dict[str, Any]:
    picks = [*transcript["picks"], None, None]
    first, second = picks[0], picks[1]
    return {
        "player": transcript["player"],
        "set": transcript["set"],
        "provenance": transcript["provenance"],
        "family": transcript["family"],
        "evidence": transcript["evidence"],
        "order": transcript["order"],
        "first": first and first["variant"],
        "first_ms": first and first["time_ms"],
        "second": second and second["variant"],
        "second_ms": second and second["time_ms"],
        "outcome": transcript["outcome"],
        "failure": transcript["failure"],
    }


def _text(capture_set: CaptureSet, transcripts: list[dict[str, Any]]) -> str:
    word = TIME_WORD[capture_set.provenance]
    rows = [
        (r["family"], r["player"], r["evidence"], r["first"], r["first_ms"], r["second"], r["outcome"] or r["failure"])
        for r in map(_row, transcripts)
    ]
    headers = ("family", "player", "evidence", "first pick", f"its ms, {word}", "second pick", "outcome")
    return f"{capture_set.id} ({capture_set.label})\n\n{table(headers, rows, right=(4,))}"
