"""CSV pages of Nsight Compute (raw, details, long-form metrics, source) to reports; columns by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sparktrace_tui.domain.report.report import (
    Instance,
    Instruction,
    KernelLaunch,
    Metric,
    Origin,
    Report,
    Rule,
    Section,
    Severity,
    SourceLine,
    Table,
    Value,
)
from sparktrace_tui.nsight.csv_lines import Form, Line, Record, header_form, split
from sparktrace_tui.nsight.names import SECTION_IDS, SECTION_NAMES, finite, is_metric_name, triple, whole
from sparktrace_tui.nsight.numbers import Doubtful, Locale, parse, prove
from sparktrace_tui.nsight.page import DEFAULT_COLUMNS

LAUNCH_COLUMNS = frozenset(
    {
        "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream",
        "Block Size", "Grid Size", "Device", "CC", "Invocations", "Section Name", "Body Item Label",
    }
)  # fmt: skip
VALUE_COLUMNS = ("Metric Value", "Average", "Metric Average", "Minimum", "Maximum", "Metric Minimum", "Metric Maximum")
_SEVERITIES: dict[str, Severity] = {"OPT": "OPT", "INF": "INF", "WRN": "WRN", "ERR": "ERR"}


def read_csv(text: str, path: str = "") -> tuple[Report, ...]:
    """The reports of a CSV page, one a kernel; none where it has no table."""
    lines = list(split(text))
    reader = _Reader(text, path, prove(_printed(lines)))
    for line in lines:
        reader.take(line)
    return reader.finish()


def _printed(lines: Iterable[Line]) -> Iterable[str]:
    """Every printed value of the file, for the proof of its locale."""
    names: list[str] = []
    for line in lines:
        record = line.record
        if record is None:
            continue
        if line.role == "header":
            names = [f.value for f in record.fields]
        elif line.role == "row":
            long = "Metric Name" in names
            for name, item in zip(names, record.fields, strict=False):
                if name in VALUE_COLUMNS or (not long and name not in LAUNCH_COLUMNS):
                    yield item.value


@dataclass
class _Open:
    """A report in the making."""

    launch: KernelLaunch
    form: Form
    sections: dict[str, "_Part"] = field(default_factory=dict)
    raw: list[Metric] = field(default_factory=list)
    source: list[SourceLine] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Part:
    id: str
    name: str
    metrics: list[Metric] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    tables: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def close(self) -> Section:
        tables = tuple(
            Table(title, self.columns.get(title, DEFAULT_COLUMNS), tuple(rows)) for title, rows in self.tables.items()
        )
        return Section(self.id, self.name, tuple(self.metrics), tuple(self.rules), tables)


class _Reader:
    def __init__(self, text: str, path: str, locale: Locale) -> None:
        self.text = text
        self.path = path
        self.locale = locale
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.form: Form = "csv-raw"
        self.units: Record | None = None
        self.run = 0
        self.reports: dict[tuple[int, str], _Open] = {}
        self.last: _Open | None = None
        self.part: _Part | None = None
        self.before: list[str] = []
        self.facts: dict[str, str] = {}
        self.extra_title = ""

    def take(self, line: Line) -> None:
        """One more line of the file."""
        if line.before.strip():
            self._loose(line.before)
        if line.record is not None and line.record.tail.strip():
            self._loose(line.record.tail)
        match line.role:
            case "header" if line.record is not None:
                self._header(line.record)
            case "units":
                self.units = line.record
            case "row" if line.record is not None:
                self._row(line.record)
            case "source" if line.record is not None:
                self.last = None
                self.facts[line.record.value(0)] = line.record.value(1)
            case "extra" if line.record is not None:
                self._extra(line.record)
            case "blank":
                self.extra_title = ""
            case _:
                self._loose(self.text[line.start : line.end])

    def _loose(self, text: str) -> None:
        if text.strip():
            (self.last.other if self.last is not None else self.before).append(text.strip())

    def _header(self, record: Record) -> None:
        self.names = [f.value for f in record.fields]
        self.form = header_form(self.names)
        self.index = {}
        for i, name in enumerate(self.names):
            self.index.setdefault(name, i)
        self.units = None
        self.run += 1
        if self.form == "csv-source":
            self.last = self._open(f"source {self.run}", KernelLaunch(self.facts.get("Kernel Name", "")))

    def _at(self, record: Record, name: str) -> str:
        return record.value(self.index.get(name))

    def _row(self, record: Record) -> None:
        if self.form == "csv-source":
            self._source(record)
            return
        self.last = self._open(self._at(record, "ID"), self._launch(record))
        if self.form == "csv-raw":
            self._raw(record, self.last)
        elif self._at(record, "Rule Name"):
            self._rule(record, self.last)
        else:
            self._metric_row(record, self.last)

    def _open(self, key: str, launch: KernelLaunch) -> _Open:
        return self.reports.setdefault((self.run, key), _Open(launch, self.form))

    def _launch(self, record: Record) -> KernelLaunch:
        pid, name, host = (self._at(record, k) for k in ("Process ID", "Process Name", "Host Name"))
        return KernelLaunch(
            kernel=self._at(record, "Kernel Name"),
            grid=triple(self._at(record, "Grid Size")),
            block=triple(self._at(record, "Block Size")),
            context=whole(self._at(record, "Context")),
            stream=whole(self._at(record, "Stream")),
            device=whole(self._at(record, "Device")),
            compute_capability=self._at(record, "CC") or None,
            process=f"[{pid}] {name}@{host}" if name else None,
        )

    def _value(self, label: str, text: str, into: _Open) -> Value:
        try:
            return parse(text, self.locale)
        except Doubtful:
            into.notes.append(
                f"{label}: {text!r} is refused: nothing in the file says whether its sign is a decimal sign"
            )
            return None

    def _metric(self, label: str, unit: str, text: str, into: _Open, name: str | None = None) -> Metric:
        if name is None:
            name = label if is_metric_name(label) else ""
        raw = None if text in ("", "n/a") else text
        return Metric(name, label, unit, self._value(label, text, into), raw)

    def _raw(self, record: Record, into: _Open) -> None:
        for i, name in enumerate(self.names):
            if name in LAUNCH_COLUMNS or i >= len(record.fields):
                continue
            unit = self.units.value(i) if self.units is not None else ""
            if is_metric_name(name) or "__" in name:
                into.raw.append(self._metric(name, unit, record.fields[i].value, into, name))
            elif record.fields[i].value:
                into.other.append(f"{name}: {record.fields[i].value}")

    def _section(self, name: str, into: _Open) -> _Part:
        """A section by its display name (metric rows) or its identifier (rule rows)."""
        if name in SECTION_NAMES:
            identifier, display = name, SECTION_NAMES[name]
        else:
            identifier, display = SECTION_IDS.get(name, ""), name
        for part in into.sections.values():
            if (identifier and part.id == identifier) or part.name == display:
                return part
        return into.sections.setdefault(display, _Part(identifier, display))

    def _metric_row(self, record: Record, into: _Open) -> None:
        self.part = part = self._section(self._at(record, "Section Name"), into)
        label, unit = self._at(record, "Metric Name"), self._at(record, "Metric Unit")
        item = self._at(record, "Body Item Label")
        text = next((self._at(record, c) for c in VALUE_COLUMNS if c in self.index), "")
        if item:
            part.tables.setdefault(item, []).append((label, unit, text or "n/a"))
            return
        metric = self._metric(label, unit, text, into)
        instances = tuple(
            Instance(word.lower(), self._value(label, self._at(record, column), into))
            for word in ("Minimum", "Maximum", "Average")
            for column in (word, f"Metric {word}")
            if column in self.index
        )
        if instances:
            metric = Metric(metric.name, label, unit, metric.value, metric.raw, instances)
        part.metrics.append(metric)

    def _rule(self, record: Record, into: _Open) -> None:
        part = self._section(self._at(record, "Section Name"), into)
        kind, percent = self._at(record, "Estimated Speedup Type"), self._at(record, "Estimated Speedup")
        speedup = finite(percent)
        if percent and speedup is None:
            into.notes.append(f"{self._at(record, 'Rule Name')}: estimated speedup {percent!r} is no number")
        part.rules.append(
            Rule(
                id=self._at(record, "Rule Name"),
                severity=_SEVERITIES.get(self._at(record, "Rule Type"), "INF"),
                title="",
                text=" ".join(self._at(record, "Rule Description").split()),
                speedup=speedup,
                speedup_kind="local" if kind == "local" else "global" if kind == "global" else None,
            )
        )

    def _extra(self, record: Record) -> None:
        """A table inside a details page: a title alone on its line, then its columns, then its rows."""
        cells = tuple(f.value for f in record.fields)
        part = self.part
        if part is None or self.last is None:
            self._loose(" ".join(cells))
        elif len(cells) == 1:
            self.extra_title = cells[0]
        elif self.extra_title not in part.columns:
            part.columns[self.extra_title] = cells
            part.tables.setdefault(self.extra_title, [])
        else:
            part.tables[self.extra_title].append(cells)

    def _source(self, record: Record) -> None:
        into = self.last
        if into is None:
            return
        address = self._at(record, "Address")
        number = next((self._at(record, n) for n in ("#", "Line No", "Line") if n in self.index), "")
        text_at = [i for i, name in enumerate(self.names) if name == "Source"]
        metrics = self._source_metrics(record, into)
        if address and not address.startswith("-"):
            into.instructions.append(
                Instruction(_address(address), record.value(text_at[-1] if text_at else None).rstrip(), metrics=metrics)
            )
        elif (line := whole(number)) is not None:
            text = record.value(text_at[0] if text_at else None)
            into.source.append(SourceLine(self.facts.get("File Path", ""), line, text, metrics))
        else:
            into.other.append(" ".join(f.value for f in record.fields if f.value))

    def _source_metrics(self, record: Record, into: _Open) -> Mapping[str, Value]:
        skip = {"#", "Address", "Source", "Line", "Line No"}
        found: dict[str, Value] = {}
        for name, item in zip(self.names, record.fields, strict=False):
            if name and name not in skip:
                found[name] = self._value(name, item.value, into)
        return found

    def finish(self) -> tuple[Report, ...]:
        """The reports, when the file has ended."""
        reports = [
            Report(
                launch=o.launch,
                origin=Origin(form=self._form(o), path=self.path, notes=tuple(o.notes)),
                sections=tuple(part.close() for part in o.sections.values()),
                raw=tuple(o.raw),
                source=tuple(o.source),
                instructions=tuple(o.instructions),
                other=((*self.before, *o.other) if i == 0 else tuple(o.other)),
            )
            for i, o in enumerate(self.reports.values())
        ]
        return tuple(reports)

    def _form(self, report: _Open) -> str:
        names = {part.name for part in report.sections.values()}
        return "csv-metrics" if names == {"Command line profiler metrics"} else report.form


def _address(text: str) -> int:
    try:
        return int(text, 16 if text.lower().startswith("0x") else 10)
    except ValueError:
        return 0
