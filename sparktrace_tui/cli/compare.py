"""`sparktrace compare SET SET`: winners that differ, rank correlation, times and counters side by side."""

import argparse
from dataclasses import asdict
from typing import Any

from sparktrace_tui.cli.output import emit, table
from sparktrace_tui.domain.scoring.sets import SetComparison, compare_sets, counter_rows, time_rows
from sparktrace_tui.store.captures import find_set, read_set


def run(arguments: argparse.Namespace) -> int:
    comparison = compare_sets(read_set(find_set(arguments.left)), read_set(find_set(arguments.right)))
    emit(_document(comparison), arguments.format, _text(comparison), time_rows(comparison))
    return 0


def _document(comparison: SetComparison) -> dict[str, Any]:
    same, known = comparison.same_winners
    return {
        "left": comparison.left,
        "right": comparison.right,
        "same_winners": same,
        "with_winners": known,
        "rank_correlation": comparison.rank_correlation,
        "time_ratio": comparison.time_ratio,
        "families": [
            {
                "family": f.family,
                "left": asdict(f.left),
                "right": asdict(f.right),
                "same_winner": f.same_winner,
                "rank_correlation": f.rank_correlation,
            }
            for f in comparison.families
        ],
        "times": time_rows(comparison),
        "counters": counter_rows(comparison),
        "only_left": list(comparison.only_left),
        "only_right": list(comparison.only_right),
    }


def _text(comparison: SetComparison) -> str:
    rows = [
        (
            f.family,
            f.left.winner,
            f.right.winner,
            {True: "same", False: "differ", None: "n/a"}[f.same_winner],
            None if f.rank_correlation is None else round(f.rank_correlation, 2),
        )
        for f in comparison.families
    ]
    same, known = comparison.same_winners
    lines = [
        f"left: {comparison.left}",
        f"right: {comparison.right}",
        "",
        table(("family", "left winner", "right winner", "winners", "rank correlation"), rows, right=(4,)),
        "",
        f"same winner in {same} of {known}; median rank correlation {_figure(comparison.rank_correlation)}; "
        f"median time, right over left, {_figure(comparison.time_ratio)}",
    ]
    for side, names in (("left", comparison.only_left), ("right", comparison.only_right)):
        if names:
            lines.append(f"only in the {side} set: {', '.join(names)}")
    return "\n".join(lines)


def _figure(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"
