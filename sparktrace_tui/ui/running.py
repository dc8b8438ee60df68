"""A run as the explorer drives it: prepared, consented to, run in a thread with its own loop, cancelled, and graded."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.quiz.grading import Outcome
from sparktrace_tui.players.protocol import Player
from sparktrace_tui.players.registry import make_player, parse_spec
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.runs import engine
from sparktrace_tui.runs.consent import give_consent, has_consent
from sparktrace_tui.runs.grades import Graded, grade_log, grade_record
from sparktrace_tui.runs.log import Header, Record, RunLog
from sparktrace_tui.runs.plan import header_for, items_for, log_path, runs_dir
from sparktrace_tui.runs.prices import Price, read_prices
from sparktrace_tui.store.paths import kernels_dir
from sparktrace_tui.ui.library import Entry

Filter = Outcome | None
FILTERS: tuple[Filter, ...] = (None, "correct", "wrong", "no_letter", "no_turn")


@dataclass(frozen=True)
class Wanted:
    """What to run: tasks, a player by name, and where the log is (None for where it belongs)."""

    tasks: tuple[str, ...]
    player: str
    samples: int = 1
    seed: int = 0
    path: Path | None = None
    retry_failed: bool = False


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to go. `own` names the user's own kernels that would be sent to a provider that may not have
    them yet."""

    wanted: Wanted
    player: Player
    items: tuple[engine.Item, ...]
    header: Header
    path: Path
    estimate: engine.Estimate
    price: Price | None
    own: tuple[str, ...]

    @property
    def asks(self) -> str:
        """What the user has to agree to first, "" for nothing."""
        said = []
        if self.estimate.paid and self.estimate.requests:
            cost = self.estimate.cost
            said.append(
                f"{self.estimate.requests} requests to {self.player.name}, about {self.estimate.input_tokens:,} input "
                f"tokens, cost {'n/a: no price is known' if cost is None else f'about {cost:.4f}'}."
            )
            if self.own:
                said.append(f"They hold kernels of your own: {', '.join(self.own)}.")
        return " ".join(said)


def prepare(wanted: Wanted, captures: CaptureSet, entries: Sequence[Entry], data_dir: Path | None) -> Prepared:
    """Build the prompts of a run and make its player. Raises what a wrong name or a missing key raises."""
    player = make_player(wanted.player)
    if isinstance(player, ReplayPlayer):
        player = player.bound_to(captures.id)
    families = {entry.id: entry.family for entry in entries if entry.family is not None}
    items = items_for(captures, families, wanted.tasks, samples=wanted.samples, seed=wanted.seed)
    header = header_for(items, captures, player, samples=wanted.samples, seed=wanted.seed)
    path = wanted.path or log_path(header, data_dir)
    settled: frozenset[tuple[str, str, int]] = frozenset()
    if path.is_file():
        with RunLog.open(path, header) as log:
            settled = log.settled(retry_failed=wanted.retry_failed)
    price = read_prices().get(player.name)
    mine = {entry.id for entry in entries if entry.folder.parent != kernels_dir()}
    asked = {item.context.family for item in items if item.key not in settled}
    new = not has_consent(parse_spec(player.name).provider, data_dir)
    own = tuple(sorted(mine & asked)) if new else ()
    estimate = engine.estimate(items, player, price, settled)
    return Prepared(wanted, player, tuple(items), header, path, estimate, price, own)


class Runner:
    """Runs one prepared run in the thread that calls `run`; `cancel` may be called from another."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._lock = Lock()
        self._cancelled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[engine.Result] | None = None

    def run(self, tell: Callable[[engine.Event], None], data_dir: Path | None = None) -> None:
        """Ask everything that the log does not hold; a cancelled run ends quietly, its replies kept."""
        prepared = self.prepared
        if prepared.own and prepared.estimate.paid:
            give_consent(parse_spec(prepared.player.name).provider, data_dir)
        with RunLog.open(prepared.path, prepared.header) as log:
            try:
                asyncio.run(self._ask(log, tell))
            except asyncio.CancelledError:
                return

    async def _ask(self, log: RunLog, tell: Callable[[engine.Event], None]) -> None:
        prepared = self.prepared
        options = engine.Options(price=prepared.price, retry_failed=prepared.wanted.retry_failed)
        with self._lock:
            self._loop = asyncio.get_running_loop()
            self._task = asyncio.create_task(engine.run(prepared.items, prepared.player, log, options, tell))
            if self._cancelled:
                self._task.cancel()
        try:
            await self._task
        finally:
            with self._lock:
                self._loop = None
            await prepared.player.close()

    def cancel(self) -> None:
        """Stop asking; what came back is in the log."""
        with self._lock:
            self._cancelled = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)


def graded(record: Record, header: Header) -> Graded:
    """A record with its grades."""
    return Graded(record, grade_record(record, header.answers.get(record.family, "")))


def open_log(path: Path) -> tuple[Header, tuple[Graded, ...]]:
    """An existing log with every trace graded."""
    header, found = grade_log(path)
    return header, tuple(found)


def run_logs(data_dir: Path | None) -> tuple[Path, ...]:
    """The user's run logs, the newest first."""
    folder = runs_dir(data_dir)
    return (
        tuple(sorted(folder.glob("*.jsonl"), key=lambda p: p.stat().st_mtime, reverse=True)) if folder.is_dir() else ()
    )


def chosen(traces: Iterable[Graded], wanted: Filter) -> tuple[Graded, ...]:
    """The traces with that outcome under the readable grader; all for None."""
    return tuple(trace for trace in traces if wanted is None or trace.grades["readable"].outcome == wanted)


def counts(traces: Iterable[Graded]) -> Mapping[Outcome, int]:
    """How many traces ended how."""
    found: dict[Outcome, int] = {}
    for trace in traces:
        outcome = trace.grades["readable"].outcome
        found[outcome] = found.get(outcome, 0) + 1
    return found
