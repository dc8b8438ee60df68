"""The device's part of timing: the flush, the events, and the plans enqueued between them (docs/timing.md)."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from sparktrace_tui.backends.gpu_facts import ClockReader
from sparktrace_tui.backends.timing import Clock, Shot

Enqueue = Callable[[Any], None]  # every launch of a plan onto a stream, without waiting


class GpuStopwatch:
    """A Stopwatch over PyCUDA. `plans` enqueue themselves; `restore` brings changed inputs back, before the flush.

    `flush_bytes` is the size of the flush buffer: at least twice the L2.
    """

    def __init__(
        self,
        driver: Any,
        plans: Mapping[str, Enqueue],
        restore: Enqueue,
        flush_bytes: int,
        clocks: ClockReader,
    ) -> None:
        self._driver, self._plans, self._restore, self._clocks = driver, plans, restore, clocks
        self._words = flush_bytes // 4
        self._buffer = driver.mem_alloc(self._words * 4)
        self._stream = driver.Stream()
        self._events = [driver.Event() for _ in range(3)]

    def shoot(self, variant: str, repeats: int, flushes: int) -> Shot:
        """One turn: each repeat behind its flush, waited for before the next is enqueued."""
        times, enqueue_ms, hidden_ms = [], 0.0, 0.0
        flushing, start, stop = self._events
        stream, plan = self._stream, self._plans[variant]
        for _ in range(repeats):
            self._restore(stream)
            stream.synchronize()
            began = time.perf_counter()
            flushing.record(stream)
            for _ in range(flushes):
                self._driver.memset_d32_async(self._buffer, 0, self._words, stream)
            start.record(stream)
            plan(stream)
            stop.record(stream)
            enqueue_ms = max(enqueue_ms, (time.perf_counter() - began) * 1e3)
            stop.synchronize()
            times.append(float(stop.time_since(start)))
            hidden_ms = max(hidden_ms, float(start.time_since(flushing)))
        return Shot(tuple(times), enqueue_ms, hidden_ms)

    def clock(self) -> Clock:
        """Read while the flush keeps the device busy, so that an idle clock is not mistaken for a slow one."""
        for _ in range(8):
            self._driver.memset_d32_async(self._buffer, 0, self._words, self._stream)
        clock = self._clocks.read()
        self._stream.synchronize()
        return clock

    def free(self) -> None:
        """Free the flush buffer."""
        self._buffer.free()
