"""`sparktrace families`: what each family is on a set, and whether it is a question there."""

import argparse
from typing import Any

from sparktrace_tui.cli.common import chosen_sets, family_folders
from sparktrace_tui.cli.output import emit, table
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.export.tables import family_rows


def run(arguments: argparse.Namespace) -> int:
    sets = chosen_sets(arguments)
    known = family_folders(arguments.kernels)
    documents = [_document(capture_set, list(known)) for capture_set in sets]
    rows = [row for capture_set in sets for row in family_rows(capture_set)]
    text = "\n\n".join(_text(capture_set) for capture_set in sets)
    emit(documents[0] if len(documents) == 1 else documents, arguments.format, text, rows)
    return 0


def _document(capture_set: CaptureSet, known: list[str]) -> dict[str, Any]:
    return {
        "set": capture_set.id,
        "provenance": capture_set.provenance,
        "device": capture_set.device.id,
        "families": family_rows(capture_set),
        "missing": [name for name in known if name not in capture_set.captures],
    }


def _text(capture_set: CaptureSet) -> str:
    rows = []
    for row in family_rows(capture_set):
        ratio, stability, first = row["ratio"], row["model_stability"], row["blocks_first"]
        steady = f"{stability:.0%} of draws" if stability is not None else f"{first} of 5" if first else "n/a"
        kept = "kept" if row["kept"] else f"not kept: {row['reason']}"
        rows.append((row["family"], f"{ratio:.2f}x" if ratio is not None else "n/a", steady, kept))
    heading = f"{capture_set.id} ({capture_set.label})"
    return f"{heading}\n\n{table(('family', 'ratio', 'first in', ''), rows, right=(1,))}"
