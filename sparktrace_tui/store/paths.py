"""Every folder SparkTrace uses: bundled data, and the user's own (`SPARKTRACE_DATA` moves the latter)."""

import os
from pathlib import Path

import sparktrace_tui

_PACKAGE = Path(sparktrace_tui.__file__).resolve().parent


def bundled(kind: str) -> Path:
    """The folder of `kernels`, `captures` or `prompts` that came with this copy.

    A checkout's own folder where one stands beside the package (an editable install leaves a stale copy inside it),
    else the copy inside the installed package.
    """
    beside = _PACKAGE.parent / kind
    if beside.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file():
        return beside
    return _PACKAGE / "_bundled" / kind


def kernels_dir() -> Path:
    """The bundled families."""
    return bundled("kernels")


def user_data_dir() -> Path:
    """The user's data: captures, games, runs, what was seen. Not created by asking."""
    if chosen := os.environ.get("SPARKTRACE_DATA"):
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("sparktrace", appauthor=False)


def user_cache_dir() -> Path:
    """Compiled kernels and derived grades: safe to delete."""
    if chosen := os.environ.get("SPARKTRACE_DATA"):
        return Path(chosen).expanduser() / "cache"
    from platformdirs import user_cache_path

    return user_cache_path("sparktrace", appauthor=False)


def family_dirs(kernels: Path) -> list[Path]:
    """The family folders below `kernels`, by name; a folder without a family.toml is not one."""
    if not kernels.is_dir():
        return []
    return sorted(p for p in kernels.iterdir() if (p / "family.toml").is_file())
