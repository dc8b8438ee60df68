"""The ablation on a text page: whole lines go, or the characters of a clause; nothing is wrapped anew."""

from collections.abc import Sequence

from sparktrace_tui.domain.report.ablation import Removed
from sparktrace_tui.domain.report.conflicts import (
    NAMED,
    Level,
    column_reason,
    judge_rule,
    label_reason,
    names_conflict,
    prose_reason,
    withheld,
)
from sparktrace_tui.nsight.names import guess_rule, split_speedup
from sparktrace_tui.nsight.page import Item, cell_spans, scan, unwrap_map


def ablate_page_text(text: str, level: Level) -> tuple[str, tuple[Removed, ...]]:
    """The page without its bank-conflict lines, and what went."""
    lines = text.splitlines(keepends=True)
    page = _Page(lines, scan(lines), level)
    page.run()
    return "".join(page.result()), tuple(page.removed)


class _Page:
    def __init__(self, lines: Sequence[str], items: Sequence[Item], level: Level) -> None:
        self.lines = list(lines)
        self.items = items
        self.level = level
        self.dropped: set[int] = set()
        self.removed: list[Removed] = []
        self.where = "page"

    def run(self) -> None:
        """Decides on every item in turn."""
        at = 0
        while at < len(self.items):
            item = self.items[at]
            match item.kind:
                case "kernel" | "process":
                    self._free(item, item.kind)
                case "section":
                    self.where = f"section {item.text}"
                    self._free(item, "section name")
                case "rule":
                    at = self._rule(at)
                    continue
                case "detail":
                    self._detail(item)
                case "table":
                    at = self._titled(at)
                    continue
                case "columns":
                    at = self._table(at, [], "")
                    continue
                case "row":
                    self._row(item)
                case "noise":
                    self._noise(item)
                case "other" | "heading" | "description":
                    self._loose(item)
                case _:
                    pass
            at += 1

    def result(self) -> list[str]:
        """The lines that stay; a blank line that would follow a blank one where a block went goes too."""
        kept: list[str] = []
        gap = False
        for index, line in enumerate(self.lines):
            if index in self.dropped:
                gap = True
            elif gap and not line.strip() and kept and not kept[-1].strip():
                gap = False
            else:
                gap = gap and not line.strip()
                kept.append(line)
        return kept

    def _took(self, what: str, why: str, where: str | None = None) -> None:
        self.removed.append(Removed(what, where or self.where, why))

    def _drop(self, item: Item) -> None:
        self.dropped.update(range(item.first, item.last + 1))

    def _free(self, item: Item, where: str) -> None:
        """Words about conflicts in free text are withheld where they stand."""
        for index in range(item.first, item.last + 1):
            line = self.lines[index]
            if names_conflict(line):
                self._took(line.strip(), NAMED, where)
                self.lines[index] = withheld(line)

    def _noise(self, item: Item) -> None:
        line = self.lines[item.first]
        at = line.find(item.text)
        if at >= 0 and names_conflict(item.text):
            self._took(item.text, NAMED, "profiler line")
            self.lines[item.first] = line[:at] + withheld(item.text) + line[at + len(item.text) :]

    def _loose(self, item: Item) -> None:
        why = prose_reason(item.text, self.level) or label_reason(item.text, self.level)
        if why and item.first not in self.dropped:
            self._took(item.text.strip(), why)
            self._drop(item)
        else:
            self._free(item, self.where)

    def _row(self, item: Item) -> bool:
        """Drops a row whose label, or whose words, must go; whether it did."""
        why = label_reason(item.cells[0], self.level) if item.cells else None
        for cell in item.cells[1:]:
            why = why or (prose_reason(cell, self.level) if len(cell) > 8 else None)
            why = why or (NAMED if names_conflict(cell) else None)
        if why is None and item.cells and names_conflict(item.cells[0]):
            why = NAMED
        if why:
            self._took("  ".join(cell for cell in item.cells if cell), why)
            self._drop(item)
        return why is not None

    def _detail(self, item: Item) -> bool:
        metric, value, info = item.cells
        why = label_reason(metric, self.level) or prose_reason(f"{metric} {info}", self.level)
        if why:
            self._took(f"{metric}: {value} ({info})", why, f"{self.where}, rule detail")
            self._drop(item)
        return why is not None

    def _titled(self, at: int) -> int:
        """A table with a name, and its description, up to its end."""
        head = [at]
        title = self.items[at].text
        after = at + 1
        while after < len(self.items) and self.items[after].kind in ("description", "heading", "noise"):
            head.append(after)
            after += 1
        why = label_reason(title, self.level) or prose_reason(title, self.level)
        if after >= len(self.items) or self.items[after].kind != "columns":
            self._loose(self.items[at])
            return at + 1
        if why:
            self._took(f"table {title}", why)
            end = self._end(after)
            for index in (*head, *range(after, end)):
                if self.items[index].kind != "noise":
                    self._drop(self.items[index])
            return end
        for index in head:
            if self.items[index].kind == "description":
                self._loose(self.items[index])
            elif self.items[index].kind == "noise":
                self._noise(self.items[index])
        return self._table(after, head, title)

    def _end(self, columns: int) -> int:
        """The index behind a table that starts with these columns."""
        at = columns + 1
        while at < len(self.items) and self.items[at].kind in ("row", "noise"):
            at += 1
        return at + 1 if at < len(self.items) and self.items[at].kind == "end" else at

    def _table(self, at: int, head: Sequence[int], title: str) -> int:
        """A table's rows and columns; with its frame and its name where no row is left."""
        columns = self.items[at]
        end = self._end(at)
        bad = [(i, why) for i, name in enumerate(columns.cells) if (why := column_reason(title, name, self.level))]
        rows = [item for item in self.items[at + 1 : end] if item.kind == "row"]
        gone = [self._row(item) for item in rows]
        for item in self.items[at + 1 : end]:
            if item.kind == "noise":
                self._noise(item)
        if rows and all(gone):
            for index in (*head, at, *(i for i in range(at + 1, end) if self.items[i].kind == "end")):
                if self.items[index].kind != "noise":
                    self._drop(self.items[index])
        elif bad:
            self._cut_columns(columns, self.items[at + 1 : end], bad)
        return end

    def _cut_columns(self, columns: Item, body: Sequence[Item], bad: Sequence[tuple[int, str]]) -> None:
        spans = cell_spans(self.lines[columns.last])
        for index, why in bad:
            self._took(f"column {columns.cells[index]}", why)
        for item in (columns, *(i for i in body if i.kind in ("row", "end"))):
            for number in range(item.first, item.last + 1):
                line = self.lines[number]
                for index, _ in reversed(bad):
                    begin, end = spans[index]
                    line = line[: max(begin - 1, 0)] + line[end:] if index else line[:begin] + line[end + 1 :]
                self.lines[number] = line

    def _rule(self, at: int) -> int:
        """A rule with what belongs to it: its details and its tables."""
        item = self.items[at]
        after = at + 1
        while after < len(self.items) and (
            self.items[after].kind in ("detail", "noise") or self.items[after].inside == "rule"
        ):
            after = self._end(after) if self.items[after].kind == "columns" else after + 1
        severity, said = item.cells
        _, _, text = split_speedup(said)
        verdict = judge_rule(guess_rule(text), "", text, self.level)
        if verdict.whole:
            self._took(f"{severity} {said}", verdict.whole)
            for part in self.items[at:after]:
                if part.kind != "noise":
                    self._drop(part)
                else:
                    self._noise(part)
            self._drop_separator(at, after)
            return after
        if verdict.cuts:
            offset = len(said) - len(text)
            self._cut_words(item, [(cut.start + offset, cut.end + offset) for cut in verdict.cuts])
            for cut in verdict.cuts:
                self._took(text[cut.start : cut.end].strip(), cut.why, f"{self.where}, rule")
        return at + 1

    def _drop_separator(self, at: int, after: int) -> None:
        """The ruler that parted a rule that went from its neighbour."""
        for index in (after, at - 1):
            item = self.items[index] if 0 <= index < len(self.items) else None
            if item is not None and item.kind == "separator" and item.first not in self.dropped:
                self._drop(item)
                return

    def _cut_words(self, item: Item, cuts: Sequence[tuple[int, int]]) -> None:
        """Takes the characters of an unwrapped text out of the lines that they stand in."""
        lines = [self.lines[i] for i in range(item.first, item.last + 1)]
        places = unwrap_map(lines)
        doomed: dict[int, set[int]] = {}
        for begin, end in cuts:
            for place in places[begin:end]:
                if place is not None:
                    doomed.setdefault(place[0], set()).add(place[1])
        for number, columns in doomed.items():
            kept = "".join(c for i, c in enumerate(lines[number]) if i not in columns)
            if not kept.strip():
                self.dropped.add(item.first + number)
            self.lines[item.first + number] = kept
