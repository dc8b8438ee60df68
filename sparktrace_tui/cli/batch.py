"""`sparktrace --batch OUT`: headless export of everything there is."""

import argparse
from pathlib import Path

from sparktrace_tui.cli.common import family_folders, read_all
from sparktrace_tui.cli.output import emit, say
from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.export.batch import export_batch
from sparktrace_tui.store.captures import open_sets, set_folders


def run(arguments: argparse.Namespace) -> int:
    if hasattr(arguments, "families") or getattr(arguments, "start", "browse") != "browse":
        raise UsageError("--batch stands alone, without a command")
    sets = open_sets(arguments.captures or list(set_folders()))
    for capture_set in sets:
        say(f"captures: {capture_set.id} ({capture_set.label})")
    out = Path(arguments.batch).expanduser()
    manifest = export_batch(out, sets, read_all(family_folders(arguments.kernels)))
    text = f"wrote {len(manifest['files'])} files below {out}; manifest.json holds a hash of each"
    emit(manifest, arguments.format, text, [{"file": f, "sha256": h} for f, h in manifest["files"].items()])
    return 0
