"""PTX against machine code: merged widths, atomics, copies of loops, predication, and what cannot be reconciled."""

import numpy as np
import pytest

from sparktrace_tui.emulator import metrics, profile, sass, sass_align
from tests.emulator.estimate_support import clamp, launch, one, prepared

MATMUL = """
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float As[32][32];
    __shared__ float Bs[32][PITCH];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    float sum = 0.0f;
    for (int start = 0; start < n; start += 32) {
        As[ty][tx] = a[row * n + start + tx];
        Bs[tx][ty] = b[(start + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 32; ++k)
            sum += As[ty][k] * Bs[tx][k];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
"""
SUM = """
extern "C" __global__ void sum_rows(const float *x, float *out, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int i = 0; i < columns; ++i)
        sum += x[row * columns + i];
    out[row] = sum;
}
"""


@pytest.mark.parametrize(("pitch", "wavefronts"), [(32, 272), (33, 48)])
def test_a_warp_tile_of_the_column_read_costs_272_wavefronts_unpadded_and_48_padded(
    pitch: int, wavefronts: int
) -> None:
    # By hand, a warp and one tile of 32 steps. As[ty][k] is uniform: 8 loads of 128 bits, 2 wavefronts each, 16.
    # Bs[tx][k] unpadded: 8 loads of 128 bits; each quarter-warp's 8 rows start in one bank, 8 wavefronts, 4 quarters:
    # 8 x 32 = 256. Padded rows are not 16-byte aligned: 32 loads of 32 bits, no conflict, 32.
    made = launch("matmul", (2, 2, 1), (32, 32, 1), "a", "b", "c", 64)
    found = one(MATMUL.replace("PITCH", str(pitch)), made, {"a": 4096, "b": 4096, "c": 4096}, sampling=False)
    warp_tiles = 4 * 32 * 2
    reads = found.counters.total("shared", "load")
    assert reads.wavefronts == wavefronts * warp_tiles
    assert found.alignment.mismatches == ()
    widths = {form.width for pc, form in found.alignment.forms.items() if found.kernel.instructions[pc].line == 14}
    assert widths == ({16} if pitch == 32 else {16, 4})


@pytest.mark.parametrize("arch", ["sm_89", "sm_90", "sm_121"])
@pytest.mark.parametrize("columns", [1, 3, 4, 37, 100, 256])
def test_copies_of_an_unrolled_loop_share_its_trips_so_that_every_load_is_counted_once(arch: str, columns: int) -> None:
    device = {"sm_89": "rtx4090", "sm_90": "h200", "sm_121": "gb10"}[arch]
    made = launch("sum_rows", (2, 1, 1), (64, 1, 1), "x", "out", 128, columns)
    found = one(SUM, made, {"x": 128 * columns, "out": 128}, device, sampling=False)
    assert found.alignment.mismatches == ()
    runs = metrics.executions(found)
    loads = sum(
        count
        for item, count in zip(found.alignment.function.instructions, runs, strict=True)
        if item.memory == ("global", "load")
    )
    assert loads == pytest.approx(found.counters.total("global", "load").requests)
    assert loads == 4 * columns


def test_an_integer_atomic_to_one_address_is_aggregated_and_a_float_one_is_not() -> None:
    source = """
    extern "C" __global__ void count(int *out) { atomicAdd(out, 3); }
    extern "C" __global__ void total(const float *x, float *out) { atomicAdd(out, x[threadIdx.x]); }
    """
    both = prepared(source).alignments
    assert [form.atomic_aggregated for form in both["count"].forms.values()] == [True]
    assert [form.atomic_aggregated for form in both["total"].forms.values()] == [False, False]


def test_a_shared_float_atomic_is_a_retried_loop_and_a_shared_increment_is_merged_in_hardware() -> None:
    source = """
    extern "C" __global__ void add(const float *x, float *out)
    {
        __shared__ float cell;
        if (threadIdx.x == 0)
            cell = 0.0f;
        __syncthreads();
        atomicAdd(&cell, x[threadIdx.x]);
        __syncthreads();
        if (threadIdx.x == 0)
            *out = cell;
    }
    extern "C" __global__ void bins(const int *x, int *out)
    {
        __shared__ int bin[32];
        bin[threadIdx.x] = 0;
        __syncthreads();
        atomicAdd(&bin[x[threadIdx.x] & 31], 1);
        __syncthreads();
        out[threadIdx.x] = bin[threadIdx.x];
    }
    """
    both = prepared(source).alignments
    assert (len(both["add"].cas_loops), len(both["add"].popc_atomics)) == (1, 0)
    assert (len(both["bins"].cas_loops), len(both["bins"].popc_atomics)) == (0, 1)
    assert both["add"].mismatches == both["bins"].mismatches == ()
    found = one(source, launch("add", (1, 1, 1), (64, 1, 1), "x", "out"), {"x": 64, "out": 1}, sampling=False)
    opcodes = {
        item.root: count
        for item, count in zip(found.alignment.function.instructions, metrics.executions(found), strict=True)
    }
    assert opcodes["ATOMS"] == 64  # two warps, 32 lanes on one address each: 64 passes


def test_an_if_made_a_predicate_is_no_branch_and_has_no_branch_efficiency() -> None:
    # The clamp's guarded load is predicated and its guarded store is an early exit: the machine code never branches.
    found = clamp("original", size=64).dominant
    assert found.alignment.branches == frozenset()
    counts = metrics.launch_counters(profile.load("gb10"), found)
    assert counts["smsp__inst_executed_op_branch.sum"] == 0
    assert "smsp__sass_average_branch_targets_threads_uniform.pct" not in counts


def test_an_if_that_stays_a_branch_has_its_efficiency() -> None:
    source = """
    extern "C" __global__ void clip(const float *x, float *out, int n)
    {
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        float v = 0.0f;
        if (i < n)
            v = x[i];
        out[i] = v;
    }
    """
    # 100 of 128 threads are inside: of four warps one splits.
    made = launch("clip", (2, 1, 1), (64, 1, 1), "x", "out", 100)
    found = one(source, made, {"x": 128, "out": 128}, sampling=False)
    counts = metrics.launch_counters(profile.load("gb10"), found)
    assert len(found.alignment.branches) == 1
    assert counts["smsp__sass_average_branch_targets_threads_uniform.pct"] == 75


def test_the_slow_path_of_a_division_is_not_counted_and_its_fast_path_is() -> None:
    source = """
    extern "C" __global__ void ratio(const float *x, float *out)
    {
        out[threadIdx.x] = x[threadIdx.x] / x[threadIdx.x + 32];
    }
    """
    found = one(source, launch("ratio", (1, 1, 1), (32, 1, 1), "x", "out"), {"x": 64, "out": 32}, sampling=False)
    runs = metrics.executions(found)
    helpers = [runs[start:end].sum() for start, end in found.alignment.function.helpers]
    assert helpers
    assert sum(helpers) == 0
    total = {}
    for item, count in zip(found.alignment.function.instructions, runs, strict=True):
        total[item.root] = total.get(item.root, 0) + count
    assert total["STG"] == 1
    assert total["FCHK"] == 1
    assert total.get("CALL", 0) == 0


def test_machine_code_of_another_kernel_is_a_mismatch_in_words() -> None:
    kernel = prepared(MATMUL.replace("PITCH", "32")).kernels["matmul"]
    listing = """
	.section	.text.matmul,"ax",@progbits
	//## File "test.cu", line 10
        /*0000*/                   LDG.E R1, desc[UR4][R2.64] ;
        /*0010*/                   EXIT ;
"""
    found = sass_align.align(kernel, sass.parse(listing, "test.cu")["matmul"]).mismatches
    assert any("line 14" in text and "shared load" in text for text in found)
    assert any("barriers" in text for text in found)


def test_executions_of_a_place_follow_the_unit_that_runs_most() -> None:
    aligned = prepared(SUM).alignments["sum_rows"]
    size = max(pc for place in aligned.places for pc in place.pcs) + 1
    ones = np.ones(size)
    assert set(np.unique(aligned.place_executions(ones))) <= {0.0, 0.25, 0.5, 1.0}


def test_up_to_capability_8_a_call_into_the_kernels_own_code_is_a_jump() -> None:
    source = """
    extern "C" __global__ void fill(const float *x, float *y, int n)
    {
        const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
        if (i + 3 < n) {
            *reinterpret_cast<float4 *>(y + i) = *reinterpret_cast<const float4 *>(x + i);
        } else {
            for (int j = i; j < n; ++j) {
                y[j] = 0.0f;
                for (int t = 0; t < 64; ++t)
                    y[j] += x[j] + t;
            }
        }
    }
    """
    assert prepared(source, "sm_89").alignments["fill"].mismatches == ()
