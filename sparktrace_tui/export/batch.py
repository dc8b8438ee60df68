"""`--batch`: everything there is as plain files, with a hash of each; the same input gives the same bytes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sparktrace_tui import __version__
from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.codec import capture_to_json
from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.export.prompts import keys_of, sha256, task_files, tasks_of
from sparktrace_tui.export.tables import family_rows, to_csv, variant_rows
from sparktrace_tui.store.files import to_json, write_atomic


def export_batch(out: Path, sets: Sequence[CaptureSet], families: Mapping[str, Family]) -> dict[str, Any]:
    """Write the export below `out` and return its manifest. The folder may hold an older export: it is replaced.

    Raises CannotReadOrWrite where `out` cannot be written, or holds files that no export of ours wrote.
    """
    files: dict[str, str] = {}
    for capture_set in sets:
        files |= _set_files(capture_set, families)
    manifest = {
        "sparktrace": __version__,
        "sets": {s.id: {"provenance": s.provenance, "device": s.device.id} for s in sets},
        "files": {name: sha256(text) for name, text in sorted(files.items())},
    }
    _clear_old(out)
    for name, text in files.items():
        write_atomic(out / name, text)
    write_atomic(out / "manifest.json", to_json(manifest))
    return manifest


def _clear_old(out: Path) -> None:
    """Remove the files an older manifest lists; refuse a folder that holds anything else."""
    if not out.exists():
        return
    if not out.is_dir():
        raise CannotReadOrWrite(f"{out} is a file", hint="Name a folder to export into.")
    manifest = out / "manifest.json"
    try:
        old = json.loads(manifest.read_text(encoding="utf-8"))["files"] if manifest.is_file() else {}
    except (json.JSONDecodeError, KeyError, OSError) as error:
        raise CannotReadOrWrite(f"{manifest} is not ours", hint="Choose an empty folder.") from error
    here = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
    strange = sorted(here - set(old) - {"manifest.json"})
    if strange:
        raise CannotReadOrWrite(
            f"{out} holds files that are not from an export: {', '.join(strange[:3])}",
            hint="Choose an empty folder.",
        )
    for name in here:
        (out / name).unlink()


def _set_files(capture_set: CaptureSet, families: Mapping[str, Family]) -> dict[str, str]:
    tasks = tasks_of(capture_set, families)
    files = {f"prompts/{capture_set.id}/{name}": text for name, text in task_files(tasks).items()}
    for task, questions in tasks.items():
        for question in questions:
            files[f"prompts/{capture_set.id}/text/{task}/{question.family}.md"] = question.prompt
    files[f"keys/{capture_set.id}.json"] = to_json(keys_of(capture_set, tasks))
    for name, capture in capture_set.captures.items():
        files[f"captures/{capture_set.id}/{name}.json"] = to_json(capture_to_json(capture))
    for name, rows in (("families", family_rows(capture_set)), ("variants", variant_rows(capture_set))):
        files[f"tables/{capture_set.id}/{name}.json"] = to_json(rows)
        files[f"tables/{capture_set.id}/{name}.csv"] = to_csv(rows)
    return files
