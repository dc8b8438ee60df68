"""CSV of Nsight Compute as records with the place of every field, whatever stands around or is glued to a
line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Form = Literal["csv-raw", "csv-details", "csv-metrics", "csv-source"]


@dataclass(frozen=True)
class Field:
    """A field's value and where it stands in the text, quotes included."""

    value: str
    start: int
    end: int


@dataclass(frozen=True)
class Record:
    """One record: `start` to `end` is its line (or lines) without the line end; `tail` is what is glued
    behind it.
    """

    fields: tuple[Field, ...]
    start: int
    end: int
    tail: str = ""

    def value(self, index: int | None) -> str:
        """The field at that index; "" where the record is too short or the column is unknown."""
        return self.fields[index].value if index is not None and index < len(self.fields) else ""


@dataclass(frozen=True)
class Line:
    """A line of the file: `role` says what it is; `record` where it was split into fields.

    `header` names columns; `units` is the second row of a raw page; `source` is a line before a source page's
    header (`Kernel Name`, `File Path`); `extra` is a record of a table inside a details page; `text` is none.
    """

    role: Literal["header", "units", "row", "extra", "source", "blank", "text"]
    start: int
    end: int
    record: Record | None = None
    before: str = ""


_HEADER = re.compile(r'"?ID"?(?P<comma>[,;\t])"?Process ID"?[,;\t]')
_SOURCE_HEADER = re.compile(r'"?(?:#|Address|Line No|Line)"?(?P<comma>[,;\t])"?(?:Source|Address)"?[,;\t]')
_SOURCE_BEFORE = re.compile(r'"?(?:Kernel Name|File Path|File Name)"?(?P<comma>[,;\t])')
_ROW_START = re.compile(r'"\d+"[,;\t]"\d+"[,;\t]"')
_MOST_JOINED = 60


def form_of(text: str) -> Form | None:
    """Which CSV this is, from the names in its first header; None where there is none."""
    for line in split(text):
        if line.role == "header" and line.record is not None:
            return header_form([f.value for f in line.record.fields])
    return None


def header_form(names: list[str]) -> Form:
    """The form that these column names belong to."""
    if "Metric Name" in names:
        return "csv-details" if "Rule Name" in names else "csv-metrics"
    return "csv-raw" if "ID" in names[:2] else "csv-source"


def split(text: str) -> Iterator[Line]:
    """Every line of the text, in order; a record whose quoted field spans lines is one line here."""
    comma = ","
    form: Form | None = None
    width = 0
    at = 0
    while at < len(text):
        end = _line_end(text, at)
        body = text[at:end]
        if match := _header(body):
            comma = match["comma"]
            record = _record(text, at + match.start(), end, comma)
            form = header_form([f.value for f in record.fields])
            width = len(record.fields)
            yield Line("header", at, end, record, body[: match.start()])
        elif not body.strip():
            yield Line("blank", at, end)
        elif match := _SOURCE_BEFORE.match(body):
            form = None
            yield Line("source", at, end, _record(text, at, end, match["comma"]))
        elif form is None:
            yield Line("text", at, end)
        else:
            line = _row(text, at, end, comma, form, width)
            end = line.end
            yield line
        at = _next_line(text, end)


def _header(body: str) -> re.Match[str] | None:
    if "Process ID" in body and (match := _HEADER.search(body)):
        return match
    return _SOURCE_HEADER.match(body) if "Source" in body else None


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if end > at and text[end - 1] == "\r" else end


def _next_line(text: str, end: int) -> int:
    if text[end : end + 1] == "\r":
        end += 1
    return end + 1


def _row(text: str, at: int, end: int, comma: str, form: Form, width: int) -> Line:
    body = text[at:end]
    start = at
    if not body.startswith('"') and (match := _ROW_START.search(body)):
        start = at + match.start()
    end = _joined_end(text, start, end, comma)
    record = _record(text, start, end, comma)
    before = text[at:start]
    if form == "csv-source":
        return Line("row" if len(record.fields) > width // 2 else "text", at, end, record, before)
    first = record.value(0)
    if len(record.fields) >= 11 and (first.isdigit() or first == ""):
        return Line("row" if first else "units", at, end, record, before)
    if not body.startswith('"'):
        return Line("text", at, end)
    return Line("extra", at, end, record, before)


def _joined_end(text: str, start: int, end: int, comma: str) -> int:
    """The end of a record whose quoted field goes on over the line's end; this line's own end if none closes
    it.
    """
    if not _open(text[start:end], comma):
        return end
    after = end
    for _ in range(_MOST_JOINED):
        at = _next_line(text, after)
        if at >= len(text) or _ROW_START.match(text, at):
            return end
        after = _line_end(text, at)
        if not _open(text[start:after], comma):
            return after
    return end


def _open(body: str, comma: str) -> bool:
    """Whether a quoted field is still open at the end of this text."""
    if body.count('"') % 2 == 0:
        return False
    record = _record(body, 0, len(body), comma)
    last = record.fields[-1] if record.fields else None
    return last is not None and last.end == len(body) and body[last.start : last.start + 1] == '"' and not record.tail


def _record(text: str, start: int, end: int, comma: str) -> Record:
    fields: list[Field] = []
    at = start
    while at <= end:
        if at < end and text[at] == '"':
            value, at_end = _quoted(text, at, end)
            fields.append(Field(value, at, at_end))
            if at_end < end and text[at_end] != comma:
                return Record(tuple(fields), start, end, text[at_end:end])
        else:
            stop = text.find(comma, at, end)
            at_end = end if stop < 0 else stop
            noise = text.find("==PROF==", at, at_end)
            if noise >= 0:
                fields.append(Field(text[at:noise], at, noise))
                return Record(tuple(fields), start, end, text[noise:end])
            fields.append(Field(text[at:at_end], at, at_end))
        if at_end >= end:
            break
        at = at_end + 1
    return Record(tuple(fields), start, end)


def _quoted(text: str, at: int, end: int) -> tuple[str, int]:
    stop = at + 1
    while True:
        stop = text.find('"', stop, end)
        if stop < 0:
            return text[at + 1 : end].replace('""', '"'), end
        if text[stop + 1 : stop + 2] == '"' and stop + 1 < end:
            stop += 2
            continue
        return text[at + 1 : stop].replace('""', '"'), stop + 1
