"""A text page of Nsight Compute (details, raw, summary), with whatever a log put around it, to reports."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sparktrace_tui.domain.report.report import (
    Instance,
    KernelLaunch,
    Metric,
    Origin,
    Report,
    Rule,
    Section,
    Severity,
    Table,
    Value,
)
from sparktrace_tui.nsight.names import (
    RAW_SECTION,
    SECTION_IDS,
    guess_rule,
    is_metric_name,
    parse_header,
    split_speedup,
)
from sparktrace_tui.nsight.numbers import Doubtful, Locale, parse, prove
from sparktrace_tui.nsight.page import DEFAULT_COLUMNS, Item, scan

FOCUS_COLUMNS = ("Metric", "Value", "Info")
_SUMMARY = ("Minimum", "Maximum", "Average")
_SEVERITIES: dict[str, Severity] = {"OPT": "OPT", "INF": "INF", "WRN": "WRN", "ERR": "ERR"}


def read_text(text: str, path: str = "") -> tuple[Report, ...]:
    """The reports of a text page, one a kernel; none where the text holds no kernel."""
    items = scan(text.splitlines())
    reader = _Reader(path, _locale(items))
    for item in items:
        reader.take(item)
    return reader.finish()


def _locale(items: Sequence[Item]) -> Locale:
    """Rule texts keep C digits in every locale, so only the rows of metrics prove anything."""
    texts: list[str] = []
    columns: tuple[str, ...] = DEFAULT_COLUMNS
    for item in items:
        if item.kind == "columns":
            columns = item.cells
        elif item.kind in ("section", "kernel"):
            columns = DEFAULT_COLUMNS
        elif item.kind == "row" and columns[0] == "Metric Name":
            texts.extend(item.cells[2:])
    return prove(texts)


@dataclass
class _OpenSection:
    id: str
    name: str
    metrics: list[Metric] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)

    def close(self) -> Section:
        return Section(self.id, self.name, tuple(self.metrics), tuple(self.rules), tuple(self.tables))


class _Reader:
    def __init__(self, path: str, locale: Locale) -> None:
        self.path = path
        self.locale = locale
        self.reports: list[Report] = []
        self.launch: KernelLaunch | None = None
        self.process: str | None = None
        self.emulated: str | None = None
        self.before: list[str] = []
        self._kernel()

    def _kernel(self) -> None:
        self.sections: list[_OpenSection] = []
        self.raw: list[Metric] = []
        self.other: list[str] = []
        self.notes: list[str] = []
        self.form = "text-details"
        self._section()

    def _section(self) -> None:
        self.group = self.title = self.description = ""
        self.pending: list[str] = []
        self.framed = False
        self.columns: tuple[str, ...] = DEFAULT_COLUMNS
        self.rows: list[tuple[str, ...]] | None = None
        self.inside = ""

    def take(self, item: Item) -> None:
        """One more item of the page."""
        if self.rows is not None and item.kind not in ("row", "noise", "blank"):
            self._close_table()
        match item.kind:
            case "process":
                if item.text.startswith("[emulated]"):
                    self.emulated = item.text.removeprefix("[emulated]").strip()
                else:
                    self.process = item.text
            case "kernel":
                self._close()
                self.launch = parse_header(item.text)
            case "section":
                self._unplaced()
                self._section()
                if item.text == RAW_SECTION:
                    self.sections.append(_OpenSection(RAW_SECTION, RAW_SECTION))
                else:
                    self.sections.append(_OpenSection(SECTION_IDS.get(item.text, ""), item.text))
            case "heading":
                self.pending.append(item.text)
            case "table":
                if self.pending:
                    self.group, self.pending = " / ".join(self.pending), []
                self.title, self.framed, self.description = item.text, True, ""
            case "description":
                self.description = item.text
            case "columns":
                self.title = " / ".join([*([self.title] if self.title else []), *self.pending])
                self.framed, self.pending = bool(self.title), []
                self.columns, self.rows, self.inside = item.cells, [], item.inside
            case "row":
                self._row(item)
            case "rule":
                self._rule(*item.cells)
            case "detail":
                self._detail(item.cells)
            case "noise" | "other":
                (self.other if self.launch is not None else self.before).append(item.text.strip())
            case "end" | "separator":
                pass
            case "blank":
                self.inside = "" if self.rows is None else self.inside

    def _unplaced(self) -> None:
        """Headings that no table followed (a note that the system has no NVLink, say) are kept apart."""
        where = self.sections[-1].name if self.sections else ""
        self.other.extend(f"{where}: {text}" for text in self.pending)
        self.pending = []

    def _row(self, item: Item) -> None:
        if self.rows is not None:
            self.rows.append(item.cells)
        elif self.sections:
            metric = self._metric(item.cells)
            self.sections[-1].metrics.append(metric)

    def _close_table(self) -> None:
        rows, self.rows = self.rows or [], None
        plain = self.columns[:1] == ("Metric Name",) and not self.framed
        if self.inside == "rule" and self.sections and self.sections[-1].rules:
            table = Table(self.title, self.columns, tuple(rows), description=self.description)
            rule = self.sections[-1].rules[-1]
            self.sections[-1].rules[-1] = replace(rule, details=(*rule.details, table))
        elif plain and not self.sections:
            self.form = "text-raw"
            self.raw.extend(self._metric(row) for row in rows)
        elif plain and self.sections[-1].id == RAW_SECTION:
            self.raw.extend(self._metric(row) for row in rows)
        elif plain:
            if self.columns[2:] == _SUMMARY:
                self.form = "text-summary"
            self.sections[-1].metrics.extend(self._metric(row) for row in rows)
        elif self.sections:
            table = Table(self.title, self.columns, tuple(rows), self.group, self.description)
            self.sections[-1].tables.append(table)
        self.title = self.description = ""
        self.framed = False

    def _metric(self, cells: tuple[str, ...]) -> Metric:
        label, unit, *printed = (*cells, "", "")[: max(3, len(cells))]
        name = label if is_metric_name(label) else ""
        value = self._value(label, printed[-1])
        instances: tuple[Instance, ...] = ()
        if self.columns[2:] == _SUMMARY:
            parts = zip(("minimum", "maximum", "average"), printed, strict=False)
            instances = tuple(Instance(word, self._value(label, text)) for word, text in parts)
        raw = None if printed[-1] in ("", "n/a") else printed[-1]
        return Metric(name, label, unit, value, raw, instances)

    def _value(self, label: str, text: str) -> Value:
        try:
            return parse(text, self.locale)
        except Doubtful:
            self.notes.append(
                f"{label}: {text!r} is refused: nothing in the file says whether its sign is a decimal sign"
            )
            return None

    def _rule(self, severity: str, text: str) -> None:
        speedup, kind, rest = split_speedup(text)
        if not self.sections:
            self.sections.append(_OpenSection("", ""))
        self.sections[-1].rules.append(
            Rule(
                id=guess_rule(rest),
                severity=_SEVERITIES[severity],
                title="",
                text=rest,
                speedup=speedup,
                speedup_kind="local" if kind == "local" else "global" if kind else None,
            )
        )

    def _detail(self, cells: tuple[str, ...]) -> None:
        if not self.sections or not self.sections[-1].rules:
            self.other.append(" ".join(cells))
            return
        rule = self.sections[-1].rules[-1]
        details = rule.details
        if details and details[-1].columns == FOCUS_COLUMNS:
            details = (*details[:-1], replace(details[-1], rows=(*details[-1].rows, cells)))
        else:
            details = (*details, Table("", FOCUS_COLUMNS, (cells,)))
        self.sections[-1].rules[-1] = replace(rule, focus=(*rule.focus, cells[0]), details=details)

    def _close(self) -> None:
        if self.rows is not None:
            self._close_table()
        if self.launch is None:
            return
        self._unplaced()
        emulated = self.emulated is not None
        self.reports.append(
            Report(
                launch=replace(self.launch, process=self.process),
                origin=Origin(
                    form="emulated" if emulated else self.form,
                    path=self.path,
                    tool=self.emulated or "",
                    provenance="emulated" if emulated else "measured",
                    notes=tuple(self.notes),
                ),
                sections=tuple(s.close() for s in self.sections if s.id != RAW_SECTION),
                raw=tuple(self.raw),
                other=(*self.before, *self.other),
            )
        )
        self.before = []
        self._kernel()

    def finish(self) -> tuple[Report, ...]:
        """The reports, when the page has ended."""
        self._close()
        self.launch = None
        return tuple(self.reports)
