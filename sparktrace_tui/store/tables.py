"""TOML files whose every complaint names the file, the dotted key and the line."""

import re
import tomllib
from pathlib import Path
from typing import Any

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite


class Table:
    """A TOML table that knows its dotted key, so that every complaint can name it."""

    def __init__(self, file: "TomlFile", key: str, values: Any) -> None:
        self.file, self.key = file, key
        if not isinstance(values, dict):
            raise file.error(key, "must be a table")
        self.values: dict[str, Any] = values

    def path(self, name: str) -> str:
        return f"{self.key}.{name}" if self.key else name

    def get(self, name: str, kinds: type | tuple[type, ...], default: Any = ...) -> Any:
        if name not in self.values:
            if default is ...:
                raise self.file.error(self.path(name), "is missing", at=self.key)
            return default
        value = self.values[name]
        if not isinstance(value, kinds) or isinstance(value, bool) != (kinds is bool):
            raise self.file.error(self.path(name), f"has the wrong type ({type(value).__name__})")
        return value

    def choice(self, name: str, choices: tuple[str, ...], default: Any = ...) -> Any:
        value = self.get(name, str, default)
        if value not in choices:
            raise self.file.error(self.path(name), f"is {value!r}; it can be {', '.join(choices)}")
        return value

    def table(self, name: str, default: Any = ...) -> "Table":
        return Table(self.file, self.path(name), self.get(name, dict, default))

    def only(self, *names: str) -> "Table":
        for name in self.values:
            if name not in names:
                raise self.file.error(self.path(name), f"is not a key here; known: {', '.join(names)}")
        return self


class TomlFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise BadInput(f"no {path.name} in {path.parent}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise CannotReadOrWrite(f"cannot read {path}: {error}") from error
        try:
            self.root = Table(self, "", tomllib.loads(self.text))
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"{path}: {error}") from error

    def error(self, key: str, complaint: str, at: str | None = None) -> BadInput:
        return BadInput(f"{self.path}:{self._line(key if at is None else at)}: {key} {complaint}")

    def _line(self, key: str) -> int:
        """The line on which the dotted key (with [n] for table arrays) is written, or of its nearest parent."""
        places = line_numbers(self.text)
        while key:
            if key in places:
                return places[key]
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return 1


_HEADER = re.compile(r"^\s*(\[\[?)\s*([\w.]+)\s*\]")
_KEY = re.compile(r"^\s*([\w.]+)\s*=")


def line_numbers(text: str) -> dict[str, int]:
    """Dotted key -> the 1-based line of its table header or assignment."""
    places: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = ""
            parts = header[2].split(".")
            for depth, part in enumerate(parts, 1):
                table = f"{table}.{part}" if table else part
                if depth == len(parts) and header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                if table in counts:
                    table = f"{table}[{counts[table]}]"
            places.setdefault(table, number)
        elif key := _KEY.match(line):
            places.setdefault(f"{table}.{key[1]}" if table else key[1], number)
    return places
