"""Items, a header, and a player that faults by chance, for tests of runs."""

import random
from collections.abc import Sequence

from sparktrace_tui.players.faults import Fault
from sparktrace_tui.players.limits import Limits
from sparktrace_tui.players.model import ModelPlayer, PlayerSettings
from sparktrace_tui.players.protocol import Context, Message, Option, Reply, Usage
from sparktrace_tui.players.retry import RetryPolicy
from sparktrace_tui.runs.engine import Item
from sparktrace_tui.runs.log import Header

TASKS = (
    ("kernel-compass-source-forward", "source", "forward"),
    ("kernel-compass-source-mirror", "source", "mirror"),
    ("kernel-compass-full-forward", "full", "forward"),
    ("kernel-compass-full-mirror", "full", "mirror"),
    ("kernel-compass-ablated-forward", "ablated", "forward"),
    ("kernel-compass-ablated-mirror", "ablated", "mirror"),
)
VARIANTS = ("padded", "registers", "flat_block", "small_tile")
WINNER = "registers"
FAST = RetryPolicy(tries=4, first_s=0.001, longest_s=0.002, longest_asked_s=0.5)


def make_items(count: int, prompt: str = "Which is the fastest?") -> list[Item]:
    """`count` items over the six tasks, with made-up family names."""
    items = []
    for n in range(count):
        task, evidence, order = TASKS[n % len(TASKS)]
        names = VARIANTS if order == "forward" else VARIANTS[::-1]
        options = {letter: Option(name, 100) for letter, name in zip("ABCD", names, strict=True)}
        family = f"family_{n // len(TASKS)}"
        items.append(Item(task, f"{prompt} ({family}, {task})", Context("a-set", family, evidence, order, options)))
    return items


def make_header(items: Sequence[Item], player: str = "test:player", **changes: object) -> Header:
    answers = {item.context.family: WINNER for item in items}
    values: dict[str, object] = {
        "player": player, "set_id": "a-set", "provenance": "emulated", "tasks": tuple(t for t, _, _ in TASKS),
        "answers": answers, "version": "0",
    }  # fmt: skip
    return Header(**{**values, **changes})  # type: ignore[arg-type]


class FaultyEndpoint:
    """Answers B after a moment, and faults with probability `share`, every kind in turn."""

    provider = "test"
    key = "none"
    kinds = ("rate_limited", "overloaded", "server", "timeout", "connection", "nonsense")

    def __init__(self, share: float, seed: int = 0, wait_s: float = 0.0) -> None:
        self._share = share
        self._draw = random.Random(seed)
        self._wait_s = wait_s
        self.asked = 0

    def open(self) -> None:
        return None

    async def attempt(self, chat: Sequence[Message]) -> Reply:
        import asyncio

        self.asked += 1
        await asyncio.sleep(self._wait_s)
        if self._draw.random() < self._share:
            raise Fault(self.kinds[self.asked % len(self.kinds)], "by chance")  # type: ignore[arg-type]
        return Reply("Answer: B", usage=Usage(1000, 10, 0), model="player", limit=100)

    def describe(self) -> dict[str, str | int | float | None]:
        return {"share": self._share}

    async def close(self) -> None:
        return None


def faulty_player(share: float, *, concurrency: int = 16, seed: int = 0, wait_s: float = 0.0) -> ModelPlayer:
    """A model player on that endpoint, with the real retry loop and limits."""
    settings = PlayerSettings(limits=Limits(concurrency), retry=FAST)
    return ModelPlayer("test:player", FaultyEndpoint(share, seed, wait_s), settings)
