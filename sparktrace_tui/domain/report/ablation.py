"""The ablation: a report without its bank-conflict lines, and a record of each line that went."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sparktrace_tui.domain.report.conflicts import (
    CONFLICT_RULES,
    NAMED,
    STRICT_RULES,
    Level,
    column_reason,
    judge_rule,
    label_reason,
    metric_reason,
    names_conflict,
    prose_reason,
    source_withheld,
    thinned,
    withheld,
    without,
)
from sparktrace_tui.domain.report.report import (
    Instance,
    Instruction,
    Marker,
    Metric,
    Report,
    Rule,
    Section,
    SourceLine,
    Table,
    Value,
)


@dataclass(frozen=True)
class Removed:
    """One thing that an ablation took out: what it was, where it stood, and why it went."""

    what: str
    where: str
    why: str


@dataclass(frozen=True)
class Ablated:
    """A report after an ablation. `identical`: nothing was removed, so the reader sees the full report."""

    report: Report
    removed: tuple[Removed, ...]

    @property
    def identical(self) -> bool:
        return not self.removed


def ablate(report: Report, level: Level) -> Ablated:
    """The report without what names bank conflicts (`names`), or also what derives them (`strict`)."""
    return _Ablation(level).run(report)


class _Ablation:
    def __init__(self, level: Level) -> None:
        self.level = level
        self.removed: list[Removed] = []
        self.files: dict[str, str] = {}
        self.judged: dict[tuple[str, ...], dict[str, str]] = {}

    def run(self, report: Report) -> Ablated:
        sections = tuple(self.section(s) for s in report.sections)
        raw = self.metrics(report.raw, "raw metrics")
        source = self.lines(report.source)
        instructions = self.instructions(report.instructions)
        markers = self.markers(report.markers)
        other = tuple(
            text for text in (self.free(line, "other", whole=True) for line in report.other) if text is not None
        )
        launch = replace(
            report.launch,
            kernel=self.free(report.launch.kernel, "kernel name") or "",
            process=self.free(report.launch.process, "process name"),
        )
        origin = replace(
            report.origin,
            path=self.free(report.origin.path, "file name") or "",
            notes=tuple(self.free(note, "notes") or "" for note in report.origin.notes),
        )
        if not self.removed:
            return Ablated(report, ())
        changed = replace(
            report,
            launch=launch,
            origin=origin,
            sections=sections,
            raw=raw,
            source=source,
            instructions=instructions,
            other=other,
            markers=markers,
        )
        return Ablated(changed, tuple(self.removed))

    def took(self, what: str, where: str, why: str) -> None:
        self.removed.append(Removed(what, where, why))

    def free(self, text: str | None, where: str, *, whole: bool = False) -> str | None:
        """Free text with its conflict words withheld; None where the whole line goes."""
        if text is None:
            return None
        if whole and (why := prose_reason(text, self.level) or label_reason(text, self.level)):
            self.took(text, where, why)
            return None
        if not names_conflict(text):
            return text
        self.took(text, where, NAMED)
        return withheld(text)

    def section(self, section: Section) -> Section:
        where = f"section {section.name or section.id}"
        tables = tuple(t for t in (self.table(t, where) for t in section.tables) if t is not None)
        rules = tuple(r for r in (self.rule(r, where) for r in section.rules) if r is not None)
        metrics = self.metrics(section.metrics, where)
        name = self.free(section.name, where) or ""
        if (metrics, rules, tables, name) == (section.metrics, section.rules, section.tables, section.name):
            return section
        return replace(section, name=name, metrics=metrics, rules=rules, tables=tables)

    def metrics(self, metrics: tuple[Metric, ...], where: str) -> tuple[Metric, ...]:
        kept: list[Metric] = []
        for metric in metrics:
            changed = self.metric(metric, where)
            if changed is not None:
                kept.append(changed)
        same = len(kept) == len(metrics) and all(a is b for a, b in zip(kept, metrics, strict=True))
        return metrics if same else tuple(kept)

    def metric(self, metric: Metric, where: str) -> Metric | None:
        name = metric.name or metric.label
        why = metric_reason(metric.name, self.level) or label_reason(metric.label, self.level)
        if why is None and isinstance(metric.value, str):
            metric = self.worded(metric, where)
            why = prose_reason(metric.value, self.level) if isinstance(metric.value, str) else None
        if why:
            self.took(f"{name} = {_shown(metric)}", where, why)
            return None
        return self.instanced(metric, where)

    def worded(self, metric: Metric, where: str) -> Metric:
        """A metric whose value is text: a list of metrics loses names, free text loses words."""
        name, value = metric.name or metric.label, str(metric.value)
        shorter, gone = thinned(value, self.level)
        for item, why in gone:
            self.took(item, f"{where}, list {name}", why)
        if not gone and names_conflict(value) and not prose_reason(value, self.level):
            self.took(f"{name} = {value}", where, NAMED)
            shorter = withheld(value)
        return metric if shorter == value else replace(metric, value=shorter, raw=None)

    def instanced(self, metric: Metric, where: str) -> Metric:
        """The metric without the instances that name a conflict or a conflict metric."""
        if not any(isinstance(i.value, str) or isinstance(i.id, str) for i in metric.instances):
            return metric
        kept: list[Instance] = []
        for instance in metric.instances:
            value = instance.value
            if isinstance(value, str):
                shorter, gone = thinned(value, self.level)
                for item, why in gone:
                    self.took(item, f"{where}, list {metric.name}[{instance.id}]", why)
                value = shorter
            found = next(
                (w for part in (instance.id, value) if isinstance(part, str) and (w := self.words(part))), None
            )
            if found:
                self.took(f"{metric.name or metric.label}[{instance.id}] = {instance.value}", where, found)
            else:
                kept.append(instance if value is instance.value else replace(instance, value=value))
        same = len(kept) == len(metric.instances) and all(a is b for a, b in zip(kept, metric.instances, strict=True))
        return metric if same else replace(metric, instances=tuple(kept))

    def words(self, text: str) -> str | None:
        """Why an instance, a cell or a note goes, from its words."""
        why = label_reason(text, self.level) or prose_reason(text, self.level)
        return why or (NAMED if names_conflict(text) else None)

    def table(self, table: Table, where: str) -> Table | None:
        """The table without its conflict columns and rows; None where nothing is left."""
        place = f"{where}, table {table.title}" if table.title else where
        if why := label_reason(table.title, self.level) or prose_reason(table.title, self.level):
            self.took(f"table {table.title}", where, why)
            return None
        columns = {i: why for i, c in enumerate(table.columns) if (why := column_reason(table.title, c, self.level))}
        for i, why in columns.items():
            self.took(f"column {table.columns[i]}", place, why)
        rows: list[tuple[str, ...]] = []
        for row in table.rows:
            kept = tuple(cell for i, cell in enumerate(row) if i not in columns)
            why_row = next((w for cell in kept if (w := self.words(cell))), None)
            if why_row:
                self.took("  ".join(cell for cell in row if cell), place, why_row)
            else:
                rows.append(kept)
        if not columns and len(rows) == len(table.rows):
            return table
        if not rows:
            return None
        return replace(
            table, columns=tuple(c for i, c in enumerate(table.columns) if i not in columns), rows=tuple(rows)
        )

    def rule(self, rule: Rule, where: str) -> Rule | None:
        """The rule without what it says of conflicts; None where the finding itself is about them."""
        place = f"{where}, rule {rule.title or rule.id}".removesuffix(" ")
        verdict = judge_rule(rule.id, rule.title, rule.text, self.level)
        if verdict.whole:
            self.took(f"{rule.severity} {rule.title or rule.id or 'rule'}: {rule.text}", where, verdict.whole)
            return None
        for cut in verdict.cuts:
            self.took(rule.text[cut.start : cut.end].strip(), place, cut.why)
        text = without(rule.text, verdict.cuts).rstrip() if verdict.cuts else rule.text
        title = self.free(rule.title, f"{place}, title") or ""
        focus = tuple(f for f in rule.focus if not self._focus(f, place))
        details = tuple(t for t in (self.table(t, place) for t in rule.details) if t is not None)
        if (title, text, focus, details) == (rule.title, rule.text, rule.focus, rule.details):
            return rule
        return replace(rule, title=title, text=text, focus=focus, details=details)

    def _focus(self, name: str, place: str) -> bool:
        why = label_reason(name, self.level) or prose_reason(name, self.level)
        if why:
            self.took(f"focus metric {name}", place, why)
        return why is not None

    def counted(self, metrics: Mapping[str, Value], where: str) -> Mapping[str, Value]:
        names = tuple(metrics)
        if names not in self.judged:  # thousands of instructions share a few sets of metrics
            self.judged[names] = {name: why for name in names if (why := label_reason(name, self.level))}
        bad = self.judged[names]
        if not bad:
            return metrics
        for name, why in bad.items():
            self.took(f"{name} = {metrics[name]}", where, why)
        return {name: value for name, value in metrics.items() if name not in bad}

    def file(self, name: str) -> str:
        """A source file's name without words about conflicts; told once, however many lines are of it."""
        if name not in self.files:
            self.files[name] = withheld(name)
            if self.files[name] != name:
                self.took(name, "source file name", NAMED)
        return self.files[name]

    def markers(self, markers: tuple[Marker, ...]) -> tuple[Marker, ...]:
        ids = (*CONFLICT_RULES, *STRICT_RULES) if self.level == "strict" else CONFLICT_RULES
        kept: list[Marker] = []
        for marker in markers:
            why = prose_reason(marker.text, self.level) or (NAMED if marker.rule in ids else None)
            if why:
                self.took(marker.text, f"marker of rule {marker.rule}", why)
            else:
                file = self.file(marker.file)
                kept.append(marker if file == marker.file else replace(marker, file=file))
        return tuple(kept)

    def lines(self, lines: tuple[SourceLine, ...]) -> tuple[SourceLine, ...]:
        kept: list[SourceLine] = []
        for line in lines:
            file, text = self.file(line.file), source_withheld(line.text)
            metrics = self.counted(line.metrics, f"{file}:{line.line}")
            if text != line.text:
                self.took(line.text.strip(), f"{file}:{line.line}", NAMED)
            same = metrics is line.metrics and text == line.text and file == line.file
            kept.append(line if same else replace(line, metrics=metrics, text=text, file=file))
        return tuple(kept)

    def instructions(self, instructions: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        kept: list[Instruction] = []
        for item in instructions:
            file, text = self.file(item.file), source_withheld(item.text)
            metrics = self.counted(item.metrics, f"instruction {item.address:#x}")
            if text != item.text:
                self.took(item.text.strip(), f"instruction {item.address:#x}", NAMED)
            same = metrics is item.metrics and file == item.file and text == item.text
            kept.append(item if same else replace(item, metrics=metrics, file=file, text=text))
        return tuple(kept)


def _shown(metric: Metric) -> str:
    if metric.value is None:
        return "n/a"
    return metric.raw if metric.raw is not None else str(metric.value)
