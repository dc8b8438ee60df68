"""Looks into a kernel off the UI thread: listings and shared accesses from a worker process, each kept once made."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparktrace_tui.domain.kernel.machine_code import Form, ListedLine, Listing, SharedAccess
from sparktrace_tui.domain.report.report import Report, Value
from sparktrace_tui.ui.evidence import conflicts_of

if TYPE_CHECKING:
    from sparktrace_tui.backends.client import Client

_SECONDS = 120.0


class Inspector:
    """One worker process, started when something is first asked for. Its calls wait: make them from a thread.

    Both raise what the worker reports: MissingTool with the install line where NVRTC or nvdisasm is not there,
    BadInput where a source does not compile or its block cannot be run.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._device = ""
        self._listings: dict[tuple[str, str, str], tuple[Listing, ...]] = {}
        self._accesses: dict[tuple[str, str, str, str], tuple[SharedAccess, ...]] = {}

    def listings(self, device: str, source: str, name: str) -> tuple[Listing, ...]:
        """The PTX and the machine code of a source for an emulated device."""
        key = (device, name, source)
        if key not in self._listings:
            found = self._ask(device, "listing", {"source": source, "name": name})
            self._listings[key] = tuple(
                Listing(item["form"], tuple(ListedLine(**line) for line in item["lines"]), item["made_by"])
                for item in found
            )
        return self._listings[key]

    def accesses(self, device: str, folder: Path, variant: str, source: str) -> tuple[SharedAccess, ...]:
        """The shared accesses of a family's variant; `source` is its text, so that a changed file is run again."""
        key = (device, str(folder), variant, source)
        if key not in self._accesses:
            found = self._ask(device, "banks", {"folder": str(folder), "variant": variant})
            self._accesses[key] = tuple(_access(item) for item in found)
        return self._accesses[key]

    def _ask(self, device: str, do: str, arguments: dict[str, Any]) -> Any:
        from sparktrace_tui.backends.client import Client

        device = known_device(device)
        with self._lock:
            if self._client is None or device != self._device:
                self._close()
                self._client, self._device = Client("emulated", device), device
            return self._client.request(do, arguments, _SECONDS)

    def close(self) -> None:
        """End the worker, in the middle of a request if need be."""
        client = self._client
        if client is not None and self._lock.locked():
            client.cancel()
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


def known_device(device: str) -> str:
    """The emulated device of that name where there is one, else the default."""
    from sparktrace_tui.backends.select import DEFAULT_PROFILE
    from sparktrace_tui.emulator.profile import available

    return device if device in available() else DEFAULT_PROFILE


def report_listing(report: Report | None, file: str | None = None, conflicts: bool = True) -> Listing | None:
    """The machine code that a report holds, None where it holds none.

    Addresses count from the kernel's start. Instructions of another source file than `file` have no line.
    conflicts: whether to tell them.
    """
    if report is None or not report.instructions:
        return None
    first = report.instructions[0].text.lstrip()
    form: Form = "ptx" if first[:1].islower() or first.startswith(".") else "sass"
    start = min(item.address for item in report.instructions)
    lines = tuple(
        ListedLine(
            item.text.strip() or "n/a",
            item.line if file is None or item.file == file else None,
            item.address - start if form == "sass" else None,
            _whole(next((item.metrics[name] for name in _EXECUTED if name in item.metrics), None)),
            _whole(conflicts_of(item.metrics)) if conflicts else None,
        )
        for item in report.instructions
    )
    made_by = f"the report, {report.origin.tool}" if report.origin.tool else "the report"
    return Listing(form, lines, made_by, start)


_EXECUTED = ("inst_executed", "smsp__inst_executed", "smsp__inst_executed.sum")


def _whole(value: Value) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _access(item: dict[str, Any]) -> SharedAccess:
    tuples = {name: tuple(item[name]) for name in ("addresses", "words", "worst")}
    return SharedAccess(**{**item, **tuples, "groups": tuple(tuple(group) for group in item["groups"])})
