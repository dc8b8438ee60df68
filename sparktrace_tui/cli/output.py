"""How commands speak: one document on stdout in the format asked for, everything else on stderr."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from sparktrace_tui.export.tables import to_csv

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def harmless(text: str) -> str:
    """Text from outside with control characters made visible, so that it cannot speak to the terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def say(text: str) -> None:
    """A message or progress line, on stderr."""
    print(harmless(text), file=sys.stderr, flush=True)


class Steps:
    """Progress on stderr: one line that is rewritten where there is a terminal, one line a step elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._last = ""

    def __call__(self, what: str, doing: str) -> None:
        line = harmless(f"{what}: {doing}")
        if line == self._last:
            return
        self._last = line
        print(
            f"\r\x1b[2K{line[:100]}" if self._live else line,
            end="" if self._live else "\n",
            file=sys.stderr,
            flush=True,
        )

    def done(self) -> None:
        """Leave the line free for what comes next."""
        if self._live and self._last:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
        self._last = ""


def emit(document: Any, chosen: str, text: str, rows: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Print the document: JSON as it is, CSV from `rows`, text as given."""
    match chosen:
        case "json":
            print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
        case "csv":
            print(to_csv(rows or []), end="")
        case _:
            print(text)


def table(headers: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[int] = ()) -> str:
    """A plain text table, columns as wide as they need to be; `right` are the columns to align right."""
    cells = [[str(h) for h in headers], *([harmless(_cell(c)) for c in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    lines = []
    for row in cells:
        parts = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(parts).rstrip())
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)


def _cell(value: Any) -> str:
    match value:
        case None:
            return "n/a"
        case float():
            return f"{value:.4g}"
        case _:
            return str(value)
