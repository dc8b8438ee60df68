"""The ablation on values and on text: what goes, what stays, and that each loss is explained."""

from dataclasses import replace

import pytest

from sparktrace_tui.domain.report.ablation import ablate
from sparktrace_tui.domain.report.disagreements import disagreements
from sparktrace_tui.domain.report.report import (
    Instance,
    Instruction,
    KernelLaunch,
    Marker,
    Metric,
    Origin,
    Report,
    Rule,
    Section,
    SourceLine,
    Table,
)
from sparktrace_tui.nsight.ablate_text import ablate_bytes, ablate_text
from sparktrace_tui.nsight.page import scan, unwrap_map
from sparktrace_tui.nsight.text import render

CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
SHARED_LOADS = "smsp__inst_executed_op_shared_ld.sum"
RULE = Rule(
    "SharedMemoryConflicts",
    "OPT",
    "Shared Load Bank Conflicts",
    "The memory access pattern for shared loads might not be optimal and causes on average a 32.0 - way bank conflict "
    "across all 16384 shared load requests.This results in 507904 bank conflicts,  which represent 96.88% of the "
    "overall 524288 wavefronts for shared loads.",
    79.2,
    "global",
    (CONFLICTS,),
)
ADVICE = (
    "Consult the Memory Workload Analysis section to verify if there are shared memory operations{} "
    "Assigning frequently accessed values to variables can assist the compiler."
)


def emulated(*rules: Rule) -> Report:
    """A report as the emulator makes one: Nsight's ids, a shared-memory table, the rule, counts by source
    line.
    """
    rows = ((CONFLICTS, "", "507904"), (WAVEFRONTS, "", "524288"), (SHARED_LOADS, "inst", "16384"))
    return Report(
        KernelLaunch("clamp(const float *, float *, int)", (128, 128, 1), (32, 32, 1)),
        Origin("emulated", tool="emulator 1", provenance="emulated"),
        (
            Section(
                "SpeedOfLight", "GPU Speed Of Light Throughput", (Metric("l1tex__throughput.avg", "L1", "%", 94.0),)
            ),
            Section(
                "MemoryWorkloadAnalysis_Tables",
                "Memory Workload Analysis Tables",
                rules=rules or (RULE,),
                tables=(Table("Shared Memory", ("Metric Name", "Metric Unit", "Metric Value"), rows),),
            ),
        ),
        raw=(
            Metric(CONFLICTS, "", "", 507904),
            Metric(WAVEFRONTS, "", "", 524288),
            Metric(SHARED_LOADS, "", "inst", 16384),
        ),
        source=(
            SourceLine(
                "original.cu",
                12,
                "tile[x][y] = in[i]; // 32-way bank conflicts here",
                {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared": 992, "memory_l1_wavefronts_shared": 1024},
            ),
            SourceLine("original.cu", 13, "__syncthreads();", {"inst_executed": 32}),
        ),
    )


def names_of(report: Report) -> list[str]:
    return [m.name for m in report.raw]


def test_names_takes_what_names_conflicts_from_an_emulated_report():
    result = ablate(emulated(), "names")
    assert not result.identical
    assert names_of(result.report) == [WAVEFRONTS, SHARED_LOADS]
    tables = result.report.sections[1]
    assert tables.rules == ()
    assert [row[0] for row in tables.tables[0].rows] == [WAVEFRONTS, SHARED_LOADS]
    line = result.report.source[0]
    assert line.text == "tile[x][y] = in[i];"
    assert list(line.metrics) == ["memory_l1_wavefronts_shared"]
    assert result.report.source[1] == emulated().source[1]
    assert result.report.sections[0] == emulated().sections[0]
    assert {r.why for r in result.removed} == {"names bank conflicts"}
    assert len(result.removed) == 5  # the rule, the table's row, the raw metric, the comment, the line's count


def test_strict_takes_the_wavefronts_too_and_leaves_the_instructions():
    report = ablate(emulated(), "strict").report
    assert names_of(report) == [SHARED_LOADS]
    assert [row[0] for row in report.sections[1].tables[0].rows] == [SHARED_LOADS]
    assert dict(report.source[0].metrics) == {}
    assert report.sections[0].metrics[0].value == 94.0


@pytest.mark.parametrize("level", ["names", "strict"])
def test_a_report_without_conflicts_is_identical(level):
    report = replace(emulated(), sections=(emulated().sections[0],), raw=(), source=(emulated().source[1],))
    result = ablate(report, level)
    assert result.identical
    assert result.report is report


def test_ablating_twice_removes_nothing_more():
    for level in ("names", "strict"):
        once = ablate(emulated(), level)
        assert ablate(once.report, level).identical


def test_only_the_clause_goes_from_the_short_scoreboard_advice():
    rule = Rule("CPIStall", "OPT", "Short Scoreboard Stalls", ADVICE.format(" and reduce bank conflicts, if reported."))
    result = ablate(emulated(rule), "names")
    (kept,) = result.report.sections[1].rules
    assert kept.text == ADVICE.format(".")
    assert kept.title == rule.title
    assert any("if reported" in r.what for r in result.removed)


def test_of_another_finding_only_the_sentence_about_conflicts_goes():
    rule = Rule(
        "Custom", "INF", "Stalls", "Warps wait for data. About 31 bank conflicts are seen. Try wider loads.", 4.0
    )
    (kept,) = ablate(emulated(rule), "names").report.sections[1].rules
    assert (kept.text, kept.speedup) == ("Warps wait for data. Try wider loads.", 4.0)


@pytest.mark.parametrize(
    "text",
    [
        "Immediate constants are encoded into the SASS instruction as 'c[bank][offset]'.",
        "A warp waits at the dispatcher, or for other conflicts or events.",
        "Check l1tex__t_set_conflicts_pipe_lsu_mem_global_op_ld.sum and lts__d_sectors.sum.",
        "This stall is high with shared memory instructions: use fewer but wider loads (MIO throttle).",
    ],
)
@pytest.mark.parametrize("level", ["names", "strict"])
def test_look_alikes_stay_in_rules(text, level):
    rule = Rule("CPIStall", "OPT", "Stalls", text)
    assert ablate(emulated(rule), level).report.sections[1].rules == (rule,)


@pytest.mark.parametrize(
    ("name", "names", "strict"),
    [
        ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.max.pct", True, True),
        ("l1tex__data_bank_conflicts_pipe_lsu_mem_global_op_ld.sum", True, True),
        ("sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts_cache_bypass.sum", True, True),
        ("smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum", True, True),
        ("derived__memory_l1_conflicts_shared_nway", True, True),
        ("group:memory__shared_table", True, True),
        ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", False, True),
        ("SM_A.TriageAC.l1tex__data_pipe_lsu_wavefronts.avg", False, True),
        ("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", False, True),
        ("memory_l1_wavefronts_shared_ideal", False, True),
        ("derived__memory_l1_wavefronts_shared_excessive", False, True),
        ("derived__memory_l1_sectors_shared_excessive", False, True),
        ("memory_l1_sectors_shared_ideal", False, True),
        ("memory_ideal_shared_transactions", False, True),
        ("memory_shared_transactions", False, True),
        ("l1tex__data_bank_writes.avg.pct_of_peak_sustained_elapsed", False, True),
        ("breakdown:gpu__compute_memory_throughput.avg", False, True),
        ("l1tex__t_set_conflicts_pipe_lsu_mem_global_op_ld.sum", False, False),
        ("lts__d_sectors.sum", False, False),
        ("l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum", False, False),
        ("l1tex__data_pipe_tex_wavefronts.sum", False, False),
        ("l1tex__throughput.avg.pct_of_peak_sustained_active", False, False),
        ("smsp__inst_executed_op_shared_ld.sum", False, False),
        ("smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio", False, False),
        ("smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", False, False),
    ],
)
def test_which_metrics_go_at_which_level(name, names, strict):
    report = replace(emulated(), raw=(Metric(name, "", "", 1),))
    assert (names_of(ablate(report, "names").report) == []) == names
    assert (names_of(ablate(report, "strict").report) == []) == strict


@pytest.mark.parametrize(
    ("label", "names", "strict"),
    [
        ("L1 Conflicts Shared N-Way", True, True),
        ("Data Bank Conflict from LDS", True, True),
        ("Conflict due to LSU (SMem load)", True, True),
        ("Bank Conflicts", True, True),
        ("L1 Wavefronts Shared Excessive", False, True),
        ("L1: Data Pipe Lsu Wavefronts", False, True),
        ("L1: Data Bank Reads", False, True),
        ("L1: Data Pipe Tex Wavefronts", False, False),
        ("Stall Short Scoreboard", False, False),
        ("Shared Memory Configuration Size", False, False),
        ("L2: D Sectors", False, False),
    ],
)
def test_which_labels_go_at_which_level(label, names, strict):
    report = replace(emulated(), raw=(Metric("", label, "", 1),))
    assert (ablate(report, "names").report.raw == ()) == names
    assert (ablate(report, "strict").report.raw == ()) == strict


def test_a_column_of_a_table_goes_with_its_title():
    table = Table("Shared Memory", ("", "Instructions", "Wavefronts", "Bank Conflicts"), (("Load", "32", "64", "32"),))
    report = replace(emulated(), sections=(Section("T", "T", tables=(table,)),))
    (after,) = ablate(report, "names").report.sections[0].tables
    assert after.columns == ("", "Instructions", "Wavefronts")
    assert after.rows == (("Load", "32", "64"),)


def test_strict_takes_the_wavefronts_out_of_the_shared_memory_table_and_of_no_other():
    columns = ("", "Instructions", "Requests", "Wavefronts", "% Peak", "Bank Conflicts")
    shared = Table("Shared Memory", columns, (("Shared Load", "32", "32", "64", "9.1", "32"),))
    other = Table("L1/TEX Cache", ("", "Requests", "Wavefronts", "% Peak"), (("Global Load", "32", "40", "2.5"),))
    report = replace(emulated(), sections=(Section("T", "T", tables=(shared, other)),))
    after, kept = ablate(report, "strict").report.sections[0].tables
    assert after.columns == ("", "Instructions", "Requests")
    assert after.rows == (("Shared Load", "32", "32"),)
    assert kept == other
    text, removed = ablate_bytes(render(report).encode(), "strict")
    assert text.decode() == render(ablate(report, "strict").report)
    assert {"column Wavefronts", "column % Peak", "column Bank Conflicts"} <= {item.what for item in removed}


def test_a_list_of_metrics_loses_only_the_names_that_go():
    value = f"dram__bytes_read.sum,{CONFLICTS},{WAVEFRONTS},lts__t_sectors.sum"
    report = replace(emulated(), raw=(Metric("group:memory__chart", "", "", value),))
    assert ablate(report, "names").report.raw[0].value == f"dram__bytes_read.sum,{WAVEFRONTS},lts__t_sectors.sum"
    assert ablate(report, "strict").report.raw[0].value == "dram__bytes_read.sum,lts__t_sectors.sum"


def test_free_text_is_withheld_where_it_speaks_of_conflicts():
    report = replace(
        emulated(),
        launch=KernelLaunch("void bank_conflict_copy<32>(float *)", process="[7] 2d_conflicts@127.0.0.1"),
        origin=Origin("ncu-rep", "2d_conflicts.ncu-rep"),
        other=("NVTX range main: smem conflicts", "NVTX range main: warm up", "other conflicts or events"),
        instructions=(Instruction(16, "LDS R0, [R1]", "/home/u/conflicts/k.cu", 3),),
        markers=(
            Marker("SharedMemoryConflicts", "x", 16),
            Marker("CPIStall", "This line stalls.", 16, "smem_conflict.cu", 3),
        ),
    )
    result = ablate(report, "names")
    after = result.report
    assert after.launch.kernel == "void withheld<32>(float *)"
    assert after.launch.process == "[7] withheld@127.0.0.1"
    assert after.origin.path == "withheld.ncu-rep"
    assert after.other == ("NVTX range main: warm up", "other conflicts or events")
    assert after.instructions[0].file == "/home/u/withheld/k.cu"
    assert [(m.rule, m.file) for m in after.markers] == [("CPIStall", "withheld.cu")]
    assert {r.what for r in result.removed if r.where == "source file name"} == {
        "/home/u/conflicts/k.cu",
        "smem_conflict.cu",
    }


def test_instances_and_counts_of_instructions_go_too():
    report = replace(
        emulated(),
        raw=(
            Metric("m.sum", "", "", 3, None, (Instance(CONFLICTS, 1), Instance("LDS", 2))),
            Metric("passes", "", "", 1, None, (Instance(0, f"a__b.sum,{CONFLICTS}"),)),
        ),
        instructions=(Instruction(16, "LDS", metrics={"L1 Conflicts Shared N-Way": 32, "L1 Wavefronts Shared": 1024}),),
    )
    after = ablate(report, "names").report
    assert after.raw[0].instances == (Instance("LDS", 2),)
    assert after.raw[1].instances == (Instance(0, "a__b.sum"),)
    assert dict(after.instructions[0].metrics) == {"L1 Wavefronts Shared": 1024}
    assert dict(ablate(report, "strict").report.instructions[0].metrics) == {}


def test_a_text_loses_its_lines_and_the_clause_and_nothing_else(ours):
    before = (ours / "details.txt").read_text(encoding="utf-8")
    result = ablate_text(before, "text-details", "names")
    lines = before.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if "l1tex__data_bank" in line)
    rule = next(i for i, line in enumerate(lines) if "Est. Speedup: 79.2%" in line)
    clause = next(i for i, line in enumerate(lines) if "and reduce bank" in line)
    last = next(i for i, line in enumerate(lines) if i > clause and "l1tex__data_bank" in line)
    expected = list(lines)
    expected[clause] = lines[clause].replace(" and reduce bank", "")
    expected[clause + 1] = lines[clause + 1].replace("conflicts, if reported", "")
    gone = {first, last, *range(rule, rule + 12)}  # five lines of text, six of details, the ruler behind
    assert result.text == "".join(line for i, line in enumerate(expected) if i not in gone)
    assert len(result.removed) == 4


def test_a_text_with_crlf_and_a_mark_keeps_both(ours):
    text = (ours / "details.txt").read_text(encoding="utf-8").replace("\n", "\r\n")
    plain = ablate_text(text, "text-details", "strict").text
    after, removed = ablate_bytes(b"\xff\xfe" + text.encode("utf-16-le"), "strict")
    assert after == b"\xff\xfe" + plain.encode("utf-16-le")
    assert "\n" not in plain.replace("\r\n", "")
    assert removed


def test_a_raw_csv_loses_whole_columns(ours):
    before = (ours / "raw.csv").read_text(encoding="utf-8")
    result = ablate_text(before, "csv-raw", "names")
    expected = before.replace(f'"{CONFLICTS}",', "")
    expected = expected.replace('"ns","","","","inst"', '"ns","","","inst"')
    expected = expected.replace('"4448","0",', '"4448",').replace('"54870.5","507904",', '"54870.5",')
    expected = expected.replace("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum,", "")
    assert result.text == expected


def test_a_details_csv_loses_records_and_a_clause(ours):
    before = (ours / "details.csv").read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    kept = [x for x in lines if "SharedMemoryConflicts" not in x and "N-Way" not in x]
    expected = "".join(kept).replace(" and reduce bank conflicts, if reported", "")
    assert ablate_text(before, "csv-details", "names").text == expected


def test_a_long_csv_keeps_what_is_glued_to_a_line_that_goes(ours):
    before = (ours / "metrics.csv").read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    assert ablate_text(before, "csv-metrics", "names").text == "".join(x for x in lines if CONFLICTS not in x)
    glued = (
        before.replace('"100%"', "100%")
        .replace('100%"0"', '"0"')
        .replace('"0","4242","demo"', 'loop 1 "0","4242","demo"')
    )
    after = ablate_text(glued, "csv-metrics", "names").text
    assert "loop 1 \n" in after


def test_a_clause_is_found_in_the_lines_it_is_wrapped_over():
    lines = ["    OPT   Est. Speedup: 5%      \n", "          one two   \n", "          three     \n"]
    (item,) = scan(["  k(int) (1, 1, 1)x(1, 1, 1), Context 1\n", "    Section: X\n", *lines])[2:]
    text = item.cells[1]
    places = unwrap_map(lines)
    assert len(places) == len(text)
    at = text.index("two")
    assert [lines[p[0]][p[1]] for p in places[at : at + 3] if p] == list("two")


def test_rules_that_contradict_the_counters_are_named():
    store = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
    report = replace(emulated(), raw=(*emulated().raw, Metric(store, "", "", 0)))
    (found,) = disagreements(report)
    assert "507,904" in found.text
    assert "says 0" in found.text
    assert disagreements(ablate(report, "names").report) == ()
