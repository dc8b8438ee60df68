"""The emulated report: what it says of the clamp, where it came from, and what it leaves out."""

import pytest

from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.emulator import profile
from sparktrace_tui.emulator.report import emulated_report, plan_counters
from tests.emulator.estimate_support import clamp, launch, plan

GB10, H200 = profile.load("gb10"), profile.load("h200")


def report(variant: str = "original", device: str = "gb10") -> Report:
    return emulated_report(profile.load(device), clamp(variant, device), "one\ntwo\nthree")


def value(found: Report, name: str) -> float:
    metric = found.metric(name)
    assert metric is not None, name
    assert isinstance(metric.value, int | float)
    return float(metric.value)


def test_the_clamp_on_gb10_has_the_published_throughputs_occupancy_and_conflicts() -> None:
    found = report()
    assert 5 <= value(found, "sm__throughput.avg.pct_of_peak_sustained_elapsed") <= 7
    assert 92 <= value(found, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed") <= 96
    assert value(found, "launch__occupancy_limit_warps") == 1
    assert value(found, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum") == 520_093_696
    assert value(found, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum") == 536_346_624


def test_it_is_headed_as_emulated_with_device_profile_model_and_compiler() -> None:
    origin = report().origin
    assert (origin.form, origin.provenance) == ("emulated", "emulated")
    assert "device profile gb10" in origin.tool
    assert "model 1" in origin.tool
    assert "NVRTC 13" in origin.tool
    assert any("scaled up" in note for note in origin.notes)


def test_the_shared_memory_table_has_a_row_for_loads_and_one_for_stores() -> None:
    section = next(s for s in report().sections if s.id == "MemoryWorkloadAnalysis_Tables")
    table = section.tables[0]
    assert table.columns[1:] == ("Instructions", "Requests", "Wavefronts", "Bank Conflicts")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["Shared Load"] == ("16,777,216", "16,777,216", "536,870,912", "520,093,696")
    assert rows["Shared Store"][-1] == "536,346,624"


def test_gb10_has_no_dram_metrics_and_h200_does() -> None:
    on_gb10, on_h200 = report(), report(device="h200")
    assert not [m.name for m in on_gb10.metrics if "dram" in m.name]
    assert value(on_h200, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed") > 0
    assert value(on_gb10, "lts__t_sectors_op_read.sum") == 2_097_152


def test_what_is_not_modelled_is_missing_and_never_zero() -> None:
    metric = report().metric("sm__warps_active.avg.pct_of_peak_sustained_active")
    assert metric is not None
    assert metric.value is None
    assert report("registers").metric("smsp__sass_average_branch_targets_threads_uniform.pct") is not None


def test_lines_carry_their_own_conflicts_and_the_sums_are_the_totals() -> None:
    found = report()
    name = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
    by_line = {line.line: line.metrics[name] for line in found.source if name in line.metrics}
    assert sum(int(str(count)) for count in by_line.values()) == 520_093_696 + 536_346_624
    assert len(by_line) == 3
    executed = sum(int(str(line.metrics.get("inst_executed", 0))) for line in found.source)
    assert executed == pytest.approx(value(found, "smsp__inst_executed.sum"))


def test_sections_carry_the_rules_that_belong_to_them() -> None:
    placed = {rule.id: section.id for section in report().sections for rule in section.rules}
    assert placed["SharedMemoryConflicts"] == "MemoryWorkloadAnalysis_Tables"
    assert placed["TheoreticalOccupancy"] == "Occupancy"


TWO = """
extern "C" __global__ void small(float *x) { x[threadIdx.x] += 1.0f; }
extern "C" __global__ void large(float *x, const float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = y[i];
}
"""


def test_a_plan_is_reported_by_its_dominant_launch_and_counted_over_all() -> None:
    made = [
        launch("small", (1, 1, 1), (32, 1, 1), "x"),
        launch("large", (4096, 1, 1), (256, 1, 1), "x", "y"),
        launch("small", (1, 1, 1), (32, 1, 1), "x"),
    ]
    found = plan(TWO, made, {"x": 2**20, "y": 2**20})
    told = emulated_report(GB10, found)
    assert told.launch.kernel == "large"
    assert any("launch 2 of 3" in note for note in told.origin.notes)
    counts = plan_counters(GB10, found)
    # 32,768 warps of `large`, and one of `small` in each of two launches.
    assert counts["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 32_768 + 2
    assert counts["launch__grid_size"] == 4096


def test_counters_of_the_padded_clamp_show_no_conflict() -> None:
    counts = plan_counters(GB10, clamp("padded"))
    assert counts["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"] == 0
    assert counts["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] == 524_288 * 32


def test_sampled_and_unsampled_counts_are_the_same() -> None:
    sampled = plan_counters(GB10, clamp("original", size=512))
    whole = plan_counters(GB10, clamp("original", size=512, sampling=False))
    assert sampled == pytest.approx(whole)


def test_counts_are_whole_numbers_and_ratios_are_not() -> None:
    for variant in ("original", "padded"):
        counters = plan_counters(H200, clamp(variant, "h200"))
        for name, count in counters.items():
            whole = name.endswith(".sum") or name.startswith(("launch__", "derived__"))
            assert isinstance(count, int if whole else float), name
    shown = [metric for metric in report().metrics if metric.name.endswith(".sum") and metric.unit != "us"]
    assert len(shown) > 20
    assert all(isinstance(metric.value, int) for metric in shown)
