"""Letters are read as a careful person reads them, and nothing else is read."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparktrace_tui.domain.quiz.grading import GRADERS, grade, read

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "letters.tsv"
SHARED = ROOT / ".." / "shared" / "data" / "letters.tsv"


def unescaped(text: str) -> str:
    return re.sub(r"\\([nr\\])", lambda m: {"n": "\n", "r": "\r", "\\": "\\"}[m[1]], text)


def cases(path: Path) -> list[tuple[str, str, str, str]]:
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[1:]
    rows = [line.split("\t") for line in lines if line.strip()]
    return [(row[0], unescaped(row[1]), row[2], row[3]) for row in rows]


@pytest.mark.parametrize(("case", "text", "expected", "note"), cases(GOLDEN))
def test_each_reply_of_the_corpus_is_read_as_a_person_reads_it(case: str, text: str, expected: str, note: str) -> None:
    reading = read(text)
    assert (reading.letter or reading.kind) == expected, f"{case}: {note}"


@pytest.mark.skipif(not SHARED.exists(), reason="the shared example replies are not beside this checkout")
def test_the_shared_examples_are_all_read_right() -> None:
    wrong = [
        (case, text, expected, reading)
        for case, text, expected, _ in cases(SHARED)
        for reading in [read(text)]
        if (reading.letter or reading.kind) != expected
    ]
    assert not wrong
    assert len(cases(SHARED)) > 40


@pytest.mark.parametrize(("case", "text", "expected", "note"), cases(GOLDEN))
def test_the_span_lies_on_the_letter_in_the_reply_as_it_came(case: str, text: str, expected: str, note: str) -> None:
    reading = read(text)
    if reading.letter is None:
        return
    assert reading.span is not None
    marked = text[reading.span[0] : reading.span[1]]
    if marked == "🅱":
        return  # A filled square has no compatibility form.
    assert unicodedata.normalize("NFKC", marked).upper() == reading.letter, case


def test_strict_takes_only_the_line_the_prompt_asks_for() -> None:
    takes = [
        "Answer: B",
        "analysis\n\nAnswer: B\n",
        "Answer: C\nAnswer: B",
        " Answer: B  \r\n",
        "<think>x</think>Answer: B",
    ]
    for text in takes:
        assert read(text, "strict").letter == "B", text
    refuses = [
        "B", "**B**", "answer: B", "Answer: b", "Answer:B", "Answer:  B", "Answer: B.", "**Answer: B**", "Answer: E",
        "Answer: B\n\nBecause it pads.", "The analysis.\n\n**B**", "Final Answer: B", "Answer: Ｂ", "",
        "<think>Answer: B",
    ]  # fmt: skip
    for text in refuses:
        assert read(text, "strict").letter is None, text


def test_readable_reads_a_lone_letter_and_a_bold_one_after_an_analysis_where_strict_does_not() -> None:
    for text in ("B", "Analysis of the four.\n\n**B**", "Analysis of the four.\n\n**B** — no conflicts."):
        assert read(text).letter == "B"
        assert read(text, "strict").letter is None


def test_a_truncated_trace_is_a_failure_but_not_a_wrong_letter() -> None:
    cut = grade("Rewrite A pads the tile, rewrite C", "truncated", "B")
    assert (cut.outcome, cut.cause, cut.letter) == ("no_letter", "truncated", None)


def test_a_letter_from_a_sentence_does_not_outlive_a_cut_but_a_labelled_one_does() -> None:
    assert grade("I would choose option C because it", "truncated", "C").cause == "truncated"
    assert grade("Answer: C\n\nThe reason is that", "truncated", "C").outcome == "correct"


def test_an_unclosed_thinking_block_counts_as_truncated_even_where_the_server_said_stop() -> None:
    assert grade("<think>Answer: B maybe", "stop", "B").cause == "truncated"


def test_a_refusal_has_no_letter_whatever_came_before_it() -> None:
    assert grade("Answer: B", "refused", "B").outcome == "no_letter"
    assert grade("Answer: B", "refused", "B").cause == "refused"


def test_kinds_of_failure_stay_apart() -> None:
    causes = {
        grade("Answer: B or C", "stop", "B").cause,
        grade("It depends.", "stop", "B").cause,
        grade("", "truncated", "B").cause,
        grade("", "refused", "B").cause,
    }
    assert causes == {"ambiguous", "none", "truncated", "refused"}


def test_a_wrong_letter_and_a_right_one() -> None:
    assert grade("Answer: B", "stop", "B").outcome == "correct"
    wrong = grade("Answer: A", "stop", "B")
    assert (wrong.outcome, wrong.letter, wrong.reading.rule) == ("wrong", "A", "label")


@given(st.text(max_size=300))
def test_no_text_breaks_a_grader_and_a_letter_read_is_one_that_stands_there(text: str) -> None:
    for grader in GRADERS:
        reading = read(text, grader)
        if reading.letter is not None:
            assert reading.span is not None
            start, end = reading.span
            assert 0 <= start < end <= len(text)


@given(
    st.lists(
        st.sampled_from(["The tile", "conflicts", "grow", "with", "stride,", "so", "latency", "rises.\n"]), max_size=60
    ),
    st.sampled_from("ABCD"),
)
def test_the_asked_line_is_read_by_both_whatever_plain_prose_stands_before(prose: list[str], letter: str) -> None:
    text = " ".join(prose) + f"\n\nAnswer: {letter}"
    assert {read(text, grader).letter for grader in GRADERS} == {letter}
