"""The timing model on demands made by hand, and against the published measurements."""

import random

import numpy as np
import pytest

from sparktrace_tui.emulator import model, profile
from sparktrace_tui.emulator.model import Demand, PhaseDemand
from sparktrace_tui.emulator.sass import PIPES
from tests.emulator.estimate_support import PUBLIC, clamp, launch, one

GB10 = profile.load("gb10")
CLOCK = GB10["clock.sm"] * 1e9
PUBLISHED_CLAMP = {"original": 10.465, "padded": 0.98, "registers": 0.621, "flat_block": 10.2}


def phase(count: float = 1.0, wavefronts: float = 0.0, sectors: float = 0.0, **pipes: float) -> PhaseDemand:
    numbers = np.array([pipes.get(name, 0.0) for name in PIPES])
    return PhaseDemand(count, numbers, wavefronts, sectors, {"shared": 1.0, "barrier": 1.0})


def demand(*phases: PhaseDemand, blocks: int = 480, resident: int = 1, **other: float) -> Demand:
    return Demand(
        blocks=blocks,
        resident=resident,
        warps_per_block=32,
        phases=phases,
        hits={},
        dram_bytes=other.get("dram_bytes", 0.0),
        l2_sectors=other.get("l2_sectors", 0.0),
        l2_read_sectors=0.0,
        same_address=other.get("same_address", 0.0),
    )


def test_one_resident_block_pays_pipe_and_latency_one_after_the_other() -> None:
    found = model.predict(GB10, demand(phase(10, wavefronts=2000)))
    alone = 10 * (2000 + GB10["latency.shared"] + GB10["latency.barrier"]) + GB10["latency.block_start"]
    assert found.limits_ms["SM"] == pytest.approx(10 * alone / CLOCK * 1e3)
    assert found.by == "shared-memory pipe"


def test_many_resident_blocks_hide_the_latency_behind_the_busiest_pipe() -> None:
    found = model.predict(GB10, demand(phase(10, wavefronts=2000), blocks=4800, resident=10))
    assert found.limits_ms["SM"] == pytest.approx(100 * 10 * 2000 / CLOCK * 1e3, rel=0.01)


def test_the_load_store_unit_takes_two_clocks_an_instruction_on_gb10_and_one_on_h200() -> None:
    h200 = profile.load("h200")
    for device, clocks in ((GB10, 2000), (h200, 1000)):
        assert model.predict(device, demand(phase(lsu=1000))).phase_clocks[0][0] == clocks


def test_bytes_over_bandwidth_bound_a_stream() -> None:
    found = model.predict(GB10, demand(phase(), dram_bytes=218e6))
    assert found.ms == pytest.approx(1.0 + GB10["launch.kernel"] / 1e3, rel=0.01)
    assert found.by == "DRAM bandwidth"


def test_atomics_on_one_address_go_at_the_profiles_rate() -> None:
    found = model.predict(GB10, demand(phase(), same_address=1.45e6))
    assert found.limits_ms["atomics"] == pytest.approx(1.0)
    assert found.by == "atomics"


def test_two_limits_that_tie_cost_more_than_either_and_the_shares_add_up_to_one() -> None:
    single = model.predict(GB10, demand(phase(), dram_bytes=2.18e8))
    both = model.predict(GB10, demand(phase(), dram_bytes=2.18e8, l2_sectors=1e9 / 32))
    assert both.ms / single.ms == pytest.approx(2 ** (1 / GB10["model.overlap"]), rel=0.01)
    assert sum(both.shares.values()) == pytest.approx(1.0)


def test_a_partial_last_wave_takes_as_long_as_its_fullest_sm() -> None:
    whole = model.predict(GB10, demand(phase(10, wavefronts=2000), blocks=48)).limits_ms["SM"]
    assert model.predict(GB10, demand(phase(10, wavefronts=2000), blocks=49)).limits_ms["SM"] == pytest.approx(
        2 * whole
    )


def test_few_warps_leave_schedulers_idle() -> None:
    narrow = demand(phase(fma=1000))
    narrow = Demand(**{**narrow.__dict__, "warps_per_block": 1})
    assert model.predict(GB10, narrow).phase_clocks[0][0] == 1000
    assert model.predict(GB10, demand(phase(fma=1000))).phase_clocks[0][0] == 250


def test_a_draw_of_constants_moves_the_time_within_the_bounds_of_the_draw() -> None:
    base = demand(phase(10, wavefronts=2000), dram_bytes=1e7)
    nominal = model.predict(GB10, base).ms
    rng = random.Random(3)
    times = [model.predict(GB10.scaled(rng), base).ms for _ in range(50)]
    assert len(set(times)) == 50
    assert all(nominal * 0.6 < time < nominal * 1.6 for time in times)


@pytest.mark.parametrize("variant", sorted(PUBLISHED_CLAMP))
def test_the_published_clamp_is_met_within_15_percent(variant: str) -> None:
    assert clamp(variant).ms == pytest.approx(PUBLISHED_CLAMP[variant], rel=0.15)


def test_the_clamps_order_is_registers_then_padded_then_the_others() -> None:
    times = {variant: clamp(variant).ms for variant in PUBLISHED_CLAMP}
    assert times["registers"] < times["padded"] < min(times["original"], times["flat_block"])


@pytest.mark.parametrize(("stride", "gb_s"), [(1, 209), (2, 146), (4, 91), (8, 53), (16, 29)])
def test_the_stride_series_on_gb10_is_met_within_25_percent(stride: int, gb_s: float) -> None:
    total = 16 * 2**20
    threads = total // stride
    made = launch("copy_strided", (threads // 256, 1, 1), (256, 1, 1), "in", "out", threads, stride)
    found = one((PUBLIC / "copy.cu").read_text(), made, {"in": total, "out": threads})
    assert 8 * threads / found.time.ms / 1e6 == pytest.approx(gb_s, rel=0.25)


@pytest.mark.parametrize(("block", "gb_s"), [(32, 98), (64, 182), (128, 206), (256, 204), (512, 194), (1024, 202)])
def test_the_block_size_series_on_gb10_is_met_within_25_percent(block: int, gb_s: float) -> None:
    total = 16 * 2**20
    made = launch("copy_strided", (total // block, 1, 1), (block, 1, 1), "in", "out", total, 1)
    found = one((PUBLIC / "copy.cu").read_text(), made, {"in": total, "out": total})
    assert 8 * total / found.time.ms / 1e6 == pytest.approx(gb_s, rel=0.25)


def test_matrix_multiplies_of_1024_squared_are_met_within_25_percent() -> None:
    # The three that the source of the 4096 ladder also gives at 1024 (docs/model.md).
    source, n = (PUBLIC / "matmul.cu").read_text(), 1024
    arrays: dict[str, int | np.ndarray] = {"a": n * n, "b": n * n, "c": n * n}
    for kernel, edge, block, published in (
        ("naive", 16, (16, 16, 1), 1.23),
        ("tile_16", 16, (16, 16, 1), 0.91),
        ("registers", 64, (1024, 1, 1), 0.53),
    ):
        made = launch(kernel, (n // edge, n // edge, 1), block, "a", "b", "c", n)
        assert one(source, made, arrays).time.ms == pytest.approx(published, rel=0.25), kernel


def test_the_clamp_is_modelled_on_every_bundled_device() -> None:
    # The 4090 has the GB10's SM: the conflicts' clocks are the same, on 128 SMs instead of 48, at another clock.
    on_4090, on_gb10 = clamp("original", "rtx4090").launches[0], clamp("original").launches[0]
    assert on_4090.counters.total("shared").conflicts == on_gb10.counters.total("shared").conflicts
    clocks = profile.load("rtx4090")["clock.sm"]
    expected = on_gb10.time.ms * 48 / 128 * GB10["clock.sm"] / clocks
    assert on_4090.time.ms == pytest.approx(expected, rel=0.02)
    assert clamp("original", "h200").ms < clamp("original").ms
