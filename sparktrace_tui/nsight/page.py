"""The structure of a text page of Nsight Compute: which lines are a kernel, a section, a row, a rule.

Both the reader and the ablation of raw text work from these items; each knows its lines, so that whatever
is not touched stays byte for byte.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "process", "kernel", "section", "heading", "table", "description", "columns", "row", "end", "rule", "detail",
    "separator", "noise", "blank", "other",
]  # fmt: skip


@dataclass(frozen=True)
class Item:
    """Lines `first` to `last` (0-based, inclusive) and what they are.

    `cells`: the columns' titles, a row's cells, a rule's (severity, text), a detail's (metric, value, info).
    `inside`: what a table belongs to, a `rule` or a `section`.
    """

    kind: Kind
    first: int
    last: int
    text: str = ""
    cells: tuple[str, ...] = ()
    inside: Literal["section", "rule", ""] = ""


NOISE = re.compile(r"==(?:PROF|WARNING|ERROR|INFO)==")
_RULER = re.compile(r"\s*-{3,}(?: -{3,})*\s*$")
_SEPARATOR = re.compile(r"\s{1,8}-{5} -{20,}\s*$")
_PROCESS = re.compile(r"\[(?:\d+|emulated)\] \S")
_SECTION = re.compile(r"\s{1,8}Section:\s?(.*)$")
_TABLE = re.compile(r"\s{1,8}Table Name\s*:\s?(.*)$")
_DESCRIPTION = re.compile(r"\s{1,8}Table Description\s*:\s?(.*)$")
_RULE = re.compile(r"\s{2,8}(OPT|INF|WRN|ERR)(?:\s+(.*))?$")
_DETAIL = re.compile(r"\s{2,8}>\s+Metric\s*:\s?(.*)$")
_DETAIL_PART = re.compile(r"\s{6,14}(Value|Info)\s*:\s?(.*)$")
_SHAPE = re.compile(r"\(\d{1,12}, \d{1,12}, \d{1,12}\)x\(\d{1,12}, \d{1,12}, \d{1,12}\)")
_CONTEXT = re.compile(r"\S.*, Context \d+")
_KERNEL_INDENT = re.compile(r" {1,3}(?=\S)")
_GAP = re.compile(r"\s{2,}")
_UNIT_VALUE = re.compile(r"([A-Za-z%][\w/%]*) (\S+)$")
DEFAULT_COLUMNS = ("Metric Name", "Metric Unit", "Metric Value")
_LONGEST_HEADER = 80


def scan(lines: Sequence[str]) -> list[Item]:
    """All items of a page, in order; every line belongs to one, and a noisy line also has a `noise` item."""
    return _Scanner(lines).run()


class _Scanner:
    def __init__(self, lines: Sequence[str]) -> None:
        self.noise: dict[int, str] = {}
        self.lines = [self._quiet(i, line.rstrip("\r\n")) for i, line in enumerate(lines)]
        self.items: list[Item] = []
        self.kernel = False
        self.section = False
        self.at = 0

    def _quiet(self, index: int, line: str) -> str:
        """The line without a profiler message glued to it."""
        match = NOISE.search(line) if "==" in line else None
        if match is None:
            return line
        self.noise[index] = line[match.start() :]
        return line[: match.start()]

    def run(self) -> list[Item]:
        while self.at < len(self.lines):
            start = self.at
            self._step()
            for index in range(start, self.at):
                if index in self.noise:
                    self.items.append(Item("noise", index, index, self.noise[index]))
        return self.items

    def _add(self, kind: Kind, count: int = 1, text: str = "", cells: tuple[str, ...] = ()) -> None:
        self.items.append(Item(kind, self.at, self.at + count - 1, text, cells))
        self.at += count

    def _step(self) -> None:
        line = self.lines[self.at]
        if not line.strip():
            self._add("blank")
        elif _PROCESS.match(line):
            self._add("process", text=line.strip())
        elif count := self._header(line):
            self.kernel, self.section = True, False
            self._add("kernel", count, " ".join(part.strip() for part in self.lines[self.at : self.at + count]))
        elif not self.kernel:
            self._add("other", text=line)
        elif match := _SECTION.match(line):
            self.section = True
            self._add("section", text=match[1].strip())
        elif match := _RULE.match(line):
            self._rule(match[1], match[2] or "")
        elif match := _DETAIL.match(line):
            self._detail(match[1])
        elif self._table_starts():
            self._table()
        elif _RULER.match(line):
            self._add("separator" if _SEPARATOR.match(line) else "other", text=line)
        elif match := _TABLE.match(line):
            self._add("table", text=match[1].strip())
        elif match := _DESCRIPTION.match(line):
            self._add("description", text=match[1].strip())
        else:
            self._loose(line)

    def _header(self, line: str) -> int:
        """How many lines a kernel's header takes from here, 0 where it is none."""
        if not _KERNEL_INDENT.match(line):
            return 0
        if _SHAPE.search(line) or _CONTEXT.search(line):
            return self._facts_end(1)
        joined = line
        for ahead in range(1, _LONGEST_HEADER):
            if self.at + ahead >= len(self.lines):
                return 0
            after = self.lines[self.at + ahead]
            if not after.startswith(" " * 6) or after[6:7] in ("", " "):
                return 0
            joined += " " + after.strip()
            if _SHAPE.search(joined) or _CONTEXT.search(joined):
                return self._facts_end(ahead + 1)
        return 0

    def _facts_end(self, count: int) -> int:
        """The header's length where what follows the shape (context, stream, ...) is wrapped too."""
        while self.at + count < len(self.lines) and re.match(
            r" {6}(?:Context |Stream |Device |CC |\d+[,\s]*)", self.lines[self.at + count]
        ):
            count += 1
        return count

    def _rule(self, severity: str, first: str) -> None:
        count = 1
        parts = [first]
        while self.at + count < len(self.lines):
            line = self.lines[self.at + count]
            if not line.startswith(" " * 6) or not line.strip() or _DETAIL.match(line) or _DETAIL_PART.match(line):
                break
            parts.append(line)
            count += 1
        # The first line is unwrapped at its own width: only then is a full line known.
        whole = [self.lines[self.at].replace(severity, " " * len(severity), 1), *parts[1:]]
        self._add("rule", count, cells=(severity, unwrap(whole)))

    def _detail(self, metric: str) -> None:
        values = {"Metric": metric.strip(), "Value": "", "Info": ""}
        key, count = "Metric", 1
        while self.at + count < len(self.lines):
            line = self.lines[self.at + count]
            if match := _DETAIL_PART.match(line):
                key = match[1]
                values[key] = match[2].strip()
            elif line.startswith(" " * 10) and line.strip():
                values[key] += " " + line.strip()
            else:
                break
            count += 1
        self._add("detail", count, cells=(values["Metric"], values["Value"], values["Info"]))

    def _table_starts(self) -> int:
        """2 or 3 where column titles and their rulers stand here (a page of raw metrics has no upper ruler)."""
        here = self.lines[self.at : self.at + 3]
        if len(here) == 3 and _RULER.match(here[0]) and here[0].rstrip() == here[2].rstrip() and here[1].strip():
            return 0 if _RULER.match(here[1]) or _RULE.match(here[1]) else 3
        if len(here) >= 2 and here[0].strip().startswith("Metric Name") and _RULER.match(here[1]):
            return 2
        return 0

    def _table(self) -> None:
        size = self._table_starts()
        ruler = self.lines[self.at + size - 1].rstrip()
        spans = cell_spans(ruler)
        last = self.items[-1].kind if self.items else "blank"
        inside: Literal["section", "rule"] = "rule" if last in ("rule", "detail") else "section"
        columns = cut(self.lines[self.at + size - 2], spans)
        metrics = columns[:1] == DEFAULT_COLUMNS[:1]
        self.items.append(Item("columns", self.at, self.at + size - 1, cells=columns, inside=inside))
        self.at += size
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.rstrip() == ruler:
                self._add("end")
                return
            if not line.strip():
                if self.at in self.noise:  # a profiler line in the middle of a table
                    self._add("blank")
                    continue
                return
            if _SECTION.match(line) or _PROCESS.match(line) or (_KERNEL_INDENT.match(line) and _SHAPE.search(line)):
                return
            self._row(cut(line, spans, metrics))

    def _row(self, cells: tuple[str, ...]) -> None:
        before = self.items[-1]
        if cells and not cells[0] and before.kind == "row" and len(before.cells) == len(cells):
            joined = tuple(" ".join(part for part in pair if part) for pair in zip(before.cells, cells, strict=True))
            self.items[-1] = Item("row", before.first, self.at, cells=joined, inside=before.inside)
            self.at += 1
            return
        self._add("row", cells=cells)

    def _loose(self, line: str) -> None:
        """A line of a section that no ruler frames: a row of a trimmed page, or a heading over tables."""
        parts = _GAP.split(line.strip())
        follows = bool(self.items) and self.items[-1].kind in ("section", "row")
        if self.section and follows and line.startswith("    ") and 2 <= len(parts) <= 3:
            if len(parts) == 2 and (match := _UNIT_VALUE.match(parts[1])):
                parts = [parts[0], match[1], match[2]]
            cells = (parts[0], parts[1] if len(parts) == 3 else "", parts[-1])
            self._add("row", cells=cells)
        elif self.section and line.startswith("    ") and not line.startswith("     ") and len(line) < 160:
            self._add("heading", text=line.strip())
        else:
            self._add("other", text=line)


def cell_spans(ruler: str) -> list[tuple[int, int]]:
    """Where the columns under a ruler of dashes begin and end."""
    return [match.span() for match in re.finditer(r"-+", ruler)]


def cut(line: str, spans: Sequence[tuple[int, int]], right: bool = False) -> tuple[str, ...]:
    """A row cut at the ruler's columns; by its gaps where it does not keep to them.

    `right`: all columns but the first are aligned to the right, as in a table of metrics.
    """
    line = line.rstrip()
    for _, end in spans[:-1]:
        if len(line) > end and line[end] != " ":
            return _by_gaps(line, len(spans))
    cells = [line[begin:end] for begin, end in spans[:-1]]
    cells.append(line[spans[-1][0] :] if spans else line)
    if right and any(
        cell.strip() and (cell.endswith(" ") or len(cell) < end - begin)
        for cell, (begin, end) in zip(cells[1:], spans[1:], strict=True)
    ):
        return _by_gaps(line, len(spans))
    return tuple(cell.strip() for cell in cells)


def _by_gaps(line: str, count: int) -> tuple[str, ...]:
    parts = _GAP.split(line.strip())
    if len(parts) == 1 or count == 1:
        return (line.strip(), *[""] * (count - 1))
    if len(parts) < count:
        if count == 3 and (match := _UNIT_VALUE.match(parts[-1])):
            return (parts[0], match[1], match[2])
        return (parts[0], *[""] * (count - len(parts)), *parts[1:])
    return (" ".join(parts[: len(parts) - count + 1]), *parts[len(parts) - count + 1 :])


_FULL_LINE = 120
_RULE_WORDS = re.compile(r"\s*(?:(?:OPT|INF|WRN|ERR)(?=\s|$))?\s*")


def unwrap(parts: Sequence[str]) -> str:
    """A rule's lines as one text; a word broken at the edge of a full line is joined again."""
    return "".join(char for char, _ in _unwrapped(parts))


def unwrap_map(lines: Sequence[str]) -> list[tuple[int, int] | None]:
    """For every character of a rule's unwrapped text its (line, column); None for a blank between two lines.

    `lines` begin with the rule's first line, severity included.
    """
    skip = _RULE_WORDS.match(lines[0])
    start = skip.end() if skip else 0
    blanked = [" " * start + lines[0][start:], *lines[1:]]
    return [place for _, place in _unwrapped(NOISE.split(line.rstrip("\r\n"))[0] for line in blanked)]


def _unwrapped(parts: Iterable[str]) -> list[tuple[str, tuple[int, int] | None]]:
    found: list[tuple[str, tuple[int, int] | None]] = []
    broken = False
    for number, part in enumerate(parts):
        words = list(re.finditer(r"\S+", part))
        for order, word in enumerate(words):
            if found and not (broken and order == 0):
                gap = (number, word.start() - 1) if order else None
                found.append((" ", gap))
            found.extend((char, (number, word.start() + i)) for i, char in enumerate(word.group()))
        if words:
            broken = len(part) >= _FULL_LINE and not part.endswith(" ")
    return found
