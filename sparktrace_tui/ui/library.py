"""What the explorer draws from: families and capture sets, read lazily, each failure kept as a message beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import FAMILY_IDS, Family
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import family_dirs, kernels_dir


@dataclass(frozen=True)
class ExplorerOptions:
    """How to start the explorer.

    captures: set ids or folders, () for the default one and all others to switch to. kernels: a folder of families
    of the user's own beside the bundled ones. start: the first screen. family: the one to open, which a quiz asks
    first. rival: a player's name for the quiz. evidence and order: the quiz's arm, None to draw them. length: how many
    questions, None for endless. data_dir: the user's data folder, None for the usual one.
    """

    captures: tuple[str, ...] = ()
    kernels: Path | None = None
    start: Literal["browse", "quiz"] = "browse"
    rival: str | None = None
    evidence: Literal["source", "full", "ablated"] | None = None
    order: Literal["forward", "mirror"] | None = None
    family: str | None = None
    length: int | None = 5
    seed: int = 0
    data_dir: Path | None = None


@dataclass(frozen=True)
class Entry:
    """A family folder: the family, or why it cannot be read; `readme` is shown after a reveal only."""

    id: str
    folder: Path
    family: Family | None
    problem: str = ""

    def readme(self) -> str:
        """The family's lesson, "" where there is none."""
        try:
            return (self.folder / "README.md").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


def read_entries(kernels: Path | None = None) -> tuple[Entry, ...]:
    """Every family of the bundled folder and of the user's own, the fifteen first and in their order."""
    folders: dict[str, Path] = {}
    for root in (kernels_dir(), *((kernels,) if kernels else ())):
        folders |= {folder.name: folder for folder in family_dirs(root)}
    known = [name for name in FAMILY_IDS if name in folders]
    return tuple(_entry(folders[name]) for name in (*known, *sorted(set(folders) - set(known))))


def _entry(folder: Path) -> Entry:
    try:
        return Entry(folder.name, folder, read_family(folder))
    except SparkTraceError as error:
        return Entry(folder.name, folder, None, str(error))


def set_paths(wanted: tuple[str, ...]) -> tuple[Path, ...]:
    """The folders of the sets to switch between, the first to open first. UsageError for one that is not there."""
    from sparktrace_tui.store.captures import default_set, find_set, set_folders

    if wanted:
        return tuple(find_set(name) for name in wanted)
    folders = set_folders()
    if not folders:
        return ()
    first = default_set(folders)
    return (first, *(path for path in folders.values() if path != first))


def open_set(path: Path) -> CaptureSet:
    """The capture set in a folder (reads it all: call it off the UI thread)."""
    from sparktrace_tui.store.captures import read_set

    return read_set(path)


def order_of(captures: CaptureSet, family: Family) -> Mapping[str, str]:
    """Letter -> variant in the set's forward order."""
    from sparktrace_tui.domain.quiz.question import options_for

    return options_for(captures, family, "forward")
