"""`sparktrace play`: the two-step game, headless."""

import argparse
import asyncio
from typing import Any

from sparktrace_tui.cli.common import chosen_sets, family_folders
from sparktrace_tui.cli.output import emit, say, table
from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.domain.kernel.capture import TIME_WORD, CaptureSet
from sparktrace_tui.players.protocol import Player
from sparktrace_tui.players.registry import make_player
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.runs.match import Match
from sparktrace_tui.runs.questions import build_question
from sparktrace_tui.store.captures import find_set, read_set
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.games import GameLog


def run(arguments: argparse.Namespace) -> int:
    if bool(arguments.families) == arguments.all:
        raise UsageError("name families to play, or --all", hint="For example: sparktrace play clamp_smem --player ...")
    players = [make_player(arguments.player)]
    if arguments.rival:
        players.append(make_player(arguments.rival))
    capture_set = _set_for(arguments, players)
    matches = asyncio.run(_play(arguments, capture_set, players))
    transcripts = [match.transcript(seat) for match in matches for seat in range(len(players))]
    document = {
        "set": capture_set.id,
        "provenance": capture_set.provenance,
        "device": capture_set.device.id,
        "seed": arguments.seed,
        "games": transcripts,
    }
    emit(document, arguments.format, _text(capture_set, transcripts), [_row(t) for t in transcripts])
    return 1 if any(t["failure"] == "no_turn" for t in transcripts) else 0


def _set_for(arguments: argparse.Namespace, players: list[Player]) -> CaptureSet:
    """A replay is bound to its own set; another one asked for is a usage error."""
    bound = {player.set_id for player in players if isinstance(player, ReplayPlayer)}
    if not bound:
        sets = chosen_sets(arguments)
        if len(sets) > 1:
            raise UsageError("play uses one capture set; sets are never pooled")
        return sets[0]
    if len(bound) > 1 or any(find_set(name).name not in bound for name in arguments.captures):
        raise UsageError(f"the replay was recorded on {', '.join(sorted(bound))}", hint="Leave --captures out.")
    capture_set = read_set(find_set(bound.pop()))
    say(f"captures: {capture_set.id} ({capture_set.label})")
    return capture_set


async def _play(arguments: argparse.Namespace, capture_set: CaptureSet, players: list[Player]) -> list[Match]:
    folders = family_folders(arguments.kernels)
    for name in arguments.families:
        if name not in folders:
            raise UsageError(f"no family {name!r}", hint=f"Families: {', '.join(folders)}.")
    recorded = any(isinstance(player, ReplayPlayer) for player in players)
    log, matches = GameLog.new(), []
    try:
        for name in arguments.families or [n for n in capture_set.captures if n in folders]:
            family = read_family(folders[name])
            question = build_question(capture_set, family, arguments.evidence, arguments.order, recorded=recorded)
            if question is None:
                if arguments.all:
                    say(f"{name}: not a question on {capture_set.id} with {arguments.evidence} evidence")
                    continue
                raise BadInput(
                    f"{name} is not a question on {capture_set.id} with {arguments.evidence} evidence",
                    hint="`sparktrace families` says which are kept and why.",
                )
            match = Match(question, capture_set, family, [(p.name, p) for p in players], log=log, seed=arguments.seed)
            await asyncio.gather(*(match.play(seat) for seat in range(len(players))))
            matches.append(match)
    finally:
        for player in players:
            await player.close()
    return matches


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
