"""`sparktrace prompts check|write`: the frozen prompts of a set."""

import argparse
from pathlib import Path

from sparktrace_tui.cli.common import chosen_sets, family_folders, read_all
from sparktrace_tui.cli.output import emit
from sparktrace_tui.export.prompts import check_prompts, frozen_files, write_prompts
from sparktrace_tui.store.paths import bundled


def run(arguments: argparse.Namespace) -> int:
    root = Path(arguments.into).expanduser() if arguments.into else bundled("prompts")
    families = read_all(family_folders(arguments.kernels))
    documents, drift = [], []
    for capture_set in chosen_sets(arguments):
        files = frozen_files(capture_set, families)
        folder = root / capture_set.id
        if arguments.action == "write":
            write_prompts(folder, files)
        else:
            drift += check_prompts(folder, files)
        documents.append({"set": capture_set.id, "provenance": capture_set.provenance, "files": len(files)})
    document = {"action": arguments.action, "sets": documents, "drift": drift}
    done = [f"{d['set']}: {d['files']} files" for d in documents]
    emit(document, arguments.format, "\n".join(drift or done), [{"drift": line} for line in drift])
    return 1 if drift else 0
