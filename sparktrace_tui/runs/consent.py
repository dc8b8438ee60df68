"""Whether the user agreed to send kernels of their own to a provider: asked once for each, and kept."""

import json
from pathlib import Path

from sparktrace_tui.store.files import to_json, write_atomic
from sparktrace_tui.store.paths import user_data_dir

CONSENT_FILE = "consent.json"


def has_consent(provider: str, data_dir: Path | None = None) -> bool:
    """Whether it was given; a file that cannot be read is no consent."""
    return provider in _given(data_dir)


def give_consent(provider: str, data_dir: Path | None = None) -> None:
    """Keep it. CannotReadOrWrite where the data folder cannot be written."""
    write_atomic(_path(data_dir), to_json({"own_kernels_to": sorted({*_given(data_dir), provider})}))


def _given(data_dir: Path | None) -> set[str]:
    try:
        value = json.loads(_path(data_dir).read_text(encoding="utf-8"))
        return {str(name) for name in value["own_kernels_to"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _path(data_dir: Path | None) -> Path:
    return (data_dir or user_data_dir()) / CONSENT_FILE
