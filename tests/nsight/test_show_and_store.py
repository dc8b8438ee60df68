"""What `sparktrace report` prints, how reports are stored, the ncu command, the glossary."""

import csv
import io
import json
import shlex
from dataclasses import replace

import pytest

from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.domain.report.report import KernelLaunch, Metric, Origin, Report, Section
from sparktrace_tui.domain.report.serial import report_from_json, report_to_text
from sparktrace_tui.nsight.command import base_name, command_for, ncu_command
from sparktrace_tui.nsight.glossary import better, explain
from sparktrace_tui.nsight.read import parse_reports, read_reports
from sparktrace_tui.nsight.show import CSV_COLUMNS, raw_text, safe, show, show_with_messages
from sparktrace_tui.nsight.text import render

CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"


def test_the_text_reads_like_a_details_page(ours):
    text = show(ours / "details.txt", kernel=0)
    assert "  void tile_copy<(int)32>(const float *, float *, int) (64, 32, 1)x(32, 8, 1), Context 1, Stream 7" in text
    assert "    Section: GPU Speed Of Light Throughput\n    -------" in text
    assert "    Elapsed Cycles                cycle       123456\n" in text
    assert "    OPT   Est. Local Speedup: 33.16%\n          On average, each warp" in text


def test_all_kernels_or_one(ours):
    whole = show(ours / "details.txt")
    assert whole.count("Context 1") == 2
    assert show(ours / "details.txt", kernel=1).count("Context 1") == 1
    assert len(parse_reports(whole)) == 2
    with pytest.raises(UsageError, match="no kernel 2: it holds 2") as caught:
        show(ours / "details.txt", kernel=2)
    assert "0 to 1" in str(caught.value.hint)


def test_json_is_one_document_that_loads_again(ours):
    document = json.loads(show(ours / "details.txt", format="json"))
    reports = [report_from_json(item) for item in document["reports"]]
    assert tuple(reports) == read_reports(ours / "details.txt")
    assert document["without"] is None
    ablated = json.loads(show(ours / "details.txt", without="names", format="json"))
    assert (ablated["without"], ablated["removed"]) == ("names", 4)  # a row, a rule, a clause, a metric


def test_csv_has_one_record_a_metric_and_a_rule(ours):
    rows = list(csv.DictReader(io.StringIO(show(ours / "details.txt", format="csv"))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert {r["kind"] for r in rows} == {"metric", "rule OPT", "rule INF"}
    assert {r["kernel_index"] for r in rows} == {"0", "1"}
    (duration,) = [r for r in rows if r["label"] == "Duration"]
    assert (duration["value"], duration["unit"], duration["section"]) == (
        "54.87",
        "us",
        "GPU Speed Of Light Throughput",
    )


def test_every_removal_is_told_apart_from_the_document(ours):
    shown = show_with_messages(ours / "details.txt", without="names")
    assert "bank conflict" not in " ".join(shown.text.split())
    assert len(shown.messages) == 4
    assert all("removed from" in m and "names bank conflicts" in m for m in shown.messages)
    assert any(m.startswith("kernel 1: ") and CONFLICTS in m for m in shown.messages)


def test_a_report_with_nothing_to_remove_says_so(ours):
    shown = show_with_messages(ours / "excerpt.txt", without="strict")
    assert shown.text == show(ours / "excerpt.txt")
    assert shown.messages == ("nothing to remove: at level strict the report is the same as without it",)


def test_the_raw_text_is_the_files_own(ours):
    text, removed = raw_text(ours / "raw.txt")
    assert text == (ours / "raw.txt").read_text(encoding="utf-8")
    assert removed == ()
    shorter, removed = raw_text(ours / "raw.txt", "strict")
    assert [line for line in text.splitlines() if line not in shorter.splitlines()] == [
        line for line in text.splitlines() if "data_bank" in line or "wavefronts" in line
    ]
    assert len(removed) == 3


def test_a_report_cannot_send_escapes_to_the_terminal(ours, tmp_path):
    path = tmp_path / "evil.txt"
    path.write_text((ours / "excerpt.txt").read_text().replace("reduce", "re\x1b]0;x\x07\u202educe"), encoding="utf-8")
    for format in ("text", "csv"):
        text = show(path, format=format)
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
    assert "\x1b" not in show(path, format="json")
    assert safe("a\tb\nc") == "a\tb\nc"


def test_emulated_reports_say_so_and_read_back_as_emulated():
    report = Report(
        KernelLaunch("k(int)", (1, 1, 1), (32, 1, 1)),
        Origin("emulated", tool="emulator 1, gb10", provenance="emulated"),
        (Section("Occupancy", "Occupancy", (Metric("", "Block Limit SM", "block", 24),)),),
    )
    text = render(report)
    assert text.startswith("[emulated] emulator 1, gb10\n")
    (again,) = parse_reports(text)
    assert (again.origin.provenance, again.origin.tool, again.origin.form) == (
        "emulated",
        "emulator 1, gb10",
        "emulated",
    )


def test_equal_reports_are_stored_as_equal_bytes(ours):
    first = read_reports(ours / "details.txt")[0]
    assert report_to_text(first) == report_to_text(report_from_json(json.loads(report_to_text(first))))
    assert "\n" not in report_to_text(first)
    assert "null" not in report_to_text(replace(first, sections=(), raw=(), other=()))


def test_a_value_that_json_cannot_hold_is_stored_as_missing():
    report = Report(KernelLaunch("k"), Origin("ncu-rep"), raw=(Metric("a__b.sum", "", "", float("nan")),))
    again = report_from_json(json.loads(report_to_text(report)))
    assert again.raw[0].value is None


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"format": 99, "launch": {}, "origin": {"form": "x"}},
        {"format": 1, "launch": {}},
        {"format": 1, "launch": {"grid": [1, 2]}, "origin": {"form": "x"}},
        {"format": 1, "launch": {}, "origin": {"form": "x"}, "raw": [["a"]]},
        {"format": 1, "launch": {}, "origin": {"form": "x"}, "raw": [["a", "b", "c", {"no": 1}]]},
        {"format": 1, "launch": {}, "origin": {"form": "x", "provenance": "guessed"}},
        {"format": 1, "launch": {}, "origin": {"form": "x"}, "sections": [{"rules": [{"severity": "BAD"}]}]},
    ],
)
def test_what_is_no_stored_report_is_refused_by_name(data):
    with pytest.raises(BadInput, match=r"set\.json: not a stored report"):
        report_from_json(data, where="set.json")


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("clamp(const float *, float *, int)", "clamp"),
        ("void tile_copy<(int)32>(const float *)", "tile_copy"),
        ("void at::native::<unnamed>::k<float, (int)4>(int (*)(int), T<T2>)", "k"),
        ("silu_kernel", "silu_kernel"),
        ("", ""),
    ],
)
def test_the_filter_takes_the_functions_bare_name(kernel, name):
    assert base_name(kernel) == name


def test_the_command_profiles_one_launch_with_all_that_the_page_needs():
    words = ncu_command(["./app", "a b"], kernel="void clamp<float>(int)", skip=2, output="out")
    assert words[:5] == ["ncu", "--set", "full", "--import-source", "yes"]
    assert words[words.index("--kernel-name") + 1] == "regex:^clamp$"
    assert words[words.index("--launch-skip") + 1] == "2"
    assert words[words.index("--launch-count") + 1] == "1"
    assert words[-2:] == ["./app", "a b"]
    assert "--apply-rules" not in words


def test_the_command_to_copy_survives_a_shell():
    report = Report(KernelLaunch("void clamp<float>(int)"), Origin("ncu-rep"))
    line = command_for(report, ["./my app", "--n=1"])
    assert shlex.split(line)[-2:] == ["./my app", "--n=1"]


def test_every_metric_of_a_details_page_has_help_and_a_direction(read_public):
    for name in ("reports/rtx4090_cc89_2024.1_sgemm_2d_conflicts.ncu-rep", "text/arb_details_C.txt"):
        for section in read_public(name)[0].sections:
            unknown = [m.label for m in section.metrics if explain(m) is None]
            assert unknown == []


@pytest.mark.parametrize(
    ("key", "direction"),
    [
        ("gpu__time_duration.sum", "lower"),
        ("Duration", "lower"),
        ("Achieved Occupancy", "higher"),
        (CONFLICTS, "lower"),
        ("smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", "lower"),
        ("Stall Short Scoreboard", "lower"),
        ("lts__t_sectors_srcunit_tex_op_read.sum", "lower"),
        ("Grid Size", "neither"),
        ("something nobody knows", "neither"),
    ],
)
def test_which_direction_is_better(key, direction):
    assert better(key) == direction


def test_help_is_one_line_and_of_the_metric_itself():
    found = explain("l1tex__t_set_conflicts_pipe_lsu_mem_global_op_ld.sum")
    assert found is not None
    assert "not shared-memory banks" in found.text
    assert explain("nobody__knows.sum") is None
