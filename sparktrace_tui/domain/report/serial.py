"""Reports to JSON and back: compact, deterministic, and strict about what it takes."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.report.report import (
    Instance,
    Instruction,
    KernelLaunch,
    Marker,
    Metric,
    Origin,
    Report,
    Rule,
    Section,
    SourceLine,
    Table,
    Value,
)

FORMAT = 1
T = TypeVar("T")


def report_to_json(report: Report) -> dict[str, Any]:
    """A report as JSON-ready values; empty fields are left out, metrics are arrays.

    A metric is [name, label, unit, value, raw, instances], cut after its last field that says something;
    instances are [[ids], [values]]. A value that JSON cannot hold (nan, inf) becomes null: missing.
    """
    return _filled(
        {
            "format": FORMAT,
            "launch": _filled(
                {
                    "kernel": report.launch.kernel,
                    "grid": _listed(report.launch.grid),
                    "block": _listed(report.launch.block),
                    "context": report.launch.context,
                    "stream": report.launch.stream,
                    "device": report.launch.device,
                    "compute_capability": report.launch.compute_capability,
                    "device_name": report.launch.device_name,
                    "process": report.launch.process,
                }
            ),
            "origin": _filled(
                {
                    "form": report.origin.form,
                    "path": report.origin.path,
                    "tool": report.origin.tool,
                    "provenance": report.origin.provenance,
                    "notes": list(report.origin.notes),
                }
            ),
            "sections": [_section(s) for s in report.sections],
            "raw": [_metric(m) for m in report.raw],
            "source": [
                _filled({"file": s.file, "line": s.line, "text": s.text, "metrics": _counts(s.metrics)})
                for s in report.source
            ],
            "instructions": [
                _filled(
                    {
                        "address": i.address,
                        "text": i.text,
                        "file": i.file,
                        "line": i.line,
                        "metrics": _counts(i.metrics),
                    }
                )
                for i in report.instructions
            ],
            "other": list(report.other),
            "markers": [
                _filled({"rule": m.rule, "text": m.text, "address": m.address, "file": m.file, "line": m.line})
                for m in report.markers
            ],
        }
    )


def report_from_json(data: object, *, where: str = "report") -> Report:
    """The report of that JSON; raises BadInput, naming `where`, if it is not one."""
    try:
        return _report(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadInput(
            f"{where}: not a stored report ({type(error).__name__}: {error})",
            hint="make the capture again, or take the file from its set",
        ) from error


def report_to_text(report: Report) -> str:
    """One line of JSON; equal reports give equal bytes."""
    return json.dumps(report_to_json(report), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _filled(data: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in data.items() if v is not None and v != "" and v != [] and v != {}}


def _listed(values: tuple[int, int, int] | None) -> list[int] | None:
    return None if values is None else list(values)


def _value(value: Value) -> Value:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _counts(metrics: Mapping[str, Value]) -> dict[str, Value]:
    return {name: _value(value) for name, value in metrics.items()}


def _metric(metric: Metric) -> list[Any]:
    instances = [[i.id for i in metric.instances], [_value(i.value) for i in metric.instances]]
    row: list[Any] = [metric.name, metric.label, metric.unit, _value(metric.value), metric.raw]
    if metric.instances:
        row.append(instances)
    while len(row) > 4 and row[-1] is None:
        row.pop()
    return row


def _table(table: Table) -> dict[str, Any]:
    return _filled(
        {
            "title": table.title,
            "columns": list(table.columns),
            "rows": [list(row) for row in table.rows],
            "group": table.group,
            "description": table.description,
        }
    )


def _rule(rule: Rule) -> dict[str, Any]:
    return _filled(
        {
            "id": rule.id,
            "severity": rule.severity,
            "title": rule.title,
            "text": rule.text,
            "speedup": rule.speedup,
            "speedup_kind": rule.speedup_kind,
            "focus": list(rule.focus),
            "details": [_table(t) for t in rule.details],
        }
    )


def _section(section: Section) -> dict[str, Any]:
    return _filled(
        {
            "id": section.id,
            "name": section.name,
            "metrics": [_metric(m) for m in section.metrics],
            "rules": [_rule(r) for r in section.rules],
            "tables": [_table(t) for t in section.tables],
        }
    )


def _report(data: Any) -> Report:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError("no format number that this version reads")
    launch, origin = data.get("launch", {}), data["origin"]
    return Report(
        launch=KernelLaunch(
            kernel=_text(launch.get("kernel", "")),
            grid=_triple(launch.get("grid")),
            block=_triple(launch.get("block")),
            context=_whole(launch.get("context")),
            stream=_whole(launch.get("stream")),
            device=_whole(launch.get("device")),
            compute_capability=_text_or_none(launch.get("compute_capability")),
            device_name=_text_or_none(launch.get("device_name")),
            process=_text_or_none(launch.get("process")),
        ),
        origin=Origin(
            form=_text(origin["form"]),
            path=_text(origin.get("path", "")),
            tool=_text(origin.get("tool", "")),
            provenance=_one_of(origin.get("provenance", "measured"), ("measured", "published", "emulated")),
            notes=_all(_text, origin.get("notes", [])),
        ),
        sections=_all(_to_section, data.get("sections", [])),
        raw=_all(_to_metric, data.get("raw", [])),
        source=_all(_to_line, data.get("source", [])),
        instructions=_all(_to_instruction, data.get("instructions", [])),
        other=_all(_text, data.get("other", [])),
        markers=_all(_to_marker, data.get("markers", [])),
    )


def _all(make: Callable[[Any], T], items: Any) -> tuple[T, ...]:
    if not isinstance(items, list):
        raise TypeError(f"a list was expected, not {type(items).__name__}")
    return tuple(make(item) for item in items)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text was expected, not {type(value).__name__}")
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _whole(value: Any) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise TypeError(f"a whole number was expected, not {value!r}")
    return value


def _triple(value: Any) -> tuple[int, int, int] | None:
    if value is None:
        return None
    x, y, z = (_whole(v) for v in value)
    if x is None or y is None or z is None:
        raise TypeError("three whole numbers were expected")
    return (x, y, z)


def _one_of(value: Any, options: tuple[Any, ...]) -> Any:
    if value not in options:
        raise ValueError(f"{value!r} is none of {', '.join(map(str, options))}")
    return value


def _plain(value: Any) -> Value:
    if value is not None and not isinstance(value, int | float | str):
        raise TypeError(f"a number or text was expected, not {type(value).__name__}")
    return value


def _values(value: Any) -> dict[str, Value]:
    return {_text(k): _plain(v) for k, v in value.items()}


def _to_metric(row: Any) -> Metric:
    name, label, unit, value = row[:4]
    raw = row[4] if len(row) > 4 else None
    ids, values = row[5] if len(row) > 5 else ([], [])
    instances = tuple(
        Instance(i if isinstance(i, int | str) else None, _plain(v)) for i, v in zip(ids, values, strict=True)
    )
    return Metric(_text(name), _text(label), _text(unit), _plain(value), _text_or_none(raw), instances)


def _to_table(data: Any) -> Table:
    return Table(
        title=_text(data.get("title", "")),
        columns=_all(_text, data.get("columns", [])),
        rows=tuple(_all(_text, row) for row in data.get("rows", [])),
        group=_text(data.get("group", "")),
        description=_text(data.get("description", "")),
    )


def _to_rule(data: Any) -> Rule:
    speedup = data.get("speedup")
    return Rule(
        id=_text(data.get("id", "")),
        severity=_one_of(data["severity"], ("OPT", "INF", "WRN", "ERR")),
        title=_text(data.get("title", "")),
        text=_text(data.get("text", "")),
        speedup=None if speedup is None else float(speedup),
        speedup_kind=_one_of(data.get("speedup_kind"), ("global", "local", None)),
        focus=_all(_text, data.get("focus", [])),
        details=_all(_to_table, data.get("details", [])),
    )


def _to_section(data: Any) -> Section:
    return Section(
        id=_text(data.get("id", "")),
        name=_text(data.get("name", "")),
        metrics=_all(_to_metric, data.get("metrics", [])),
        rules=_all(_to_rule, data.get("rules", [])),
        tables=_all(_to_table, data.get("tables", [])),
    )


def _to_line(data: Any) -> SourceLine:
    line = _whole(data["line"])
    if line is None:
        raise TypeError("a line number was expected")
    return SourceLine(_text(data.get("file", "")), line, _text(data.get("text", "")), _values(data.get("metrics", {})))


def _to_instruction(data: Any) -> Instruction:
    return Instruction(
        address=_whole(data["address"]) or 0,
        text=_text(data.get("text", "")),
        file=_text(data.get("file", "")),
        line=_whole(data.get("line")),
        metrics=_values(data.get("metrics", {})),
    )


def _to_marker(data: Any) -> Marker:
    return Marker(
        rule=_text(data.get("rule", "")),
        text=_text(data.get("text", "")),
        address=_whole(data.get("address")),
        file=_text(data.get("file", "")),
        line=_whole(data.get("line")),
    )
