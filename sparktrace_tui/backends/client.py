"""Talks to a worker process: one request at a time, each with a time limit; a worker that hangs or dies is replaced."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sparktrace_tui.backends.processes import kill_session, python_path
from sparktrace_tui.backends.protocol import (
    Hello,
    Options,
    Profile,
    Timing,
    Verification,
    profile_from_json,
    timing_from_json,
    to_json,
    verification_from_json,
)
from sparktrace_tui.domain import errors
from sparktrace_tui.domain.errors import SparkTraceError


class WorkerDied(SparkTraceError):
    """The worker process ended in the middle of a request."""


class WorkerHung(SparkTraceError):
    """A request ran past its time limit; the worker was killed."""


class Cancelled(SparkTraceError):
    """The caller asked for a stop; the worker was killed."""

    exit_status = 130


WORKER = (sys.executable, "-m", "sparktrace_tui.backends.worker")

# Time limits of requests in seconds. A GPU answers soon or not at all; the emulator counts for as long as it takes.
LIMITS: Mapping[str, Mapping[str, float]] = {
    "pycuda": {"hello": 60.0, "verify": 120.0, "time": 180.0, "profile": 360.0},
    "emulated": {"hello": 60.0, "verify": 600.0, "time": 600.0, "profile": 600.0, "emulate": 600.0},
}
SANITIZER_S = 300.0  # more for a verification that runs compute-sanitizer too


class Client:
    """A worker of one backend and device. Use as a context manager; `cancel` may be called from another thread.

    `limit_s` replaces the time limits of `LIMITS` for every request but hello; `worker` the program that serves them.
    """

    def __init__(
        self, backend: str, device: str, *, limit_s: float | None = None, worker: Sequence[str] = WORKER
    ) -> None:
        self.backend, self.device, self.limit_s, self.worker = backend, device, limit_s, tuple(worker)
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: list[str] = []
        self._next_id = 0
        self._cancelled = threading.Event()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hello(self) -> Hello:
        return Hello(**self.request("hello", {}, self._limit("hello")))

    def verify(
        self, folder: Path, variant: str, options: Options, progress: Callable[[str], None] | None = None
    ) -> Verification:
        arguments = {"folder": str(folder), "variant": variant, "options": to_json(options)}
        limit_s = self._limit("verify") + (SANITIZER_S if options.sanitizer else 0.0)
        return verification_from_json(self.request("verify", arguments, limit_s, progress))

    def time(
        self,
        folder: Path,
        variants: tuple[str, ...],
        options: Options,
        progress: Callable[[str], None] | None = None,
    ) -> dict[str, Timing]:
        arguments = {"folder": str(folder), "variants": list(variants), "options": to_json(options)}
        timings = self.request("time", arguments, self._limit("time"), progress)
        return {value["variant"]: timing_from_json(value) for value in timings}

    def profile(
        self, folder: Path, variant: str, options: Options, progress: Callable[[str], None] | None = None
    ) -> Profile:
        arguments = {"folder": str(folder), "variant": variant, "options": to_json(options)}
        return profile_from_json(self.request("profile", arguments, self._limit("profile"), progress))

    def emulate(
        self,
        source: str,
        name: str,
        options: Options,
        *,
        plan: Path | None = None,
        folder: Path | None = None,
        variant: str | None = None,
    ) -> dict[str, Any]:
        """Emulate a source under a plan file, or under the plan of a family's variant (see backends/emulate.py)."""
        arguments = {
            "source": source,
            "name": name,
            "plan": None if plan is None else str(plan.resolve()),
            "folder": None if folder is None else str(folder.resolve()),
            "variant": variant,
            "options": to_json(options),
        }
        result: dict[str, Any] = self.request("emulate", arguments, self._limit("emulate"))
        return result

    def _limit(self, do: str) -> float:
        if self.limit_s is not None and do != "hello":
            return self.limit_s
        return LIMITS.get(self.backend, LIMITS["emulated"])[do]

    def request(
        self,
        do: str,
        arguments: dict[str, Any],
        limit_s: float,
        progress: Callable[[str], None] | None = None,
    ) -> Any:
        """Send one request and wait for its result; raises what the worker reports, WorkerDied or WorkerHung."""
        process = self._start()
        self._next_id += 1
        message = {"id": self._next_id, "do": do, **arguments}
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
        except (BrokenPipeError, OSError) as error:
            raise self._death(do) from error
        deadline = time.monotonic() + limit_s
        while True:
            line = self._next_line(do, limit_s, deadline)
            reply = json.loads(line)
            if reply["id"] != self._next_id:
                continue
            match reply["event"]:
                case "progress":
                    if progress is not None:
                        progress(reply["text"])
                case "done":
                    self._part_from(process, reply)
                    return reply["result"]
                case _:
                    self._part_from(process, reply)
                    kind = getattr(errors, reply["kind"], SparkTraceError)
                    raise kind(reply["message"], hint=reply["hint"])

    def _part_from(self, process: subprocess.Popen[str], reply: dict[str, Any]) -> None:
        """Let a worker go that said it has lost its device; the next request starts another."""
        if reply.get("last"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            self._abandon()

    def cancel(self) -> None:
        """Stop the request in flight: the worker and all its children are killed."""
        self._cancelled.set()

    def close(self) -> None:
        """End the worker."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.write('{"do": "bye"}\n')
                process.stdin.close()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            _kill(process)
        if process.stdout is not None:
            process.stdout.close()

    def _next_line(self, do: str, limit_s: float, deadline: float) -> str:
        while True:
            if self._cancelled.is_set():
                self._cancelled.clear()
                self._abandon()
                raise Cancelled(f"{do} was cancelled")
            left = deadline - time.monotonic()
            if left <= 0:
                self._abandon()
                raise WorkerHung(f"{do} ran past its limit of {limit_s:g} s; the worker was stopped")
            try:
                line = self._lines.get(timeout=min(left, 0.1))
            except queue.Empty:
                continue
            if line is None:
                raise self._death(do)
            return line

    def _start(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._lines, self._errors = queue.Queue(), []
        process = subprocess.Popen(
            [*self.worker, self.backend, self.device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": python_path()},
        )
        self._process = process
        threading.Thread(target=_pump, args=(process.stdout, self._lines.put), daemon=True).start()
        threading.Thread(target=_pump, args=(process.stderr, self._keep_error), daemon=True).start()
        return process

    def _keep_error(self, line: str | None) -> None:
        if line is not None:
            self._errors = [*self._errors[-20:], line]

    def _death(self, do: str) -> WorkerDied:
        status = self._process.wait() if self._process is not None else None
        self._abandon()
        how = f"signal {signal.Signals(-status).name}" if status is not None and status < 0 else f"exit {status}"
        last = next((line.strip() for line in reversed(self._errors) if line.strip()), "")
        return WorkerDied(f"the {self.backend} worker died during {do} ({how})" + (f": {last}" if last else ""))

    def _abandon(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            _kill(process)


def _pump(stream: Any, put: Callable[[str | None], None]) -> None:
    with contextlib.suppress(ValueError, OSError):
        for line in stream:
            put(line)
    put(None)


def _kill(process: subprocess.Popen[str]) -> None:
    """End a worker and whatever it started: it leads a session, and profilers in it lead groups of their own."""
    kill_session(process.pid)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
