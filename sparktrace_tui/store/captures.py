"""Capture sets on disk: `set.toml` beside one JSON file a family."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite, UsageError
from sparktrace_tui.domain.kernel.capture import PROVENANCES, Capture, CaptureSet, Device
from sparktrace_tui.domain.kernel.codec import capture_from_json, capture_to_json
from sparktrace_tui.domain.kernel.family import FAMILY_IDS
from sparktrace_tui.domain.kernel.key import decide
from sparktrace_tui.store.files import to_json, write_atomic
from sparktrace_tui.store.paths import bundled, user_data_dir

SET_FILE = "set.toml"


def set_folders() -> dict[str, Path]:
    """Every capture set by id: the user's own before the bundled one of the same name."""
    found: dict[str, Path] = {}
    for root in (user_data_dir() / "captures", bundled("captures")):
        if root.is_dir():
            for folder in sorted(root.iterdir()):
                if (folder / SET_FILE).is_file():
                    found.setdefault(folder.name, folder)
    return found


def find_set(name_or_path: str) -> Path:
    """The folder of a set given by id or by path; UsageError lists the known ones."""
    folders = set_folders()
    if name_or_path in folders:
        return folders[name_or_path]
    path = Path(name_or_path).expanduser()
    if (path / SET_FILE).is_file():
        return path
    known = ", ".join(folders) or "none"
    raise UsageError(
        f"no capture set {name_or_path!r}", hint=f"Known sets: {known}; a folder with a set.toml works too."
    )


def read_set(folder: Path) -> CaptureSet:
    """The set in `folder`, with every family that can be read. BadInput names the file that cannot."""
    path = folder / SET_FILE
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from error
    except OSError as error:
        raise CannotReadOrWrite(f"cannot read {path}: {error.strerror or error}") from error
    try:
        if values["provenance"] not in PROVENANCES:
            raise ValueError(f"provenance is {values['provenance']!r}")
        captures = _read_captures(folder)
        return CaptureSet(
            id=folder.name,
            provenance=values["provenance"],
            device=Device(**values["device"]),
            captures=captures,
            seed=int(values.get("seed", 0)),
            order={family: tuple(order) for family, order in values.get("order", {}).items()},
            facts={str(k): str(v) for k, v in values.get("facts", {}).items()},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path}: {error}") from error


def _read_captures(folder: Path) -> dict[str, Capture]:
    captures = {}
    for path in sorted(folder.glob("*.json"), key=lambda p: _family_place(p.stem)):
        captures[path.stem] = read_capture(path)
    return captures


def _family_place(family: str) -> tuple[int, str]:
    return (FAMILY_IDS.index(family) if family in FAMILY_IDS else len(FAMILY_IDS), family)


def read_capture(path: Path) -> Capture:
    """One family's capture; BadInput names the file and what is wrong in it."""
    try:
        capture = capture_from_json(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise CannotReadOrWrite(f"cannot read {path}: {error.strerror or error}") from error
    except (
        json.JSONDecodeError,
        UnicodeDecodeError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
    ) as error:
        raise BadInput(f"{path}: not a capture ({error!r})", hint="Make it again with `sparktrace capture`.") from error
    if capture.family != path.stem:
        raise BadInput(f"{path}: holds family {capture.family!r}")
    return capture


def write_capture(folder: Path, capture: Capture) -> Path:
    """Write one family's capture into a set's folder, whole or not at all."""
    path = folder / f"{capture.family}.json"
    write_atomic(path, to_json(capture_to_json(capture)))
    return path


def write_set_file(folder: Path, capture_set: CaptureSet) -> None:
    """Write set.toml: what the set is, and the forward option order of its families."""
    device = {k: v for k, v in vars(capture_set.device).items() if v is not None}
    lines = [
        "# A capture set: one device, one day, one provenance. Written by `sparktrace capture`.",
        f"provenance = {_toml(capture_set.provenance)}",
        f"seed = {capture_set.seed}",
        "",
        *_toml_table("device", device),
        *_toml_table("facts", capture_set.facts),
        *_toml_table("order", {family: list(order) for family, order in capture_set.order.items()}),
    ]
    write_atomic(folder / SET_FILE, "\n".join(lines).rstrip() + "\n")


def _toml_table(name: str, values: Mapping[str, Any]) -> list[str]:
    if not values:
        return []
    return [f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in values.items()), ""]


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def is_complete(capture_set: CaptureSet) -> bool:
    """All fifteen families captured and decided (kept or not)."""
    return all(
        family in capture_set.captures and decide(capture_set.captures[family]).winner is not None
        for family in FAMILY_IDS
    )


def default_set(folders: Mapping[str, Path] | None = None) -> Path:
    """The most trustworthy complete set (the user's measured, a bundled measured, an emulated one).

    Where none is complete, the emulated set with the most families. UsageError where there is no set at all.
    """
    folders = set_folders() if folders is None else folders
    own = user_data_dir() / "captures"

    def rank(item: tuple[str, Path]) -> tuple[bool, int, int, str]:
        name, folder = item
        header = tomllib.loads((folder / SET_FILE).read_text(encoding="utf-8"))
        families = {p.stem for p in folder.glob("*.json")}
        provenance = header.get("provenance")
        trust = {"measured": 2, "emulated": 1}.get(str(provenance), 0)
        mine = own in folder.parents and provenance == "measured"
        bundled_device = name == "gb10-emulated"
        return (
            not set(FAMILY_IDS) <= families or not trust,
            -(trust + mine),
            -len(families) if trust else 0,
            "" if bundled_device else name,
        )

    if not folders:
        raise UsageError("there is no capture set here", hint="Make one with `sparktrace capture`.")
    return min(folders.items(), key=rank)[1]


def open_sets(names: Iterable[str]) -> list[CaptureSet]:
    """The sets asked for, or the default one."""
    paths = [find_set(name) for name in names] or [default_set()]
    return [read_set(path) for path in paths]
