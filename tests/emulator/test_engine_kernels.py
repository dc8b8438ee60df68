"""Whole kernels through the compiler and the engine: memory, atomics, warps, control flow, calls, launch shapes."""

import math

import numpy as np
import pytest

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.emulator import ptx
from tests.emulator.engine_support import compiled, run


def ints(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(-1000, 1000, count).astype(np.int32)


def test_every_width_of_load_and_store_moves_its_bytes() -> None:
    source = """
    template <class T> __device__ void move(const void* in, void* out, int i) { ((T*)out)[i] = ((const T*)in)[i]; }
    __global__ void k(const char* in, char* out) {
        int i = threadIdx.x;
        move<char>(in, out, i); move<short>(in + 64, out + 64, i); move<int>(in + 128, out + 128, i);
        move<double>(in + 256, out + 256, i); move<float2>(in + 512, out + 512, i);
        move<float4>(in + 1024, out + 1024, i); move<uchar4>(in + 1536, out + 1536, i);
    }"""
    data = np.random.default_rng(0).integers(0, 256, 2048).astype(np.uint8)
    out = run(source, 1, 32, {"in": data, "out": np.zeros(2048, np.uint8)})
    moved = np.zeros(2048, bool)
    for start, size in ((0, 1), (64, 2), (128, 4), (256, 8), (512, 8), (1024, 16), (1536, 4)):
        moved[start : start + 32 * size] = True
    assert not out.faults
    assert np.array_equal(out.arrays["out"], np.where(moved, data, 0))


def test_local_arrays_constants_and_device_variables() -> None:
    source = """
    __constant__ int table[4] = {10, 20, 30, 40};
    __device__ int total = 5;
    __global__ void k(int* out, int n) {
        int stack[8];
        for (int j = 0; j < 8; ++j) stack[(j * n) & 7] = j + threadIdx.x;
        out[threadIdx.x] = stack[threadIdx.x & 7] + table[threadIdx.x & 3];
        atomicAdd(&total, 1);
        __syncthreads();
        if (threadIdx.x == 0) out[64] = total;
    }"""
    out = run(source, 1, 64, {"out": np.zeros(65, np.int32)}, [3])
    place = {(j * 3) & 7: j for j in range(8)}
    expected = [place[t & 7] + t + (10, 20, 30, 40)[t & 3] for t in range(64)]
    assert not out.faults
    assert out.arrays["out"].tolist() == [*expected, 69]


def test_device_functions_that_stay_calls_take_structures_and_return_values() -> None:
    source = """
    struct Pair { float a; int b[2]; double c; };
    __device__ __noinline__ float weigh(const float* p, Pair q, int n) {
        float s = 0;
        for (int i = 0; i < n; ++i) s += p[i] * q.a;
        if (n > 2) return s;
        return s + q.b[1] + (float)q.c;
    }
    __global__ void k(const float* in, float* out) {
        Pair q; q.a = 2.0f; q.b[0] = 1; q.b[1] = 7; q.c = 0.5;
        out[threadIdx.x] = weigh(in, q, threadIdx.x) + weigh(in + 1, q, 1);
    }"""
    data = np.arange(8, dtype=np.float32)
    out = run(source, 1, 4, {"in": data, "out": np.zeros(4, np.float32)})
    second = 2 * 1 + 7.5
    assert not out.faults
    assert out.arrays["out"].tolist() == [7.5 + second, 7.5 + second, 2 * 1 + 7.5 + second, 2 * 3 + second]


def test_nested_divergence_loops_and_early_return_reconverge() -> None:
    source = """
    __global__ void k(const int* in, int* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int v = in[i], s = 0;
        for (int j = 0; j < (i % 7); ++j) {
            if (v & 1) { if (j == 3) continue; s += v; }
            else { s -= j; while (s < -5) s += 3; }
            if (s > 2000) break;
        }
        switch (i % 5) { case 0: s += 1; break; case 1: s *= 2; case 2: s -= 4; break; default: s = -s; }
        out[i] = s;
    }"""
    for n in (1, 31, 33, 100, 1000):
        data = ints(n)
        out = run(source, -(-n // 96), 96, {"in": data, "out": np.zeros(n, np.int32)}, [n])
        expected = []
        for i, v in enumerate(data.tolist()):
            s = 0
            for j in range(i % 7):
                if v & 1:
                    if j == 3:
                        continue
                    s += v
                else:
                    s -= j
                    while s < -5:
                        s += 3
                if s > 2000:
                    break
            match i % 5:
                case 0:
                    s += 1
                case 1:
                    s = s * 2 - 4
                case 2:
                    s -= 4
                case _:
                    s = -s
            expected.append(s)
        assert not out.faults
        assert out.arrays["out"].tolist() == expected


def test_a_jump_table_goes_to_each_of_its_places() -> None:
    cases = " ".join(f"case {i}: r = a[{i}] * {i + 2} + t; break;" for i in range(12))
    source = f"""__global__ void k(const int* a, int* out) {{
        int t = threadIdx.x, r = -1; switch (a[t]) {{ {cases} }} out[t] = r; }}"""
    data = np.array([(t * 5) % 14 for t in range(64)], np.int32)
    out = run(source, 1, 64, {"a": data, "out": np.zeros(64, np.int32)})
    assert out.arrays["out"].tolist() == [data[v] * (v + 2) + t if v < 12 else -1 for t, v in enumerate(data.tolist())]


@pytest.mark.parametrize("threads", [20, 33, 96])
def test_an_all_negative_maximum_over_blocks_of_odd_sizes(threads: int) -> None:
    source = """
    __global__ void k(const float* in, float* out, int n) {
        __shared__ float s[128];
        int t = threadIdx.x;
        float m = -__int_as_float(0x7f800000);
        for (int i = t; i < n; i += blockDim.x) m = fmaxf(m, in[i]);
        s[t] = m;
        __syncthreads();
        if (t == 0) { for (int i = 1; i < blockDim.x; ++i) m = fmaxf(m, s[i]); out[0] = m; }
    }"""
    data = -np.abs(np.random.default_rng(2).normal(size=100)).astype(np.float32) - 1
    out = run(source, 1, threads, {"in": data, "out": np.zeros(1, np.float32)}, [100])
    assert not out.faults
    assert out.arrays["out"][0] == data.max() < 0


def test_grids_and_blocks_of_three_dimensions_and_dynamic_shared_memory() -> None:
    source = """
    extern __shared__ int s[];
    __global__ void k(int* out) {
        int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        s[t] = 1000 * b + t;
        __syncthreads();
        out[b * 24 + t] = s[23 - t];
    }"""
    out = run(source, (2, 3, 4), (2, 3, 4), {"out": np.zeros(24 * 24, np.int32)}, shared=96)
    assert not out.faults
    assert out.arrays["out"].tolist() == [1000 * b + 23 - t for b in range(24) for t in range(24)]


def test_atomics_on_global_and_shared_memory_end_as_their_sums() -> None:
    source = """
    __global__ void k(const int* in, int* g, float* f, double* d, unsigned long long* u, int n) {
        __shared__ int s[4]; __shared__ float sf;
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (threadIdx.x < 4) s[threadIdx.x] = 0;
        if (threadIdx.x == 0) sf = 0;
        __syncthreads();
        if (i < n) {
            atomicAdd(&g[0], in[i]); atomicMin(&g[1], in[i]); atomicMax(&g[2], in[i]);
            atomicAnd(&g[3], in[i]); atomicOr(&g[4], in[i]); atomicXor(&g[5], in[i]);
            atomicInc((unsigned*)&g[6], 10); atomicDec((unsigned*)&g[7], 10);
            atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(u, 3ull);
            atomicAdd(&s[in[i] & 3], 1); atomicAdd(&sf, 1.0f);
        }
        __syncthreads();
        if (threadIdx.x < 4) atomicAdd(&g[8 + threadIdx.x], s[threadIdx.x]);
        if (threadIdx.x == 0) atomicAdd(&g[12], (int)sf);
    }"""
    n = 300
    data = ints(n)
    start = np.zeros(13, np.int32)
    start[3] = -1
    out = run(
        source, 5, 64,
        {"in": data, "g": start, "f": np.zeros(1, np.float32), "d": np.zeros(1), "u": np.zeros(1, np.uint64)}, [n],
    )  # fmt: skip
    g = out.arrays["g"].tolist()
    counter = down = 0
    for _ in range(n):
        counter = 0 if counter >= 10 else counter + 1
        down = 10 if down == 0 or down > 10 else down - 1
    assert not out.faults
    assert g[:3] == [data.sum(), min(data.min(), 0), max(data.max(), 0)]
    assert g[3:6] == [np.bitwise_and.reduce(data), np.bitwise_or.reduce(data), np.bitwise_xor.reduce(data)]
    assert g[6:8] == [counter, down]
    assert g[8:12] == np.bincount(data & 3, minlength=4).tolist()
    assert g[12] == n
    assert (out.arrays["f"][0], out.arrays["d"][0], out.arrays["u"][0]) == (n / 2, n / 4, 3 * n)


def test_atomics_that_return_give_each_thread_its_own_ticket() -> None:
    source = """
    __global__ void k(int* counter, int* out, int* lock) {
        out[atomicAdd(counter, 2) / 2] += 1;
        int old = atomicCAS(lock, 0, threadIdx.x + 1);
        if (old == 0) atomicExch(&lock[1], threadIdx.x + 1);
    }"""
    arrays = {"counter": np.zeros(1, np.int32), "out": np.zeros(128, np.int32), "lock": np.zeros(2, np.int32)}
    winners = set()
    for seed in range(4):
        out = run(source, 2, 64, arrays, seed=seed)
        assert out.arrays["out"].tolist() == [1] * 128
        assert out.arrays["lock"][0] == out.arrays["lock"][1] != 0
        winners.add(int(out.arrays["lock"][0]))
    assert len(winners) > 1, "the order of atomics follows the seed"


def test_shuffles_in_all_modes_with_and_without_segments() -> None:
    source = """
    __global__ void k(const int* in, int* out) {
        int t = threadIdx.x, v = in[t];
        out[t] = __shfl_sync(~0u, v, t * 3);
        out[64 + t] = __shfl_up_sync(~0u, v, 3);
        out[128 + t] = __shfl_down_sync(~0u, v, 5, 16);
        out[192 + t] = __shfl_xor_sync(~0u, v, 9);
        out[256 + t] = __shfl_sync(~0u, v, 2, 8);
        out[320 + t] = __shfl_up_sync(~0u, v, 1, 4);
    }"""
    data = ints(64)
    out = run(source, 1, 64, {"in": data, "out": np.zeros(384, np.int32)})
    assert not out.faults
    v = data.tolist()
    expected: list[int] = []
    w = [t & ~31 for t in range(64)]
    expected += [v[w[t] + t * 3 % 32] for t in range(64)]
    expected += [v[t - 3] if t % 32 >= 3 else v[t] for t in range(64)]
    expected += [v[t + 5] if t % 16 + 5 < 16 else v[t] for t in range(64)]
    expected += [v[t ^ 9] for t in range(64)]
    expected += [v[(t & ~7) + 2] for t in range(64)]
    expected += [v[t - 1] if t % 4 >= 1 else v[t] for t in range(64)]
    assert out.arrays["out"].tolist() == expected


def test_votes_matches_reductions_and_the_active_mask() -> None:
    source = """
    __global__ void k(const int* in, unsigned* out) {
        int t = threadIdx.x, v = in[t];
        out[t] = __ballot_sync(~0u, v > 0);
        out[64 + t] = __any_sync(~0u, v > 900) * 4 + __all_sync(~0u, v > -2000) * 2 + __uni_sync(~0u, v > 0);
        out[128 + t] = __match_any_sync(~0u, v & 3);
        out[192 + t] = __reduce_add_sync(~0u, v);
        out[256 + t] = __reduce_min_sync(~0u, v);
        out[320 + t] = __reduce_xor_sync(~0u, v);
        int pred; out[384 + t] = __match_all_sync(~0u, t >> 5, &pred) + pred;
        if (t % 3 == 0) out[448 + t] = __activemask();
    }"""
    data = ints(64)
    out = run(source, 1, 64, {"in": data, "out": np.zeros(512, np.uint32)})
    assert not out.faults
    got = out.arrays["out"].reshape(8, 2, 32)
    for warp in range(2):
        v = data[32 * warp : 32 * warp + 32]
        bits = 1 << np.arange(32, dtype=np.int64)
        assert set(got[0, warp]) == {int(bits[v > 0].sum())}
        uniform = bool((v > 0).all() or not (v > 0).any())
        assert set(got[1, warp]) == {4 * bool((v > 900).any()) + 2 + uniform}
        assert got[2, warp].tolist() == [int(bits[(v & 3) == (x & 3)].sum()) for x in v]
        assert set(got[3, warp].view(np.int32)) == {int(v.sum())}
        assert set(got[4, warp].view(np.int32)) == {int(v.min())}
        assert set(got[5, warp].view(np.int32)) == {int(np.bitwise_xor.reduce(v))}
        assert set(got[6, warp]) == {0}  # all bits plus one
        mask = sum(1 << lane for lane in range(32) if (32 * warp + lane) % 3 == 0)
        assert set(got[7, warp]) <= {0, mask}


def test_barriers_that_count_and_barriers_for_some_warps() -> None:
    source = """
    __global__ void k(const int* in, int* out) {
        __shared__ int s[64];
        int t = threadIdx.x;
        out[t] = __syncthreads_count(in[t] > 0) * 4 + (__syncthreads_and(in[t] > -2000) ? 2 : 0)
               + (__syncthreads_or(in[t] > 990) ? 1 : 0);
        s[t & 63] = 0;
        __syncthreads();
        if (t < 64) {
            s[t] = in[t];
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[96 + t] = s[63 - t];
        }
    }"""
    data = ints(96)
    out = run(source, 1, 96, {"in": data, "out": np.zeros(160, np.int32)})
    assert not out.faults, out.faults
    expected = int((data > 0).sum()) * 4 + 2 + int((data > 990).any())
    assert set(out.arrays["out"][:96]) == {expected}
    assert out.arrays["out"][96:].tolist() == data[63::-1].tolist()


def test_lanes_that_wait_at_a_barrier_keep_their_registers() -> None:
    source = """
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0) {
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<4>;
ld.param.u64 %d1, [k_0]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
setp.ge.u32 %p1, %r1, 32;
@%p1 bra OTHER;
mov.u32 %r2, 7; bar.sync 1, 32; bra END;
OTHER: mov.u32 %r2, 9;
END: st.global.u32 [%d1], %r2; ret;
}"""
    out = run(ptx.parse(source), 1, 64, {"out": np.zeros(64, np.int32)})
    assert not out.faults
    assert out.arrays["out"].tolist() == [7] * 32 + [9] * 32


def test_tickets_of_several_counters_do_not_mix() -> None:
    source = """__global__ void k(int* counters, int* out) {
        int t = threadIdx.x; out[t] = atomicAdd(&counters[t % 3], t + 1); }"""
    out = run(source, 1, 96, {"counters": np.array([5, 50, 500], np.int32), "out": np.zeros(96, np.int32)})
    for place, start in enumerate((5, 50, 500)):
        threads = [t for t in range(96) if t % 3 == place]
        tickets = sorted((int(out.arrays["out"][t]), t) for t in threads)
        running = start
        for ticket, t in tickets:
            assert ticket == running
            running += t + 1
        assert out.arrays["counters"][place] == running


def test_halves_bfloats_and_doubles_in_a_kernel() -> None:
    source = """
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    __global__ void k(const float* in, __half* h, __nv_bfloat16* b, double* d) {
        int t = threadIdx.x;
        __half x = __float2half(in[t]);
        h[t] = __hfma(x, x, __float2half(1.0f));
        __nv_bfloat16 y = __float2bfloat16(in[t]);
        b[t] = __hmax(__hmul(y, y), __float2bfloat16(0.5f));
        d[t] = sqrt(fabs((double)in[t])) / 3.0;
    }"""
    x = np.random.default_rng(4).normal(size=32).astype(np.float32)
    out = run(source, 1, 32, {"in": x, "h": np.zeros(32, np.float16), "b": np.zeros(32, np.uint16), "d": np.zeros(32)})
    half = x.astype(np.float16).astype(np.float64)
    assert out.arrays["h"].tolist() == (half * half + 1).astype(np.float16).tolist()
    brain = (out.arrays["b"].astype(np.uint32) << 16).view(np.float32)
    assert np.all(np.abs(brain - np.maximum(x * x, 0.5)) <= 0.01 * np.maximum(x * x, 0.5))
    assert out.arrays["d"].tolist() == (np.sqrt(np.abs(x.astype(np.float64))) / 3.0).tolist()


def test_library_functions_come_out_as_the_host_s() -> None:
    source = """
    __global__ void k(const float* in, float* out) {
        int t = threadIdx.x; float x = in[t];
        out[t] = expf(x); out[64 + t] = sinf(x * 100000.0f); out[128 + t] = powf(fabsf(x), 1.7f);
        out[192 + t] = logf(fabsf(x)); out[256 + t] = tanhf(x); out[320 + t] = __expf(x); out[384 + t] = x / 3.0f;
    }"""
    x = np.random.default_rng(6).normal(size=64).astype(np.float32)
    out = run(source, 1, 64, {"in": x, "out": np.zeros(448, np.float32)})
    got = out.arrays["out"].reshape(7, 64).astype(np.float64)
    w = x.astype(np.float64)
    big = (x * np.float32(100000.0)).astype(np.float64)
    expected = [np.exp(w), np.sin(big), np.abs(w) ** np.float32(1.7), np.log(np.abs(w)), np.tanh(w), np.exp(w)]
    for row, (g, e) in enumerate(zip(got, expected, strict=False)):
        assert np.allclose(g, e, rtol=2e-6, atol=2e-7), row
    assert out.arrays["out"][384:].tolist() == (x / np.float32(3)).tolist()


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_121"])
def test_the_same_kernel_gives_the_same_on_every_target(arch: str) -> None:
    source = """
    __global__ void k(const float* in, float* out, int n) {
        __shared__ float s[32][33];
        int x = threadIdx.x, y = threadIdx.y;
        s[y][x] = in[y * n + x] * 2.0f + 1.0f;
        __syncthreads();
        out[y * n + x] = s[x][y];
    }"""
    data = np.random.default_rng(8).normal(size=(32, 32)).astype(np.float32)
    out = run(source, 1, (32, 32), {"in": data, "out": np.zeros((32, 32), np.float32)}, [32], arch=arch)
    assert not out.faults
    with np.errstate(all="ignore"):
        assert np.array_equal(out.arrays["out"], (data * np.float32(2) + np.float32(1)).T)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('asm volatile("wgmma.fence.sync.aligned;");', "wgmma"),
        ('unsigned c; asm volatile("mov.u32 %0, %%clock;" : "=r"(c)); *out = c;', "%clock"),
        ("extern __device__ cudaTextureObject_t t; *out = (int)tex1Dfetch<float>(t, 0);", "tex"),
        ('asm volatile("cp.async.bulk.commit_group;");', "cp.async"),
    ],
)
def test_what_is_not_covered_is_refused_with_instruction_and_line(body: str, says: str) -> None:
    source = "__global__ void k(int* out) {\n  " + body + "\n}"
    with pytest.raises(BadInput) as refusal:
        run(source, 1, 32, {"out": np.zeros(32, np.int32)}, arch="sm_90a")
    assert says in str(refusal.value)
    if says != "%clock":
        assert "line 2" in str(refusal.value)


@pytest.mark.parametrize(
    ("args", "says"),
    [([], "takes 2 parameters, the plan gives 1"), ([("f64", 1.0)], "4 bytes; the plan gives it a f64")],
)
def test_a_plan_that_does_not_fit_the_parameters_is_refused(args: list[object], says: str) -> None:
    source = "__global__ void k(int* out, int n) { out[threadIdx.x] = n; }"
    with pytest.raises(BadInput, match=says):
        run(source, 1, 32, {"out": np.zeros(32, np.int32)}, args)
    with pytest.raises(BadInput, match="gives it the array"):
        run(source, 1, 32, {"out": np.zeros(32, np.int32), "other": np.zeros(4, np.int32)})


def test_recursion_is_refused() -> None:
    source = """__device__ __noinline__ int f(int n) { return n < 2 ? 1 : n * f(n - 1) + f(n - 2); }
    __global__ void k(int* out, int n) { *out = f(n); }"""
    with pytest.raises(BadInput, match="recursion"):
        compiled(source)


def test_a_dot_product_in_float_sums_in_the_order_of_the_code() -> None:
    source = """
    __global__ void k(const float* a, const float* b, float* out, int n) {
        float s = 0; for (int i = 0; i < n; ++i) s += a[i] * b[i]; *out = s; }"""
    random = np.random.default_rng(9)
    a, b = (random.normal(size=50).astype(np.float32) for _ in range(2))
    out = run(source, 1, 1, {"a": a, "b": b, "out": np.zeros(1, np.float32)}, [50])
    s = np.float32(0)
    for x, y in zip(a.astype(np.float64), b.astype(np.float64), strict=True):
        s = np.float32(x * y + float(s))  # exact but for double rounding, which these values do not meet
    assert out.arrays["out"][0] == s
    assert math.isfinite(s)
