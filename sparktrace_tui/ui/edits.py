"""An edited copy of a variant: which editor, where the copy lies, and what the emulator says has changed."""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from sparktrace_tui.domain.errors import CannotReadOrWrite, MissingTool, SparkTraceError, UsageError
from sparktrace_tui.domain.kernel.family import Family, Variant
from sparktrace_tui.domain.kernel.key import TOO_CLOSE_TO_MODEL
from sparktrace_tui.store.files import write_atomic
from sparktrace_tui.store.paths import user_data_dir
from sparktrace_tui.ui.text import number

Verdict = Literal["better", "worse", "same", "other"]
SAME = "same"


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """The words of $VISUAL, else $EDITOR; MissingTool says how to set one."""
    for name in ("VISUAL", "EDITOR"):
        if words := shlex.split(environ.get(name, "")):
            return words
    raise MissingTool(
        "no editor is set", hint="Set one and start again, for example: export EDITOR=nano (or vim, or 'code --wait')"
    )


def need_compiler() -> None:
    """MissingTool with the install line where NVRTC is not installed. Loads nothing native."""
    from sparktrace_tui.emulator.toolchain import INSTALL_HINT

    if find_spec("cuda") is None or find_spec("cuda.bindings") is None:
        raise MissingTool("an edit is emulated from what NVRTC compiles, and NVRTC is not here", hint=INSTALL_HINT)


def device_for(device_id: str) -> str:
    """The emulated device: the set's where there is a bundled profile of its name, else the default one."""
    from sparktrace_tui.backends.select import DEFAULT_PROFILE
    from sparktrace_tui.emulator.profile import available

    return device_id if device_id in available() else DEFAULT_PROFILE


def copy_to_edit(family: Family, variant: Variant, data_dir: Path | None = None) -> Path:
    """A copy of its own in the user's data folder, numbered: an earlier edit is never written over."""
    folder = (data_dir or user_data_dir()) / "edits" / family.id
    taken = {path.name for path in folder.glob("*.cu")} if folder.is_dir() else set()
    place = next(n for n in range(1, len(taken) + 2) if f"{variant.id}-{n}.cu" not in taken)
    path = folder / f"{variant.id}-{place}.cu"
    write_atomic(path, variant.source)
    return path


def read_edit(path: Path) -> str:
    """The text of an edited copy; CannotReadOrWrite where the editor left none that can be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotReadOrWrite(f"cannot read {path}: {error}") from error


def run_editor(command: list[str], path: Path, run: Callable[[list[str]], int]) -> None:
    """Open the editor on the file and wait; UsageError where it cannot be started or fails."""
    said = f"The copy is kept: {path}"
    try:
        status = run([*command, str(path)])
    except OSError as error:
        raise UsageError(
            f"the editor {command[0]!r} does not start: {error.strerror or error}",
            hint=f"Set EDITOR (or VISUAL) to one that is installed. {said}",
        ) from error
    if status != 0:
        raise UsageError(f"the editor {command[0]!r} ended with status {status}", hint=said)


def error_lines(error: SparkTraceError, name: str) -> dict[int, str]:
    """The compiler's message by 1-based line of the source `name`, {} where it names none."""
    found = re.match(rf"{re.escape(name)}:(\d+): (.*)", error.message, re.DOTALL)
    return {int(found[1]): found[2].strip()} if found else {}


def fault_lines(document: Mapping[str, Any]) -> dict[int, str]:
    """What the checks found, by 1-based line; several of one line in one message."""
    found: dict[int, str] = {}
    for fault in document["faults"]:
        if fault["line"] is not None:
            said = f"{fault['kind']}: {fault['message']}"
            found[fault["line"]] = f"{found[fault['line']]}; {said}" if fault["line"] in found else said
    return found


@dataclass(frozen=True)
class Delta:
    """One figure of the unedited and the edited kernel, in words; `change` is `same` where nothing is to be told."""

    name: str
    before: str
    after: str
    change: str
    verdict: Verdict


_SHARED = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
_COUNTERS = {
    "load conflicts": _SHARED.format("ld"),
    "store conflicts": _SHARED.format("st"),
    "load sectors": _SECTORS.format("ld"),
    "store sectors": _SECTORS.format("st"),
    "instructions": "smsp__inst_executed.sum",
}


def deltas(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Delta, ...]:
    """The figures of two emulations (documents of backends/emulate.py), the unedited one first.

    Times nearer than the model can tell apart (1.25) are said to be too close; counts are exact, so only equal ones
    are the same.
    """
    found = [_time(before["time_ms"], after["time_ms"]), _words("bound by", before["bound"], after["bound"])]
    for name, counter in _COUNTERS.items():
        found.append(_count(name, before["counters"].get(counter), after["counters"].get(counter)))
    old, new = before["resources"], after["resources"]
    found.append(_count("registers", old["registers"], new["registers"]))
    found.append(_count("shared bytes", old["shared_bytes"], new["shared_bytes"]))
    found.append(_occupancy(old["occupancy"], new["occupancy"]))
    return tuple(found)


def _time(before: float, after: float) -> Delta:
    said = f"{before:.4g} ms", f"{after:.4g} ms"
    if said[0] == said[1]:
        return Delta("modelled time", *said, SAME, "same")
    ratio = before / after if after < before else after / before
    word = "faster" if after < before else "slower"
    if ratio < TOO_CLOSE_TO_MODEL:
        return Delta("modelled time", *said, f"{ratio:.2f}x {word}, too close", "other")
    return Delta("modelled time", *said, f"{ratio:.2f}x {word}", "better" if after < before else "worse")


def _words(name: str, before: str, after: str) -> Delta:
    return Delta(name, before, after, SAME if before == after else "changed", "same" if before == after else "other")


def _count(name: str, before: float | None, after: float | None) -> Delta:
    """A figure of which less is better."""
    said = number(_whole(before)), number(_whole(after))
    if before is None or after is None:
        return Delta(name, *said, "n/a", "other")
    if before == after:
        return Delta(name, *said, SAME, "same")
    verdict: Verdict = "better" if after < before else "worse"
    if before == 0 or after == 0:
        return Delta(name, *said, "all gone" if after == 0 else "new", verdict)
    return Delta(name, *said, f"{(after - before) / before:+.1%}", verdict)


def _whole(value: float | None) -> float | int | None:
    return int(value) if value is not None and float(value).is_integer() else value


def _occupancy(before: float | None, after: float | None) -> Delta:
    """Theoretical occupancy, of which more is better."""
    if before is None or after is None:
        return Delta("occupancy", "n/a", "n/a", "n/a", "other")
    said = f"{before:.0%}", f"{after:.0%}"
    if said[0] == said[1]:
        return Delta("occupancy", *said, SAME, "same")
    return Delta("occupancy", *said, f"{100 * (after - before):+.0f} points", "better" if after > before else "worse")
