"""Each fault's kernel, caught and named with block, thread and line; and its corrected twin, clean."""

import numpy as np
import pytest

from tests.emulator.engine_support import Outcome, run


def body(*lines: str) -> str:
    """A kernel whose statements start at line 3."""
    return "\n".join(["__global__ void k(const int* in, int* out, int n) {", "int t = threadIdx.x;", *lines, "}"])


def launch(source: str, blocks: int = 1, threads: int = 64, count: int = 128, **options: object) -> Outcome:
    data = np.arange(count, dtype=np.int32)
    return run(source, blocks, threads, {"in": data, "out": np.zeros(count, np.int32)}, [count], **options)  # type: ignore[arg-type]


def test_a_write_past_the_end_is_named_with_its_array_element_and_lane() -> None:
    source = body("int i = blockIdx.x * 64 + t;", "out[i + 1] = 1;")
    outcome = launch(source, blocks=2)
    fault = outcome.fault("out_of_bounds")
    assert (fault.block, fault.thread, fault.line) == ((1, 0, 0), (63, 0, 0), 4)
    assert "writes 4 bytes at out[128], outside its 128 elements" in fault.message
    assert not outcome.guards, "the access is named and not performed"
    assert not launch(body("int i = blockIdx.x * 64 + t;", "if (i + 1 < n) out[i + 1] = 1;"), blocks=2).faults


def test_a_read_before_the_start_is_out_of_bounds() -> None:
    fault = launch(body("out[t] = in[t - 1];")).fault("out_of_bounds")
    assert (fault.thread, fault.line) == ((0, 0, 0), 3)
    assert "reads 4 bytes at in[-1]" in fault.message


def test_shared_memory_has_an_end_too() -> None:
    source = body("__shared__ int s[64];", "s[t + n - 127] = t;", "__syncthreads();", "out[t] = s[t];")
    fault = launch(source).fault("out_of_bounds")
    assert (fault.thread, fault.line) == ((63, 0, 0), 4)
    good = source.replace("n - 127", "n - 128")
    assert not launch(good).faults


def test_a_float4_on_a_row_of_33_is_misaligned() -> None:
    source = """__global__ void k(float* out) {
        __shared__ __align__(16) float s[32 * WIDTH];
        int t = threadIdx.x;
        for (int i = 0; i < 32; ++i) s[i * WIDTH + t] = i;
        __syncthreads();
        float4 v = *(float4*)&s[t * WIDTH];
        out[t] = v.x + v.w;
    }"""
    arrays = {"out": np.zeros(32, np.float32)}
    fault = run(source.replace("WIDTH", "33"), 1, 32, arrays).fault("misaligned")
    assert (fault.thread, fault.line) == ((1, 0, 0), 6)
    assert "not a multiple of 16 bytes" in fault.message
    twin = run(source.replace("WIDTH", "36"), 1, 32, arrays)
    assert not twin.faults
    assert twin.arrays["out"].tolist() == [2.0 * t for t in range(32)]


def test_shared_memory_read_before_it_is_written() -> None:
    source = body("__shared__ int s[64];", "if (t != 5) s[t] = t;", "__syncthreads();", "out[t] = s[63 - t];")
    fault = launch(source).fault("uninitialised_shared")
    assert (fault.thread, fault.line) == ((58, 0, 0), 6)
    assert "byte 20 of s" in fault.message
    assert not launch(source.replace("if (t != 5) ", "")).faults


def test_a_race_between_warps_needs_a_barrier() -> None:
    source = body("__shared__ int s[64];", "s[t] = in[t];", "__syncthreads();", "out[t] = s[63 - t];")
    racy = source.replace("__syncthreads();", "")
    fault = launch(racy).fault("race")
    assert fault.line == 6
    assert "another warp" in fault.message
    assert not launch(source).faults


def test_a_write_over_what_another_warp_still_reads_is_a_race() -> None:
    source = body(
        "__shared__ int s[64];", "s[t] = t;", "__syncthreads();",
        "for (int i = 0; i < 3; ++i) {", "int v = s[(t + 32) & 63];", "__syncthreads(); //read",
        "s[t] = v + 1;", "__syncthreads();", "}", "out[t] = s[t];",
    )  # fmt: skip
    assert not launch(source).faults
    fault = launch(source.replace("__syncthreads(); //read", "")).fault("race")
    assert fault.line == 9


def test_a_race_within_a_warp_needs_a_warp_barrier() -> None:
    source = body("__shared__ int s[64];", "s[t] = in[t];", "__syncwarp();", "out[t] = s[t ^ 1];")
    assert not launch(source).faults
    outcome = launch(source.replace("__syncwarp();", "__threadfence_block();"))
    assert outcome.kinds == {"warp_race"}
    fault = outcome.fault("warp_race")
    assert fault.line == 6
    assert "thread (1, 0, 0)" in fault.message


def test_a_write_over_what_another_lane_just_read_needs_a_warp_barrier_too() -> None:
    source = body(
        "__shared__ int s[64];", "s[t] = t;", "__syncwarp();", "int v = s[t ^ 1];", "__syncwarp(); //read",
        "s[t] = v + n;", "__syncwarp();", "out[t] = s[t];",
    )  # fmt: skip
    assert not launch(source).faults
    outcome = launch(source.replace("__syncwarp(); //read", "__threadfence_block();"))
    assert outcome.kinds == {"warp_race"}
    assert outcome.fault("warp_race").line == 8


def test_the_same_value_from_two_places_of_the_code_is_benign() -> None:
    source = body(
        "__shared__ volatile int s[1];", "if (t == 0) s[0] = n;", "if (t == 40) s[0] = VALUE;", "__syncthreads();",
        "out[t] = s[0];",
    )  # fmt: skip
    same = launch(source.replace("VALUE", "n"))
    assert not same.faults
    assert [fault.line for fault in same.benign] == [5]
    assert launch(source.replace("VALUE", "n + 1")).kinds == {"race"}


def test_warps_that_wait_at_barriers_of_different_lines() -> None:
    barrier = 'asm volatile("bar.sync 0;" ::: "memory");'
    source = body("if (t < 32) {", "out[t] = n;", barrier, "} else {", "out[t] = 2 * n;", barrier, "}", "out[t] += 1;")
    fault = launch(source).fault("barrier_divergence")
    assert (fault.line, fault.thread) == (8, (32, 0, 0))
    assert "line 5" in fault.message


def test_a_warp_reduction_in_shared_memory_needs_its_warp_barriers() -> None:
    source = body(
        "__shared__ volatile int s[64];", "s[t] = in[t];", "__syncthreads();",
        "if (t < 32) for (int d = 32; d > 0; d >>= 1) { int v = s[t + d < 64 ? t + d : t]; __syncwarp(); "
        "s[t] += v; __syncwarp(); }",
        "out[t] = t == 0 ? s[0] : 0;",
    )  # fmt: skip
    assert not launch(source).faults
    assert "warp_race" in launch(source.replace("__syncwarp();", "")).kinds


def test_lanes_that_write_one_word_race_unless_the_value_is_the_same() -> None:
    source = body("__shared__ int s[2];", "s[t / 32] = VALUE;", "__syncthreads();", "out[t] = s[t / 32];")
    same = launch(source.replace("VALUE", "7"))
    assert not same.faults
    assert {fault.kind for fault in same.benign} == {"benign_race"}
    assert launch(source.replace("VALUE", "t")).kinds == {"warp_race"}
    across = body("__shared__ int s[1];", "s[0] = VALUE;", "__syncthreads();", "out[t] = s[0];")
    assert launch(across.replace("VALUE", "t / 32")).kinds == {"race"}
    assert not launch(across.replace("VALUE", "n")).faults


def test_bytes_of_one_word_are_apart() -> None:
    source = body("__shared__ char s[64];", "s[t] = t;", "__syncwarp();", "out[t] = s[t & 32];")
    clean = source.replace("__syncwarp", "__syncthreads")
    assert not launch(clean).faults


def test_atomics_do_not_race_with_one_another_but_with_plain_accesses() -> None:
    source = body(
        "__shared__ int s[1];", "if (t == 0) s[0] = 0;", "__syncthreads();", "atomicAdd(s, in[t]);",
        "__syncthreads(); //after", "out[t] = s[0];",
    )  # fmt: skip
    outcome = launch(source)
    assert not outcome.faults
    assert outcome.arrays["out"][0] == sum(range(64))
    assert "race" in launch(source.replace("__syncthreads(); //after", "")).kinds


def test_a_barrier_in_a_branch_that_some_threads_do_not_take() -> None:
    source = body("__shared__ int s[64];", "s[t] = t;", "if (t < 40)", "__syncthreads();", "out[t] = s[t] + n;")
    fault = launch(source).fault("barrier_divergence")
    assert fault.line == 6
    assert fault.thread == (40, 0, 0)
    assert not launch(source.replace("if (t < 40)", "")).faults


def test_threads_at_two_barriers_of_different_numbers_never_meet() -> None:
    source = body(
        'if (t < 32) asm volatile("bar.sync 1, 64;" ::: "memory");',
        'else asm volatile("bar.sync 2, 64;" ::: "memory");',
        "out[t] = t;",
    )  # fmt: skip
    fault = launch(source).fault("barrier_divergence")
    assert "one of 32 threads, of 64, that wait at a barrier the others do not reach" in fault.message
    assert not launch(source.replace("bar.sync 2", "bar.sync 1")).faults


def test_threads_that_have_left_are_not_waited_for() -> None:
    source = body(
        "__shared__ int s[64];", "if (t >= 40) return;", "s[t] = t;", "__syncthreads();", "out[t] = s[39 - t];"
    )
    outcome = launch(source)
    assert not outcome.faults
    assert outcome.arrays["out"][:40].tolist() == list(range(39, -1, -1))


def test_a_loop_whose_trip_count_differs_by_warp_leaves_some_at_its_barrier() -> None:
    source = body("for (int i = 0; i < 2 + t / 32; ++i) {", "out[t] += i;", "__syncthreads();", "}", "out[t] += n;")
    assert "barrier_divergence" in launch(source).kinds
    assert not launch(source.replace("2 + t / 32", "2 + n / 128")).faults


def test_a_shuffle_that_reads_a_lane_not_taking_part() -> None:
    source = body("int v = in[t];", "if ((t & 31) < 16)", "v += __shfl_down_sync(MASK, v, 8);", "out[t] = v;")
    fault = launch(source.replace("MASK", "0xffff")).fault("inactive_lane_shuffle")
    assert (fault.line, fault.thread) == (5, (8, 0, 0))
    assert "lane 16" in fault.message
    twin = source.replace("MASK, v, 8", "0xffff, v, 8, 16")
    assert not launch(twin).faults


def test_an_endless_loop_ends_with_the_budget() -> None:
    source = body("int v = t;", "while (((volatile const int*)in)[0] == 0) ++v;", "out[t] = v;")
    fault = launch(source, budget=20_000).fault("endless")
    assert fault.line == 4
    assert "20000" in fault.message
    assert not launch(source.replace("[0] == 0", "[1] == 0"), budget=20_000).faults


def test_a_fault_is_found_by_every_seed_and_good_kernels_pass_every_seed() -> None:
    racy = body("__shared__ int s[64];", "s[t] = in[t];", "out[t] = s[63 - t];")
    good = racy.replace("out[t]", "__syncthreads(); out[t]")
    for seed in range(5):
        assert "race" in launch(racy, blocks=3, seed=seed).kinds
        outcome = launch(good, blocks=3, seed=seed)
        assert not outcome.faults
        assert outcome.arrays["out"][:64].tolist() == list(range(63, -1, -1))


def test_blocks_run_in_an_order_that_the_seed_draws() -> None:
    source = body("out[0] = blockIdx.x;")
    last = {int(launch(source, blocks=9, threads=1, seed=seed).arrays["out"][0]) for seed in range(8)}
    assert len(last) > 2


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_121"])
def test_faults_are_the_same_on_every_target(arch: str) -> None:
    source = body("__shared__ int s[64];", "s[t] = in[t];", "out[t] = s[63 - t];")
    assert launch(source, arch=arch).kinds == {"race"}
