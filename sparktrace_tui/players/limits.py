"""How fast a provider is asked: so many at once, so many tries a minute, and a pause for all when it says to wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Tries at the same time, and tries a minute (None is no limit)."""

    concurrency: int = 4
    per_minute: float | None = None


# What goes well with an ordinary account; a local server answers few at once.
DEFAULT_LIMITS = Limits()
LIMITS_BY_PROVIDER = {
    "openai": Limits(8),
    "anthropic": Limits(4),
    "google": Limits(8),
    "nvidia": Limits(4, 40),
    "url": Limits(2),
}


def limits_for(provider: str) -> Limits:
    """The limits that hold for a provider unless the user sets others."""
    return LIMITS_BY_PROVIDER.get(provider, DEFAULT_LIMITS)


class Gate:
    """Lets tries through by the limits. One gate a provider; it belongs to one event loop."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._slots = asyncio.Semaphore(max(1, limits.concurrency))
        self._next = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one slot for one try, from the moment the rate allows it."""
        async with self._slots:
            loop = asyncio.get_running_loop()
            while (wait := self._next - loop.time()) > 0:
                await asyncio.sleep(wait)
            if self.limits.per_minute:
                self._next = loop.time() + 60.0 / self.limits.per_minute
            yield

    def hold(self, seconds: float) -> None:
        """No try begins for so long: the server asked everyone to wait."""
        self._next = max(self._next, asyncio.get_running_loop().time() + seconds)
