"""Grades come from the log, by the record's own options, with what the guards found; scores keep failures apart."""

from dataclasses import replace
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.players.baselines import Baseline
from sparktrace_tui.players.protocol import Reply, Usage
from sparktrace_tui.runs import grades
from sparktrace_tui.runs.engine import Item, record_of, run
from sparktrace_tui.runs.frames import COLUMNS, cells_frame, items_frame, score_rows
from sparktrace_tui.runs.grades import cache_path, grade_log, grade_record
from sparktrace_tui.runs.guards import is_prompt_cut, other_models, warnings_of
from sparktrace_tui.runs.log import Record, RunLog, read_log
from sparktrace_tui.runs.prices import Price, read_prices
from tests.runs.runs_support import VARIANTS, WINNER, make_header, make_items


def record(reply: Reply, item: Item | None = None, **changes: object) -> Record:
    made = record_of(item or make_items(1)[0], reply)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_a_mirrored_letter_maps_back_to_the_same_variant() -> None:
    forward, mirror = make_items(2)
    assert [grade_record(record(Reply(f"Answer: {c}"), forward), WINNER)["strict"].outcome for c in "ABCD"] == [
        "correct" if variant == WINNER else "wrong" for variant in VARIANTS
    ]
    assert [grade_record(record(Reply(f"Answer: {c}"), mirror), WINNER)["strict"].outcome for c in "DCBA"] == [
        "correct" if variant == WINNER else "wrong" for variant in VARIANTS
    ]


def test_a_recorded_variant_is_graded_without_a_letter_in_its_text() -> None:
    assert grade_record(record(Reply("", variant=WINNER)), WINNER)["strict"].outcome == "correct"
    assert grade_record(record(Reply("", variant="padded")), WINNER)["readable"].outcome == "wrong"


def test_no_turn_carries_its_fault() -> None:
    graded = grade_record(record(Reply("", stop="no_turn", fault="overloaded")), WINNER)
    assert {(g.outcome, g.cause) for g in graded.values()} == {("no_turn", "overloaded")}


def test_an_empty_answer_whose_reasoning_filled_the_limit_is_truncated_whatever_the_server_said() -> None:
    full = Reply("", stop="stop", usage=Usage(100, 32_700, 32_700), limit=32_768)
    assert grade_record(record(full), WINNER)["readable"].cause == "truncated"
    short = replace(full, usage=Usage(100, 12, 12))
    assert grade_record(record(short), WINNER)["readable"].cause == "none"


@pytest.mark.parametrize(
    ("chars", "reported", "cut"),
    [
        (40_000, 10_000, False), (40_000, 13_000, False), (40_000, 4_900, True), (40_000, None, False),
        (40_000, 8_192, True), (40_000, 8_180, True), (40_000, 8_000, False), (32_768, 8_192, False),
        (1_000, 10, False), (40_000, 0, False),
    ],
)  # fmt: skip
def test_a_prompt_is_cut_far_below_the_estimate_or_at_a_context_size_below_it(
    chars: int, reported: int | None, cut: bool
) -> None:
    assert is_prompt_cut(chars, reported) is cut


@pytest.mark.parametrize(
    ("asked", "answered", "other"),
    [
        ("gpt-5.4-nano", "gpt-5.4-nano-2026-03-17", False), ("claude-opus-4-8", "claude-opus-4-8-20260301", False),
        ("qwen3", "qwen3:latest", False), ("nvidia/nemotron-3-nano", "nemotron-3-nano", False),
        ("gemini-2.5-flash", "gemini-2.5-flash-001", False), ("gpt-5.4", "gpt-5.4-nano", True),
        ("gpt-5.4", "gpt-5", True),
    ],
)  # fmt: skip
def test_a_dated_name_is_the_same_model_and_another_is_told(asked: str, answered: str, other: bool) -> None:
    assert bool(other_models(asked, [record(Reply("Answer: B", model=answered))])) is other


def test_a_run_over_two_percent_truncated_is_flagged_with_its_limit() -> None:
    cut = record(Reply("so", stop="truncated", limit=512))
    fine = [record(Reply("Answer: B"))]
    assert warnings_of("m", [cut, *fine * 49]).messages == ()  # 1 of 50 is 2%, not over it
    (said,) = warnings_of("m", [cut, cut, *fine * 49]).messages
    assert "2 of 51" in said
    assert "512 tokens" in said


async def make_log(path: Path) -> Path:
    items = make_items(90)
    with RunLog.open(path, make_header(items)) as log:
        await run(items, Baseline("always-b"), log)
    return path


async def test_grades_are_cached_by_log_hash_and_grader_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await make_log(tmp_path / "run.jsonl")
    before = path.read_bytes()
    first = grade_log(path)[1]
    stamp = cache_path(path).read_text()
    assert grade_log(path)[1] == first
    assert path.read_bytes() == before
    monkeypatch.setattr(grades, "VERSION", "next")
    assert grade_log(path)[1] == first
    renewed = cache_path(path).read_text()
    assert '"next"' in renewed
    assert stamp != renewed
    cache_path(path).write_text(renewed.replace("correct", "wrong"))
    assert {g.grades["strict"].outcome for g in grade_log(path)[1]} == {"wrong"}  # It does read the cache,
    with RunLog.open(path, read_log(path)[0]) as log:
        log.append(log.records[0])
    assert {g.grades["strict"].outcome for g in grade_log(path)[1]} == {"correct", "wrong"}  # but not a stale one.
    cache_path(path).write_text("{broken")
    assert len(grade_log(path)[1]) == 90


async def test_a_reader_who_always_says_one_letter_earns_half_of_forward_and_mirror(tmp_path: Path) -> None:
    rows = score_rows(await make_log(tmp_path / "run.jsonl"))
    assert [row.grader for row in rows] == ["readable", "strict"]
    for row in rows:
        # B is the winner forward and not in mirror order: 15 of 30 in every cell.
        assert {e: c.text for e, c in row.cells.items()} == {"source": "15/30", "full": "15/30", "ablated": "15/30"}
        assert row.total is not None
        assert row.total.text == "45/90"
        assert row.full_minus_source == 0


async def test_frames_hold_every_item_under_both_graders(tmp_path: Path) -> None:
    path = await make_log(tmp_path / "run.jsonl")
    frame = items_frame([path])
    assert (frame.height, tuple(frame.columns)) == (180, COLUMNS)
    cells = cells_frame([path])
    assert cells.height == 6
    assert cells["correct"].to_list() == [15] * 6
    assert cells["asked"].to_list() == [30] * 6
    assert items_frame([]).columns == frame.columns
    assert items_frame([]).schema == frame.schema


def test_a_file_that_is_no_log_is_bad_input(tmp_path: Path) -> None:
    for text in (
        "",
        "hello\n",
        '{"kind": "reply"}\n',
        '{"kind": "header", "format": 1}\n',
        '{"kind":"header","format":9}\n',
    ):
        path = tmp_path / "x.jsonl"
        path.write_text(text)
        with pytest.raises(BadInput):
            read_log(path)


def test_prices_are_read_and_a_bad_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    assert read_prices(path) == {}
    path.write_text('["openai:m"]\ninput = 0.5\noutput = 2\n')
    price = read_prices(path)["openai:m"]
    assert price == Price(0.5, 2.0)
    assert price.of(Usage(1_000_000, 500_000)) == pytest.approx(1.5)
    assert price.of(Usage(None, 10)) is None
    for bad in ("[", '["m"]\ninput = 1\n', '["m"]\ninput = -1\noutput = 1\n', "m = 3\n"):
        path.write_text(bad)
        with pytest.raises(BadInput):
            read_prices(path)
