"""The process that does the work: newline JSON requests on stdin, progress and results on stdout.

`python -m sparktrace_tui.backends.worker emulated gb10`. A family's own Python and native code run here, so that
their crash or hang is a message to the caller and nothing more.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from sparktrace_tui.backends.processes import start_watchdog
from sparktrace_tui.backends.protocol import Backend, Options, to_json
from sparktrace_tui.domain.errors import SparkTraceError


def make_backend(kind: str, device: str) -> Backend:
    """The backend of that name; imported only here, in the worker."""
    match kind:
        case "emulated":
            from sparktrace_tui.backends.emulated import EmulatedBackend

            return EmulatedBackend(device)
        case "pycuda":
            from sparktrace_tui.backends.pycuda_backend import PyCudaBackend

            return PyCudaBackend(device)
        case _:
            raise ValueError(f"unknown backend {kind!r}")


def handle(backend: Backend, request: dict[str, Any], send: Any) -> Any:
    """The result of one request as a JSON value."""
    options = Options(**request.get("options", {}))

    def progress(text: str) -> None:
        send({"id": request["id"], "event": "progress", "text": text})

    match request["do"]:
        case "hello":
            return to_json(backend.hello())
        case "verify":
            return to_json(backend.verify(Path(request["folder"]), request["variant"], options, progress))
        case "time":
            variants = tuple(request["variants"])
            return [to_json(t) for t in backend.time(Path(request["folder"]), variants, options, progress)]
        case "profile":
            return to_json(backend.profile(Path(request["folder"]), request["variant"], options, progress))
        case "emulate":
            return _emulate(backend, request, options)
        case "listing" | "banks":
            return _look(backend, request, options)
        case unknown:
            raise ValueError(f"unknown request {unknown!r}")


def _emulate(backend: Backend, request: dict[str, Any], options: Options) -> Any:
    """A source under a plan file, or under the plan of a family's variant (an edited copy of it)."""
    from sparktrace_tui.backends.emulate import emulate_source
    from sparktrace_tui.backends.emulated import EmulatedBackend
    from sparktrace_tui.store.families import read_family
    from sparktrace_tui.store.plans import read_plan

    if not isinstance(backend, EmulatedBackend):
        raise ValueError("only the emulated backend emulates")
    if request.get("plan") is not None:
        plan = read_plan(Path(request["plan"]))
        arrays, size, launches = plan.arrays, plan.size, plan.resolve()
    else:
        family = read_family(Path(request["folder"]))
        arrays, size, launches = family.arrays, family.problem, family.launches(request["variant"], family.problem)
    return emulate_source(
        backend.device,
        request["source"],
        request["name"],
        arrays,
        size,
        launches,
        sampling=options.sampling,
        seed=options.seed,
    )


def _look(backend: Backend, request: dict[str, Any], options: Options) -> Any:
    """The listings of a source, or the shared accesses of a family's variant."""
    from sparktrace_tui.backends.emulated import EmulatedBackend
    from sparktrace_tui.emulator.listing import listings

    if not isinstance(backend, EmulatedBackend):
        raise ValueError("only the emulated backend looks into a source")
    if request["do"] == "listing":
        return [to_json(found) for found in listings(request["source"], request["name"], backend.device.arch)]
    return [to_json(found) for found in backend.banks(Path(request["folder"]), request["variant"], options)]


def main(arguments: list[str]) -> int:
    """Serve requests until stdin closes or `bye`, or until the backend has lost its device."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when we stop
    start_watchdog()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints must not reach the protocol

    def send(message: dict[str, Any]) -> None:
        out.write(json.dumps(message, ensure_ascii=False) + "\n")
        out.flush()

    backend: Backend | None = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "bye":
            break
        try:
            if backend is None:
                backend = make_backend(arguments[0], arguments[1])
            reply = {"event": "done", "result": handle(backend, request, send)}
        except SparkTraceError as error:
            reply = {"event": "error", "kind": type(error).__name__, "message": error.message, "hint": error.hint}
        except Exception as error:
            import traceback

            traceback.print_exc()
            text = f"{type(error).__name__}: {error}"
            reply = {"event": "error", "kind": "Crash", "message": text, "hint": None}
        lost = bool(getattr(backend, "lost", False))
        send({"id": request["id"], **reply, "last": lost})
        if lost:
            # No call of a lost context returns well, those of an orderly exit included.
            sys.stderr.flush()
            os._exit(0)
    close = getattr(backend, "close", None)
    if close is not None:
        close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
