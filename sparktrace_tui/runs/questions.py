"""Builds the questions of a capture set: one a kept family, evidence and order; the same input gives the same bytes."""

from collections.abc import Iterator, Mapping, Sequence
from string import Template

from sparktrace_tui.domain.kernel.capture import Capture, CaptureSet
from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.domain.quiz.question import (
    EVIDENCE,
    ORDERS,
    Evidence,
    Order,
    Question,
    answer_key,
    compose_prompt,
    options_for,
)
from sparktrace_tui.domain.report.ablation import ablate
from sparktrace_tui.nsight.text import render
from sparktrace_tui.store.templates import read_template

REPORT_WIDTH = 120


def evidence_text(capture: Capture, evidence: Evidence) -> str | None:
    """The profiler part of a prompt: "" for `source`, None where the set holds no report of this family."""
    if evidence == "source":
        return ""
    if capture.report is None:
        return None
    report = capture.report if evidence == "full" else ablate(capture.report, "names").report
    kind = (
        "NVIDIA Nsight Compute"
        if capture.provenance == "measured"
        else "emulated: counted and modelled from the compiled kernel, not taken by Nsight Compute on a GPU"
    )
    return Template(read_template("evidence")).substitute(kind=kind, report=render(report, width=REPORT_WIDTH).rstrip())


def build_question(
    capture_set: CaptureSet, family: Family, evidence: Evidence, order: Order, *, recorded: bool = False
) -> Question | None:
    """The question, or None where this set cannot ask it (not captured, not kept, or no report to show).

    recorded: the question only frames a recorded game, whose report we may not have: then it is left out.
    """
    capture = capture_set.captures.get(family.id)
    if capture is None or answer_key(capture_set, family.id) is None:
        return None
    text = evidence_text(capture, evidence)
    if text is None and recorded:
        text = ""
    if text is None:
        return None
    options = options_for(capture_set, family, order)
    prompt = compose_prompt(read_template("question"), capture_set, family, options, text)
    return Question(capture_set.id, capture_set.provenance, family.id, evidence, order, options, prompt)


def build_questions(
    capture_set: CaptureSet,
    families: Mapping[str, Family],
    evidence: Sequence[Evidence] = EVIDENCE,
    orders: Sequence[Order] = ORDERS,
) -> Iterator[Question]:
    """Every question of the set, task by task, families in the order of the set."""
    for kind in evidence:
        for order in orders:
            for name in capture_set.captures:
                if name in families:
                    question = build_question(capture_set, families[name], kind, order)
                    if question is not None:
                        yield question
