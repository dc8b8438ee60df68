"""Rules: when they fire, what they promise, and in which order."""

import pytest

from sparktrace_tui.emulator import profile, rules
from tests.emulator.estimate_support import clamp, launch, one

GB10 = profile.load("gb10")
COPY = """
extern "C" __global__ void copy(const float *x, float *out, int stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i * stride];
}
"""
STAGE = """
extern "C" __global__ void stage(const float *x, float *out)
{
    __shared__ float tile[32 * 4];
    const int t = threadIdx.x;
    tile[t * SCALE] = x[t];
    __syncthreads();
    out[t] = tile[t * SCALE];
}
"""


def test_the_conflict_rule_promises_conflicts_over_wavefronts_of_the_l1_throughput() -> None:
    found = clamp("original").dominant
    fired = [rule for rule in rules.evaluate(GB10, found) if rule.id == "SharedMemoryConflicts"]
    assert {rule.title for rule in fired} == {"Shared Load Bank Conflicts", "Shared Store Bank Conflicts"}
    for rule in fired:
        assert rule.speedup == pytest.approx(31 / 32 * found.time.percent["l1"])
        assert "32.0-way" in rule.text
    assert "520093696 bank conflicts" in "".join(rule.text for rule in fired)
    assert "536346624 bank conflicts" in "".join(rule.text for rule in fired)


@pytest.mark.parametrize(("scale", "fires"), [(1, False), (2, True), (4, True)])
def test_the_conflict_rule_fires_from_ten_percent_of_the_wavefronts(scale: int, fires: bool) -> None:
    made = launch("stage", (48, 1, 1), (32, 1, 1), "x", "out")
    found = one(STAGE.replace("SCALE", str(scale)), made, {"x": 32, "out": 32}, sampling=False)
    ids = [rule.id for rule in rules.evaluate(GB10, found)]
    assert ("SharedMemoryConflicts" in ids) is fires
    assert ("UncoalescedSharedAccess" in ids) is fires


def test_no_shared_memory_rule_where_the_padding_removed_the_conflicts() -> None:
    ids = {rule.id for rule in rules.evaluate(GB10, clamp("padded").dominant)}
    assert "SharedMemoryConflicts" not in ids
    assert "TheoreticalOccupancy" in ids  # one block of 1,024 threads: two thirds


def test_a_strided_read_is_uncoalesced_and_the_table_names_its_line() -> None:
    made = launch("copy", (480, 1, 1), (256, 1, 1), "x", "out", 8)
    found = one(COPY, made, {"x": 8 * 480 * 256, "out": 480 * 256}, sampling=False)
    rule = next(r for r in rules.evaluate(GB10, found) if r.id == "UncoalescedGlobalAccess")
    # A warp reads 32 sectors where 4 would do, and writes 4: 28 of 36 are excessive.
    assert rule.speedup == pytest.approx(100 * 28 / 36)
    assert rule.details[0].rows[0][0] == "5"
    pattern = next(r for r in rules.evaluate(GB10, found) if r.id == "MemoryCacheAccessPattern")
    assert "4.0 are used" in pattern.text
    assert pattern.speedup == pytest.approx((1 - 4 / 32) * found.time.percent["memory"])


def test_small_grids_odd_blocks_and_partial_waves_are_launch_configurations() -> None:
    small = one(COPY, launch("copy", (12, 1, 1), (96, 1, 1), "x", "out", 1), {"x": 1152, "out": 1152}, sampling=False)
    fired = {rule.title: rule for rule in rules.evaluate(GB10, small) if rule.id == "LaunchConfiguration"}
    assert fired["Small Grid"].speedup == pytest.approx(75.0)  # 12 of 48 SMs
    odd = one(COPY, launch("copy", (96, 1, 1), (48, 1, 1), "x", "out", 1), {"x": 4608, "out": 4608}, sampling=False)
    fired = {rule.title: rule for rule in rules.evaluate(GB10, odd) if rule.id == "LaunchConfiguration"}
    assert fired["Block Size"].speedup == pytest.approx(25.0)  # 48 of 64 lanes
    # 1,024 threads: one block an SM, 48 a wave; 60 blocks are 1.25 waves of 2.
    tail = one(
        COPY, launch("copy", (60, 1, 1), (1024, 1, 1), "x", "out", 1), {"x": 61440, "out": 61440}, sampling=False
    )
    fired = {rule.title: rule for rule in rules.evaluate(GB10, tail) if rule.id == "LaunchConfiguration"}
    assert fired["Tail Effect"].speedup == pytest.approx(37.5)


def test_rules_come_with_the_largest_promise_first_and_each_belongs_to_a_section() -> None:
    fired = rules.evaluate(GB10, clamp("original").dominant)
    promises = [rule.speedup or 0.0 for rule in fired]
    assert promises == sorted(promises, reverse=True)
    assert {rule.id for rule in fired} <= set(rules.SECTION_OF) <= rules.ADDRESSABLE_RULES


def test_a_wide_load_that_needs_all_its_wavefronts_is_not_excessive() -> None:
    source = """
    extern "C" __global__ void wide(const float4 *x, float4 *out)
    {
        __shared__ float4 tile[32];
        tile[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x ^ 1];
    }
    """
    # 512 bytes a warp take four wavefronts each way: wavefronts over requests is 4, and nothing is wasted.
    found = one(source, launch("wide", (48, 1, 1), (32, 1, 1), "x", "out"), {"x": 128, "out": 128}, sampling=False)
    assert found.counters.total("shared").wavefronts == 4 * 2 * 48
    assert not {"SharedMemoryConflicts", "UncoalescedSharedAccess"} & {r.id for r in rules.evaluate(GB10, found)}
