"""`sparktrace` and `sparktrace quiz`: the explorer, where there is a terminal."""

import argparse
import sys

from sparktrace_tui.domain.errors import UsageError


def run(arguments: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "the explorer needs a terminal, and there is none here",
            hint="Without one, `sparktrace --batch OUT` exports everything; `sparktrace --help` lists the commands.",
        )
    from sparktrace_tui.ui.app import ExplorerOptions, run_explorer

    return run_explorer(
        ExplorerOptions(
            captures=tuple(arguments.captures),
            kernels=arguments.kernels,
            start=arguments.start,
            rival=getattr(arguments, "rival", None),
            seed=arguments.seed,
        )
    )
