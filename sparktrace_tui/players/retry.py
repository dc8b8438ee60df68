"""The one retry loop: capped exponential backoff with jitter, and the server's own wait where it names one."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from sparktrace_tui.players.faults import Fault, nonsense, short
from sparktrace_tui.players.limits import Gate
from sparktrace_tui.players.protocol import Reply

Sleep = Callable[[float], Awaitable[object]]


@dataclass(frozen=True)
class RetryPolicy:
    """At most `tries`; waits of `first_s` doubled up to `longest_s`, each scaled by a random 0.5 to 1; a server's wait
    is obeyed up to `longest_asked_s`, beyond which the item is given up as no turn."""

    tries: int = 5
    first_s: float = 1.0
    longest_s: float = 30.0
    longest_asked_s: float = 120.0


def wait_before(policy: RetryPolicy, tries_done: int, asked: float | None, draw: random.Random) -> float:
    """Seconds before the next try: the server's wait where it named one, at least, capped; else the backoff."""
    backoff = min(policy.longest_s, policy.first_s * 2.0 ** (tries_done - 1)) * draw.uniform(0.5, 1.0)
    if asked is None:
        return backoff
    return min(policy.longest_asked_s, max(asked, min(backoff, policy.first_s)))


async def with_retries(
    attempt: Callable[[], Awaitable[Reply]],
    policy: RetryPolicy,
    gate: Gate,
    draw: random.Random,
    *,
    on_retry: Callable[[Fault, float], None] | None = None,
    sleep: Sleep = asyncio.sleep,
) -> Reply:
    """The first reply that comes back, with its tries and the errors before it; a `no_turn` reply after the last try or
    a fault that waiting does not cure. A fault outside the known ones becomes a nonsense reply's."""
    errors: list[str] = []
    start = time.monotonic()
    while True:
        try:
            async with gate.slot():
                reply = await attempt()
        except Fault as fault:
            caught = fault
        except Exception as error:
            caught = nonsense(error)
        else:
            return replace(reply, tries=len(errors) + 1, errors=tuple(errors))
        errors.append(f"{caught.kind}: {short(caught.message)}")
        asked = caught.retry_after
        hopeless = asked is not None and asked > policy.longest_asked_s
        if not caught.retried or hopeless or len(errors) >= policy.tries:
            return Reply(
                "",
                stop="no_turn",
                latency_s=time.monotonic() - start,
                tries=len(errors),
                errors=tuple(errors),
                fault=caught.kind,
            )
        wait = wait_before(policy, len(errors), asked, draw)
        if asked is not None:
            gate.hold(wait)
        if on_retry is not None:
            on_retry(caught, wait)
        await sleep(wait)
