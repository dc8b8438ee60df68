"""Recorded picks that can be played back: the published ones beside a capture set, and the user's own game logs."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.store.captures import set_folders

REPLAY_FILE = "replays.toml"


@dataclass(frozen=True)
class Replay:
    """The picks (variants, no letters) of one player on one family under one kind of evidence, bound to its set."""

    player: str
    set_id: str
    family: str
    evidence: str
    picks: tuple[str, ...]
    one_shot: bool = False


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


def all_replays() -> tuple[Replay, ...]:
    """Every bundled and user replay, set by set."""
    return tuple(replay for folder in set_folders().values() for replay in read_replays(folder))


def find_replays(player: str) -> tuple[Replay, ...]:
    """The replays of one player; UsageError lists the names there are."""
    replays = all_replays()
    found = tuple(replay for replay in replays if replay.player == player)
    if not found:
        names = ", ".join(sorted({f"replay:{replay.player}" for replay in replays})) or "none"
        raise UsageError(f"no replay {player!r}", hint=f"There are: {names}.")
    return found
