"""Figures of each original's report on GB10 against a calculation by hand, from the source and the size alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sparktrace_tui.backends.client import Client
from sparktrace_tui.backends.protocol import Options, Profile
from sparktrace_tui.domain.errors import MissingTool
from sparktrace_tui.domain.kernel.family import FAMILY_IDS
from sparktrace_tui.emulator.toolchain import compiler_version

KERNELS = Path(__file__).parents[2] / "kernels"

try:
    compiler_version()
except MissingTool as missing:
    pytest.skip(str(missing), allow_module_level=True)

LOAD_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
STORE_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
LOAD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
STORE_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
REDUCTIONS = "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"
REDUCTION_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"
LOAD_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
STORE_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
LOAD_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
STORE_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
SHARED_LOADS = "smsp__sass_inst_executed_op_shared_ld.sum"
SHARED_STORES = "smsp__sass_inst_executed_op_shared_st.sum"
USED_LOADED = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"
USED_STORED = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"
L1_HITS = "l1tex__t_sector_hit_rate.pct"
L2_WRITTEN = "lts__t_sectors_op_write.sum"
GRID = "launch__grid_size"

N = 16 * 2**20  # elements of most families
WARPS = N // 32  # 524,288, at one element a thread
ROWS = 16384  # of softmax and layernorm

# Counter by counter. A plan of several launches is summed.
EXPECTED: dict[str, dict[str, float]] = {
    # Lanes are 32 bytes apart: a sector each, of which 4 bytes are used, in and out.
    "stride_copy": {
        LOAD_REQUESTS: WARPS, LOAD_SECTORS: 32 * WARPS, STORE_SECTORS: 32 * WARPS, USED_LOADED: 4, USED_STORED: 4,
    },
    # 24 trips, a load and a store each; all 32 lanes in one bank: 32 wavefronts, 31 of them conflicts.
    "stride_smem": {
        SHARED_LOADS: 24 * WARPS, SHARED_STORES: 24 * WARPS,
        LOAD_CONFLICTS: 24 * 31 * WARPS, STORE_CONFLICTS: 24 * 31 * WARPS, LOAD_WAVEFRONTS: 24 * 32 * WARPS,
    },
    # The published worked example: about 520 and 536 million.
    "clamp_smem": {
        LOAD_CONFLICTS: 520_093_696, STORE_CONFLICTS: 536_346_624, STORE_WAVEFRONTS: 33 * 32 * WARPS,
    },
    "stride_expf": {LOAD_SECTORS: 32 * WARPS, STORE_SECTORS: 32 * WARPS, USED_LOADED: 4},
    # 32,768 warps of 32 steps. A step: eight 128-bit loads of A at one address (2 wavefronts, no conflict), eight of B
    # with eight lanes of a quarter in the same four banks (32 wavefronts in 4 groups: 28 conflicts); the store of A is
    # clean, that of B 32-way.
    "matmul_tiled": {
        SHARED_LOADS: 32768 * 32 * 16, LOAD_WAVEFRONTS: 32768 * 32 * (8 * 2 + 8 * 32),
        LOAD_CONFLICTS: 32768 * 32 * 8 * 28, STORE_CONFLICTS: 32768 * 32 * 31,
    },
    # 32 Mi elements. Loads along a plane: 4 sectors a request; stores 32 bytes apart: 32.
    "transpose": {
        LOAD_REQUESTS: 2 * WARPS, LOAD_SECTORS: 4 * 2 * WARPS, STORE_SECTORS: 32 * 2 * WARPS, USED_STORED: 4,
    },
    # 256 threads, 8 warps of 65,536 loads; the lanes are rows apart: 32 sectors, each used in eight iterations, of
    # which the first misses L1.
    "row_reduce": {GRID: 1, LOAD_REQUESTS: 8 * 65536, LOAD_SECTORS: 32 * 8 * 65536, L1_HITS: 87.5},
    # One reduction a warp, all lanes in one sector.
    "atomic_reduce": {REDUCTIONS: WARPS, REDUCTION_SECTORS: WARPS, LOAD_SECTORS: 4 * WARPS},
    # Two passes in order: 4 sectors a request, all bytes used.
    "scale_relu": {LOAD_SECTORS: 2 * 4 * WARPS, STORE_SECTORS: 2 * 4 * WARPS, USED_LOADED: 32},
    # Sixteen launches of 32,768 warps.
    "launch_chain": {LOAD_REQUESTS: 16 * 32768, STORE_SECTORS: 16 * 4 * 32768, GRID: 4096},
    # Trees of the first and third kernel, a block a row: 8 warps store; then 4, 2, 1 and five times 1 warps load two
    # values and store one; one warp loads the result. x, x, y, y are read and y, y written in 32 requests a row;
    # maximum and sum are read by 8 warps a row, once for each of a thread's four elements at most.
    "softmax": {
        SHARED_STORES: 2 * ROWS * (8 + 12), SHARED_LOADS: 2 * ROWS * (2 * 12 + 1),
        STORE_REQUESTS: ROWS * (2 * 32 + 2),
    },
    # x three times, scales and shifts once: 5 x 32 requests a row; the mean twice and the deviation once by 8 warps.
    # y and the two results of a row are written. Lane 0 of 8 warps stores its sum, 8 warps read all of them, twice.
    "layernorm": {
        LOAD_REQUESTS: ROWS * (5 * 32 + 3 * 8), STORE_REQUESTS: ROWS * (32 + 2), SHARED_STORES: 2 * 8 * ROWS,
        SHARED_LOADS: 2 * 8 * ROWS,
    },
    "histogram": {REDUCTIONS: WARPS, LOAD_SECTORS: 4 * WARPS},
    # 64 rounds: a store; five steps of two loads and a store; a load.
    "warp_reduce": {SHARED_STORES: 64 * 6 * WARPS, SHARED_LOADS: 64 * 11 * WARPS, LOAD_SECTORS: 4 * WARPS},
    # 32,768 warps; 64 loads of x (4 sectors) and of a weight (1 sector); 65 stores of 4 sectors, all of which reach L2.
    "register_reuse": {
        LOAD_REQUESTS: 128 * 32768, LOAD_SECTORS: 64 * 5 * 32768, L2_WRITTEN: 65 * 4 * 32768,
    },
}  # fmt: skip

# Blocks an SM and occupancy: GB10 holds 48 warps. A block of 1,024 threads fits once (32 of 48), one of 256 six times.
OCCUPANCY = {"stride_smem": (1, 32 / 48), "clamp_smem": (1, 32 / 48), "matmul_tiled": (1, 32 / 48)}

# What bounds the plan.
BOUND = {
    "stride_copy": "DRAM bandwidth", "stride_smem": "shared-memory pipe", "clamp_smem": "shared-memory pipe",
    "stride_expf": "DRAM bandwidth", "matmul_tiled": "shared-memory pipe", "transpose": "DRAM bandwidth",
    "atomic_reduce": "atomics", "scale_relu": "DRAM bandwidth", "softmax": "DRAM bandwidth",
    "layernorm": "DRAM bandwidth", "histogram": "atomics", "register_reuse": "L2 bandwidth",
}  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client("emulated", "gb10") as made:
        yield made


@pytest.fixture(scope="module")
def profiles(client: Client) -> dict[str, Profile]:
    return {name: client.profile(KERNELS / name, "original", Options()) for name in FAMILY_IDS}


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_the_counters_of_the_original_agree_with_the_hand(name: str, profiles: dict[str, Profile]) -> None:
    counters = profiles[name].counters
    assert len(EXPECTED[name]) >= 2
    for metric, value in EXPECTED[name].items():
        assert counters[metric] == pytest.approx(value, rel=1e-4 if metric.endswith(".pct") else 1e-6), metric


def test_the_scattered_additions_of_the_histogram_touch_four_sectors_a_warp(profiles: dict[str, Profile]) -> None:
    """The sector of bin 37 always, and each of 31 others unless all 32 lanes miss it: 0.1 / 32 a lane."""
    sectors = 1 + 31 * (1 - (1 - 0.1 / 32) ** 32)
    counters = profiles["histogram"].counters
    assert counters[REDUCTION_SECTORS] / counters[REDUCTIONS] == pytest.approx(sectors, rel=0.01)


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_the_occupancy_of_the_original_agrees_with_the_hand(name: str, profiles: dict[str, Profile]) -> None:
    blocks, share = OCCUPANCY.get(name, (6, 1.0))
    assert profiles[name].resources["blocks_per_sm"] == blocks
    assert profiles[name].resources["occupancy"] == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize("name", BOUND)
def test_what_bounds_the_original_is_what_its_page_says(name: str, client: Client) -> None:
    (timing,) = client.time(KERNELS / name, ("original",), Options()).values()
    assert timing.bound == BOUND[name]
