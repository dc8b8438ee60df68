"""How plans are timed against each other: order, blocks, batches, what the samples come to (docs/timing.md).

Pure: whatever runs the plans is behind `Stopwatch`.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any, Protocol

from sparktrace_tui.backends.protocol import Timing

BLOCKS = 5
ROUNDS = 11  # at least ten; odd, so that a block's median is a sample and five slow rounds do not reach it
MOST_ROUNDS = 41
BLOCK_MS = 300.0  # short plans get more rounds until a block takes about this long
WARM_UPS = 3
BATCH_UNDER_MS = 0.020
BATCH_MS = 0.2  # a batch of short plans adds up to about this
MOST_REPEATS = 32
HIDE = 1.5  # the flush is to last this much longer than the slowest enqueueing
MOST_FLUSHES = 32
THROTTLED = 0.75  # of the median clock of all blocks of the set
CLOCK_NOT_AVAILABLE = "not available"


@dataclass(frozen=True)
class Shot:
    """One variant's turn in a round: device time of each repeat of the plan, and what the host did meanwhile (ms).

    `hidden_ms` is how long the flush kept the device busy, `enqueue_ms` how long the host took to enqueue the flush
    and the plan behind it (both the worst of the repeats).
    """

    repeats_ms: tuple[float, ...]
    enqueue_ms: float
    hidden_ms: float

    @property
    def ms(self) -> float:
        """Device time of one repeat of the plan."""
        return sum(self.repeats_ms) / len(self.repeats_ms)


@dataclass(frozen=True)
class Clock:
    """The device's clock (MHz) and why it is held back, as the driver says; None is not available."""

    sm_mhz: float | None = None
    held_back: tuple[str, ...] | None = None


class Stopwatch(Protocol):
    """What runs plans on a device, each repeat behind a flush of the L2."""

    def shoot(self, variant: str, repeats: int, flushes: int) -> Shot:
        """Run a variant's plan `repeats` times, each behind `flushes` passes over the flush buffer."""
        ...

    def clock(self) -> Clock:
        """The clock while there is work, or as near to it as can be read."""
        ...


@dataclass(frozen=True)
class Pace:
    """What the warm-ups decide: repeats of each variant's plan in a turn, flush passes, rounds of a block."""

    repeats: Mapping[str, int]
    flushes: int
    rounds: int


@dataclass(frozen=True)
class Block:
    """Some rounds: the order drawn for each, the shots in that order, and the clocks read."""

    orders: tuple[tuple[str, ...], ...]
    shots: tuple[tuple[Shot, ...], ...]
    clocks: tuple[Clock, ...]

    def median_ms(self, variant: str) -> float:
        """The median over rounds of one variant's time."""
        return median(row[order.index(variant)].ms for order, row in zip(self.orders, self.shots, strict=True))

    @property
    def sm_mhz(self) -> float | None:
        """The median clock of the block, None where none could be read."""
        read = [clock.sm_mhz for clock in self.clocks if clock.sm_mhz is not None]
        return median(read) if read else None


def draw_orders(variants: Sequence[str], rounds: int, seed: str) -> tuple[tuple[str, ...], ...]:
    """A fresh random order of all variants for every round; the same seed gives the same orders."""
    rng = random.Random(seed)
    return tuple(tuple(rng.sample(list(variants), len(variants))) for _ in range(rounds))


def repeats_for(plan_ms: float) -> int:
    """How often a plan runs in one turn: once, or for a plan under 20 us as often as fills a batch."""
    if plan_ms >= BATCH_UNDER_MS:
        return 1
    return min(MOST_REPEATS, math.ceil(BATCH_MS / max(plan_ms, BATCH_MS / MOST_REPEATS)))


def flushes_for(enqueue_ms: float, flush_ms: float) -> int:
    """Passes over the flush buffer that keep the device busy while the slowest plan is enqueued."""
    if flush_ms <= 0:
        return 1
    return max(1, min(MOST_FLUSHES, math.ceil(HIDE * enqueue_ms / flush_ms)))


def rounds_for(round_ms: float) -> int:
    """Rounds of a block, odd: eleven, or more where a round is short."""
    wanted = BLOCK_MS / round_ms if round_ms > 0 else MOST_ROUNDS
    rounds = int(max(ROUNDS, min(MOST_ROUNDS, wanted)))
    return rounds if rounds % 2 else rounds + 1


def warm_up(watch: Stopwatch, variants: Sequence[str]) -> Pace:
    """Run every variant a few times, outside of what counts, and set the pace by the last run of each."""
    last = {name: [watch.shoot(name, 1, 1) for _ in range(WARM_UPS)][-1] for name in variants}
    flushes = flushes_for(max(shot.enqueue_ms for shot in last.values()), min(shot.hidden_ms for shot in last.values()))
    repeats = {name: repeats_for(shot.ms) for name, shot in last.items()}
    round_ms = sum(repeats[name] * (shot.ms + flushes * shot.hidden_ms) for name, shot in last.items())
    return Pace(repeats, flushes, rounds_for(round_ms))


def run_block(watch: Stopwatch, variants: Sequence[str], pace: Pace, seed: str) -> Block:
    """One block; the clock is read in the middle and at the end of it."""
    orders = draw_orders(variants, pace.rounds, seed)
    shots, clocks = [], []
    for number, order in enumerate(orders):
        shots.append(tuple(watch.shoot(name, pace.repeats[name], pace.flushes) for name in order))
        if number in (len(orders) // 2, len(orders) - 1):
            clocks.append(watch.clock())
    return Block(orders, tuple(shots), tuple(clocks))


def is_throttled(block: Block, set_mhz: Sequence[float]) -> bool:
    """Whether a block's clock is under 75% of the median of the set's; never where no clock could be read."""
    return block.sm_mhz is not None and bool(set_mhz) and block.sm_mhz < THROTTLED * median(set_mhz)


def time_plans(
    watch: Stopwatch,
    variants: Sequence[str],
    seed: int,
    *,
    label: str = "",
    set_mhz: Sequence[float] = (),
    progress: Callable[[str], None] | None = None,
    blocks: int = BLOCKS,
) -> tuple[Timing, ...]:
    """Time the plans of variants against each other: five blocks of interleaved rounds, each with an order of its own.

    `set_mhz` holds the block clocks of families timed before in the same set. A block whose clock is too low is run
    once more; where that one is too low as well, it is kept and reported. The first Timing's raw data holds the
    `session`: everything that was drawn and read.
    """
    say = progress or (lambda _: None)
    say("warm-up")
    pace = warm_up(watch, variants)
    made = []
    for number in range(blocks):
        say(f"block {number + 1} of {blocks}")
        made.append(run_block(watch, variants, pace, f"{seed}/{label}/{number}"))
    set_aside: list[tuple[int, Block]] = []
    for number, block in enumerate(made):
        if is_throttled(block, _clocks(made, set_mhz)):
            say(f"block {number + 1} again: its clock was {block.sm_mhz:.0f} MHz")
            set_aside.append((number, block))
            made[number] = run_block(watch, variants, pace, f"{seed}/{label}/{number}/again")
    return summarise(variants, made, pace, seed, label, set_aside, set_mhz)


def _clocks(blocks: Sequence[Block], before: Sequence[float]) -> list[float]:
    return [*before, *(b.sm_mhz for b in blocks if b.sm_mhz is not None)]


def summarise(
    variants: Sequence[str],
    blocks: Sequence[Block],
    pace: Pace,
    seed: int,
    label: str,
    set_aside: Sequence[tuple[int, Block]] = (),
    set_mhz: Sequence[float] = (),
) -> tuple[Timing, ...]:
    """Block medians, their median, and what is to be known of them; DESIGN's key rule takes it from there."""
    every = _clocks(blocks, set_mhz)
    session = {
        "seed": seed,
        "label": label,
        "flushes": pace.flushes,
        "clock_mhz": median(every) if every else CLOCK_NOT_AVAILABLE,
        "throttled_blocks": [n for n, block in enumerate(blocks) if is_throttled(block, every)],
        "blocks": [_block_json(block) for block in blocks],
        "set_aside": [{"block": number, **_block_json(block)} for number, block in set_aside],
    }
    timings = []
    for name in variants:
        medians = tuple(block.median_ms(name) for block in blocks)
        shots = [row[order.index(name)] for b in blocks for order, row in zip(b.orders, b.shots, strict=True)]
        enqueue, hidden = median(s.enqueue_ms for s in shots), median(s.hidden_ms for s in shots)
        raw: dict[str, Any] = {
            "repeats": pace.repeats[name],
            "enqueue_ms": enqueue,
            "hidden_ms": hidden,
            "host_bound": is_host_bound(enqueue, hidden),
        }
        timings.append(Timing(name, median(medians), medians, raw=raw))
    if timings:
        timings[0] = replace(timings[0], raw={**timings[0].raw, "session": session})
    return tuple(timings)


def is_host_bound(enqueue_ms: float, hidden_ms: float) -> bool:
    """Whether the host took longer to enqueue flush and plan than the flush kept the device busy.

    Then the device may have waited for the host between launches, and the time is not the device's alone.
    """
    return enqueue_ms > hidden_ms


def _block_json(block: Block) -> dict[str, Any]:
    return {
        "orders": [list(order) for order in block.orders],
        "repeats_ms": [[list(shot.repeats_ms) for shot in row] for row in block.shots],
        "enqueue_ms": [[shot.enqueue_ms for shot in row] for row in block.shots],
        "hidden_ms": [[shot.hidden_ms for shot in row] for row in block.shots],
        "clocks": [asdict(clock) if clock.sm_mhz is not None else CLOCK_NOT_AVAILABLE for clock in block.clocks],
    }
