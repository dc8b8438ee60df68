"""The worker that reads an .ncu-rep with NVIDIA's library: a path in, reports as JSON out, one document on
stdout.

It runs as a process of its own (`python -m sparktrace_tui.nsight.ncu_worker FILE`), since the library can
abort the process, hang, or hold the interpreter. It says `{"reports": [...]}` or `{"error": "..."}`.
"""

import contextlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Literal

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
    Severity,
    SourceLine,
    Table,
    Value,
)
from sparktrace_tui.domain.report.serial import report_to_json
from sparktrace_tui.nsight.bodies import body_tables
from sparktrace_tui.nsight.units import format_value

MEMORY_LIMIT = 8 << 30
_VERSION = re.compile(rb"(20\d\d\.\d+\.\d+)(?:\.\d+)? \(build")
_LINK = re.compile(r"@(section|url|sass|source):([^@]*)@")
# NVIDIA's MsgType: none, ok, optimization, warning, error.
_SEVERITIES: dict[int, Severity] = {1: "INF", 2: "OPT", 3: "WRN", 4: "ERR"}
_SPEEDUPS: dict[object, Literal["global", "local"]] = {1: "local", 2: "global"}
_PC_BASES = ("inst_executed", "smsp__pcsamp_sample_count", "thread_inst_executed", "smsp__pcsamp_sample_buffer_full")
# Per-instruction values whose sum over a line means nothing.
_NOT_ADDITIVE = re.compile(r"nway|pct|ratio|avg|_type$|thread_executed")


def plain(message: str) -> str:
    """A rule's message without link markup, as the text page words it: a web link as `words (address)`."""

    def words(match: re.Match[str]) -> str:
        kind, body = match[1], match[2]
        if kind == "url":
            name, _, address = body.partition(":")
            return f"{name} ({address})"
        return body.rpartition(":")[2]

    return _LINK.sub(words, message)


def read(path: Path, library: Any) -> list[Report]:
    """The reports of a file by the given `ncu_report` module; empty where it finds no kernel."""
    version = _VERSION.search(path.read_bytes())
    tool = f"Nsight Compute {version[1].decode()}" if version else ""
    origin = Origin(form="ncu-rep", path=path.name, tool=tool)
    context = library.load_report(str(path))
    return [_report(action, origin) for scope in context for action in scope]


def _report(action: Any, origin: Origin) -> Report:
    names = list(action.metric_names())
    found = {name: metric for name in names if (metric := action.metric_by_name(name)) is not None}
    pcs = _pcs(found)
    by_pc: dict[int, dict[str, Value]] = {}
    metrics = {name: _metric(name, metric, pcs, by_pc) for name, metric in found.items()}
    sections = _sections(action, metrics)
    placed = {metric.name for section in sections for metric in section.metrics}
    instructions = tuple(_instruction(action, pc, by_pc.get(pc, {})) for pc in sorted(pcs | set(by_pc)))
    return Report(
        launch=_launch(action, metrics),
        origin=origin,
        sections=sections,
        raw=tuple(metric for name, metric in sorted(metrics.items()) if name not in placed),
        source=_source(action, instructions),
        instructions=instructions,
        other=tuple(_ranges(action)),
        markers=tuple(_markers(action)),
    )


def _pcs(found: dict[str, Any]) -> set[int]:
    """The addresses of the kernel's instructions, from the counters that every instruction has."""
    for name in _PC_BASES:
        if name in found and found[name].num_instances() and found[name].has_correlation_ids():
            ids = found[name].correlation_ids()
            return {int(ids.value(i)) for i in range(found[name].num_instances())}
    return set()


def _value(metric: Any, *at: int) -> Value:
    value = metric.value(*at)
    return value if isinstance(value, int | float | str) and value != "" else None


def _metric(name: str, metric: Any, pcs: set[int], by_pc: dict[int, dict[str, Value]]) -> Metric:
    """The metric; instances that belong to instructions go to `by_pc`, all others stay with it."""
    value = _value(metric) if metric.has_value() else None
    instances: tuple[Instance, ...] = ()
    count = metric.num_instances()
    if count and metric.has_correlation_ids():
        ids = metric.correlation_ids()
        keys = [ids.value(i) for i in range(count)]
        values = [_value(metric, i) for i in range(count)]
        if pcs and all(key in pcs for key in keys[:3]) and name != "launch__function_pcs":
            for key, one in zip(keys, values, strict=True):
                by_pc.setdefault(int(key), {})[name] = one
        else:
            instances = tuple(Instance(k, v) for k, v in zip(keys, values, strict=True))
    elif count:
        instances = tuple(Instance(None, _value(metric, i)) for i in range(count))
    label = metric.label() or ""
    return Metric(name, "" if "{" in label else label, metric.unit() or "", value, None, instances)


def _number(metrics: dict[str, Metric], name: str) -> int | None:
    value = metrics[name].value if name in metrics else None
    return int(value) if isinstance(value, int | float) else None


def _launch(action: Any, metrics: dict[str, Metric]) -> KernelLaunch:
    grid, block = (
        tuple(_number(metrics, f"launch__{what}_dim_{axis}") for axis in "xyz") for what in ("grid", "block")
    )
    major, minor = (_number(metrics, f"device__attribute_compute_capability_{part}") for part in ("major", "minor"))
    device = metrics.get("device__attribute_display_name")
    name = action.name(action.NameBase_DEMANGLED) or action.name() or ""
    return KernelLaunch(
        kernel=name,
        grid=_triple(grid),
        block=_triple(block),
        context=_number(metrics, "launch__context_id"),
        stream=_number(metrics, "launch__stream_id"),
        device=_number(metrics, "device__attribute_device_index"),
        compute_capability=None if major is None or minor is None else f"{major}.{minor}",
        device_name=device.value if device is not None and isinstance(device.value, str) else None,
    )


def _triple(values: tuple[int | None, ...]) -> tuple[int, int, int] | None:
    x, y, z = values
    return None if x is None or y is None or z is None else (x, y, z)


def _sections(action: Any, metrics: dict[str, Metric]) -> tuple[Section, ...]:
    rules: dict[str, list[Rule]] = {}
    for result in action.rule_results_as_dicts():
        if rule := _rule(result):
            rules.setdefault(result.get("section_identifier", ""), []).append(rule)
    sections = []
    for section in sorted(action.sections(), key=lambda s: s.order()):
        identifier = section.identifier()
        header = tuple(metrics[m.name()] for m in section.header_metrics() if m.name() in metrics)
        body = [m.name() for m in section.body_metrics()]
        sections.append(
            Section(
                id=identifier,
                name=section.name() or identifier,
                metrics=header,
                rules=tuple(rules.pop(identifier, ())),
                tables=body_tables(identifier, body, metrics),
            )
        )
    sections += [Section(identifier, identifier, rules=tuple(rest)) for identifier, rest in rules.items()]
    return tuple(sections)


def _rule(result: dict[str, Any]) -> Rule | None:
    message = result.get("rule_message", {})
    if not message.get("message"):
        return None
    focus = result.get("focus_metrics", [])
    estimate = result.get("speedup_estimation", {})
    details = [
        Table(
            title=plain(str(table.get("title", ""))),
            columns=tuple(plain(str(h)) for h in table.get("headers", ())),
            rows=tuple(tuple(_cell(cell) for cell in row) for row in table.get("data", ())),
            description=plain(str(table.get("description", ""))),
        )
        for table in result.get("result_tables", ())
    ]
    if focus:
        rows = tuple((f["name"], f"{f['value']:.6f}", plain(f["info"])) for f in focus)
        details.insert(0, Table("", ("Metric", "Value", "Info"), rows))
    return Rule(
        id=result.get("rule_identifier", ""),
        severity=_SEVERITIES.get(message.get("type", 1), "INF"),
        title=plain(message.get("title") or result.get("name", "")),
        text=plain(message["message"]),
        speedup=estimate.get("speedup"),
        speedup_kind=_SPEEDUPS.get(estimate.get("type")),
        focus=tuple(f["name"] for f in focus),
        details=tuple(details),
    )


def _cell(cell: Any) -> str:
    return plain(cell) if isinstance(cell, str) else format_value(cell) if isinstance(cell, int | float) else ""


def _instruction(action: Any, pc: int, metrics: dict[str, Value]) -> Instruction:
    info = action.source_info(pc)
    return Instruction(
        address=pc,
        text=(action.sass_by_pc(pc) or "").strip().replace("???", ""),
        file=info.file_name() if info else "",
        line=info.line() if info else None,
        metrics=metrics,
    )


def _source(action: Any, instructions: tuple[Instruction, ...]) -> tuple[SourceLine, ...]:
    """The lines that instructions came from, with the sums of what may be summed, and the text where it is
    embedded.
    """
    texts = {name: str(text).splitlines() for name, text in dict(action.source_files()).items() if text}
    sums: dict[tuple[str, int], dict[str, Value]] = {
        (name, number): {} for name, text in texts.items() for number in range(1, len(text) + 1)
    }
    for item in instructions:
        if not item.file or item.line is None:
            continue
        line = sums.setdefault((item.file, item.line), {})
        for name, value in item.metrics.items():
            before = line.get(name, 0)
            if isinstance(value, int | float) and isinstance(before, int | float) and not _NOT_ADDITIVE.search(name):
                line[name] = before + value
    found: list[SourceLine] = []
    for (name, number), metrics in sorted(sums.items()):
        lines = texts.get(name, [])
        found.append(SourceLine(name, number, lines[number - 1] if 0 < number <= len(lines) else "", metrics))
    return tuple(found)


def _ranges(action: Any) -> list[str]:
    state = action.nvtx_state()
    if state is None:
        return []
    found: list[str] = []
    for identifier in state.domains():
        domain = state.domain_by_id(identifier)
        ranges = [*domain.push_pop_ranges(), *domain.start_end_ranges()]
        found.extend(f"NVTX range {domain.name()}: {name}" for name in ranges)
    return found


def _markers(action: Any) -> list[Marker]:
    found: list[Marker] = []
    for marker in action.source_markers():
        place = marker.get("source_location") or {}
        found.append(
            Marker(
                rule=marker.get("rule_identifier", ""),
                text=plain(marker.get("message", "")),
                address=marker.get("source_address"),
                file=place.get("file_name", ""),
                line=place.get("line"),
            )
        )
    return found


def _limit() -> None:
    """Bounds on memory and core files, where the system has them: a damaged file may ask for anything."""
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def main(arguments: list[str]) -> int:
    """Reads the file named first; whatever the library prints goes to stderr."""
    _limit()
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogatepass")
    os.dup2(2, 1)
    try:
        import ncu_report

        reports = read(Path(arguments[0]), ncu_report)
        document: dict[str, Any] = {"reports": [report_to_json(report) for report in reports]}
    except Exception as error:  # the parent turns whatever went wrong into one line
        document = {"error": f"{type(error).__name__}: {error}"}
    with answer:
        json.dump(document, answer, ensure_ascii=True, separators=(",", ":"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
