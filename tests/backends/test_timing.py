"""The timing method over a simulated device: order, batches, clocks, and the verdict under noise."""

import random
from collections.abc import Callable

import pytest

from sparktrace_tui.backends.protocol import Timing
from sparktrace_tui.backends.timing import (
    BLOCKS,
    ROUNDS,
    Clock,
    Shot,
    draw_orders,
    flushes_for,
    repeats_for,
    rounds_for,
    time_plans,
)
from sparktrace_tui.domain.kernel.capture import Capture, Time, VariantRecord
from sparktrace_tui.domain.kernel.key import Decision, decide

VARIANTS = ("original", "a", "b", "c", "d")


class Device:
    """A device whose plans take `times` (ms), whose nth shot is `slow(n)` times slower, and whose clock is read off."""

    def __init__(
        self,
        times: dict[str, float],
        slow: Callable[[int], float] = lambda _: 1.0,
        clocks: Callable[[int], float | None] = lambda _: None,
        enqueue_ms: float = 0.01,
        flush_ms: float = 0.1,
    ) -> None:
        self.times, self.slow, self.clocks = times, slow, clocks
        self.enqueue_ms, self.flush_ms = enqueue_ms, flush_ms
        self.shots: list[tuple[str, int, int]] = []
        self.reads = 0

    def shoot(self, variant: str, repeats: int, flushes: int) -> Shot:
        factor = self.slow(len(self.shots))
        self.shots.append((variant, repeats, flushes))
        return Shot((self.times[variant] * factor,) * repeats, self.enqueue_ms, self.flush_ms * flushes)

    def clock(self) -> Clock:
        self.reads += 1
        return Clock(self.clocks(self.reads - 1))


def times(second: float = 1.25) -> dict[str, float]:
    """Plans of 30 to 60 ms, so that a round is long and a block has the fewest rounds."""
    return {"original": 60.0, "a": 30.0, "b": 30.0 * second, "c": 30.0 * max(second, 1.4), "d": 30.0 * max(second, 1.9)}


def verdict(timings: tuple[Timing, ...]) -> Decision:
    records = {t.variant: VariantRecord("correct", Time(t.median_ms, False, t.blocks_ms)) for t in timings}
    return decide(Capture("clamp_smem", "measured", records))


def two_state_noise(seed: int, shots: int) -> Callable[[int], float]:
    """Slow periods of 1.5x to 3x, each two rounds or longer, at most a tenth of all shots, wherever they fall."""
    rng = random.Random(seed)
    two_rounds, budget = 2 * len(VARIANTS), shots // 10
    factors = [1.0] * shots
    while budget >= two_rounds:
        length = rng.randint(two_rounds, budget)
        start = rng.randrange(shots - length)
        factor = rng.uniform(1.5, 3.0)
        factors[start : start + length] = [factor] * length
        budget -= length
    return lambda n: factors[n] * rng.gauss(1.0, 0.005)


def decide_under_noise(seed: int, second: float) -> Decision:
    shots = len(VARIANTS) * (3 + BLOCKS * ROUNDS)
    device = Device(times(second), two_state_noise(seed, shots))
    found = verdict(time_plans(device, VARIANTS, seed))
    assert len(device.shots) == shots  # so that the noise covered all of it
    return found


def test_two_state_noise_never_names_a_wrong_winner_and_leaves_nine_in_ten_decided() -> None:
    found = [decide_under_noise(seed, 1.25) for seed in range(1000)]
    kept = [d.winner for d in found if d.kept]
    assert set(kept) == {"a"}
    assert len(kept) >= 900


def test_where_the_best_two_are_equal_no_noise_makes_a_question_of_them() -> None:
    found = [decide_under_noise(seed, 1.0) for seed in range(1000)]
    assert [d for d in found if d.kept] == []
    # Which of two equal ones is first changes from block to block: most are `unstable`, the others a near tie.
    assert sum("unstable" in d.reason for d in found) > 500


def test_every_round_runs_every_variant_once_in_an_order_that_the_seed_repeats() -> None:
    orders = draw_orders(VARIANTS, 200, "5/x")
    assert all(sorted(order) == sorted(VARIANTS) for order in orders)
    assert orders == draw_orders(VARIANTS, 200, "5/x") != draw_orders(VARIANTS, 200, "6/x")
    first = [order[0] for order in orders]
    assert all(20 <= first.count(name) <= 60 for name in VARIANTS)  # 40 each would be even


def test_the_raw_data_holds_the_order_the_seed_the_samples_and_the_clocks() -> None:
    timings = time_plans(Device(times(), clocks=lambda _: 1980.0), VARIANTS, 7, label="clamp_smem")
    session = timings[0].raw["session"]
    assert (session["seed"], session["label"], session["clock_mhz"]) == (7, "clamp_smem", 1980.0)
    assert len(session["blocks"]) == 5
    block = session["blocks"][0]
    assert [len(block[key]) for key in ("orders", "repeats_ms", "enqueue_ms", "hidden_ms")] == [11, 11, 11, 11]
    order, row = block["orders"][3], block["repeats_ms"][3]
    assert dict(zip(order, row, strict=True))["original"] == [60.0]
    assert [t.blocks_ms for t in timings][1] == (30.0,) * 5


def test_a_clock_that_cannot_be_read_is_recorded_as_not_available_and_repeats_nothing() -> None:
    device = Device(times())
    session = time_plans(device, VARIANTS, 0)[0].raw["session"]
    assert session["clock_mhz"] == "not available"
    assert session["blocks"][0]["clocks"] == ["not available", "not available"]
    assert session["set_aside"] == []


def test_a_block_under_three_quarters_of_the_median_clock_is_run_again() -> None:
    # Two readings a block: the third block is at 1000 MHz, which is half of the others'.
    device = Device(times(), clocks=lambda n: 1000.0 if n in (4, 5) else 2000.0)
    session = time_plans(device, VARIANTS, 0)[0].raw["session"]
    assert [aside["block"] for aside in session["set_aside"]] == [2]
    assert session["set_aside"][0]["clocks"][0]["sm_mhz"] == 1000.0
    assert session["blocks"][2]["clocks"][0]["sm_mhz"] == 2000.0
    assert session["throttled_blocks"] == []
    assert session["blocks"][2]["orders"] != session["set_aside"][0]["orders"]


def test_a_block_that_stays_slow_is_kept_and_reported() -> None:
    device = Device(times(), clocks=lambda n: 1000.0 if n in (4, 5) or n >= 10 else 2000.0)
    session = time_plans(device, VARIANTS, 0)[0].raw["session"]
    assert session["throttled_blocks"] == [2]
    assert len(session["blocks"]) == 5


def test_a_family_on_a_slowed_device_is_seen_by_the_clocks_of_those_before_it() -> None:
    device = Device(times(), clocks=lambda _: 1400.0)
    session = time_plans(device, VARIANTS, 0, set_mhz=[2000.0] * 20)[0].raw["session"]
    assert session["throttled_blocks"] == [0, 1, 2, 3, 4]
    assert time_plans(device, VARIANTS, 0)[0].raw["session"]["throttled_blocks"] == []


def test_a_plan_that_outlasts_its_flush_in_enqueueing_is_marked_host_bound() -> None:
    class OneSlowHost(Device):
        def shoot(self, variant: str, repeats: int, flushes: int) -> Shot:
            shot = super().shoot(variant, repeats, flushes)
            return Shot(shot.repeats_ms, 500.0, shot.hidden_ms) if variant == "c" else shot

    timings = time_plans(OneSlowHost(times()), VARIANTS, 0)
    assert [t.variant for t in timings if t.raw["host_bound"]] == ["c"]


def test_the_flush_is_stretched_until_it_hides_the_slowest_enqueueing() -> None:
    device = Device(times(), enqueue_ms=0.5, flush_ms=0.1)
    timings = time_plans(device, VARIANTS, 0)
    assert {flushes for _, _, flushes in device.shots[15:]} == {8}  # 1.5 x 0.5 / 0.1, rounded up; alike for all
    assert not any(t.raw["host_bound"] for t in timings)


@pytest.mark.parametrize(("plan_ms", "repeats"), [(5.0, 1), (0.02, 1), (0.019, 11), (0.01, 20), (0.001, 32)])
def test_a_plan_under_twenty_microseconds_runs_in_batches(plan_ms: float, repeats: int) -> None:
    assert repeats_for(plan_ms) == repeats


def test_the_time_of_a_batch_is_that_of_one_repeat() -> None:
    short = {name: ms / 4000 for name, ms in times().items()}  # 7.5 to 15 us
    device = Device(short)
    timings = time_plans(device, VARIANTS, 0)
    assert timings[1].median_ms == pytest.approx(0.0075)
    assert timings[1].raw["repeats"] == 27


@pytest.mark.parametrize(("round_ms", "rounds"), [(1000.0, 11), (20.0, 15), (0.5, 41), (0.0, 41)])
def test_a_block_has_at_least_eleven_rounds_and_always_an_odd_number(round_ms: float, rounds: int) -> None:
    assert rounds_for(round_ms) == rounds


def test_flush_passes_are_bounded() -> None:
    assert flushes_for(1000.0, 0.01) == 32
    assert flushes_for(0.0, 0.01) == 1
