"""Counting mode against itself: slices, batches and lone threads must all give the same counts."""

from pathlib import Path

import numpy as np
import pytest

from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.emulator import machine, ptx
from sparktrace_tui.emulator.counters import LaunchCounters
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.store.families import read_family
from tests.emulator.engine_support import compiled, run

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "u32": np.uint32}


class Deaf:
    """A hierarchy that hears and keeps nothing: it makes the engine run wave by wave."""

    def touch(self, *_: object) -> None:
        return

    def pass_over(self, *_: object) -> None:
        return


def counted(family: Family, variant_id: str, **options: object) -> list[LaunchCounters]:
    size = family.checks[1].size
    module = compiled(family.variant(variant_id).source)
    random = np.random.default_rng(0)
    memory = DeviceMemory(
        {
            name: random.integers(0, 200, array.resolve_shape(size)).astype(TYPES[array.dtype])
            for name, array in family.arrays.items()
        },
        checked=False,
    )
    found = []
    for launch in family.launches(variant_id, size):
        result = machine.run(module.kernels[launch.kernel], launch, memory, mode="count", **options)  # type: ignore[arg-type]
        assert result.counters is not None, result.faults
        found.append(result.counters)
    return found


def totals(counters: LaunchCounters) -> object:
    phases = [
        (p.executions.round(9).tolist(), {k: round(v, 9) for k, v in (p.shared_wavefronts | p.sectors).items()})
        for p in counters.phases
    ]
    return (
        counters.warp_executions.tolist(), counters.thread_executions.tolist(), counters.divergent.tolist(),
        counters.accesses, phases,
    )  # fmt: skip


@pytest.mark.parametrize("family_id", ["clamp_smem", "histogram", "row_reduce", "matmul_tiled", "atomic_reduce"])
def test_a_slice_counts_what_the_whole_kernel_counts_in_batches_of_any_size(family_id: str) -> None:
    family = read_family(KERNELS / family_id)
    for variant in family.variants:
        sliced = [totals(c) for c in counted(family, variant.id)]
        assert sliced == [totals(c) for c in counted(family, variant.id, keep_data=True)]
        assert sliced == [totals(c) for c in counted(family, variant.id, hierarchy=Deaf(), resident_blocks=2)]


BRANCHY = """
__global__ void k(const int* in, int* out, int first, int n) {
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i], s = 0;
    for (int j = 0; j < v % 9; ++j) {
        if ((v >> j) & 1) { s += in[(i + j) % n]; if (s > 300) break; }
        else for (int m = 0; m < j % 4; ++m) s ^= m * v;
    }
    if (s & 1) out[i] = s; else if (s & 2) out[i] = -s;
}"""


def test_threads_together_execute_what_they_execute_alone() -> None:
    n = 130
    arrays = {"in": np.random.default_rng(3).integers(0, 500, n).astype(np.int32), "out": np.zeros(n, np.int32)}
    together = run(BRANCHY, 2, 96, arrays, [0, n], mode="count").counts
    alone = sum(run(BRANCHY, 1, 1, arrays, [i, n], mode="count").counts.thread_executions for i in range(192))
    assert np.array_equal(together.thread_executions, alone)
    assert together.divergent.sum() > 0
    assert np.all(together.warp_executions <= together.thread_executions)
    assert np.all(together.warp_executions * 32 >= together.thread_executions)


def test_lanes_that_part_meet_again_at_once() -> None:
    source = """__global__ void k(const int* in, int* out) {
        int t = threadIdx.x, v;
        if (t & 1) { v = in[t]; atomicAdd(out + 64, v); } else { v = in[t + 1] * 3; atomicMax(out + 65, v); }
        for (int i = 0; i < t; ++i) { if ((v >> i) & 1) atomicAdd(out + 66, 1); out[i + 67] = v; }
        out[t] = v; }"""
    arrays = {"in": np.arange(64, dtype=np.int32), "out": np.zeros(200, np.int32)}
    counters = run(source, 1, 32, arrays, mode="count").counts
    assert counters.total("global", "load").requests == 2
    stores = [a.requests for a in counters.accesses.values() if a.operation == "store"]
    assert stores[-1] == 1, "the last store is executed by the whole warp at once"
    assert sum(stores) == 1 + 31, "a loop runs as often as its busiest lane"


def test_a_warp_executes_no_more_than_its_lanes_and_no_less_than_its_busiest() -> None:
    n = 96
    arrays = {"in": np.random.default_rng(5).integers(0, 500, n).astype(np.int32), "out": np.zeros(n, np.int32)}
    together = run(BRANCHY, 1, 96, arrays, [0, n], mode="count").counts.warp_executions
    lanes = np.stack([run(BRANCHY, 1, 1, arrays, [i, n], mode="count").counts.thread_executions for i in range(n)])
    by_warp = lanes.reshape(3, 32, -1)
    assert np.all(together >= by_warp.max(axis=1).sum(axis=0))
    # In loops that every lane leaves at the same branch, the warp runs as often as its busiest lane.
    assert together[0] == 3


def test_counting_needs_data_only_where_data_reach_an_address_or_a_branch() -> None:
    copy = "__global__ void k(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] * 2; }"
    gather = "__global__ void k(const int* in, float* out) { out[in[threadIdx.x]] = 2; }"
    branch = "__global__ void k(const int* in, float* out) { if (in[threadIdx.x] > 3) for (;;) atomicAdd(out, 1.0f); }"
    needs = [machine.needs_data(next(iter(compiled(s).kernels.values()))) for s in (copy, gather, branch)]
    assert needs == [False, True, True]


def test_a_count_does_not_write_what_it_does_not_need() -> None:
    source = "__global__ void k(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] * 2; }"
    data = np.arange(32, dtype=np.float32)
    arrays = {"in": data, "out": np.zeros(32, np.float32)}
    assert not run(source, 1, 32, arrays, mode="count").arrays["out"].any()
    assert run(source, 1, 32, arrays, mode="count", keep_data=True).arrays["out"].tolist() == (2 * data).tolist()


def test_an_access_outside_memory_stops_a_count_with_a_fault() -> None:
    source = "__global__ void k(const int* in, int* out) { out[in[threadIdx.x * 100000000LL]] = 1; }"
    arrays = {"in": np.zeros(32, np.int32), "out": np.zeros(32, np.int32)}
    outcome = run(source, 1, 32, arrays, mode="count")
    assert outcome.kinds == {"out_of_bounds"}
    assert outcome.counters is None


def test_an_endless_loop_stops_a_count_too() -> None:
    source = "__global__ void k(volatile int* in) { while (in[0] == 0) ; }"
    assert run(source, 1, 32, {"in": np.zeros(1, np.int32)}, mode="count", budget=5000).kinds == {"endless"}


def test_a_long_loop_s_trace_is_cut_and_scaled() -> None:
    source = """__global__ void k(const float* in, float* out, int n) {
        float s = 0; for (int i = 0; i < n; ++i) s += in[i * 32 + threadIdx.x]; out[threadIdx.x] = s; }"""
    n = 40_000
    arrays = {"in": np.zeros(32 * n, np.float32), "out": np.zeros(32, np.float32)}
    counters = run(source, 1, 32, arrays, [n], mode="count").counts
    assert len(counters.trace_pc) < counters.warp_instructions
    assert counters.trace_scale * len(counters.trace_pc) == pytest.approx(counters.warp_instructions, rel=0.01)
    load = counters.total("global", "load")
    assert (load.requests, load.sectors, load.bytes) == (n, 4 * n, 128 * n)


class Sum:
    """Adds up what the caches are told."""

    def __init__(self) -> None:
        self.calls, self.sectors = 0, 0.0

    def touch(
        self, pc: int, store: bool, atomic: bool, starts: np.ndarray, pattern: np.ndarray, sm: np.ndarray, repeat: float
    ) -> None:
        self.calls += 1
        self.sectors += len(starts) * len(pattern) * repeat

    def pass_over(self, followed: int, blocks: int) -> None:
        return


def test_of_a_long_loop_the_caches_hear_bursts_that_stand_for_the_rest() -> None:
    source = """__global__ void k(const float* in, float* out, int n) {
        float s = 0; for (int i = 0; i < n; ++i) s += in[i * 32 + threadIdx.x]; out[threadIdx.x] = s; }"""
    n = 40_000
    arrays = {"in": np.zeros(32 * n, np.float32), "out": np.zeros(32, np.float32)}
    heard = Sum()
    counters = run(source, 1, 32, arrays, [n], mode="count", hierarchy=heard).counts
    assert counters.total("global").sectors == 4 * (n + 1)
    assert heard.sectors == pytest.approx(4 * (n + 1), rel=0.05)
    assert heard.calls < n / 8


@pytest.mark.parametrize("block", [(20, 1, 1), (33, 1, 1), (96, 1, 1), (5, 7, 1)])
def test_blocks_that_do_not_fill_their_warps(block: tuple[int, int, int]) -> None:
    source = """__global__ void k(float* out) {
        int t = threadIdx.x + blockDim.x * threadIdx.y; out[blockIdx.x * blockDim.x * blockDim.y + t] = t; }"""
    threads = block[0] * block[1]
    counters = run(source, 3, block, {"out": np.zeros(3 * threads, np.float32)}, mode="count").counts
    warps = -(-threads // 32)
    assert counters.warp_executions[0] == 3 * warps
    assert counters.thread_executions[0] == 3 * threads
    store = counters.total("global", "store")
    assert (store.requests, store.bytes) == (3 * warps, 3 * threads * 4)
    sectors = sum(
        (4 * (b * threads + min(threads, 32 * w + 32)) - 1) // 32 - 4 * (b * threads + 32 * w) // 32 + 1
        for b in range(3)
        for w in range(warps)
    )
    assert store.sectors == sectors


def test_local_memory_is_counted_apart() -> None:
    source = """__global__ void k(int* out, int n) {
        int a[16]; for (int i = 0; i < 16; ++i) a[(i * n) & 15] = i; out[threadIdx.x] = a[(threadIdx.x * n) & 15]; }"""
    counters = run(source, 1, 32, {"out": np.zeros(32, np.int32)}, [3], mode="count").counts
    stores = counters.total("local", "store")
    assert (stores.requests, stores.sectors) == (16, 16 * 4)
    # The load's 16 offsets differ by lane: each (word, eight lanes) is a sector of its own.
    offsets = {((lane * 3) & 15, lane // 8) for lane in range(32)}
    assert counters.total("local", "load").sectors == len(offsets)


def test_every_instruction_has_a_line_of_the_source() -> None:
    (kernel,) = compiled(BRANCHY).kernels.values()
    assert isinstance(kernel, ptx.Kernel)
    lines = {line for line in kernel.lines if line is not None}
    assert lines <= set(range(1, BRANCHY.count("\n") + 2))
    assert {3, 5, 7, 8, 11} <= lines
