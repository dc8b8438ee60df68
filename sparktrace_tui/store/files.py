"""Files that survive a kill: whole files replaced by rename, and logs that lose at most their last record."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparktrace_tui.domain.errors import CannotReadOrWrite


def write_atomic(path: Path, data: str | bytes) -> None:
    """Write `data` to `path` through a temporary file, fsync and rename; CannotReadOrWrite if the disk says no."""
    content = data.encode("utf-8") if isinstance(data, str) else data
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CannotReadOrWrite(
            f"cannot write {path}: {error.strerror or error}",
            hint="Choose a folder that can be written, or make room on the disk.",
        ) from error


def to_json(value: Any) -> str:
    """Deterministic JSON for files: keys as given, two spaces, no NaN, a final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Append one JSON record as a line and fsync it; a torn last line of an earlier kill is closed first."""
    line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            if file.tell() and _last_byte(file) != b"\n":
                file.write(b"\n")
            file.write(line.encode("utf-8", "backslashreplace"))  # a lone surrogate, as JSON escapes it
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CannotReadOrWrite(f"cannot write {path}: {error.strerror or error}") from error


def _last_byte(file: Any) -> bytes:
    file.seek(-1, os.SEEK_END)
    last: bytes = file.read(1)
    return last


def read_records(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The records of a log and how many lines could not be read (a torn record of a kill)."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise CannotReadOrWrite(f"cannot read {path}: {error.strerror or error}") from error
    records, torn = [], 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            torn += 1
            continue
        if isinstance(record, dict):
            records.append(record)
        else:
            torn += 1
    return records, torn
