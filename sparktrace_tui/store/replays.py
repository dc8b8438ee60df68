"""Recorded picks that can be played back: the published ones beside a capture set, and the user's own game logs."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.store.captures import set_folders
from sparktrace_tui.store.games import game_logs, read_game_log

REPLAY_FILE = "replays.toml"


@dataclass(frozen=True)
class Replay:
    """The picks (variants, no letters) of one player on one family under one kind of evidence, bound to its set.

    failure: how the turn after the picks failed, where one did. log: the game log it is from, "" for a published one;
    seat: the place in that log's match.
    """

    player: str
    set_id: str
    family: str
    evidence: str
    picks: tuple[str, ...]
    one_shot: bool = False
    failure: str | None = None
    log: str = ""
    seat: int = 0


def read_replays(folder: Path) -> tuple[Replay, ...]:
    """The replays beside a capture set; none where it has no replays.toml."""
    path = folder / REPLAY_FILE
    if not path.is_file():
        return ()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        return tuple(
            Replay(
                player=str(entry["player"]),
                set_id=folder.name,
                family=str(entry["family"]),
                evidence=str(entry["evidence"]),
                picks=tuple(str(pick) for pick in entry["picks"]),
                one_shot=kind == "one_shot",
            )
            for kind in ("game", "one_shot")
            for entry in values.get(kind, [])
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: not a list of replays ({error!r})") from error


def all_replays(data_dir: Path | None = None) -> tuple[Replay, ...]:
    """Every published replay, set by set, then the finished games of the user's logs. Of those the first times come
    before the games of families seen before, and later ones before earlier ones."""
    published = tuple(replay for folder in set_folders().values() for replay in read_replays(folder))
    games = [
        game
        for path in reversed(game_logs(data_dir))
        for game in reversed(read_game_log(path))
        if game.finished and not game.player.startswith("replay:")
    ]
    games.sort(key=lambda game: game.seen)
    return published + tuple(
        Replay(
            player=game.player,
            set_id=game.set_id,
            family=game.family,
            evidence=game.evidence,
            picks=tuple(pick.variant for pick in game.picks),
            failure=game.failure,
            log=game.log,
            seat=game.seat,
        )
        for game in games
    )


def find_replays(name: str, data_dir: Path | None = None) -> tuple[Replay, ...]:
    """The replays of a player, or of a game log by its id: of its first seat, or of a player there as `ID/PLAYER`.

    UsageError lists the players there are.
    """
    replays = all_replays(data_dir)
    log, _, seated = name.partition("/")
    found = (
        tuple(replay for replay in replays if replay.player == name)
        or tuple(replay for replay in replays if replay.log == name and replay.seat == 0)
        or tuple(replay for replay in replays if log and replay.log == log and replay.player == seated)
    )
    if not found:
        names = ", ".join(sorted({f"replay:{replay.player}" for replay in replays})) or "none"
        raise UsageError(f"no replay {name!r}", hint=f"There are: {names}; the id of a game log works too.")
    return found
