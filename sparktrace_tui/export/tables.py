"""A capture set as rows, and rows as CSV: for files and for the command line."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.key import decide


def to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of equal keys as CSV with a header; None is `n/a`."""
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: "n/a" if value is None else value for key, value in row.items()})
    return out.getvalue()


def family_rows(capture_set: CaptureSet) -> list[dict[str, Any]]:
    """One row a family: the decision and its provenance."""
    rows = []
    for name, capture in capture_set.captures.items():
        decision = decide(capture)
        rows.append(
            {
                "set": capture_set.id,
                "provenance": capture.provenance,
                "device": capture_set.device.id,
                "family": name,
                "winner": decision.winner,
                "ratio": decision.ratio,
                "blocks_first": decision.blocks_first,
                "model_stability": decision.stability,
                "kept": decision.kept,
                "reason": decision.reason,
            }
        )
    return rows


def variant_rows(capture_set: CaptureSet) -> list[dict[str, Any]]:
    """One row a variant: its time, verdict, resources and what bounds it."""
    rows = []
    for name, capture in capture_set.captures.items():
        for variant, record in capture.variants.items():
            rows.append(
                {
                    "set": capture_set.id,
                    "provenance": capture.provenance,
                    "device": capture_set.device.id,
                    "family": name,
                    "variant": variant,
                    "verdict": record.verdict,
                    "median_ms": record.time.median_ms if record.time else None,
                    "approximate": record.time.approximate if record.time else None,
                    "bound": record.bound.by if record.bound else None,
                    **vars(record.resources),
                }
            )
    return rows
