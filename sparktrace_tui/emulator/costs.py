"""What one access costs each warp: wavefronts by the bank rule, sectors by their addresses."""

import numpy as np

from sparktrace_tui.emulator import access
from sparktrace_tui.emulator.lanes import Bits
from sparktrace_tui.emulator.masks import Mask


class Cost:
    """What one access costs each warp, (1 or B, warps): requests, wavefronts or sectors, groups or ideal sectors."""

    __slots__ = ("amount", "base", "owners", "requests", "sectors", "totals")

    def __init__(self, requests: Bits, amount: Bits, base: Bits, sectors: Bits | None = None) -> None:
        self.requests, self.amount, self.base = requests, amount, base
        self.sectors = sectors
        self.totals = (int(requests.sum()), int(amount.sum()), int(base.sum())) if requests.shape[0] == 1 else None


def by_lanes(addresses: Bits, mask: Mask) -> tuple[Bits, Bits, tuple[int, int]]:
    """Addresses and active lanes as (warps, 32), and the shape (1 or B, warps) to put results back into."""
    rows = max(addresses.shape[0], mask.rows)
    threads, warps = mask.batch.threads, mask.batch.warps
    places = access.by_warp(np.broadcast_to(addresses, (rows, threads)), threads)
    active = np.broadcast_to(mask.active, places.shape)
    return places.reshape(-1, 32), active.reshape(-1, 32), (rows, warps)


def shared_cost(threads: int, addresses: Bits, lanes: Bits | None, width: int) -> Cost:
    rows = max(addresses.shape[0], 1 if lanes is None else lanes.shape[0])
    places = access.by_warp(np.broadcast_to(addresses, (rows, threads)), threads)
    on = np.ones((1, 1), bool) if lanes is None else lanes
    active = np.broadcast_to(access.by_warp(on, threads, False), places.shape).reshape(-1, 32).astype(bool)
    wave, groups = access.bank_wavefronts(places.reshape(-1, 32).astype(np.int64), active, width)
    shape = places.shape[:2]
    return Cost(np.any(active, axis=1).reshape(shape), wave.reshape(shape), groups.reshape(shape))


def global_cost(threads: int, addresses: Bits, mask: Mask, width: int) -> Cost:
    flat, active, shape = by_lanes(addresses, mask)
    counts, ideal, sectors, _ = access.sector_counts(flat.astype(np.int64), active, width)
    return Cost(np.any(active, axis=1).reshape(shape), counts.reshape(shape), ideal.reshape(shape), sectors)
