"""Which families this person has been shown the answer of: they no longer count in a score."""

from datetime import UTC, datetime
from pathlib import Path

from sparktrace_tui.store.files import append_record, read_records
from sparktrace_tui.store.paths import user_data_dir


def _log(data_dir: Path | None) -> Path:
    return (data_dir or user_data_dir()) / "seen.jsonl"


def load_seen(data_dir: Path | None = None) -> dict[str, str]:
    """Family id -> the capture set on which its answer was first revealed."""
    seen: dict[str, str] = {}
    for record in read_records(_log(data_dir))[0]:
        seen.setdefault(str(record.get("family")), str(record.get("set")))
    return seen


def mark_seen(family: str, set_id: str, data_dir: Path | None = None) -> None:
    """Record that the answer of `family` on `set_id` was revealed; doing so twice changes nothing."""
    if family not in load_seen(data_dir):
        when = datetime.now(UTC).isoformat(timespec="seconds")
        append_record(_log(data_dir), {"family": family, "set": set_id, "when": when})
