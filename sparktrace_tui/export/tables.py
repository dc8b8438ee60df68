"""Rows as CSV, for files and for the command line."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


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
