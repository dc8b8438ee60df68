"""The user's game logs: one JSON-lines file a sitting, one record a step."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sparktrace_tui.store.files import append_record, read_records
from sparktrace_tui.store.paths import user_data_dir


class GameLog:
    """Appends the steps of games to one file; `path` does not exist before the first record."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def new(cls, data_dir: Path | None = None) -> "GameLog":
        """A log of its own for this sitting, named by the moment."""
        folder = games_dir(data_dir)
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%f")
        return cls(folder / f"{stamp}.jsonl")

    def append(self, record: dict[str, Any]) -> None:
        """Write one step, with the time it was written."""
        append_record(self.path, {"when": datetime.now(UTC).isoformat(timespec="milliseconds"), **record})


def games_dir(data_dir: Path | None = None) -> Path:
    return (data_dir or user_data_dir()) / "games"


def read_games(data_dir: Path | None = None) -> list[dict[str, Any]]:
    """Every readable record of every log, oldest file first."""
    folder = games_dir(data_dir)
    if not folder.is_dir():
        return []
    return [record for path in sorted(folder.glob("*.jsonl")) for record in read_records(path)[0]]
