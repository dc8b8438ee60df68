"""How near a run comes to the ideal: 90 prompts, 16 at once, against a server that answers after 200 ms.

The real OpenAI SDK, engine and log, against a server in a process of its own on 127.0.0.1. Prints the wall time over
the ideal (6 rounds of 200 ms), with and without the SDK's import, and the memory of this process at its most.
"""

import asyncio
import json
import math
import multiprocessing
import resource
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from sparktrace_tui.players.limits import Limits
from sparktrace_tui.players.model import PlayerSettings
from sparktrace_tui.players.protocol import Context, Option
from sparktrace_tui.players.registry import make_player
from sparktrace_tui.runs.engine import Item, describe, run
from sparktrace_tui.runs.log import Header, RunLog

PROMPTS, AT_ONCE, LATENCY_S = 90, 16, 0.2
ANSWER = {
    "id": "1", "object": "chat.completion", "created": 1, "model": "loop-1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Answer: B"}}],
    "usage": {"prompt_tokens": 5000, "completion_tokens": 10, "total_tokens": 5010},
}  # fmt: skip


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    body = json.dumps(ANSWER).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    try:
        while True:
            asked = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1]) for line in asked.split(b"\r\n") if line.lower().startswith(b"content-length")
            )
            await reader.readexactly(length)
            await asyncio.sleep(LATENCY_S)
            writer.write(head + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionResetError):
        writer.close()


def serve(pipe: Connection) -> None:
    """Listen on a free port, tell it, and serve until ended."""

    async def main() -> None:
        server = await asyncio.start_server(_answer, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def items() -> list[Item]:
    """90 prompts of 20,000 characters."""
    options = {letter: Option(f"v{letter}", 100) for letter in "ABCD"}
    evidence = ("source", "full", "ablated")
    return [
        Item(
            f"kernel-compass-{evidence[n % 3]}-{order}",
            "x" * 20_000,
            Context("bench", f"family_{n // 6}", evidence[n % 3], order, options),
        )
        for n in range(PROMPTS)
        for order in ("forward" if n % 6 < 3 else "mirror",)
    ]


async def timed(port: int, folder: Path, name: str) -> float:
    """Seconds of one whole run."""
    settings = PlayerSettings(limits=Limits(AT_ONCE))
    player = make_player(f"openai:loop-1@http://127.0.0.1:{port}/v1", settings)
    asked = items()
    header = Header(player.name, "bench", "emulated", (), {}, "0", describe(player))
    with RunLog.open(folder / name, header) as log:
        start = time.perf_counter()
        result = await run(asked, player, log)
        spent = time.perf_counter() - start
    await player.close()
    if not result.complete:
        raise SystemExit(f"not complete: {result}")
    return spent


async def bare(port: int) -> float:
    """Seconds of the same requests by the SDK alone, behind a semaphore: what this machine allows."""
    import openai

    client = openai.AsyncOpenAI(api_key="none", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(prompt: str) -> None:
        async with slots:
            await client.chat.completions.create(model="loop-1", messages=[{"role": "user", "content": prompt}])

    start = time.perf_counter()
    await asyncio.gather(*(one(item.prompt) for item in items()))
    spent = time.perf_counter() - start
    await client.close()
    return spent


def main() -> None:
    """Run three times, of which the first loads the SDK, and the SDK alone beside it."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    ideal = math.ceil(PROMPTS / AT_ONCE) * LATENCY_S
    with tempfile.TemporaryDirectory() as folder:
        for n, what in enumerate(("with the SDK's import", "warm", "warm")):
            spent = asyncio.run(timed(port, Path(folder), f"{n}.jsonl"))
            print(f"{what}: {spent:.2f} s, {spent / ideal:.2f}x the ideal {ideal:.2f} s")
    control = min(asyncio.run(bare(port)) for _ in range(2))
    print(f"the SDK alone: {control:.2f} s, {control / ideal:.2f}x")
    unit = 1 if sys.platform == "darwin" else 1024
    print(f"memory at its most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6:.0f} MB")
    server.terminate()


if __name__ == "__main__":
    main()
