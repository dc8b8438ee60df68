"""`sparktrace families`: what each family is on a set, and whether it is a question there."""

import argparse

from sparktrace_tui.cli.common import chosen_sets, family_folders
from sparktrace_tui.cli.output import emit, table
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.key import decide


def run(arguments: argparse.Namespace) -> int:
    sets = chosen_sets(arguments)
    documents = [{"set": s.id, "provenance": s.provenance, "device": s.device.id, "families": _rows(s)} for s in sets]
    known = family_folders(arguments.kernels)
    for document, capture_set in zip(documents, sets, strict=True):
        document["missing"] = [name for name in known if name not in capture_set.captures]
    rows = [{"set": d["set"], **row} for d in documents for row in d["families"]]  # type: ignore[dict-item, attr-defined]
    text = "\n\n".join(_text(capture_set) for capture_set in sets)
    emit(documents[0] if len(documents) == 1 else documents, arguments.format, text, rows)
    return 0


def _rows(capture_set: CaptureSet) -> list[dict[str, object]]:
    rows = []
    for name, capture in capture_set.captures.items():
        decision = decide(capture)
        rows.append(
            {
                "family": name,
                "winner": decision.winner,
                "ratio": None if decision.ratio is None else round(decision.ratio, 4),
                "blocks_first": decision.blocks_first,
                "model_stability": decision.stability,
                "kept": decision.kept,
                "reason": decision.reason,
                "provenance": capture.provenance,
            }
        )
    return rows


def _text(capture_set: CaptureSet) -> str:
    rows = []
    for row in _rows(capture_set):
        ratio, stability, first = row["ratio"], row["model_stability"], row["blocks_first"]
        steady = f"{stability:.0%} of draws" if stability is not None else f"{first} of 5" if first else "n/a"
        kept = "kept" if row["kept"] else f"not kept: {row['reason']}"
        rows.append((row["family"], f"{ratio:.2f}x" if ratio is not None else "n/a", steady, kept))
    heading = f"{capture_set.id} ({capture_set.label})"
    return f"{heading}\n\n{table(('family', 'ratio', 'first in', ''), rows, right=(1,))}"
