"""Writes a new family that verifies as it stands, for its author to replace piece by piece."""

import re
from pathlib import Path

from sparktrace_tui.domain.errors import CannotReadOrWrite, UsageError
from sparktrace_tui.store.files import write_atomic

_TEMPLATES = Path(__file__).parent / "new_family"


def scaffold_family(family: str, kernels: Path) -> list[Path]:
    """Write `kernels/<family>/` and return its files. Refuses a name that is no identifier and a folder that exists."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", family):
        raise UsageError(f"{family!r} is no family name", hint="Lower-case letters, digits and _; a letter first.")
    folder = kernels / family
    if folder.exists():
        raise CannotReadOrWrite(f"{folder} exists already", hint="Choose another name, or remove it.")
    written = []
    for template in sorted(p for p in _TEMPLATES.iterdir() if p.is_file()):
        target = folder / template.name
        write_atomic(target, template.read_text(encoding="utf-8").replace("$family", family))
        written.append(target)
    return written
