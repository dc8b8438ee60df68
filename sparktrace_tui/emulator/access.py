"""How a warp's addresses fall on banks and sectors: the counting rules, on arrays of shape (warps, 32).

The bank rule is the one that reproduces Nsight's counters of two public RTX 4090 reports: 32 banks of 4 bytes;
32-bit accesses are one group of 32 lanes, 64-bit ones two half-warps, 128-bit ones four quarter-warps, where the two
quarters of a half merge if every active lane's address equals its neighbour's (lane xor 1) throughout, or that of
lane xor 2 throughout. Wavefronts are the sum over groups of the distinct words in the worst bank; conflicts are
wavefronts less groups. The xor-2 clause and merging at 64 bits were not verified on hardware.
"""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
WARP = 32
SECTOR_BYTES = 32


def by_warp(values: npt.NDArray[np.generic], threads: int, fill: int | bool = 0) -> npt.NDArray[np.generic]:
    """(rows, threads) as (rows, warps, 32), the last warp filled up with `fill`."""
    values = np.broadcast_to(values, (values.shape[0], threads))
    warps = -(-threads // WARP)
    if warps * WARP != threads:
        padded = np.full((values.shape[0], warps * WARP), fill, values.dtype)
        padded[:, :threads] = values
        values = padded
    return values.reshape(values.shape[0], warps, WARP)


def bank_wavefronts(addresses: Ints, active: Bools, width: int) -> tuple[Ints, Ints]:
    """Wavefronts and groups of each warp: byte addresses and active lanes of shape (warps, 32), bytes a lane."""
    if width <= 4:
        return _group_wavefronts(addresses >> 2, active, 1, 32)
    if width == 8:
        return _group_wavefronts(addresses >> 2, active, 2, 16)
    merged = quarters_merge(addresses, active)
    apart = _group_wavefronts(addresses >> 2, active, 4, 8, per_half=True)
    joint = _group_wavefronts(addresses >> 2, active, 4, 16, per_half=True)
    wave = np.where(merged, joint[0], apart[0]).sum(axis=1)
    groups = np.where(merged, joint[1], apart[1]).sum(axis=1)
    return wave, groups


def quarters_merge(addresses: Ints, active: Bools) -> Bools:
    """(warps, 2): whether the quarters of each half merge into one group."""
    halves = addresses.reshape(-1, 2, 16)
    on = active.reshape(-1, 2, 16)
    merged = np.zeros(halves.shape[:2], bool)
    for step in (1, 2):
        other = np.arange(16) ^ step
        same = (halves == halves[:, :, other]) | ~on | ~on[:, :, other]
        merged |= same.all(axis=2)
    return merged


def _group_wavefronts(
    words: Ints, active: Bools, words_each: int, lanes: int, per_half: bool = False
) -> tuple[Ints, Ints]:
    """Wavefronts and groups by warp (or by half-warp) where `lanes` neighbouring lanes form a group."""
    warps = words.shape[0]
    grouped = words.reshape(-1, lanes)
    on = active.reshape(-1, lanes)
    rows = grouped.shape[0]
    spread = (grouped[:, :, None] + np.arange(words_each)).reshape(rows, -1)
    live = np.repeat(on, words_each, axis=1)
    lone = np.where(live, spread, np.iinfo(np.int64).max)
    lone.sort(axis=1)
    first = np.empty(lone.shape, bool)
    first[:, 0] = True
    np.not_equal(lone[:, 1:], lone[:, :-1], out=first[:, 1:])
    first &= lone != np.iinfo(np.int64).max
    slot = (np.arange(rows)[:, None] * 32 + (lone & 31))[first]
    worst = np.bincount(slot, minlength=rows * 32).reshape(rows, 32).max(axis=1, initial=0)
    shape = (2 * warps, -1) if per_half else (warps, -1)
    wave = worst.reshape(shape).sum(axis=1)
    groups = on.any(axis=1).reshape(shape).sum(axis=1)
    if per_half:
        return wave.reshape(warps, 2), groups.reshape(warps, 2)
    return wave, groups


def sector_counts(addresses: Ints, active: Bools, width: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Sectors, ideal sectors, and the distinct sectors themselves with their warp, of (warps, 32) byte addresses.

    Ideal: the distinct bytes asked for (by accesses of equal width), in the fewest 32-byte sectors.
    """
    top = np.iinfo(np.int64).max
    lone = addresses if active.all() else np.where(active, addresses, top)
    if not (lone[:, 1:] >= lone[:, :-1]).all():
        lone = np.sort(lone, axis=1)
    valid = lone != top
    fresh = np.empty(lone.shape, bool)
    fresh[:, 0] = True
    np.not_equal(lone[:, 1:], lone[:, :-1], out=fresh[:, 1:])
    distinct = (fresh & valid).sum(axis=1)
    sectors = lone >> 5
    np.not_equal(sectors[:, 1:], sectors[:, :-1], out=fresh[:, 1:])
    fresh &= valid
    counts = fresh.sum(axis=1)
    owner, _ = np.nonzero(fresh)
    ideal = -(-distinct * width // SECTOR_BYTES)
    return counts, np.minimum(ideal, counts), sectors[fresh], owner


def same_address_depth(addresses: Ints, active: Bools) -> Ints:
    """By warp, the largest number of active lanes that hit one address."""
    top = np.iinfo(np.int64).max
    lone = np.sort(np.where(active, addresses, top), axis=1)
    fresh = np.ones(lone.shape, bool)
    np.not_equal(lone[:, 1:], lone[:, :-1], out=fresh[:, 1:])
    starts = np.flatnonzero(fresh)
    lengths = np.diff(np.append(starts, lone.size))
    lengths[lone.reshape(-1)[starts] == top] = 0
    firsts = np.flatnonzero(starts % lone.shape[1] == 0)
    return np.maximum.reduceat(lengths, firsts).astype(np.int64)


def local_sectors(offsets: Ints, active: Bools, width: int) -> tuple[Ints, Ints]:
    """Sectors and ideal sectors of accesses to local memory, whose words lie lane by lane."""
    lane = np.arange(WARP) >> 3
    key = np.where(active, ((offsets >> 2) << 2) | lane, np.iinfo(np.int64).max)
    key.sort(axis=1)
    fresh = np.ones(key.shape, bool)
    fresh[:, 1:] = key[:, 1:] != key[:, :-1]
    fresh &= key != np.iinfo(np.int64).max
    words = max(1, width // 4)
    return fresh.sum(axis=1) * words, -(-active.sum(axis=1) * width // SECTOR_BYTES)
