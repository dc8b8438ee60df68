"""Two reports side by side: both values, the change, the better direction, ties under the noise, and n/a kept."""

import csv
import io
import json
from dataclasses import replace

import pytest

from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.domain.report.report import KernelLaunch, Metric, Origin, Report, Rule, Section
from sparktrace_tui.nsight.against import COLUMNS, pair, show_against
from sparktrace_tui.nsight.differences import Difference, change_words, differences
from sparktrace_tui.nsight.text import render

DURATION = "gpu__time_duration.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
HIT = "l1tex__t_sector_hit_rate.pct"


def made(*metrics: Metric, provenance: str = "measured", rules: tuple[Rule, ...] = (), kernel: str = "k") -> Report:
    section = Section("S", "Some section", metrics, rules)
    return Report(
        KernelLaunch(kernel, (8, 1, 1), (64, 1, 1), 1, 7, 0, "8.9"),
        Origin("ncu-rep", provenance=provenance),
        (section,),
    )  # type: ignore[arg-type]


def only(left: Report, right: Report) -> Difference:
    (row,) = differences(left, right)
    return row


def test_units_are_compared_and_shown_as_they_were() -> None:
    row = only(made(Metric(DURATION, "Duration", "ms", 2.0)), made(Metric(DURATION, "Duration", "usecond", 1000.0)))
    assert (row.left, row.right) == ("2 ms", "1000 usecond")
    assert row.change == pytest.approx(-0.5)
    assert row.verdict == "better"
    assert change_words(row) == "-50.0%"


def test_more_is_better_of_a_hit_rate_and_its_change_is_in_points() -> None:
    row = only(made(Metric(HIT, "L1/TEX Hit Rate", "%", 40.0)), made(Metric(HIT, "L1/TEX Hit Rate", "%", 60.0)))
    assert (row.verdict, row.points, change_words(row)) == ("better", 20.0, "+20 points")


@pytest.mark.parametrize(
    ("after", "verdict"), [(101.9, "tie"), (98.1, "tie"), (102.1, "worse"), (97.0, "better"), (100.0, "tie")]
)
def test_a_change_under_the_noise_is_a_tie(after: float, verdict: str) -> None:
    left, right = (made(Metric(DURATION, "Duration", "us", value)) for value in (100.0, after))
    assert only(left, right).verdict == verdict


def test_emulated_counts_are_exact_and_emulated_times_need_a_quarter() -> None:
    def pair_of(name: str, unit: str, a: float, b: float) -> str:
        one, two = (made(Metric(name, "", unit, value), provenance="emulated") for value in (a, b))
        return only(one, two).verdict

    assert pair_of(CONFLICTS, "", 1000, 1001) == "worse"
    assert pair_of(DURATION, "ms", 1.0, 1.24) == "tie"
    assert pair_of(DURATION, "ms", 1.0, 1.26) == "worse"


def test_what_one_side_lacks_is_not_available_and_stays() -> None:
    left = made(Metric(DURATION, "Duration", "ms", None), Metric(CONFLICTS, "Conflicts", "", 5))
    right = made(Metric(DURATION, "Duration", "ms", 1.0), Metric(HIT, "Hit Rate", "%", 0.0))
    rows = {row.name: row for row in differences(left, right)}
    assert {name: (row.left, row.right, row.verdict) for name, row in rows.items()} == {
        DURATION: ("n/a", "1 ms", "n/a"), CONFLICTS: ("5", "n/a", "n/a"), HIT: ("n/a", "0 %", "n/a"),
    }  # fmt: skip
    assert all(row.change is None for row in rows.values())


def test_from_nothing_to_something_has_no_percentage_but_a_verdict() -> None:
    left, right = (made(Metric(CONFLICTS, "Conflicts", "", value)) for value in (0, 7))
    assert (only(left, right).change, only(left, right).verdict) == (None, "worse")
    assert only(right, left).verdict == "better"


def test_without_a_better_direction_a_change_is_only_a_change() -> None:
    left, right = (made(Metric("launch__block_size", "Block Size", "", value)) for value in (128, 256))
    assert only(left, right).verdict == "changed"
    assert change_words(only(left, right)) == "x2"


def test_text_is_the_same_or_changed_and_other_units_are_not_compared() -> None:
    left, right = (made(Metric("a", "A", "", value)) for value in ("PreferNone", "PreferShared"))
    assert only(left, right).verdict == "changed"
    assert only(left, left).verdict == "tie"
    assert only(made(Metric("b", "B", "byte", 5)), made(Metric("b", "B", "sector", 5))).verdict == "changed"


def test_the_rules_that_fired_stand_below() -> None:
    rule = Rule("SharedMemoryConflicts", "OPT", "Shared Load Bank Conflicts", "", 31.0, "global")
    (row,) = differences(made(rules=(rule,)), made())
    assert (row.section, row.left, row.right, row.verdict) == ("Rules", "fired, est. speedup 31%", "-", "changed")


def test_labels_match_where_there_are_no_names() -> None:
    left, right = (made(Metric("", "Elapsed Cycles", "cycle", value)) for value in (200, 100))
    assert only(left, right).verdict == "better"


def test_the_namesake_is_compared_or_the_only_kernel() -> None:
    one, two, three = (made(kernel=name) for name in ("a", "b", "c"))
    assert pair((one, two), (three, two), 1, ("x", "y")) == (two, two)
    assert pair((one,), (three,), None, ("x", "y")) == (one, three)
    with pytest.raises(UsageError, match="y has no kernel a"):
        pair((one,), (two, three), None, ("x", "y"))
    with pytest.raises(UsageError, match="no kernel 4"):
        pair((one,), (two,), 4, ("x", "y"))


def test_every_format_holds_every_row_and_an_ablation_leaves_no_conflict_line(tmp_path) -> None:
    rule = Rule("SOLBottleneck", "INF", "", "Memory is more heavily utilized.")
    left = made(
        Metric("", "Duration", "ms", 2.0), Metric("", "Bank Conflicts", "", 8), rules=(rule,), kernel="tile_copy"
    )
    right = replace(left, sections=(replace(left.sections[0], metrics=(Metric("", "Duration", "ms", 1.0),)),))
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text(render(left))
    two.write_text(render(right))
    text = show_against(one, two).text
    assert "1 better" in text
    assert "Duration" in text
    assert "-50.0% + better" in text
    assert max(len(line) for line in show_against(one, two, width=80).text.splitlines()) <= 80
    document = json.loads(show_against(one, two, format="json").text)
    table = list(csv.reader(io.StringIO(show_against(one, two, format="csv").text)))
    assert tuple(table[0]) == COLUMNS
    assert len(table) - 1 == len(document["differences"]) >= 2
    assert "onflict" not in show_against(one, two, without="strict").text


def test_a_public_report_against_itself_is_all_ties(read_public) -> None:
    (report, *_) = read_public("reports/rtx3070_cc86_2022.3_nvtx.ncu-rep")
    rows = differences(report, report)
    assert len(rows) > 100
    assert {row.verdict for row in rows} <= {"tie", "n/a"}
