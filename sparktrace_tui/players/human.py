"""A person at a plain prompt: the question on one stream, the letter from another."""

import asyncio
import time
from collections.abc import Callable, Sequence

from sparktrace_tui.players.protocol import Context, Message, Reply


class Human:
    """`human`: shows the last message and asks for a letter until there is one; an empty answer is no letter."""

    name = "human"
    paid = False

    def __init__(self, show: Callable[[str], None], ask: Callable[[str], str]) -> None:
        self._show = show
        self._ask = ask

    async def reply(self, chat: Sequence[Message], context: Context) -> Reply:
        """Waits for the person in a thread of its own. The end of the input is no turn, with fault `left`."""
        start = time.monotonic()
        self._show(chat[-1].text)
        letters = tuple(context.options) or ("A", "B", "C", "D")
        while True:
            try:
                said = await asyncio.to_thread(self._ask, f"Your letter ({', '.join(letters)}; empty for none): ")
            except EOFError:
                return Reply("", stop="no_turn", errors=("the input ended before a letter",), fault="left")
            letter = said.strip().upper()
            if not letter or letter in letters:
                break
            self._show(f"{said.strip()!r} is not one of {', '.join(letters)}.")
        text = f"Answer: {letter}" if letter else ""
        return Reply(text, latency_s=time.monotonic() - start, model="human", stop_detail="entered")

    async def close(self) -> None:
        """Nothing is open."""
