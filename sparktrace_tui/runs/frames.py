"""Run logs as polars frames, one row an item and grader; and the rows of the score table."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.capture import PROVENANCES
from sparktrace_tui.domain.quiz.grading import GRADERS, Grader
from sparktrace_tui.domain.quiz.question import EVIDENCE, ORDERS, Evidence
from sparktrace_tui.domain.scoring.counts import Row, Scored, score
from sparktrace_tui.runs.grades import Graded, grade_log
from sparktrace_tui.runs.log import Header

if TYPE_CHECKING:
    import polars as pl


def scored_items(graded: Iterable[Graded], grader: Grader) -> list[Scored]:
    """The items of a log under one grader; those of another kind of evidence are left out."""
    return [
        Scored(
            item.record.family,
            cast(Evidence, item.record.evidence),
            item.record.order,
            item.grades[grader].outcome,
            item.grades[grader].cause,
            item.record.sample,
            item.variant,
        )
        for item in graded
        if item.record.evidence in get_args(Evidence)
    ]


def score_rows(path: Path, *, cache: bool = True) -> list[Row]:
    """A row for each grader; none where no turn came back. A total needs all six tasks of every family.

    BadInput for a header with an unknown provenance.
    """
    header, graded = grade_log(path, cache=cache)
    if header.provenance not in PROVENANCES:
        raise BadInput(f"{path}: unknown provenance {header.provenance!r}")
    expected = len(header.answers) * len(EVIDENCE) * len(ORDERS) * header.samples
    rows = (
        score(
            header.player,
            header.set_id,
            header.provenance,
            grader,
            scored_items(graded, grader),
            expected=expected,
        )
        for grader in GRADERS
    )
    return [row for row in rows if row is not None]


COLUMNS: tuple[str, ...] = (
    "player", "set", "provenance", "task", "family", "evidence", "order", "sample", "grader", "outcome", "cause",
    "letter", "variant", "rule", "stop", "input_tokens", "output_tokens", "reasoning_tokens", "latency_s", "tries",
    "model", "when",
)  # fmt: skip
_INTEGERS = ("sample", "input_tokens", "output_tokens", "reasoning_tokens", "tries")


def item_rows(header: Header, graded: Sequence[Graded]) -> list[dict[str, Any]]:
    """One mapping an item and grader, in the order of the log, with the keys of COLUMNS; None is not known."""
    rows = []
    for item in graded:
        record, reply = item.record, item.record.reply
        for grader in GRADERS:
            grade = item.grades[grader]
            values = (
                header.player, header.set_id, header.provenance, record.task, record.family, record.evidence,
                record.order, record.sample, grader, grade.outcome, grade.cause or None, grade.letter,
                record.options.get(grade.letter or ""), grade.reading.rule or None, reply.stop, reply.usage.input,
                reply.usage.output, reply.usage.reasoning, reply.latency_s, reply.tries, reply.model, record.when,
            )  # fmt: skip
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def items_frame(paths: Sequence[Path]) -> "pl.DataFrame":
    """Every item of the logs under both graders; the same columns and types for no log at all."""
    import polars as pl

    schema = {
        name: pl.Int64 if name in _INTEGERS else pl.Float64 if name == "latency_s" else pl.String for name in COLUMNS
    }
    rows: list[dict[str, Any]] = []
    for path in paths:
        header, graded = grade_log(path)
        rows += item_rows(header, graded)
    return pl.DataFrame(rows, schema=schema)


def cells_frame(paths: Sequence[Path]) -> "pl.DataFrame":
    """Counts by player, set, provenance, grader and evidence; no_turn items are counted beside those asked."""
    import polars as pl

    groups = ["player", "set", "provenance", "grader", "evidence"]
    outcome = pl.col("outcome")
    return (
        items_frame(paths)
        .group_by(groups)
        .agg(
            (outcome == "correct").sum().alias("correct"),
            (outcome != "no_turn").sum().alias("asked"),
            (outcome == "wrong").sum().alias("wrong"),
            (outcome == "no_letter").sum().alias("no_letter"),
            (outcome == "no_turn").sum().alias("no_turn"),
        )
        .sort(groups)
    )
