"""Theoretical occupancy: how many blocks of a kernel fit on an SM, by the rules of CUDA's occupancy calculator."""

from dataclasses import dataclass

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.emulator.profile import DeviceProfile

WARP = 32


@dataclass(frozen=True)
class Occupancy:
    """Resident blocks and warps of one SM, and each limit on the blocks (None where it does not bind at all).

    limiter: `blocks`, `registers`, `shared` or `warps`, the least of the limits (the first where several tie, in the
    order warps, registers, shared, blocks). share: resident warps over the most an SM holds.
    """

    blocks: int
    warps: int
    limiter: str
    share: float
    block_limit_sm: int
    block_limit_warps: int
    block_limit_registers: int | None
    block_limit_shared: int | None


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def occupancy(profile: DeviceProfile, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Resident blocks of `threads` threads with `registers` a thread and `shared_bytes` a block (static + dynamic).

    Rules (cuda_occupancy.h): registers are given to a warp in units of 256, warps of a block are spread over the
    schedulers, each with its quarter of the register file; shared memory is given in units of 128 bytes after a
    reserve of 1 KB a block. BadInput where not even one block fits.
    """
    warps = -(-threads // WARP)
    by_warps = profile.limit("warps") // warps
    by_registers: int | None = None
    if registers:
        if registers > profile.limit("registers_per_thread"):
            raise BadInput(f"{registers} registers a thread are more than {profile.name} allows")
        per_warp = _round_up(registers * WARP, profile.limit("register_unit"))
        schedulers = profile.limit("schedulers")
        file = profile.limit("registers")
        warps_by_registers = file // schedulers // per_warp * schedulers
        # A block takes whole rounds of warps over the schedulers.
        by_registers = warps_by_registers // _round_up(warps, schedulers)
    by_shared: int | None = None
    if shared_bytes > profile.limit("shared_optin"):
        raise BadInput(
            f"{shared_bytes} bytes of shared memory a block are more than the "
            f"{profile.limit('shared_optin')} that {profile.name} allows"
        )
    per_block = _round_up(shared_bytes, profile.limit("shared_unit")) + profile.limit("shared_reserved")
    by_shared = profile.limit("shared") // per_block
    limits = {
        "warps": by_warps,
        "registers": by_registers,
        "shared": by_shared,
        "blocks": profile.limit("blocks"),
    }
    limiter = min((name for name in limits if limits[name] is not None), key=lambda name: limits[name] or 0)
    blocks = limits[limiter] or 0
    if blocks < 1:
        raise BadInput(f"not one block of {threads} threads with {registers} registers fits on {profile.name}")
    return Occupancy(
        blocks=blocks,
        warps=blocks * warps,
        limiter=limiter,
        share=blocks * warps / profile.limit("warps"),
        block_limit_sm=profile.limit("blocks"),
        block_limit_warps=by_warps,
        block_limit_registers=by_registers,
        block_limit_shared=by_shared,
    )
