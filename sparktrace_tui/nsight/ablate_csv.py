"""The ablation on a CSV page: records or columns go, or words inside a field; every other byte stays."""

from dataclasses import dataclass, field

from sparktrace_tui.domain.report.ablation import Removed
from sparktrace_tui.domain.report.conflicts import (
    NAMED,
    Level,
    judge_rule,
    label_reason,
    names_conflict,
    prose_reason,
    source_withheld,
    thinned,
    withheld,
    without,
)
from sparktrace_tui.nsight.csv_lines import Field, Form, Line, Record, header_form, split
from sparktrace_tui.nsight.csv_reader import VALUE_COLUMNS


def ablate_csv_text(text: str, level: Level) -> tuple[str, tuple[Removed, ...]]:
    """The CSV without its bank-conflict records and columns, and what went."""
    return _Csv(text, level).run()


@dataclass
class _Table:
    """A header with the records under it: columns can only be judged when all of them are known."""

    header: Record
    form: Form
    names: list[str]
    records: list[Record] = field(default_factory=list)


class _Csv:
    def __init__(self, text: str, level: Level) -> None:
        self.text = text
        self.level = level
        self.edits: list[tuple[int, int, str]] = []
        self.removed: list[Removed] = []
        self.table: _Table | None = None

    def run(self) -> tuple[str, tuple[Removed, ...]]:
        for line in split(self.text):
            self._line(line)
        self._close()
        parts, at = [], 0
        for start, end, new in sorted(self.edits):
            if start < at:
                continue
            parts += [self.text[at:start], new]
            at = end
        parts.append(self.text[at:])
        return "".join(parts), tuple(self.removed)

    def _took(self, what: str, where: str, why: str) -> None:
        self.removed.append(Removed(what, where, why))

    def _line(self, line: Line) -> None:
        record = line.record
        if record is not None:
            self._around(line.start, record.start, "before a record")
            self._around(record.end - len(record.tail), record.end, "after a record")
        match line.role:
            case "header" if record is not None:
                self._close()
                names = [f.value for f in record.fields]
                self.table = _Table(record, header_form(names), names)
            case "row" | "units" if record is not None and self.table is not None:
                if self.table.form in ("csv-raw", "csv-source"):
                    self.table.records.append(record)
                elif line.role == "row":
                    self._long(line, record, self.table)
            case "extra" if record is not None:
                self._extra(line, record)
            case "source" if record is not None:
                for item in record.fields[1:]:
                    self._free(item, record.value(0))
            case "text":
                self._around(line.start, line.end, "text")
            case _:
                pass

    def _around(self, start: int, end: int, where: str) -> None:
        part = self.text[start:end]
        if names_conflict(part):
            self._took(part.strip(), where, NAMED)
            self.edits.append((start, end, withheld(part)))
        elif part.strip() and (why := prose_reason(part, self.level)):
            self._took(part.strip(), where, why)
            self.edits.append((start, end, ""))

    def _free(self, item: Field, where: str) -> None:
        if names_conflict(item.value):
            self._took(item.value, where, NAMED)
            self._replace(item, withheld(item.value))

    def _replace(self, item: Field, value: str) -> None:
        quoted = self.text[item.start : item.start + 1] == '"'
        self.edits.append((item.start, item.end, '"' + value.replace('"', '""') + '"' if quoted else value))

    def _drop_line(self, line: Line) -> None:
        """The whole line with its line end; a last line goes with the line end before it."""
        end = line.end
        if self.text[end : end + 1] == "\r":
            end += 1
        if self.text[end : end + 1] == "\n":
            self.edits.append((line.start, end + 1, ""))
            return
        start = line.start
        if self.text[start - 1 : start] == "\n":
            start -= 2 if self.text[start - 2 : start] == "\r\n" else 1
        self.edits.append((start, end, ""))

    def _drop_record(self, line: Line, record: Record) -> None:
        """The record; where something else is glued to its line, that stays, with the line end."""
        if line.before or record.tail:
            self.edits.append((record.start, record.end - len(record.tail), ""))
        else:
            self._drop_line(line)

    def _long(self, line: Line, record: Record, table: _Table) -> None:
        """A record of a details page or of long-form metrics: one metric or one rule."""
        at = {name: i for i, name in reversed(list(enumerate(table.names)))}
        label = record.value(at.get("Metric Name"))
        section = f"section {record.value(at.get('Section Name'))}"
        value = next((record.value(at[c]) for c in VALUE_COLUMNS if c in at), "")
        why = label_reason(label, self.level) or label_reason(record.value(at.get("Body Item Label")), self.level)
        why = why or (prose_reason(value, self.level) if len(value) > 8 else None)
        if why:
            self._took(f"{label} = {value}", section, why)
            self._drop_record(line, record)
            return
        if record.value(at.get("Rule Name")) and self._rule(line, record, at, section):
            return
        for name, item in zip(table.names, record.fields, strict=False):
            if name not in ("Rule Description", "Metric Name"):
                self._free(item, name)

    def _rule(self, line: Line, record: Record, at: dict[str, int], section: str) -> bool:
        name, index = record.value(at["Rule Name"]), at.get("Rule Description")
        text = record.value(index)
        verdict = judge_rule(name, "", text, self.level)
        if verdict.whole:
            self._took(f"{record.value(at.get('Rule Type'))} {name}: {text}", section, verdict.whole)
            self._drop_record(line, record)
            return True
        if verdict.cuts and index is not None:
            for cut in verdict.cuts:
                self._took(text[cut.start : cut.end].strip(), f"{section}, rule {name}", cut.why)
            self._replace(record.fields[index], without(text, verdict.cuts).rstrip())
        return False

    def _extra(self, line: Line, record: Record) -> None:
        for item in record.fields:
            why = label_reason(item.value, self.level) or prose_reason(item.value, self.level)
            if why or names_conflict(item.value):
                self._took("  ".join(f.value for f in record.fields), "table", why or NAMED)
                self._drop_record(line, record)
                return

    def _close(self) -> None:
        """Judges the columns of the table that ends here, when all its values are known."""
        table, self.table = self.table, None
        if table is None or table.form not in ("csv-raw", "csv-source"):
            return
        gone: set[int] = set()
        for index, name in enumerate(table.names):
            why = label_reason(name, self.level)
            if why is None and table.form == "csv-raw" and index > 11:
                texts = (thinned(r.value(index), self.level)[0] for r in table.records)
                why = next((w for text in texts if len(text) > 8 and (w := prose_reason(text, self.level))), None)
            if why:
                gone.add(index)
                values = [r.value(index) for r in table.records if r.value(0)]
                shown = ", ".join(values[:8]) + (", ..." if len(values) > 8 else "")
                self._took(f"{name} = {shown}", "column", why)
        for record in (table.header, *table.records):
            self._cut(record, gone)
            for index, item in enumerate(record.fields):
                if index not in gone:
                    self._cell(table, index, item)

    def _cell(self, table: _Table, index: int, item: Field) -> None:
        name = table.names[index] if index < len(table.names) else ""
        if name == "Source":
            text = source_withheld(item.value)
            if text != item.value:
                self._took(item.value.strip(), "source", NAMED)
                self._replace(item, text)
            return
        shorter, gone = thinned(item.value, self.level)
        if not gone:
            self._free(item, name)
            return
        for metric, why in gone:
            self._took(metric, f"list {name}", why)
        self._replace(item, shorter)

    def _cut(self, record: Record, gone: set[int]) -> None:
        """Takes fields out of a record, each with one of the commas beside it."""
        fields = record.fields
        index = 0
        while index < len(fields):
            if index not in gone:
                index += 1
                continue
            last = index
            while last + 1 < len(fields) and last + 1 in gone:
                last += 1
            start, end = fields[index].start, fields[last].end
            if index > 0:
                start = fields[index - 1].end
            elif last + 1 < len(fields):
                end = fields[last + 1].start
            self.edits.append((start, end, ""))
            index = last + 1
