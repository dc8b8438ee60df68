"""The caches against cases small enough to work out by hand."""

import numpy as np
import pytest

from sparktrace_tui.emulator import profile
from sparktrace_tui.emulator.caches import Cache, Hierarchy

GB10, RTX4090 = profile.load("gb10"), profile.load("rtx4090")
KB = 1024


def sectors(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def test_a_sector_misses_once_and_its_neighbour_in_the_line_misses_too() -> None:
    cache = Cache(4 * KB)
    assert cache.touch(sectors(0)).misses == 1
    assert cache.touch(sectors(0)).misses == 0
    assert cache.touch(sectors(1)).misses == 1


def test_repeats_within_one_touch_miss_once() -> None:
    assert Cache(4 * KB).touch(sectors(5, 5, 6, 5, 6)).misses == 2


def test_an_emptied_cache_holds_nothing_and_has_its_new_capacity() -> None:
    cache = Cache(4 * KB)
    cache.touch(sectors(*range(64)))
    cache.empty(2 * KB)
    assert cache.touch(sectors(*range(64))).misses == 64
    cache.empty(8 * KB)
    assert [cache.touch(sectors(*range(64))).misses for _ in range(2)] == [64, 0]


def test_what_a_cache_expects_to_be_touched_changes_nothing() -> None:
    for span in (None, (0, 10**5), (400, 500)):
        cache = Cache(4 * KB, span=span)
        starts = (0, 32, 480, 2000, 0)
        assert [cache.touch(sectors(*range(at, at + 64))).misses for at in starts] == [64, 32, 64, 64, 64]


def test_a_line_is_lost_once_a_capacity_of_others_has_come_after_it() -> None:
    cache = Cache(4 * KB)  # 32 lines
    cache.touch(sectors(0))
    cache.touch(np.arange(4, 4 * 31, 4))  # 30 more lines
    assert cache.touch(sectors(0)).misses == 0
    cache.touch(np.arange(400, 400 + 4 * 32, 4))
    assert cache.touch(sectors(0)).misses == 1


def test_one_sector_of_each_line_takes_up_whole_lines() -> None:
    cache = Cache(4 * KB)
    strided = np.arange(0, 4 * 64, 4)  # 64 lines for 2 KB of sectors: twice the capacity
    cache.touch(strided[:32])
    cache.touch(strided[32:])
    assert cache.touch(strided[:32]).misses == 32


def test_bursts_of_64_bytes_fetch_the_other_half_and_so_later_find_it() -> None:
    cache = Cache(4 * KB, burst_sectors=2)
    first = cache.touch(sectors(0, 4))
    assert (first.misses, first.fetched) == (2, 4)
    assert cache.touch(sectors(1, 5)).misses == 0


def test_the_arrays_grow_downwards_and_upwards_without_forgetting() -> None:
    cache = Cache(64 * KB)
    cache.touch(sectors(50_000))
    cache.touch(sectors(10))
    cache.touch(sectors(90_000))
    assert cache.touch(sectors(10, 50_000, 90_000)).misses == 0


def _touch(
    h: Hierarchy, numbers: np.ndarray, *, store: bool = False, atomic: bool = False, repeat: float = 1.0
) -> None:
    one = np.zeros(1, np.int64)
    h.touch(2 if store else 1, store, atomic, numbers, one, np.zeros(numbers.size, np.int32), repeat)


def test_a_stream_is_read_from_memory_once_and_written_back() -> None:
    hierarchy = Hierarchy(GB10, [(0, 32 * 10**7)])
    hierarchy.begin(0)
    for start in range(0, 10**6, 10**5):
        _touch(hierarchy, np.arange(start, start + 10**5))
        _touch(hierarchy, np.arange(5 * 10**6 + start, 5 * 10**6 + start + 10**5), store=True)
    traffic = hierarchy.finish(1.0)
    assert traffic.dram_read == 32 * 10**6
    assert traffic.dram_write == 32 * 10**6
    assert (traffic.l2_read, traffic.l2_write) == (10**6, 10**6)


def test_every_second_sector_costs_whole_bursts_on_gb10_and_single_sectors_on_the_4090() -> None:
    for device, factor in ((GB10, 2), (RTX4090, 1)):
        hierarchy = Hierarchy(device)
        hierarchy.begin(0)
        _touch(hierarchy, np.arange(0, 2 * 10**5, 2))
        assert hierarchy.finish(1.0).dram_read == 10**5 * 32 * factor


def test_a_pattern_at_several_starts_is_told_apart_by_its_sm() -> None:
    hierarchy = Hierarchy(GB10)
    hierarchy.begin(0)
    for _ in range(2):
        starts, sm = np.array([0, 1000, 2000]), np.array([0, 1, 2], np.int32)
        hierarchy.touch(1, False, False, starts, np.arange(8), sm, 1.0)
    row = hierarchy.accesses[1]
    assert (row.sectors, row.followed, row.l1_hits) == (48, 16, 8)
    assert row.l2_misses == 24


def test_a_read_again_from_l1_does_not_reach_l2() -> None:
    hierarchy = Hierarchy(GB10)
    hierarchy.begin(0)
    for _ in range(4):
        _touch(hierarchy, np.arange(100))
    traffic = hierarchy.finish(1.0)
    assert (traffic.l1_sectors, traffic.l1_hits, traffic.l2_read) == (400, 300, 100)
    assert hierarchy.hit_rates(1) == pytest.approx((0.75, 0.0))


def test_shared_memory_takes_room_from_l1() -> None:
    hierarchy = Hierarchy(GB10)
    footprint = np.arange(64 * KB // 32)
    for shared, hits in ((0, footprint.size), (100 * KB, 0)):
        hierarchy.begin(shared)
        for _ in range(2):
            for part in np.array_split(footprint, 16):
                _touch(hierarchy, part)
        assert hierarchy.finish(1.0).l1_hits == hits


def test_what_one_launch_wrote_the_next_finds_in_l2() -> None:
    hierarchy = Hierarchy(GB10, [(0, 32 * 10**5 - 1)])
    hierarchy.begin(0)
    _touch(hierarchy, np.arange(10**5), store=True)
    assert hierarchy.finish(1.0).dram_write == 0  # it fits, and stays
    hierarchy.begin(0)
    _touch(hierarchy, np.arange(10**5))
    assert hierarchy.finish(1.0).dram_read == 0


def test_an_array_that_fits_in_l2_is_not_cold_again_in_every_wave_a_sample_stands_for() -> None:
    size = 4 * 2**20
    hierarchy = Hierarchy(GB10, [(0, size - 1)])
    hierarchy.begin(0)
    _touch(hierarchy, np.arange(size // 32), repeat=50.0)
    assert hierarchy.finish(0.02).dram_read == size


def test_unfollowed_blocks_push_a_stream_out_of_l2_before_the_next_launch() -> None:
    hierarchy = Hierarchy(GB10, [(0, 64 * 2**20 - 1)])
    hierarchy.begin(0)
    _touch(hierarchy, np.arange(10**5), repeat=20.0)
    hierarchy.finish(0.05)
    hierarchy.begin(0)
    _touch(hierarchy, np.arange(10**5), repeat=20.0)
    assert hierarchy.finish(0.05).dram_read == 32 * 10**5 * 20


def test_the_requests_that_touch_an_atomics_hottest_sector_are_counted() -> None:
    hierarchy = Hierarchy(GB10)
    hierarchy.begin(0)
    for other in (8, 9, 10):
        _touch(hierarchy, sectors(7, other), atomic=True, repeat=2.0)
    assert hierarchy.hottest(1) == 6
    assert hierarchy.hottest(99) == float("inf")
    assert hierarchy.finish(1.0).l2_atomic == 12


def test_bursts_that_stand_for_the_trips_between_are_scaled_to_what_was_asked() -> None:
    hierarchy = Hierarchy(GB10)
    hierarchy.begin(0)
    _touch(hierarchy, np.arange(1000))
    _touch(hierarchy, np.arange(1000, 2000), repeat=16.0)
    traffic = hierarchy.finish(1.0, {1: 10_000.0})
    assert traffic.l2_read == 10_000
    assert traffic.dram_read == 10_000 * 32


def test_what_the_trips_between_bursts_allocate_pushes_out_what_came_before() -> None:
    for repeat, misses in ((1.0, 0.0), (200.0, 1.0)):
        hierarchy = Hierarchy(GB10)
        hierarchy.begin(0)
        footprint = 128 * KB // 32
        _touch(hierarchy, np.arange(8), repeat=1.0)
        for part in range(4):
            _touch(hierarchy, np.arange(10**6 + part * footprint, 10**6 + (part + 1) * footprint), repeat=repeat)
        hierarchy.touch(9, False, False, np.arange(8), np.zeros(1, np.int64), np.zeros(8, np.int32), 1.0)
        assert 1 - hierarchy.hit_rates(9)[1] == misses
