"""The prompt templates in `prompts/templates/`: plain text with $fields."""

from functools import cache
from pathlib import Path

from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.store.paths import bundled


@cache
def read_template(name: str, folder: Path | None = None) -> str:
    """The template `name` (`question`, `evidence`, `reveal`); CannotReadOrWrite where it is missing."""
    path = (folder or bundled("prompts") / "templates") / f"{name}.md"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CannotReadOrWrite(f"cannot read {path}: {error.strerror or error}") from error
