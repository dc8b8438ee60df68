"""Theoretical occupancy against values worked out by CUDA's own rules."""

import pytest

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.emulator import profile
from sparktrace_tui.emulator.occupancy import occupancy

GB10, H200 = profile.load("gb10"), profile.load("h200")


def test_one_block_of_1024_threads_fits_on_gb10_and_two_on_h200() -> None:
    on_gb10, on_h200 = occupancy(GB10, 1024, 16, 4096), occupancy(H200, 1024, 16, 4096)
    assert (on_gb10.blocks, on_gb10.warps, on_gb10.limiter) == (1, 32, "warps")
    assert on_gb10.share == pytest.approx(2 / 3)
    assert (on_h200.blocks, on_h200.share) == (2, 1.0)


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "limiter"),
    [
        # 128 registers a thread: 4,096 a warp, 4 warps a scheduler, 16 an SM, 2 blocks of 8 warps.
        (256, 128, 0, 2, "registers"),
        # 33 registers: 1,056 a warp, rounded up to 1,280; 12 warps a scheduler, 48 an SM, 6 blocks of 8.
        (256, 33, 0, 6, "warps"),
        # 48 KB and the 1 KB reserve: 49 KB a block, 2 in 100 KB.
        (128, 16, 49152, 2, "shared"),
        # One-warp blocks: the 24 blocks an SM holds come first.
        (32, 16, 0, 24, "blocks"),
        # 33 threads take two warps.
        (33, 16, 0, 24, "warps"),
        # 128 registers: 16 warps an SM; a block of 5 warps takes 2 rounds over the schedulers, so 8 warps' room: 2.
        (160, 128, 0, 2, "registers"),
    ],
)
def test_the_limit_that_binds_on_gb10(threads: int, registers: int, shared: int, blocks: int, limiter: str) -> None:
    found = occupancy(GB10, threads, registers, shared)
    assert (found.blocks, found.limiter) == (blocks, limiter)


def test_registers_are_given_by_the_scheduler() -> None:
    # 65 registers: 2,080 a warp, rounded up to 2,304; 16,384 / 2,304 = 7 warps a scheduler, 28 an SM; blocks of 4: 7.
    assert occupancy(H200, 128, 65, 0).blocks == 7


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(BadInput, match="shared memory"):
        occupancy(GB10, 128, 16, 200_000)
    with pytest.raises(BadInput, match="not one block"):
        occupancy(GB10, 1024, 128, 0)
