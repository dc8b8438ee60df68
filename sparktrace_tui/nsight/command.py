"""The exact `ncu` command line for a launch: for the GPU backend to run and for a user to copy."""

import re
import shlex
from collections.abc import Sequence

from sparktrace_tui.domain.report.report import Report

# What the details page, the shared-memory table and the per-line counters need; `basic` has no conflict metric.
SET = "full"


def base_name(kernel: str) -> str:
    """A kernel's function name without return type, namespaces, template and parameters: what `-k` is
    matched with.
    """
    plain = kernel
    while (stripped := re.sub(r"<[^<>]*>", "", plain)) != plain:
        plain = stripped
    plain = plain.partition("(")[0].strip()
    return plain.split()[-1].rpartition("::")[2] if plain else ""


def ncu_command(
    program: Sequence[str],
    *,
    kernel: str | Sequence[str],
    skip: int = 0,
    count: int = 1,
    output: str | None = None,
    ncu: str = "ncu",
    options: Sequence[str] = (),
) -> list[str]:
    """The arguments that profile `count` launches of a kernel (or of several), after `skip` launches of it.

    `--launch-skip` counts only launches that match the filter. `--import-source` keeps the source in the
    report and needs a program built with -lineinfo. `output` is the report's path without its ending; an
    old one is replaced. `options` are further ones, put before the program.
    """
    names = [base_name(kernel)] if isinstance(kernel, str) else [base_name(name) for name in kernel]
    choice = "|".join(re.escape(name) for name in dict.fromkeys(names) if name)
    pattern = f"({choice})" if "|" in choice else choice
    chosen = ["--kernel-name", f"regex:^{pattern}$"] if choice else []
    kept = ["--export", output, "--force-overwrite"] if output else []
    return [
        ncu,
        "--set",
        SET,
        "--import-source",
        "yes",
        *chosen,
        "--launch-skip",
        str(skip),
        "--launch-count",
        str(count),
        *options,
        *kept,
        *program,
    ]


def command_line(arguments: Sequence[str]) -> str:
    """Arguments as one line for a shell."""
    return shlex.join(arguments)


def command_for(report: Report, program: Sequence[str] = ("./program",), *, skip: int = 0) -> str:
    """The command that would produce a report like this one, as a line to copy."""
    return command_line(ncu_command(program, kernel=report.launch.kernel, skip=skip, output="report"))
