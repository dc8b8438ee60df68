"""A report as text, in the manner of Nsight Compute's details page, reflowed to a width."""

import textwrap
from collections.abc import Iterable, Sequence

from sparktrace_tui.domain.report.report import KernelLaunch, Metric, Report, Rule, Section, SourceLine, Table
from sparktrace_tui.nsight.names import RAW_SECTION
from sparktrace_tui.nsight.page import cell_spans, cut
from sparktrace_tui.nsight.units import format_value, shown

METRIC_COLUMNS = ("Metric Name", "Metric Unit", "Metric Value")
SUMMARY = ("minimum", "maximum", "average")
INDENT = "    "
RULE_INDENT = " " * 10
NARROWEST = 40


def render(
    report: Report, width: int = 120, *, tables: bool = True, raw: bool | None = None, source: bool = False
) -> str:
    """The report as a details page, at most `width` columns where words allow, ending with a newline.

    `raw` adds the metrics that stand on no section (by default only where there is no section at all);
    `source` adds the lines that carry counts. Rule titles are not part of Nsight's text page and are not
    printed.
    """
    width = max(width, NARROWEST)
    lines: list[str] = []
    if report.launch.process:
        lines.append(report.launch.process)
    if report.origin.provenance == "emulated":
        lines.append(f"[emulated] {report.origin.tool}".rstrip())
    lines.extend(_header(report.launch, width))
    for section in report.sections:
        lines.append(f"{INDENT}Section: {section.name or section.id}")
        lines.extend(_section(section, width, tables))
    if report.raw and (raw or (raw is None and not report.sections)):
        rows = [(m.name or m.label, *reversed(shown(m))) for m in report.raw]
        lines.extend([f"{INDENT}Section: {RAW_SECTION}", *_grid(METRIC_COLUMNS, rows, width), ""])
    if source and report.source:
        lines.extend(_source(report.source, width))
    return "\n".join(lines).rstrip("\n") + "\n"


def _header(launch: KernelLaunch, width: int) -> list[str]:
    shape = ""
    if launch.grid is not None and launch.block is not None:
        shape = f" ({', '.join(map(str, launch.grid))})x({', '.join(map(str, launch.block))})"
    facts = [
        f"{word} {value}"
        for word, value in (
            ("Context", launch.context),
            ("Stream", launch.stream),
            ("Device", launch.device),
            ("CC", launch.compute_capability),
        )
        if value is not None
    ]
    text = ", ".join([f"{launch.kernel}{shape}", *facts])
    return textwrap.wrap(
        text, width, initial_indent="  ", subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False
    ) or ["  "]


def _section(section: Section, width: int, tables: bool) -> list[str]:
    lines: list[str] = []
    if section.metrics:
        lines.extend(_metrics(section.metrics, width))
        lines.append("")
    if tables:
        group = ""
        for table in section.tables:
            if table.group and table.group != group:
                lines.append(f"{INDENT}{table.group}")
            group = table.group
            lines.extend([*_table(table, width), ""])
    for index, rule in enumerate(section.rules):
        if index:
            lines.append(f"{INDENT}{'-' * 5} {'-' * (width - 10)}")
        lines.extend(_rule(rule, width))
    if section.rules or not lines:
        lines.append("")
    return lines


def _metrics(metrics: Sequence[Metric], width: int) -> list[str]:
    if all(tuple(i.id for i in m.instances) == SUMMARY for m in metrics):
        rows = [(m.label or m.name, m.unit, *(format_value(i.value) for i in m.instances)) for m in metrics]
        return _grid((*METRIC_COLUMNS[:2], *(str(word).title() for word in SUMMARY)), rows, width)
    return _grid(METRIC_COLUMNS, [_row(m) for m in metrics], width)


def _row(metric: Metric) -> tuple[str, str, str]:
    value, unit = shown(metric)
    return (metric.label or metric.name, unit, value)


def _table(table: Table, width: int) -> list[str]:
    lines = [f"{INDENT}Table Name : {table.title}"] if table.title else []
    if table.description:
        lines.append(f"{INDENT}Table Description : {table.description}")
    return lines + _grid(table.columns, table.rows, width)


def _grid(columns: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> list[str]:
    """Columns between rulers: the first to the left, the others to the right.

    A row too wide for the page has its first cell on a line of its own, and the rest on the next.
    """
    count = len(columns)
    cells = [[*(" ".join(cell.split()) for cell in row), *[""] * count][:count] for row in rows]
    rest = [max((len(row[i]) for row in cells), default=0) for i in range(1, count)]
    rest = [max(size, len(columns[i])) for i, size in enumerate(rest, 1)]
    room = width - len(INDENT) - sum(rest) - len(rest)
    widest = max([len(columns[0]), *(len(row[0]) for row in cells)]) if count else 0
    first = max(min(widest, room), len(columns[0]) if count else 0)
    sizes = [first, *rest]
    ruler = INDENT + " ".join("-" * size for size in sizes)
    lines = [ruler, _line(columns, sizes), ruler]
    for row in cells:
        if len(row[0]) > first:
            lines.append(_alone(row[0], ruler))
            row = ["", *row[1:]]
        lines.append(_line(row, sizes))
    return [*lines, ruler]


def _alone(label: str, ruler: str) -> str:
    """A first cell on a line of its own; a second blank parts words that happen to stand like cells."""
    line = INDENT + label
    spans = cell_spans(ruler)
    while cut(line, spans, True)[1:] != ("",) * (len(spans) - 1) and len(line) < len(INDENT + label) + 4:
        line = " " + line
    return line


def _line(row: Sequence[str], sizes: Sequence[int]) -> str:
    parts = [row[0].ljust(sizes[0]), *(cell.rjust(size) for cell, size in zip(row[1:], sizes[1:], strict=True))]
    return (INDENT + " ".join(parts)).rstrip()


def _rule(rule: Rule, width: int) -> list[str]:
    lines = []
    if rule.speedup is not None:
        word = "Est. Local Speedup" if rule.speedup_kind == "local" else "Est. Speedup"
        lines.append(f"{word}: {rule.speedup:.4g}%")
    lines.extend(
        textwrap.wrap(" ".join(rule.text.split()), max(width - 10, 30), break_long_words=False, break_on_hyphens=False)
    )
    first, *others = lines or [""]
    block = [f"{INDENT}{rule.severity}   {first}".rstrip(), *(RULE_INDENT + line for line in others)]
    # Nsight pads these lines; in a reader's eyes a full line without a blank at its end breaks a word.
    block = [line + " " if len(line) >= 120 else line for line in block]
    for table in rule.details:
        block.extend(_detail(table, width))
    return block


def _detail(table: Table, width: int) -> list[str]:
    if table.columns == ("Metric", "Value", "Info"):
        lines = []
        for metric, value, info in table.rows:
            lines += [
                f"{INDENT}>     Metric: {metric}",
                f"{RULE_INDENT}Value : {value}",
                f"{RULE_INDENT}Info  : {info}",
            ]
        return lines
    return _table(table, width)


def _source(lines: Sequence[SourceLine], width: int) -> list[str]:
    """The source lines with counts, one table a file."""
    text = [f"{INDENT}Section: Source lines"]
    for file in dict.fromkeys(line.file for line in lines):
        counted = [line for line in lines if line.file == file and line.metrics]
        names = tuple(dict.fromkeys(name for line in counted for name in line.metrics))
        if not names:
            continue
        rows = [(f"{line.line}: {line.text.strip()}", *(_count(line, name) for name in names)) for line in counted]
        text.extend([f"{INDENT}Table Name : {file}", *_grid(("Line", *names), rows, width), ""])
    return text if len(text) > 1 else []


def _count(line: SourceLine, name: str) -> str:
    return format_value(line.metrics[name]) if name in line.metrics else ""
