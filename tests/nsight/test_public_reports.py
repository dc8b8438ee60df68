"""Public reports of six GPU generations, in every form: they open, they agree, their known figures come out."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.report.disagreements import disagreements
from sparktrace_tui.domain.report.report import Metric, Report, Value
from sparktrace_tui.nsight.read import read_reports
from sparktrace_tui.nsight.units import normalise

KERNELS = {
    "reports/b200_cc100_2025.2_cutlass.ncu-rep": 1,
    "reports/gh200_cc90_2025.1_nosections_3k.ncu-rep": 3,
    "reports/rtx3060l_cc86_2024.1_smem_7k.ncu-rep": 7,
    "reports/rtx3070_cc86_2022.3_nvtx.ncu-rep": 3,
    "reports/rtx4090_cc89_2024.1_sgemm_2d_conflicts.ncu-rep": 1,
    "reports/rtx4090_cc89_2024.1_sgemm_smem_arbitration.ncu-rep": 1,
    "reports/rtx5060l_cc120_2026.2_raytrace.ncu-rep": 1,
    "reports/titanv_cc70_2020.2_10k.ncu-rep": 10,
    "text/smem7_summary_perkernel.txt": 7,
    "text/smem3_details.txt": 3,
    "text/smem3_raw.txt": 3,
    "text/rtx50_cc120_metrics_interwarp.txt": 3,
}
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
SASS = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
# What ncu's own conversion turns upside down (2,425 %/byte is printed as 2.425 %/Kbyte).
INVERTED = {"derived__pct_occupancy_per_shared_mem_size"}


def same(left: Metric, right: Metric) -> bool:
    """Equal in the base unit; printed values have two decimals of their own unit, so 0.006 of it or 0.6%."""
    a, b = normalise(left.value, left.unit)[0], normalise(right.value, right.unit)[0]
    if isinstance(a, int | float) and isinstance(b, int | float):
        step = max(abs(float(normalise(0.006, m.unit)[0] or 0)) for m in (left, right) if m.raw is not None)
        return math.isclose(a, b, rel_tol=6e-3, abs_tol=step)
    return a == b


def value(report: Report, name: str) -> Value:
    metric = report.metric(name)
    assert metric is not None, name
    return metric.value


def test_every_public_report_opens_with_its_kernels(report_file, read_public):
    reports = read_public(report_file)
    assert len(reports) == KERNELS[report_file]
    for report in reports:
        assert report.launch.kernel
        assert report.launch.grid is not None
        assert report.launch.compute_capability in Path(report_file).name.replace("cc100", "10.0").replace(
            "cc120", "12.0"
        ).replace("cc9", "9.").replace("cc8", "8.").replace("cc7", "7.")
        assert len(report.metrics) > 200
        assert report.origin.tool.startswith("Nsight Compute 20")


def test_every_public_text_opens(text_file, read_public):
    if "err_nvgpuctrperm" in text_file:
        with pytest.raises(BadInput, match="ERR_NVGPUCTRPERM") as caught:
            read_public(text_file)
        assert "NVreg_RestrictProfilingToAdminUsers" in str(caught.value.hint)
        return
    reports = read_public(text_file)
    assert len(reports) == KERNELS.get(text_file, len(reports)) >= 1
    for report in reports:
        assert report.launch.kernel
        assert report.metrics or report.instructions
        assert report.origin.notes == ()


def test_a_broken_report_is_one_clear_line(broken_file, public):
    with pytest.raises(BadInput) as caught:
        read_reports(public / broken_file, time_limit_s=30)
    assert caught.value.message.startswith(Path(broken_file).name)
    assert "\n" not in caught.value.message
    assert "Traceback" not in str(caught.value)


def test_a_library_that_aborts_takes_only_its_worker_with_it(public):
    pytest.importorskip("ncu_report")
    with pytest.raises(BadInput, match="stopped on it"):
        read_reports(public / "broken/aborts_reader.ncu-rep")
    assert read_reports(public / "text/arb_details_C.txt")


def test_reading_does_not_load_the_library_into_this_process(public):
    pytest.importorskip("ncu_report")
    code = (
        "import sys; from sparktrace_tui.nsight.read import read_reports;"
        f"r = read_reports({str(public / 'reports/b200_cc100_2025.2_cutlass.ncu-rep')!r});"
        "assert r and 'ncu_report' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2], timeout=120)


def test_the_conflicts_of_the_wide_loads(read_public):
    (report,) = read_public("reports/rtx4090_cc89_2024.1_sgemm_2d_conflicts.ncu-rep")
    assert value(report, CONFLICTS.format("ld")) == 50_331_648
    assert value(report, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") == 100_663_296
    assert value(report, "derived__memory_l1_wavefronts_shared_excessive") == 33_554_432
    texts = [d.text for d in disagreements(report)]
    # 100,663,296 wavefronts, 50,331,648 of them extra: two for each that is needed, not the six of the rule.
    assert any("6.0-way" in text and "2.0-way" in text for text in texts)
    assert any("33,554,432" in text and "excessive" in text for text in texts)


def test_arbitration_is_told_from_conflicts(read_public):
    (report,) = read_public("reports/rtx4090_cc89_2024.1_sgemm_smem_arbitration.ncu-rep")
    assert value(report, CONFLICTS.format("st")) == 3_476_090
    assert value(report, CONFLICTS.format("ld")) == 0
    assert value(report, SASS) == 0
    (found,) = [d for d in disagreements(report) if d.rule == "SharedMemoryConflicts"]
    assert (found.claim, found.other) == (3_476_090, 0)
    assert "3,476,090" in found.text
    assert "arbitration" in found.text


def test_the_conflicts_of_the_column_reads(read_public):
    reports = read_public("reports/rtx3060l_cc86_2024.1_smem_7k.ncu-rep")
    names = [r.launch.kernel for r in reports]
    counts = [value(r, CONFLICTS.format("ld")) for r in reports]
    assert counts[names.index("setColReadCol(int *)")] == 992
    assert counts[names.index("setRowReadCol(int *)")] == 992
    assert counts[names.index("setRowReadRow(int *)")] == 0
    # 32 warps that each read 32 words of one bank: 32 x 31 extra wavefronts.
    assert 992 == 32 * 31


def test_per_launch_counts_of_one_kernel_stay_apart(read_public):
    reports = read_public("text/rtx50_cc120_metrics_interwarp.txt")
    assert [r.launch.grid for r in reports] == [(1, 1, 1), (128, 1, 1), (16384, 1, 1)]
    assert [value(r, CONFLICTS.format("ld")) for r in reports] == [0, 0, 4004]


def test_the_b200_report_is_equal_as_report_and_raw_csv(read_public):
    (binary,) = read_public("reports/b200_cc100_2025.2_cutlass.ncu-rep")
    (raw,) = read_public("text/b200_raw.csv")
    by_name = {m.name: m for m in binary.metrics}
    compared = [m for m in raw.metrics if m.name in by_name and m.name not in INVERTED]
    assert len(compared) > 580
    assert [m.name for m in compared if not same(by_name[m.name], m)] == []
    units = [(m.name, m.unit, by_name[m.name].unit) for m in compared if m.value is not None]
    assert [u for u in units if normalise(1, u[1])[1] != normalise(1, u[2])[1]] == []


def test_the_b200_report_is_equal_as_report_and_details_csv(read_public):
    (binary,) = read_public("reports/b200_cc100_2025.2_cutlass.ncu-rep")
    (details,) = read_public("text/b200_details.csv")
    by_label = {(s.name, m.label): m for s in binary.sections for m in s.metrics}
    pairs = [(by_label[key], m) for s in details.sections for m in s.metrics if (key := (s.name, m.label)) in by_label]
    assert len(pairs) >= 49
    assert [m.label for m, n in pairs if not same(m, n)] == []
    assert {s.id for s in details.sections} <= {s.id for s in binary.sections}
    words = {(r.id, " ".join(r.text.split()), r.severity) for r in binary.rules}
    assert {(r.id, " ".join(r.text.split()), r.severity) for r in details.rules} <= words
    speedups = sorted(f"{r.speedup:.3g}" for r in binary.rules if r.speedup is not None)
    assert sorted(f"{r.speedup:.3g}" for r in details.rules if r.speedup is not None) == speedups


@pytest.mark.parametrize("name", ["text/smem3_raw.csv", "text/smem3_raw.txt"])
def test_the_raw_pages_hold_the_values_of_the_report(name, read_public):
    binary = read_public("reports/rtx3060l_cc86_2024.1_smem_7k.ncu-rep")
    for left, right in zip(binary, read_public(name), strict=False):
        by_name = {m.name: m for m in left.metrics}
        compared = [m for m in right.metrics if m.name in by_name]
        assert len(compared) == 1183
        assert [m.name for m in compared if not same(by_name[m.name], m)] == []


@pytest.mark.parametrize(
    "name", ["text/smem3_details.csv", "text/smem3_details_all.csv", "text/smem3_details_all_ruledetails.txt"]
)
def test_the_details_pages_agree(name, read_public):
    for left, right in zip(read_public("text/smem3_details.txt"), read_public(name), strict=True):
        a = {(s.name, m.label): (m.value, m.unit) for s in left.sections for m in s.metrics}
        b = {(s.name, m.label): (m.value, m.unit) for s in right.sections for m in s.metrics}
        assert len(a) == 74
        assert {key: b.get(key) for key in a} == a
        assert [(r.text, r.speedup, r.severity) for r in left.rules] == [
            (r.text, r.speedup, r.severity) for r in right.rules
        ]


@pytest.mark.parametrize("name", ["arb_details_de_DE.txt", "arb_details_fr_FR.txt", "arb_details_utf16le_bom_crlf.txt"])
def test_locale_and_encoding_do_not_change_a_value(name, read_public):
    (plain,) = read_public("text/arb_details_C.txt")
    (other,) = read_public(f"text/{name}")
    assert [(m.label, m.unit, m.value) for m in other.metrics] == [(m.label, m.unit, m.value) for m in plain.metrics]
    assert other.rules == plain.rules


@pytest.mark.parametrize("name", ["text/arb_raw_de_DE.csv", "text/arb_raw_fr_FR.csv"])
def test_a_localised_raw_csv_holds_the_values_of_the_report(name, read_public):
    (binary,) = read_public("reports/rtx4090_cc89_2024.1_sgemm_smem_arbitration.ncu-rep")
    (raw,) = read_public(name)
    by_name = {m.name: m for m in binary.metrics}
    compared = [m for m in raw.metrics if m.name in by_name]
    assert len(compared) == 1183
    assert [m.name for m in compared if not same(by_name[m.name], m)] == []


def test_missing_values_are_missing_and_never_zero(read_public):
    (report,) = read_public("text/rtx4090_cc89_na_value.txt")
    metric = report.metric("dram__throughput.avg_pct_of_peak_sustained_elapsed")
    assert metric is not None
    assert (metric.value, metric.raw) == (None, "(!) n/a")
    (failed,) = read_public("text/cc89_warning_line.txt")
    assert all(m.value is None for m in failed.sections[0].metrics)


def test_instructions_carry_their_counts_and_source_lines(read_public):
    report = next(
        r
        for r in read_public("reports/rtx3060l_cc86_2024.1_smem_7k.ncu-rep")
        if r.launch.kernel == "setColReadCol(int *)"
    )
    counted = [i for i in report.instructions if i.metrics.get("memory_l1_wavefronts_shared")]
    # A store and a load, each 32 warps that split 32 ways.
    assert [i.metrics["memory_l1_wavefronts_shared"] for i in counted] == [1024, 1024]
    assert [i.text.split()[0].partition(".")[0] for i in counted] == ["ST", "LD"]
    by_line = {s.line: s.metrics.get("memory_l1_wavefronts_shared") for s in report.source}
    assert [by_line[i.line] for i in counted] == [1024, 1024]


def test_the_ranges_around_a_launch_are_kept(read_public):
    first = read_public("reports/rtx3070_cc86_2022.3_nvtx.ncu-rep")[0]
    assert any("run_test" in line for line in first.other)
