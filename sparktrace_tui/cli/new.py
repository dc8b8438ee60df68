"""`sparktrace new FAMILY`: scaffold a family."""

import argparse
from pathlib import Path

from sparktrace_tui.cli.output import emit
from sparktrace_tui.store.scaffold import scaffold_family


def run(arguments: argparse.Namespace) -> int:
    kernels = Path(arguments.kernels or "kernels").expanduser()
    files = scaffold_family(arguments.family, kernels)
    lines = [*(str(path) for path in files), f"Check it: sparktrace verify {arguments.family} --kernels {kernels}"]
    document = {"family": arguments.family, "files": [str(path) for path in files]}
    emit(document, arguments.format, "\n".join(lines), [{"file": str(path)} for path in files])
    return 0
