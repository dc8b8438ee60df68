"""A profiler report as a value: sections of metrics and rules, whatever it was read from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Value = float | int | str | None  # None is missing, never 0
Severity = Literal["OPT", "INF", "WRN", "ERR"]


@dataclass(frozen=True)
class Instance:
    """One element of an instanced metric: its correlation id (a PC, an SM, ...) and value."""

    id: int | str | None
    value: Value


@dataclass(frozen=True)
class Metric:
    """One metric.

    `name` is Nsight's identifier ("" where a text form gives the label only), `label` what its page shows,
    `unit` as the source spelt it, `raw` the value as the source printed it (None where it was a number).
    """

    name: str
    label: str
    unit: str
    value: Value
    raw: str | None = None
    instances: tuple[Instance, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table of a section's body or of a rule's details: a title, column headers, rows of cells as printed.

    `group` is the heading that one or several tables stand under, `description` the line below the title.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    group: str = ""
    description: str = ""


@dataclass(frozen=True)
class Rule:
    """A rule's finding.

    `speedup` is the estimate in percent, `speedup_kind` says of what (the whole, or locally).
    """

    id: str
    severity: Severity
    title: str
    text: str
    speedup: float | None = None
    speedup_kind: Literal["global", "local"] | None = None
    focus: tuple[str, ...] = ()
    details: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Section:
    """A section of the details page, by Nsight's identifier and display name."""

    id: str
    name: str
    metrics: tuple[Metric, ...] = ()
    rules: tuple[Rule, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class SourceLine:
    """A source line (1-based) and what was counted there, by metric name."""

    file: str
    line: int
    text: str = ""
    metrics: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Instruction:
    """One machine (or PTX) instruction: address or index, text, source line and metrics by name."""

    address: int
    text: str
    file: str = ""
    line: int | None = None
    metrics: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Marker:
    """What a rule says of one place: an instruction's address, or a source line, or both; None is not
    stated.
    """

    rule: str
    text: str
    address: int | None = None
    file: str = ""
    line: int | None = None


@dataclass(frozen=True)
class KernelLaunch:
    """What was launched where; None is not stated."""

    kernel: str
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    context: int | None = None
    stream: int | None = None
    device: int | None = None
    compute_capability: str | None = None
    device_name: str | None = None
    process: str | None = None


@dataclass(frozen=True)
class Origin:
    """Where a report came from.

    `form` is `ncu-rep`, `csv-raw`, `csv-details`, `csv-metrics`, `csv-source`, `text-details`, `text-raw`,
    `text-summary` or `emulated`; `path` is the file's name only; `tool` the profiler (or model) and its
    version.
    """

    form: str
    path: str = ""
    tool: str = ""
    provenance: Literal["measured", "published", "emulated"] = "measured"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """One kernel's report.

    `raw` holds metrics on no section of the details page, `other` what found no place.
    """

    launch: KernelLaunch
    origin: Origin
    sections: tuple[Section, ...] = ()
    raw: tuple[Metric, ...] = ()
    source: tuple[SourceLine, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    other: tuple[str, ...] = ()
    markers: tuple[Marker, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(rule for section in self.sections for rule in section.rules)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Every metric, sections first, each name once where it has one."""
        seen: set[str] = set()
        found = []
        for metric in (*(m for s in self.sections for m in s.metrics), *self.raw):
            if metric.name and metric.name in seen:
                continue
            seen.add(metric.name)
            found.append(metric)
        return tuple(found)

    def metric(self, name: str) -> Metric | None:
        """The metric of that Nsight name, or None."""
        return next((m for m in self.metrics if m.name == name), None)
