"""A run's log: a header, then one fsynced record a reply; whatever is derived is derived from here."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite
from sparktrace_tui.players.protocol import Reply, Usage
from sparktrace_tui.players.secrets import scrubber
from sparktrace_tui.store.files import write_atomic
from sparktrace_tui.store.lock import FileLock

FORMAT = 1
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Header:
    """What a run is. `answers` maps each family to its winning variant, so that a log can be graded by itself;
    `settings` is the player's own description; keys of providers are nowhere."""

    player: str
    set_id: str
    provenance: str
    tasks: tuple[str, ...]
    answers: Mapping[str, str]
    version: str
    settings: Mapping[str, str | int | float | None] = field(default_factory=dict)
    samples: int = 1
    seed: int = 0
    prompt_manifest: str | None = None
    device: str = ""
    created: str = ""


@dataclass(frozen=True)
class Record:
    """One item and what came back. `options` maps its letters to variants; `prompt_sha256` and `prompt_chars` are of
    the whole prompt."""

    task: str
    family: str
    sample: int
    evidence: str
    order: str
    options: Mapping[str, str]
    prompt_sha256: str
    prompt_chars: int
    reply: Reply
    when: str = ""

    @property
    def key(self) -> Key:
        return self.task, self.family, self.sample


@dataclass(frozen=True)
class Recovery:
    """What opening a log found: bytes of a torn last line that were cut off, and lines that cannot be read."""

    torn_bytes: int = 0
    unreadable_lines: int = 0

    @property
    def message(self) -> str:
        """What to tell the user; "" where all was well."""
        parts = []
        if self.torn_bytes:
            parts.append(
                f"the last record was torn by a kill: {self.torn_bytes} bytes of it were removed, "
                "and its item is asked again"
            )
        if self.unreadable_lines:
            parts.append(f"{self.unreadable_lines} lines in the middle cannot be read and are left out")
        return "; ".join(parts)


class RunLog:
    """An open log, held by this process alone. Use as a context manager."""

    def __init__(
        self, path: Path, header: Header, records: dict[Key, Record], recovery: Recovery, lock: FileLock, file: BinaryIO
    ) -> None:
        self.path = path
        self.header = header
        self.recovery = recovery
        self._records = records
        self._lock = lock
        self._file = file

    @classmethod
    def open(cls, path: Path, header: Header) -> "RunLog":
        """Open a log to append: made with `header` where there is none, else resumed.

        Raises CannotReadOrWrite where another process has it, BadInput where it holds another run.
        """
        lock = FileLock(path)
        lock.acquire()
        try:
            recovery = Recovery()
            records: dict[Key, Record] = {}
            if path.exists() and path.stat().st_size:
                torn = _cut_torn_line(path)
                found, old, unreadable = read_log(path)
                _check_same(path, found, header)
                header, records, recovery = found, {r.key: r for r in old}, Recovery(torn, unreadable)
            else:
                header = _stamped(header)
                write_atomic(path, _line({"kind": "header", "format": FORMAT, **asdict(header)}))
            return cls(path, header, records, recovery, lock, path.open("ab"))
        except OSError as error:
            lock.release()
            raise CannotReadOrWrite(f"cannot write {path}: {error.strerror or error}") from error
        except BaseException:
            lock.release()
            raise

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def records(self) -> tuple[Record, ...]:
        """The last record of each item, in the order the items first came."""
        return tuple(self._records.values())

    def settled(self, *, retry_failed: bool = False) -> frozenset[Key]:
        """The items that need no asking: those with a reply, and those without one that asking again is not expected to
        help (none of these with `retry_failed`)."""
        again = {"auth", "quota", "left", "missing"}
        return frozenset(
            key
            for key, record in self._records.items()
            if record.reply.stop != "no_turn" or not (retry_failed or record.reply.fault in again)
        )

    def append(self, *records: Record) -> list[Record]:
        """Write records, one a line, with one fsync for all; what they hold of a key is taken out. Returns them as
        written. Safe in a thread, one call at a time."""
        clean = scrubber()
        written = [
            replace(_stamped_record(record), reply=reply_without_keys(record.reply, clean)) for record in records
        ]
        lines = "".join(_line({"kind": "reply", **record_to_json(record)}) for record in written)
        try:
            self._file.write(lines.encode("utf-8", "backslashreplace"))  # a lone surrogate, as JSON escapes it
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise CannotReadOrWrite(
                f"cannot write {self.path}: {error.strerror or error}", hint="What was written before is kept."
            ) from error
        self._records.update({record.key: record for record in written})
        return written

    def close(self) -> None:
        """Let another process have it."""
        self._file.close()
        self._lock.release()


def read_log(path: Path) -> tuple[Header, list[Record], int]:
    """The header, every readable record in file order, and the number of lines that cannot be read.

    Raises CannotReadOrWrite, or BadInput where it is no run log of ours.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise CannotReadOrWrite(f"cannot read {path}: {error.strerror or error}") from error
    values = [_parsed(line) for line in lines if line.strip()]
    head = values[0] if values else None
    if not isinstance(head, dict) or head.get("kind") != "header" or head.get("format") != FORMAT:
        raise BadInput(f"{path} is no run log (format {FORMAT})", hint="A run log begins with a header line.")
    records, unreadable = [], 0
    for value in values[1:]:
        try:
            if not isinstance(value, dict):
                raise TypeError("no record")
            records.append(record_from_json(value))
        except (KeyError, TypeError, ValueError, AttributeError):
            unreadable += 1
    return header_from_json(path, head), records, unreadable


def latest(records: Iterable[Record]) -> dict[Key, Record]:
    """The last record of each item: one that was asked again replaces the one before."""
    return {record.key: record for record in records}


def log_hash(path: Path) -> str:
    """SHA-256 of a log's bytes, by which what is derived from it is cached."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record_to_json(record: Record) -> dict[str, Any]:
    """A record as it stands in the log."""
    reply = {**vars(record.reply), "usage": vars(record.reply.usage)}
    return {**vars(record), "options": dict(record.options), "reply": reply}


def record_from_json(value: Mapping[str, Any]) -> Record:
    """A record from its line; KeyError, TypeError or ValueError where it is none."""
    reply = dict(value["reply"])
    usage = reply.pop("usage")
    for name in ("errors", "not_sent"):
        reply[name] = tuple(reply.get(name, ()))
    known = {name for name in Reply.__dataclass_fields__ if name in reply}
    return Record(
        task=str(value["task"]),
        family=str(value["family"]),
        sample=int(value["sample"]),
        evidence=str(value["evidence"]),
        order=str(value["order"]),
        options={str(k): str(v) for k, v in value["options"].items()},
        prompt_sha256=str(value["prompt_sha256"]),
        prompt_chars=int(value["prompt_chars"]),
        reply=Reply(usage=Usage(**usage), **{name: reply[name] for name in known}),
        when=str(value.get("when", "")),
    )


def header_from_json(path: Path, value: Mapping[str, Any]) -> Header:
    """The header from its line; BadInput where a field is missing."""
    try:
        fields = {name: value[name] for name in Header.__dataclass_fields__}
        return Header(**{**fields, "tasks": tuple(fields["tasks"])})
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path}: the header lacks {error}", hint="The log is of another version.") from error


def prompt_hash(prompt: str) -> str:
    """SHA-256 of a prompt's UTF-8 bytes."""
    return hashlib.sha256(prompt.encode("utf-8")).hexdigest()


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\u2028", "\\u2028") + "\n"


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        return None


def _cut_torn_line(path: Path) -> int:
    """Cut a last line off that does not end, and say how many bytes it had; a whole one only gets its end."""
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    torn = data[end:]
    if not torn:
        return 0
    if isinstance(_parsed(torn), dict):
        with path.open("ab") as file:
            file.write(b"\n")
        return 0
    with path.open("rb+") as file:
        file.truncate(end)
        file.flush()
        os.fsync(file.fileno())
    return len(torn)


def _check_same(path: Path, found: Header, wanted: Header) -> None:
    """A log is resumed only by the run it holds: same player, set, prompts, seed and key."""
    for name in ("player", "set_id", "prompt_manifest", "seed", "answers", "settings"):
        old, new = getattr(found, name), getattr(wanted, name)
        if name == "settings":
            old, new = ({k: v for k, v in side.items() if k not in PACE} for side in (old, new))
        if old != new:
            said = (
                f"{name} is {old!r} there and {new!r} here" if name != "answers" else "its key differs from the set's"
            )
            raise BadInput(f"{path} holds another run: {said}", hint="Name another file with --out.")


def reply_without_keys(reply: Reply, clean: Callable[[str], str]) -> Reply:
    """The reply with every key taken out of what came from outside, as where a server repeats the one it got."""
    return replace(
        reply,
        text=clean(reply.text),
        reasoning=clean(reply.reasoning),
        errors=tuple(map(clean, reply.errors)),
        model=None if reply.model is None else clean(reply.model),
        request_id=None if reply.request_id is None else clean(reply.request_id),
        stop_detail=clean(reply.stop_detail),
    )


# Settings that change how fast a run goes and not what is answered.
PACE = ("concurrency", "per_minute", "tries", "timeout_s")


def _stamped(header: Header) -> Header:
    return header if header.created else replace(header, created=_now())


def _stamped_record(record: Record) -> Record:
    return record if record.when else replace(record, when=_now())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
