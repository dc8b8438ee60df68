"""What several commands share: opening families, sets and backends as the options say."""

import argparse
from pathlib import Path

from sparktrace_tui.cli.output import say
from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import FAMILY_IDS, Family
from sparktrace_tui.store.captures import open_sets
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import family_dirs, kernels_dir


def family_folders(kernels: str | None) -> dict[str, Path]:
    """Every family's folder by id, in the order of the questions; a folder of the user's adds and replaces."""
    folders = {folder.name: folder for folder in family_dirs(kernels_dir())}
    if kernels is not None:
        own = family_dirs(Path(kernels).expanduser())
        if not own:
            raise BadInput(
                f"no families in {kernels}",
                hint="Expected DIR/<family>/family.toml; `sparktrace new FAMILY` writes one.",
            )
        folders |= {folder.name: folder for folder in own}
    if not folders:
        raise BadInput(f"no families in {kernels_dir()}", hint="Expected <family>/family.toml below it.")
    place = {name: i for i, name in enumerate(FAMILY_IDS)}
    return dict(sorted(folders.items(), key=lambda item: (place.get(item[0], len(place)), item[0])))


def choose_folders(arguments: argparse.Namespace) -> dict[str, Path]:
    """The folders of the families named on the command line (all where none is); an unknown one is a usage error."""
    folders = family_folders(arguments.kernels)
    names = arguments.families or list(folders)
    for name in names:
        if name not in folders:
            raise UsageError(f"no family {name!r}", hint=f"Families: {', '.join(folders)}.")
    return {name: folders[name] for name in names}


def read_all(folders: dict[str, Path]) -> dict[str, Family]:
    return {name: read_family(folder) for name, folder in folders.items()}


def chosen_sets(arguments: argparse.Namespace) -> list[CaptureSet]:
    """The sets asked for, or the default one; named on stderr."""
    sets = open_sets(arguments.captures)
    for capture_set in sets:
        say(f"captures: {capture_set.id} ({capture_set.label})")
    return sets
