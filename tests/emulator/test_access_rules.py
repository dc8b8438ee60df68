"""The counting rules: banks against a slow model and public reports, sectors, and the published clamp exactly."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparktrace_tui.emulator import access, machine, ptx, toolchain
from sparktrace_tui.emulator.counters import AccessForm, LaunchCounters
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.store.families import read_family
from tests.emulator.engine_support import compiled, run
from tests.emulator.slow_models import bank_rule

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
LANES = np.arange(32)


def wavefronts(addresses: np.ndarray, width: int, active: np.ndarray | None = None) -> tuple[int, int]:
    on = np.ones(32, bool) if active is None else active
    wave, groups = access.bank_wavefronts(addresses.astype(np.int64)[None, :], on[None, :], width)
    return int(wave[0]), int(wave[0] - groups[0])


@pytest.mark.parametrize(("stride", "ways"), [(1, 1), (2, 2), (16, 16), (32, 32), (33, 1), (0, 1), (24, 8)])
def test_a_column_stride_is_as_many_way_as_its_common_factor_with_the_banks(stride: int, ways: int) -> None:
    assert wavefronts(4 * stride * LANES, 4) == (ways, ways - 1)


def test_wide_accesses_are_grouped_by_halves_and_quarters() -> None:
    assert wavefronts(8 * LANES, 8) == (2, 0)
    assert wavefronts(16 * LANES, 16) == (4, 0)
    assert wavefronts(0 * LANES, 16) == (2, 0)  # a uniform 128-bit load costs 2
    assert wavefronts(256 * (LANES // 8), 16) == (4, 2)
    assert wavefronts(32 * (LANES % 8), 16) == (8, 4)


def test_quarters_merge_where_lanes_pair_up_at_a_distance_of_one_or_two() -> None:
    pairs, skipped = LANES // 2, LANES // 4 * 2 + LANES % 2
    assert wavefronts(16 * pairs, 16) == (2, 0)
    assert wavefronts(16 * skipped, 16) == (2, 0)
    assert wavefronts(16 * (LANES // 8 * 4 + LANES % 4), 16) == (4, 0)  # lane xor 4: no merging


def test_bytes_count_by_the_words_they_fall_in_wherever_the_row_starts() -> None:
    """Lanes read bytes k and 127 + k: words 0 and 31 for k = 0, but 0 and 32 (one bank, 2-way) for k = 1."""
    source = """__global__ void k(int* out, int n) {
        __shared__ volatile char s[256]; int t = threadIdx.x, sum = 0;
        #pragma unroll 1
        for (int i = 0; i < n; ++i) sum += s[(t & 1) * 127 + i];
        out[t] = sum; }"""
    for n, expected in ((1, 1), (2, 1 + 2), (4, 1 + 2 + 2 + 2)):
        total = count(source, 1, 32, {"out": np.zeros(32, np.int32)}, n).total("shared", "load")
        assert (total.requests, total.wavefronts) == (n, expected)


@st.composite
def warp_addresses(draw: st.DrawFn) -> tuple[np.ndarray, int, np.ndarray]:
    """Strides, paddings and swizzles such as kernels use, and any active mask."""
    width = draw(st.sampled_from([1, 2, 4, 8, 16]))
    shape = draw(st.sampled_from(["stride", "tile", "swizzle", "split", "random"]))
    lane = LANES
    match shape:
        case "stride":
            cells = lane * draw(st.integers(0, 70))
        case "tile":
            row = draw(st.integers(1, 40))
            cells = (lane % 8) * row + lane // 8 * draw(st.integers(0, 3))
        case "swizzle":
            cells = (lane ^ draw(st.integers(0, 31))) * draw(st.sampled_from([1, 2, 4, 8, 32]))
        case "split":
            cells = lane // draw(st.sampled_from([2, 4, 8, 16])) * draw(st.integers(1, 40))
        case _:
            cells = np.array(draw(st.lists(st.integers(0, 200), min_size=32, max_size=32)))
    active = np.array(draw(st.one_of(st.just([True] * 32), st.lists(st.booleans(), min_size=32, max_size=32))))
    return cells * width + width * draw(st.integers(0, 64)), width, active


@settings(max_examples=400, deadline=None)
@given(warp_addresses())
def test_the_bank_rule_agrees_with_a_slow_model(case: tuple[np.ndarray, int, np.ndarray]) -> None:
    addresses, width, active = case
    slow = bank_rule([int(a) if on else None for a, on in zip(addresses, active, strict=True)], width)
    assert wavefronts(addresses, width, active) == slow


@settings(max_examples=200, deadline=None)
@given(warp_addresses())
def test_sectors_are_the_distinct_ones(case: tuple[np.ndarray, int, np.ndarray]) -> None:
    addresses, width, active = case
    counts, ideal, sectors, _ = access.sector_counts(addresses[None, :], active[None, :], width)
    expected = {int(a) // 32 for a, on in zip(addresses, active, strict=True) if on}
    assert int(counts[0]) == len(expected)
    assert sorted(sectors) == sorted(expected)
    asked = {int(a) for a, on in zip(addresses, active, strict=True) if on}
    assert int(ideal[0]) == min(-(-len(asked) * width // 32), len(expected))


@settings(max_examples=200, deadline=None)
@given(warp_addresses())
def test_the_depth_of_same_address_atomics(case: tuple[np.ndarray, int, np.ndarray]) -> None:
    addresses, _, active = case
    hits = [int(a) for a, on in zip(addresses, active, strict=True) if on]
    expected = max((hits.count(a) for a in hits), default=0)
    assert int(access.same_address_depth(addresses[None, :], active[None, :])[0]) == expected


def count(source: str, grid: object, block: object, arrays: dict[str, np.ndarray], *args: object, **options: object):
    return run(source, grid, block, arrays, args, mode="count", **options).counts  # type: ignore[arg-type]


def test_the_public_report_with_conflicts_in_two_dimensions_is_reproduced() -> None:
    source = """
    __device__ float load(unsigned a) {
        float x, y, z, w;
        asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "r"(a));
        return x + y + z + w;
    }
    __global__ void k(float* out) {
        __shared__ float s[1024];
        unsigned base = (unsigned)__cvta_generic_to_shared(s), lane = threadIdx.x & 31;
        float sum = 0;
        for (int i = 0; i < 1024; ++i) {
            unsigned at = base + (i & 3) * 16;
            for (int j = 0; j < 4; ++j) sum += load(at + 256 * (lane / 8)) + load(at + 32 * (lane % 8));
        }
        out[blockIdx.x * 64 + threadIdx.x] = sum;
    }"""
    total = count(source, 1024, 64, {"out": np.zeros(65536, np.float32)}).total("shared", "load")
    assert (total.requests, total.wavefronts, total.conflicts) == (16_777_216, 100_663_296, 50_331_648)


def test_the_public_report_of_arbitration_without_conflicts_is_reproduced() -> None:
    source = """
    __global__ void k(float* out) {
        __shared__ float s[4096];
        unsigned base = (unsigned)__cvta_generic_to_shared(s), lane = threadIdx.x & 31;
        float sum = 0;
        for (int i = 0; i < 64; ++i) {
            #pragma unroll
            for (int j = 0; j < 32; ++j) {
                float x;
                asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(base + 4 * lane + 128 * j));
                sum += x;
            }
            #pragma unroll
            for (int j = 0; j < 8; ++j) {
                float x, y, z, w;
                asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                             : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "r"(base + 16 * j));
                sum += x + y + z + w;
            }
        }
        out[blockIdx.x * 1024 + threadIdx.x] = sum;
    }"""
    total = count(source, 4096, 1024, {"out": np.zeros(4096 * 1024, np.float32)}).total("shared", "load")
    assert (total.requests, total.wavefronts, total.conflicts) == (335_544_320, 402_653_184, 0)


CLAMP = {
    "original": (520_093_696, 536_346_624),  # 524,288 warps x 32 loads and 33 stores x 31
    "padded": (0, 0),
    "registers": (0, 0),
    "flat_block": (520_093_696, 536_346_624),
}


def clamp(variant_id: str, **options: object) -> LaunchCounters:
    family = read_family(KERNELS / "clamp_smem")
    variant = family.variant(variant_id)
    module = ptx.parse(toolchain.compile_cuda(variant.source, variant.source_name).ptx)
    (launch,) = family.launches(variant_id, family.problem)
    memory = DeviceMemory(
        {name: (array.resolve_shape(family.problem), np.float32) for name, array in family.arrays.items()},
        checked=False,
    )
    result = machine.run(module.kernels[launch.kernel], launch, memory, mode="count", **options)  # type: ignore[arg-type]
    assert result.counters is not None
    return result.counters


@pytest.mark.parametrize("sample", [None, machine.Sample(48, 3)], ids=["all", "sampled"])
@pytest.mark.parametrize("variant", CLAMP)
def test_the_published_clamp_has_exactly_its_conflicts(variant: str, sample: machine.Sample | None) -> None:
    compiled("__global__ void k() {}")
    counters = clamp(variant, sample=sample)
    load, store = counters.total("shared", "load"), counters.total("shared", "store")
    assert (load.conflicts, store.conflicts) == CLAMP[variant]
    if variant != "registers":
        assert (load.requests, store.requests) == (524_288 * 32, 524_288 * 33)
    moved = counters.total("global")
    assert (moved.sectors, moved.bytes) == (4 * 2 * 524_288, 2 * 4 * 4096 * 4096)
    assert counters.blocks == 4096 * 4096 // (128 if variant == "flat_block" else 1024)
    assert counters.sampled_blocks == counters.blocks if sample is None else counters.sampled_blocks < 200


def test_sampling_is_exact_where_the_grid_s_edges_differ() -> None:
    source = """
    __global__ void k(const float* in, float* out, int w, int h) {
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
        if (x < w && y < h) out[y * w + x] = in[y * w + x] + (x > 0 ? in[y * w + x - 1] : 0);
    }"""
    w, h = 32 * 40 + 7, 8 * 50 + 3
    arrays = {"in": np.zeros(w * h, np.float32), "out": np.zeros(w * h, np.float32)}
    whole = count(source, (41, 51), (32, 8), arrays, w, h)
    some = count(source, (41, 51), (32, 8), arrays, w, h, sample=machine.Sample(24, 2))
    assert some.sampled_blocks < 100 < whole.sampled_blocks == 41 * 51
    assert np.array_equal(whole.warp_executions, some.warp_executions)
    assert np.array_equal(whole.thread_executions, some.thread_executions)
    assert np.array_equal(whole.divergent, some.divergent)
    assert whole.total("global").requests == some.total("global").requests
    assert whole.total("global").bytes == some.total("global").bytes


def dot_tile(pad: int, align: str) -> str:
    return f"""
    __global__ void k(const float* in, float* out) {{
        __shared__ {align} float As[32][32]; __shared__ {align} float Bs[32][32 + {pad}];
        int tx = threadIdx.x, ty = threadIdx.y; float s = 0;
        As[ty][tx] = in[ty * 32 + tx]; Bs[ty][tx] = in[ty * 32 + tx];
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 32; ++k) s += As[ty][k] * Bs[tx][k];
        out[ty * 32 + tx] = s;
    }}"""


TILE = {"in": np.zeros(1024, np.float32), "out": np.zeros(1024, np.float32)}


@pytest.mark.parametrize(("pad", "by_hand"), [(0, 8 * 2 + 8 * 32), (1, 8 * 2 + 32)])
def test_a_column_read_in_128_bit_loads_costs_what_the_hand_says(pad: int, by_hand: int) -> None:
    """`As[ty][k]` is uniform in a warp: 8 loads of 2. `Bs[tx][k]` unpadded is 8 loads, each lane 128 bytes after the
    other, so that 8 lanes of a quarter meet in one bank: 4 x 8 = 32; padded it is 32 loads of 1."""
    counters = count(dot_tile(pad, "__align__(16)"), 1, (32, 32), TILE)
    assert counters.total("shared", "load").wavefronts == 32 * by_hand
    assert by_hand == {0: 272, 1: 48}[pad]


def test_loads_that_the_assembler_merges_are_counted_once_at_its_width() -> None:
    module = compiled(dot_tile(0, ""))
    (kernel,) = module.kernels.values()
    rows: dict[int, dict[int, int]] = {}
    for ins in kernel.instructions:
        if ins.parts[:2] == ("ld", "shared"):
            address = ins.operands[1]
            assert isinstance(address, ptx.Address)
            assert address.base is not None
            rows.setdefault(address.base.slot, {})[address.offset] = ins.pc
    assert [len(row) for row in rows.values()] == [32, 32]
    forms = {pc: AccessForm(16, row[offset // 16 * 16]) for row in rows.values() for offset, pc in row.items()}
    alone = run(module, 1, (32, 32), TILE, mode="count").counts.total("shared", "load")
    merged = run(module, 1, (32, 32), TILE, mode="count", forms=forms).counts.total("shared", "load")
    assert (alone.requests, alone.wavefronts) == (32 * 64, 32 * (32 + 32 * 32))
    assert (merged.requests, merged.wavefronts, merged.bytes) == (32 * 16, 32 * 272, alone.bytes)


def test_atomics_count_their_serialisation() -> None:
    source = "__global__ void k(const int* in, int* g) { atomicAdd(&g[in[threadIdx.x]], 1); }"
    data = np.array([t % 32 // 4 if t < 32 else 7 for t in range(64)], np.int32)
    counters = count(source, 3, 64, {"in": data, "g": np.zeros(32, np.int32)})
    total = counters.total("global", "reduction")
    assert (total.requests, total.serialised, total.sectors) == (6, 3 * (4 + 32), 3 * 2)
    uniform = "__global__ void k(float* g) { atomicAdd(g, 1.0f); }"
    counters = count(uniform, 5, 96, {"g": np.zeros(1, np.float32)})
    assert counters.total("global", "reduction").serialised == 5 * 96


def test_counts_are_of_warps_and_threads_and_of_branches_that_split() -> None:
    source = """
    __global__ void k(float* out) {
        if (threadIdx.x & 1) out[threadIdx.x] = 1.0f; else for (int i = 0; i < threadIdx.x; ++i) out[i] += 2.0f;
    }"""
    counters = count(source, 4, 48, {"out": np.zeros(64, np.float32)})
    assert counters.warps_per_block == 2
    assert counters.warp_executions[0] == 4 * 2
    assert counters.thread_executions[0] == 4 * 48
    assert counters.divergent.max() >= 8
    assert counters.trace_pc[0] == 0
    assert len(counters.trace_pc) == len(counters.trace_cost)


def test_phases_hold_what_a_block_does_between_barriers() -> None:
    counters = clamp("original", sample=machine.Sample(48, 2))
    assert len(counters.phases) == 34
    wavefronts_ = [sum(phase.shared_wavefronts.values()) for phase in counters.phases]
    assert wavefronts_ == [1024.0, *[2048.0] * 32, 0.0]
    assert sum(phase.executions.sum() for phase in counters.phases) * counters.blocks == counters.warp_instructions
    first = [sum(phase.sectors.values()) for phase in counters.phases]
    assert first == [128.0, *[0.0] * 32, 128.0]


class Watcher:
    """Notes what the caches would be told."""

    def __init__(self) -> None:
        self.sectors: list[tuple[np.ndarray, np.ndarray, float, bool]] = []

    def touch(
        self, pc: int, store: bool, atomic: bool, starts: np.ndarray, pattern: np.ndarray, sm: np.ndarray, repeat: float
    ) -> None:
        assert not atomic
        assert starts.shape == sm.shape
        sectors = np.add.outer(starts, pattern).reshape(-1)
        self.sectors.append((sectors, np.repeat(sm, pattern.size), repeat, store))

    def pass_over(self, followed: int, blocks: int) -> None:
        return


@pytest.mark.parametrize("shape", ["plain", "edge", "gather"])
def test_the_caches_are_told_every_sector_with_its_sm(shape: str) -> None:
    index = {"plain": "i", "edge": "i < n - 40 ? i : 0", "gather": "(i * 37) % n"}[shape]
    source = f"""__global__ void k(const float* in, float* out, int n) {{
        int i = blockIdx.x * 64 + threadIdx.x; if (i < n) out[i] = in[{index}]; }}"""
    n = 64 * 20 - 10
    arrays = {"in": np.zeros(n, np.float32), "out": np.zeros(n, np.float32)}
    watcher = Watcher()
    counters = count(source, 20, 64, arrays, n, hierarchy=watcher, resident_blocks=6, sms=3)
    touched = sum(len(sectors) for sectors, _, _, _ in watcher.sectors)
    assert touched == counters.total("global").sectors
    memory = DeviceMemory(arrays)
    first = memory.address("out") // 32
    stores = [(s - first, sm) for s, sm, _, store in watcher.sectors if store]
    seen = np.concatenate([s for s, _ in stores])
    assert sorted(seen) == list(range(-(-n * 4 // 32)))
    where = np.concatenate([sm for _, sm in stores])
    assert np.array_equal(where, seen // 8 % 6 % 3)
