"""Asks a player everything that a log does not hold yet: many at once, stopped at any moment, nothing lost."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sparktrace_tui.domain.errors import SparkTraceError, UsageError
from sparktrace_tui.players.faults import FATAL, Fault
from sparktrace_tui.players.model import ModelPlayer
from sparktrace_tui.players.protocol import Context, Message, Player, Reply
from sparktrace_tui.runs.guards import estimate_tokens
from sparktrace_tui.runs.log import Key, Record, RunLog, prompt_hash
from sparktrace_tui.runs.prices import Price

Stopped = Literal["", "fatal", "cost", "cancelled"]
ASKING_THRESHOLD = 50
# A reply is the letter and some reasoning; what is expected of one that has no limit to go by.
EXPECTED_OUTPUT = 1_000


@dataclass(frozen=True)
class Item:
    """One question to ask once."""

    task: str
    prompt: str
    context: Context

    @property
    def key(self) -> Key:
        return self.task, self.context.family, self.context.sample


@dataclass(frozen=True)
class Options:
    """`max_cost` in the money of the prices: nothing is sent whose cost, expected as the dearest reply so far, could
    pass it together with what is in flight. `retry_failed` asks again what ended in no turn."""

    max_cost: float | None = None
    price: Price | None = None
    retry_failed: bool = False
    concurrency: int | None = None


@dataclass(frozen=True)
class Snapshot:
    """Where a run stands. Counts include what the log held before; `rate` is replies a minute of this sitting, `left_s`
    seconds; None is not known."""

    total: int
    done: int
    failed: int
    resumed: int
    cost: float | None
    rate: float | None
    left_s: float | None
    running: int = 0


@dataclass(frozen=True)
class Began:
    """The run begins; `recovered` says what opening the log repaired."""

    snapshot: Snapshot
    recovered: str


@dataclass(frozen=True)
class Retrying:
    """A try failed and is repeated after so many seconds."""

    error: str
    wait_s: float


@dataclass(frozen=True)
class Answered:
    """An item is written to the log, with a reply or without."""

    record: Record
    snapshot: Snapshot


@dataclass(frozen=True)
class Ended:
    """The run is over, or stopped: then `why` says by what and how many items are left."""

    snapshot: Snapshot
    stopped: Stopped
    why: str


Event = Began | Retrying | Answered | Ended
Progress = Callable[[Event], None]


@dataclass(frozen=True)
class Result:
    """What a run left: counts, and why it stopped early, if it did."""

    snapshot: Snapshot
    stopped: Stopped = ""
    why: str = ""

    @property
    def left(self) -> int:
        return self.snapshot.total - self.snapshot.done

    @property
    def complete(self) -> bool:
        """Everything asked, and every question answered."""
        return self.left == 0 and self.snapshot.failed == 0


@dataclass(frozen=True)
class Estimate:
    """What a run would send. Tokens are estimates; `cost` counts an expected output, `worst_cost` the whole limit."""

    requests: int
    input_tokens: int
    largest_prompt_tokens: int
    max_output: int | None
    paid: bool
    cost: float | None
    worst_cost: float | None

    @property
    def needs_consent(self) -> bool:
        """More than fifty requests that may cost money."""
        return self.paid and self.requests > ASKING_THRESHOLD


def estimate(
    items: Sequence[Item], player: Player, price: Price | None, settled: frozenset[Key] = frozenset()
) -> Estimate:
    """What asking `items`, less those settled, would send and may cost."""
    todo = [item for item in items if item.key not in settled]
    sizes = [estimate_tokens(len(item.prompt)) for item in todo]
    limit = player.settings.max_output if isinstance(player, ModelPlayer) else None
    cost = worst = None
    if price is not None:
        given = sum(sizes) * price.input / 1e6
        cost = given + len(todo) * EXPECTED_OUTPUT * price.output / 1e6
        worst = given + len(todo) * (limit or EXPECTED_OUTPUT) * price.output / 1e6
    return Estimate(len(todo), sum(sizes), max(sizes, default=0), limit, player.paid, cost, worst)


@dataclass
class _State:
    total: int
    resumed: int
    began: float
    done: int
    failed: int
    cost: float | None
    answered: int = 0
    running: int = 0
    stopped: Stopped = ""
    why: str = ""
    in_flight_cost: float = 0.0
    dearest: float = 0.0

    def snapshot(self) -> Snapshot:
        spent = time.monotonic() - self.began
        rate = self.answered / spent * 60 if self.answered and spent > 0 else None
        left = (self.total - self.done) / rate * 60 if rate else None
        return Snapshot(self.total, self.done, self.failed, self.resumed, self.cost, rate, left, self.running)


async def run(
    items: Sequence[Item],
    player: Player,
    log: RunLog,
    options: Options | None = None,
    progress: Progress = lambda event: None,
) -> Result:
    """Ask every item that the log has not settled; each reply is in the log before the next is asked in its place.

    Cancelling leaves what came back in the log, tells `progress`, and raises CancelledError. Raises CannotReadOrWrite
    where the log cannot be written, UsageError for two items of one key or a cost limit without a price.
    """
    chosen = options or Options()
    if chosen.max_cost is not None and chosen.price is None and player.paid:
        raise UsageError(
            f"--max-cost needs a price, and there is none for {player.name}",
            hint='Write it into prices.toml: ["PLAYER"] with input and output, money a million tokens.',
        )
    keys = [item.key for item in items]
    if len(set(keys)) != len(keys):
        raise UsageError("two items have the same task, family and sample")
    settled = log.settled(retry_failed=chosen.retry_failed)
    todo = [item for item in items if item.key not in settled]
    state = _begin(items, todo, log, player, chosen.price)
    if isinstance(player, ModelPlayer):
        player.on_retry = lambda fault, wait: progress(_retrying(fault, wait))
    progress(Began(state.snapshot(), log.recovery.message))

    def written(record: Record) -> None:
        _count(record, chosen.price, player, state)
        progress(Answered(record, state.snapshot()))

    queue, writer = iter(todo), _Writer(log, written)
    workers = [
        asyncio.create_task(_work(queue, player, writer, chosen, state))
        for _ in range(min(_width(player, chosen), len(todo)))
    ]
    try:
        await asyncio.gather(*workers)
    except asyncio.CancelledError:
        state.stopped, state.why = "cancelled", "stopped by the user"
        raise
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        await writer.finish()
        if isinstance(player, ModelPlayer):
            player.on_retry = None
        progress(Ended(state.snapshot(), state.stopped, _why(state)))
    return Result(state.snapshot(), state.stopped, _why(state))


def _begin(items: Sequence[Item], todo: Sequence[Item], log: RunLog, player: Player, price: Price | None) -> _State:
    wanted = {item.key for item in items} - {item.key for item in todo}
    before = [r for r in log.records if r.key in wanted]
    failed = sum(r.reply.stop == "no_turn" for r in before)
    spent = _cost_before(log, price) if player.paid else 0.0
    return _State(len(items), len(before), time.monotonic(), len(before), failed, spent)


def _cost_before(log: RunLog, price: Price | None) -> float | None:
    if price is None:
        return None
    return sum(price.of(r.reply.usage) or 0.0 for r in log.records if r.reply.stop != "no_turn")


def _width(player: Player, options: Options) -> int:
    """Workers: twice the slots of a model, since one that waits to retry holds no slot; one for a person."""
    if options.concurrency is not None:
        return max(1, options.concurrency)
    if isinstance(player, ModelPlayer):
        return 2 * player.limits.concurrency
    return 1


async def _work(queue: Iterator[Item], player: Player, writer: "_Writer", options: Options, state: _State) -> None:
    for item in queue:
        await asyncio.sleep(0)  # A player that never waits must not keep the loop from hearing a cancellation.
        if state.stopped:
            return
        ahead = max(_expected_cost(item, options.price), state.dearest) if player.paid else 0.0
        if options.max_cost is not None and (state.cost or 0.0) + state.in_flight_cost + ahead > options.max_cost:
            state.stopped, state.why = "cost", f"the next request could go over the limit of {options.max_cost:g}"
            return
        state.in_flight_cost += ahead
        state.running += 1
        try:
            await writer.write(record_of(item, await _ask(item, player)))
        finally:
            state.running -= 1
            state.in_flight_cost -= ahead


class _Writer:
    """Writes to the log off the loop, since an fsync can take longer than many replies: all that came in while one was
    under way share the next. `written` is told each record once it is safe on the disk."""

    def __init__(self, log: RunLog, written: Callable[[Record], None]) -> None:
        self._log = log
        self._written = written
        self._waiting: list[tuple[Record, asyncio.Future[None]]] = []
        self._busy: asyncio.Task[None] | None = None

    async def write(self, record: Record) -> None:
        """Returns once the record is on the disk; one whose asker is cancelled meanwhile is written all the same."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((record, done))
        if self._busy is None or self._busy.done():
            self._busy = asyncio.create_task(self._drain())
        await done

    async def finish(self) -> None:
        """Write what is left."""
        while self._busy is not None and not self._busy.done():
            await asyncio.wait([self._busy])

    async def _drain(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            error: Exception | None = None
            try:
                for record in await asyncio.to_thread(self._log.append, *(record for record, _ in batch)):
                    self._written(record)
            except Exception as caught:
                error = caught
            for _, done in batch:
                if done.done():
                    continue
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)


async def _ask(item: Item, player: Player) -> Reply:
    try:
        return await player.reply((Message("user", item.prompt),), item.context)
    except SparkTraceError as error:  # A replay that has nothing for this question.
        return Reply("", stop="no_turn", errors=(error.message,), fault="not_recorded")


def _count(record: Record, price: Price | None, player: Player, state: _State) -> None:
    reply = record.reply
    state.done += 1
    state.answered += 1
    if reply.stop == "no_turn":
        state.failed += 1
        if reply.fault in FATAL and not state.stopped:
            state.stopped, state.why = "fatal", reply.errors[-1] if reply.errors else reply.fault
    elif player.paid and price is not None:
        cost = price.of(reply.usage) or 0.0
        state.cost = (state.cost or 0.0) + cost
        state.dearest = max(state.dearest, cost)


def record_of(item: Item, reply: Reply) -> Record:
    """The log's record of a reply to an item."""
    context = item.context
    return Record(
        task=item.task,
        family=context.family,
        sample=context.sample,
        evidence=context.evidence,
        order=context.order,
        options={letter: option.variant for letter, option in context.options.items()},
        prompt_sha256=prompt_hash(item.prompt),
        prompt_chars=len(item.prompt),
        reply=reply,
    )


def _expected_cost(item: Item, price: Price | None) -> float:
    if price is None:
        return 0.0
    return (estimate_tokens(len(item.prompt)) * price.input + EXPECTED_OUTPUT * price.output) / 1e6


def _retrying(fault: Fault, wait: float) -> Retrying:
    return Retrying(f"{fault.kind}: {fault.message}", wait)


def _why(state: _State) -> str:
    left = state.total - state.done
    if not state.stopped:
        return ""
    return f"{state.why}; {left} of {state.total} not asked yet" if left else state.why


def with_samples(items: Sequence[Item], samples: int) -> list[Item]:
    """Every item `samples` times, numbered from 0; sample by sample, so that a stopped run holds whole samples."""
    return [
        Item(item.task, item.prompt, replace(item.context, sample=sample))
        for sample in range(samples)
        for item in items
    ]


def describe(player: Player) -> Mapping[str, str | int | float | None]:
    """What a log's header keeps of a player."""
    return player.describe() if isinstance(player, ModelPlayer) else {"player": player.name}
