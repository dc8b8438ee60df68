"""A model behind an endpoint: the endpoint makes one try, this makes a player of it."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from sparktrace_tui.players.faults import NONSENSE_ERRORS, Fault, nonsense, short
from sparktrace_tui.players.limits import Gate, Limits, limits_for
from sparktrace_tui.players.protocol import Context, Message, Reply
from sparktrace_tui.players.retry import RetryPolicy, with_retries
from sparktrace_tui.players.secrets import scrub

Thinking = Literal["default", "off", "low", "high"]
THINKING: tuple[Thinking, ...] = ("default", "off", "low", "high")
DEFAULT_MAX_OUTPUT = 32_768
DEFAULT_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class PlayerSettings:
    """What a user may set. `max_output` in tokens, `timeout_s` for one try as a whole; None is the provider's own
    default, or for `limits` and `retry` ours."""

    thinking: Thinking = "default"
    max_output: int = DEFAULT_MAX_OUTPUT
    temperature: float | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    limits: Limits | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)


class Endpoint(Protocol):
    """One provider's wire. `provider` is what limits are kept by; `key` is only for taking it out of messages."""

    provider: str
    key: str

    def open(self) -> None:
        """Load the SDK and make the client; slow the first time, and safe in a thread."""
        ...

    async def attempt(self, chat: Sequence[Message]) -> Reply:
        """One request. Raises Fault, or what the SDK raises on a reply that is none."""
        ...

    def describe(self) -> dict[str, str | int | float | None]:
        """What is sent and what is not, for a log's header; never a key."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class ModelPlayer:
    """A model as a player: limits, time limit, retries. Never raises for what a provider does."""

    paid = True

    def __init__(self, name: str, endpoint: Endpoint, settings: PlayerSettings, *, paid: bool = True) -> None:
        self.name = scrub(name)
        self.paid = paid
        self.settings = settings
        self.on_retry: Callable[[Fault, float], None] | None = None
        self._endpoint = endpoint
        self._gate: Gate | None = None
        self._opening: asyncio.Future[None] | None = None

    @property
    def limits(self) -> Limits:
        """The limits that hold: the user's, else the provider's."""
        return self.settings.limits or limits_for(self._endpoint.provider)

    async def reply(self, chat: Sequence[Message], context: Context) -> Reply:
        """The reply to the chat, or a `no_turn` with every error on the way."""
        if self._gate is None or self._opening is None:
            self._gate = Gate(self.limits)
            self._opening = asyncio.ensure_future(asyncio.to_thread(self._endpoint.open))
        try:
            await asyncio.shield(self._opening)
        except (ImportError, ValueError, OSError) as error:
            said = short(f"the SDK could not be loaded: {error!r}", self._endpoint.key)
            return Reply("", stop="no_turn", errors=(said,), fault="missing")
        seed = f"{context.seed}|{context.family}|{context.evidence}|{context.order}|{context.sample}"

        async def attempt() -> Reply:
            return await self._attempt(chat)

        return await with_retries(attempt, self.settings.retry, self._gate, random.Random(seed), on_retry=self.on_retry)

    async def _attempt(self, chat: Sequence[Message]) -> Reply:
        start = time.monotonic()
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                reply = await self._endpoint.attempt(chat)
        except TimeoutError:
            raise Fault("timeout", f"no whole reply within {self.settings.timeout_s:g} s") from None
        except NONSENSE_ERRORS as error:
            raise nonsense(error, self._endpoint.key) from None
        return replace(reply, latency_s=time.monotonic() - start)

    def describe(self) -> dict[str, str | int | float | None]:
        """The settings as a log's header keeps them."""
        return {
            "player": self.name,
            "thinking": self.settings.thinking,
            "max_output": self.settings.max_output,
            "temperature": self.settings.temperature if self.settings.temperature is not None else "not set",
            "timeout_s": self.settings.timeout_s,
            "concurrency": self.limits.concurrency,
            "per_minute": self.limits.per_minute,
            "tries": self.settings.retry.tries,
            **self._endpoint.describe(),
        }

    async def close(self) -> None:
        await self._endpoint.close()


def unreadable(what: str) -> Fault:
    """A reply with status 200 whose shape is wrong."""
    return Fault("nonsense", f"the reply could not be read: {short(what)}")
