"""Our own small reports in every form: what is read, what is refused, what each oddity becomes."""

import os
import stat
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite, MissingTool
from sparktrace_tui.nsight import ncu_rep
from sparktrace_tui.nsight.read import parse_reports, read_reports

LOAD_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"


def test_a_details_page_with_output_around_it(ours):
    first, second = read_reports(ours / "details.txt")
    assert first.launch.kernel == "tile_copy<(int)32>(const float *, float *, int)".replace("tile", "void tile")
    assert (first.launch.grid, first.launch.block) == ((64, 32, 1), (32, 8, 1))
    assert (first.launch.context, first.launch.stream, first.launch.device) == (1, 7, 0)
    assert first.launch.compute_capability == "8.9"
    assert first.launch.process == "[4242] demo@127.0.0.1"
    assert first.origin.form == "text-details"
    assert [s.id for s in first.sections] == [
        "SpeedOfLight",
        "MemoryWorkloadAnalysis_Tables",
        "WarpStateStats",
        "SourceCounters",
    ]
    speed = {m.label: (m.value, m.unit) for m in first.sections[0].metrics}
    assert speed["Elapsed Cycles"] == (123456, "cycle")
    assert speed["Duration"] == (54.87, "us")
    assert speed["DRAM Throughput"] == (None, "%")
    assert "checked 1024 values" in first.other
    assert second.launch.kernel == "scale(float *, int)"
    assert second.metric(LOAD_CONFLICTS).value == 0


def test_a_wrapped_rule_is_one_text_with_its_estimate_and_details(ours):
    rule = read_reports(ours / "details.txt")[0].sections[1].rules[0]
    assert rule.id == "SharedMemoryConflicts"
    assert (rule.severity, rule.speedup, rule.speedup_kind) == ("OPT", 79.2, "global")
    assert "32.0 - way bank conflict across all 16384" in rule.text
    assert rule.focus[0] == LOAD_CONFLICTS
    assert rule.details[0].rows[0] == (LOAD_CONFLICTS, "507904.000000", "Decrease bank conflicts for shared loads")


def test_a_table_of_the_body_keeps_its_group_and_name(ours):
    (table,) = read_reports(ours / "details.txt")[0].sections[1].tables
    assert (table.group, table.title) == ("Memory Tables", "Shared Memory")
    assert table.rows[0] == (LOAD_CONFLICTS, "", "507904")


@pytest.mark.parametrize(
    ("encoding", "mark", "line_end"),
    [("utf-8", b"\xef\xbb\xbf", "\n"), ("utf-16-le", b"\xff\xfe", "\r\n"), ("utf-16-be", b"\xfe\xff", "\r\n"),
     ("utf-16-le", b"", "\n"), ("utf-8", b"", "\r\n")],
)  # fmt: skip
def test_encodings_and_line_ends_read_alike(encoding, mark, line_end, ours, tmp_path):
    text = (ours / "details.txt").read_text(encoding="utf-8")
    path = tmp_path / "details.txt"
    path.write_bytes(mark + text.replace("\n", line_end).encode(encoding))
    assert read_reports(path) == read_reports(ours / "details.txt")


def test_a_page_without_rulers_is_read_by_its_gaps(ours):
    (report,) = read_reports(ours / "excerpt.txt")
    assert {m.label: m.value for m in report.metrics} == {
        "SM Frequency": 2.14,
        "Elapsed Cycles": 48821,
        "Memory Throughput": 8.31,
        "Block Size": 256,
        "Registers Per Thread": 40,
    }


def test_german_digits_are_read_where_the_file_proves_them(ours):
    (report,) = read_reports(ours / "details_de.txt")
    values = {m.label: (m.value, m.raw) for m in report.metrics}
    assert values["Threads"] == (4_194_304, "4.194.304")
    assert values["Grid Size"] == (1024, "1.024")
    assert values["Waves Per SM"] == (0.44, "0,44")
    assert report.rules[0].speedup == 12.5  # a rule's digits are C's in every locale


def test_a_number_that_cannot_be_told_is_refused_by_name(ours):
    (report,) = read_reports(ours / "doubtful.txt")
    values = {m.label: (m.value, m.raw) for m in report.metrics}
    assert values["Threads"] == (None, "32.768")
    assert values["Registers Per Thread"] == (16, "16")
    (note,) = report.origin.notes
    assert "Threads" in note
    assert "32.768" in note


def test_a_raw_page_and_a_summary(ours):
    (raw,) = read_reports(ours / "raw.txt")
    assert raw.origin.form == "text-raw"
    assert raw.metric("gpu__time_duration.sum").value == 4.45
    assert raw.metric("profiler__skipped.sum").value is None
    (summary,) = read_reports(ours / "summary.txt")
    assert summary.origin.form == "text-summary"
    duration = summary.sections[0].metrics[0]
    assert (duration.value, [i.value for i in duration.instances]) == (4.80, [4.45, 5.25, 4.80])


def test_a_raw_csv_with_output_glued_to_its_header(ours):
    first, second = read_reports(ours / "raw.csv")
    assert first.origin.form == "csv-raw"
    assert first.metric("gpu__time_duration.sum").unit == "ns"
    assert second.metric(LOAD_CONFLICTS).value == 507904
    assert second.metric("smsp__inst_executed.sum").value == 1_638_400
    assert second.metric("launch__func_cache_config").value is None
    assert "ready" in first.other


def test_a_ragged_details_csv(ours):
    first, second = read_reports(ours / "details.csv")
    assert first.origin.form == "csv-details"
    assert first.sections[0].metrics[0].value == 4.45
    assert [s.id for s in second.sections] == [
        "SpeedOfLight",
        "SourceCounters",
        "MemoryWorkloadAnalysis_Tables",
        "WarpStateStats",
    ]
    assert second.sections[0].name == "GPU Speed Of Light Throughput"
    assert [(r.id, r.speedup, r.speedup_kind) for r in second.rules] == [
        ("SOLBottleneck", None, None),
        ("SharedMemoryConflicts", 79.2, "global"),
        ("CPIStall", 33.16, "local"),
    ]
    assert 'the "Memory Workload Analysis" section' in second.rules[2].text


def test_long_metrics_with_profiler_lines_glued_on_both_sides(ours):
    first, second = read_reports(ours / "metrics.csv")
    assert first.origin.form == "csv-metrics"
    assert first.metric("gpu__time_duration.sum").value == 4448
    assert second.metric("gpu__time_duration.sum").value == 54870.5
    assert any("Disconnected" in line for line in second.other)


def test_columns_are_taken_by_name(ours, tmp_path):
    lines = (ours / "metrics.csv").read_text(encoding="utf-8").splitlines()[1:3]
    cells = [line.strip('"').split('","') for line in lines]
    order = [0, 1, 14, 13, 12, 11, *range(2, 11)]
    turned = ['"' + '","'.join(row[i] for i in order) + '"' for row in cells]
    path = tmp_path / "turned.csv"
    path.write_text("\n".join(turned) + "\n", encoding="utf-8")
    (report,) = read_reports(path)
    assert report.metric(LOAD_CONFLICTS).value == 0
    assert report.launch.grid == (128, 1, 1)


def test_a_source_page_gives_instructions(ours):
    (report,) = read_reports(ours / "source.csv")
    assert report.launch.kernel == "tile_copy(const float *, float *)"
    assert [(i.address, i.text.strip()) for i in report.instructions][1] == (0x7F0000001010, "LDS R2, [R1]")
    assert report.instructions[1].metrics["L1 Wavefronts Shared"] == 8192
    assert report.instructions[0].metrics["Address Space"] is None


@pytest.mark.parametrize(
    ("name", "words", "hint"),
    [
        ("permission.txt", "ERR_NVGPUCTRPERM", "NVreg_RestrictProfilingToAdminUsers=0"),
        ("nothing_profiled.txt", "no kernels were profiled", "-k regex:NAME"),
    ],
)
def test_a_failed_run_says_how_to_mend_it(name, words, hint, ours):
    with pytest.raises(BadInput, match=words) as caught:
        read_reports(ours / name)
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "LFS pointer"),
        (b"\x1f\x8b\x08\x00garbage", "gzip"),
        (bytes(range(256)) * 20, "not a report|does not begin with NVR"),
        (b"just some notes\nof a day\n", "no report"),
        (b"==ERROR== The application returned an error code (9).\n", "error code"),
    ],
)
@pytest.mark.parametrize("name", ["file.txt", "file.ncu-rep"])
def test_what_is_no_report_is_refused_in_one_line(data, words, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(BadInput, match=words) as caught:
        read_reports(path)
    assert "\n" not in caught.value.message


def test_a_file_that_is_not_there_is_said_in_words(tmp_path):
    with pytest.raises(CannotReadOrWrite, match=r"gone\.csv: No such file"):
        read_reports(tmp_path / "gone.csv")
    with pytest.raises(CannotReadOrWrite, match="directory"):
        read_reports(tmp_path)


def test_bytes_that_are_no_utf8_become_marks_that_can_be_printed(tmp_path, ours):
    path = tmp_path / "odd.txt"
    path.write_bytes((ours / "excerpt.txt").read_bytes().replace(b"reduce", b"red\xffuce"))
    (report,) = read_reports(path)
    assert report.launch.kernel.encode("utf-8").decode("utf-8") == "red\ufffduce(float *)"


def test_a_profiler_line_in_the_middle_of_a_table_does_not_end_it(ours):
    lines = (ours / "details.txt").read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if "Elapsed Cycles" in line)
    lines[at] += "==PROF== Disconnected from process 4242"
    lines.insert(at, "==WARNING== something to know")
    first = parse_reports("\n".join(lines))[0]
    assert {m.label: m.value for m in first.sections[0].metrics}["Elapsed Cycles"] == 123456
    assert len(first.sections[0].metrics) == 6
    assert "==WARNING== something to know" in first.other


def test_an_address_broken_at_the_edge_of_a_line_is_joined_again():
    start = "          (https://example.org/guide/"
    page = (
        "  k(int) (1, 1, 1)x(1, 1, 1), Context 1\n    Section: Occupancy\n    INF   See the Guide\n"
        + start + "x" * (120 - len(start)) + "\n          -ab) for more.\n\n"
    )  # fmt: skip
    (report,) = parse_reports(page)
    assert report.rules[0].text == f"See the Guide (https://example.org/guide/{'x' * (120 - len(start))}-ab) for more."


def test_a_heading_that_no_table_follows_is_kept_under_other():
    page = "  k(int) (1, 1, 1)x(1, 1, 1), Context 1\n    Section: NVLink Topology\n    No links are here.\n\n"
    (report,) = parse_reports(page)
    assert report.other == ("NVLink Topology: No links are here.",)


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without NVIDIA's Python reader; programs are looked for in the folder returned."""
    found = ncu_rep.importlib.util.find_spec
    monkeypatch.setattr(
        ncu_rep.importlib.util, "find_spec", lambda name, *rest: None if name == "ncu_report" else found(name, *rest)
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_without_a_reader_the_message_has_the_install_line(no_library):
    path = no_library / "some.ncu-rep"
    path.write_bytes(b"NVR\0" + bytes(100))
    with pytest.raises(MissingTool) as caught:
        read_reports(path)
    assert caught.value.exit_status == 3
    assert "pip install" in str(caught.value.hint)


@pytest.mark.skipif(os.name == "nt", reason="writes a shell script as the ncu command")
def test_without_the_library_ncu_itself_is_asked(no_library, ours):
    """The raw page gives the metrics, the details page the sections and rules of the same launches."""
    ncu = no_library / "ncu"
    ncu.write_text(
        '#!/bin/sh\n[ "$1" = --import ] && [ "$3" = --page ] && [ "$5" = --csv ] || exit 1\n'
        f'exec /bin/cat "{ours}/$4.csv"\n'
    )
    ncu.chmod(ncu.stat().st_mode | stat.S_IXUSR)
    path = no_library / "some.ncu-rep"
    path.write_bytes(b"NVR\0" + bytes(100))
    first, second = read_reports(path)
    assert first.origin.form == "ncu-rep"
    assert second.metric(LOAD_CONFLICTS).value == 507904
    assert [r.id for r in second.rules] == ["SOLBottleneck", "SharedMemoryConflicts", "CPIStall"]


def test_a_damaged_report_of_the_right_kind_is_refused(tmp_path):
    pytest.importorskip("ncu_report")
    path = tmp_path / "cut.ncu-rep"
    path.write_bytes(b"NVR\0" + bytes(3000))
    with pytest.raises(BadInput, match=r"cut off|stopped on it"):
        read_reports(path)


def test_a_reader_that_does_not_end_is_stopped(tmp_path):
    pytest.importorskip("ncu_report")
    path = tmp_path / "any.ncu-rep"
    path.write_bytes(b"NVR\0" + bytes(3000))
    with pytest.raises(BadInput, match=r"did not finish within 0\.001 s"):
        read_reports(path, time_limit_s=0.001)
