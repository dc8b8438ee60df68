"""The user's game logs: one JSON-lines file a sitting, one record a step."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.domain.quiz.recorded import RecordedGame, recorded_games
from sparktrace_tui.store.files import append_record, read_records
from sparktrace_tui.store.paths import user_data_dir


class GameLog:
    """Appends the steps of games to one file; `path` does not exist before the first record."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._dealt: int | None = None

    @classmethod
    def new(cls, data_dir: Path | None = None) -> "GameLog":
        """A log of its own for this sitting, named by the moment."""
        folder = games_dir(data_dir)
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%f")
        return cls(folder / f"{stamp}.jsonl")

    def next_game(self) -> int:
        """The number of the next game of this log, from 1: every record of that game carries it as `game`. A log that
        cannot be read counts from 1: writing it is what fails."""
        if self._dealt is None:
            try:
                records = read_records(self.path)[0]
            except CannotReadOrWrite:
                records = []
            self._dealt = sum(record.get("event") == "deal" for record in records)
        self._dealt += 1
        return self._dealt

    def append(self, record: dict[str, Any]) -> None:
        """Write one step, with the time it was written."""
        append_record(self.path, {"when": datetime.now(UTC).isoformat(timespec="milliseconds"), **record})


def games_dir(data_dir: Path | None = None) -> Path:
    return (data_dir or user_data_dir()) / "games"


def game_logs(data_dir: Path | None = None) -> list[Path]:
    """The logs there are, oldest first. A log's id is its name without `.jsonl`."""
    folder = games_dir(data_dir)
    return sorted(folder.glob("*.jsonl")) if folder.is_dir() else []


def read_games(data_dir: Path | None = None) -> list[dict[str, Any]]:
    """Every readable record of every log, oldest file first."""
    return [record for path in game_logs(data_dir) for record in read_records(path)[0]]


def read_game_log(path: Path) -> tuple[RecordedGame, ...]:
    """The games of one log, oldest first. CannotReadOrWrite where the file cannot be read."""
    return recorded_games(read_records(path)[0], path.stem)
