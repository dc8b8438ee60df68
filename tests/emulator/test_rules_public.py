"""The rules' formulas, fed the counters of public Nsight reports, give the estimates that Nsight printed there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparktrace_tui.domain.report.report import Report, Rule
from sparktrace_tui.emulator import rules
from sparktrace_tui.nsight.read import read_reports

REPORTS = Path(__file__).parents[2] / ".." / "shared" / "data" / "nsight" / "reports"
NAMES = (
    "rtx3060l_cc86_2024.1_smem_7k",
    "rtx4090_cc89_2024.1_sgemm_2d_conflicts",
    "rtx4090_cc89_2024.1_sgemm_smem_arbitration",
    "b200_cc100_2025.2_cutlass",
)
L1 = "l1tex__throughput.avg.pct_of_peak_sustained_active"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
CYCLES = {"UncoalescedSharedAccess": "l1tex", "UncoalescedGlobalAccess": "lts"}


@pytest.fixture(scope="module")
def reports() -> dict[str, tuple[Report, ...]]:
    if not REPORTS.is_dir():
        pytest.skip("the public Nsight reports are not here (../shared/data/nsight/reports)")
    pytest.importorskip("ncu_report", reason="no reader for .ncu-rep files is installed")
    return {name: read_reports(REPORTS / f"{name}.ncu-rep") for name in NAMES}


def number(report: Report, name: str) -> float:
    metric = report.metric(name)
    assert metric is not None, name
    assert isinstance(metric.value, int | float)
    return float(metric.value)


def estimates(reports: dict[str, tuple[Report, ...]], rule_id: str) -> Iterator[tuple[Report, Rule, float]]:
    for found in reports.values():
        for report in found:
            for rule in report.rules:
                if rule.id == rule_id and rule.speedup is not None:
                    yield report, rule, rule.speedup


def in_words(pattern: str, rule: Rule) -> tuple[float, ...]:
    found = re.search(pattern, rule.text)
    assert found is not None, rule.text
    return tuple(float(part) for part in found.groups())


def test_bank_conflicts(reports: dict[str, tuple[Report, ...]]) -> None:
    seen = 0
    for report, rule, speedup in estimates(reports, "SharedMemoryConflicts"):
        op = "ld" if "Load" in rule.title else "st"
        conflicts = number(report, f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum")
        wavefronts = number(report, f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum")
        assert speedup == pytest.approx(rules.conflict_speedup(conflicts, wavefronts, number(report, L1)), rel=1e-4)
        seen += 1
    assert seen == 6


def test_access_patterns(reports: dict[str, tuple[Report, ...]]) -> None:
    seen = 0
    for report, rule, speedup in estimates(reports, "MemoryCacheAccessPattern"):
        op = "ld" if "Load" in rule.title else "st"
        used = number(report, f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{op}.ratio")
        assert speedup == pytest.approx(rules.pattern_speedup(used, number(report, MEMORY)), rel=1e-4)
        seen += 1
    assert seen == 2


def test_issue_slots_and_occupancy(reports: dict[str, tuple[Report, ...]]) -> None:
    seen = 0
    for report, _, speedup in estimates(reports, "IssueSlotUtilization"):
        used = 100 * number(report, "smsp__issue_active.avg.per_cycle_active")
        assert speedup == pytest.approx(rules.slots_speedup(used, number(report, SM), number(report, MEMORY)), rel=1e-4)
        seen += 1
    for report, rule, speedup in estimates(reports, "TheoreticalOccupancy"):
        (printed,) = in_words(r"theoretical occupancy \(([\d.]+)%\)", rule)
        metric = report.metric("sm__maximum_warps_per_active_cycle_pct")
        used = printed if metric is None else number(report, metric.name)
        assert speedup == pytest.approx(rules.slots_speedup(used, number(report, SM), number(report, MEMORY)), rel=1e-3)
        seen += 1
    assert seen == 9 + 10


def test_small_grids(reports: dict[str, tuple[Report, ...]]) -> None:
    seen = 0
    for report, rule, speedup in estimates(reports, "LaunchConfiguration"):
        if rule.title == "Small Grid":
            blocks = int(number(report, "launch__grid_size"))
            sms = int(number(report, "device__attribute_multiprocessor_count"))
            assert speedup == pytest.approx(rules.grid_speedup(blocks, sms))
            seen += 1
    assert seen == 8


@pytest.mark.parametrize("rule_id", sorted(CYCLES))
def test_uncoalesced_accesses(reports: dict[str, tuple[Report, ...]], rule_id: str) -> None:
    seen = 0
    for report, rule, speedup in estimates(reports, rule_id):
        excess, total = in_words(r"total of (\d+) excessive \w+ \(\d+% of the total (\d+)", rule)
        unit = CYCLES[rule_id]
        active = number(report, f"{unit}__cycles_active.avg") / number(report, f"{unit}__cycles_elapsed.avg")
        assert speedup == pytest.approx(rules.excess_speedup(excess, total, active), rel=1e-3)
        seen += 1
    assert seen == {"UncoalescedSharedAccess": 4, "UncoalescedGlobalAccess": 2}[rule_id]
