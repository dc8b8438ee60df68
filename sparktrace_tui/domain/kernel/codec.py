"""Captures to and from JSON values: the format of `captures/<set>/<family>.json`."""

from collections.abc import Mapping
from typing import Any

from sparktrace_tui.domain.kernel.capture import (
    PROVENANCES,
    Bound,
    Capture,
    ModelStability,
    Resources,
    Time,
    VariantRecord,
)
from sparktrace_tui.domain.report.serial import report_from_json, report_to_json

FORMAT = 1


def capture_to_json(capture: Capture) -> dict[str, Any]:
    """A JSON value that `capture_from_json` reads back to an equal capture."""
    return {
        "format": FORMAT,
        "family": capture.family,
        "provenance": capture.provenance,
        "made": dict(capture.made),
        "variants": {name: _record_to_json(record) for name, record in capture.variants.items()},
        "stability": (
            None if capture.stability is None else {"draws": capture.stability.draws, "first": capture.stability.first}
        ),
        "report": None if capture.report is None else report_to_json(capture.report),
    }


def _record_to_json(record: VariantRecord) -> dict[str, Any]:
    time, resources, bound = record.time, record.resources, record.bound
    return {
        "verdict": record.verdict,
        "time": (
            None
            if time is None
            else {
                "median_ms": time.median_ms,
                "approximate": time.approximate,
                "blocks_ms": list(time.blocks_ms) if time.blocks_ms else None,
            }
        ),
        "bound": None if bound is None else {"by": bound.by, "shares": dict(bound.shares)},
        "resources": {
            "registers": resources.registers,
            "shared_bytes": resources.shared_bytes,
            "local_bytes": resources.local_bytes,
            "blocks_per_sm": resources.blocks_per_sm,
            "occupancy": resources.occupancy,
        },
        "counters": dict(record.counters),
        "approximate_counters": list(record.approximate_counters),
    }


def capture_from_json(value: Mapping[str, Any]) -> Capture:
    """The capture in a JSON value; ValueError or KeyError says what is not as it should be."""
    if value.get("format") != FORMAT:
        raise ValueError(f"format is {value.get('format')!r}; this version reads {FORMAT}")
    if value["provenance"] not in PROVENANCES:
        raise ValueError(f"provenance is {value['provenance']!r}; it can be {', '.join(PROVENANCES)}")
    stability = value["stability"]
    report = value["report"]
    return Capture(
        family=value["family"],
        provenance=value["provenance"],
        variants={name: _record_from_json(record) for name, record in value["variants"].items()},
        report=None if report is None else report_from_json(report),
        stability=None if stability is None else ModelStability(stability["draws"], stability["first"]),
        made=dict(value["made"]),
    )


def _record_from_json(value: Mapping[str, Any]) -> VariantRecord:
    time, bound = value["time"], value["bound"]
    return VariantRecord(
        verdict=value["verdict"],
        time=(
            None
            if time is None
            else Time(float(time["median_ms"]), bool(time["approximate"]), tuple(time["blocks_ms"] or ()))
        ),
        resources=Resources(**value["resources"]),
        counters=dict(value["counters"]),
        bound=None if bound is None else Bound(bound["by"], dict(bound["shares"])),
        approximate_counters=tuple(value["approximate_counters"]),
    )
