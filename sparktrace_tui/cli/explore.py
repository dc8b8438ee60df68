"""`sparktrace` and `sparktrace quiz`: the explorer, where there is a terminal."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sparktrace_tui.domain.errors import UsageError

if TYPE_CHECKING:
    from sparktrace_tui.ui.library import ExplorerOptions


def run(arguments: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "the explorer needs a terminal, and there is none here",
            hint="Without one, `sparktrace --batch OUT` exports everything; `sparktrace --help` lists the commands.",
        )
    from sparktrace_tui.ui.app import run_explorer

    return run_explorer(options_of(arguments))


def options_of(arguments: argparse.Namespace) -> "ExplorerOptions":
    """How the explorer starts: `drawn` and `endless` are None there."""
    from sparktrace_tui.ui.library import ExplorerOptions

    asked = vars(arguments)
    length = asked.get("length", "5")
    return ExplorerOptions(
        captures=tuple(arguments.captures),
        kernels=None if arguments.kernels is None else Path(arguments.kernels).expanduser(),
        start=arguments.start,
        rival=asked.get("rival"),
        family=asked.get("family"),
        evidence=None if (evidence := asked.get("evidence", "drawn")) == "drawn" else evidence,
        order=None if (order := asked.get("order", "drawn")) == "drawn" else order,
        length=None if length == "endless" else int(length),
        seed=arguments.seed,
    )
