"""`sparktrace doctor`: what works here, and the fix for what does not."""

import argparse

from sparktrace_tui.backends.doctor import examine
from sparktrace_tui.cli.output import emit, harmless
from sparktrace_tui.players.registry import KEY_NAMES


def run(arguments: argparse.Namespace) -> int:
    findings = examine(KEY_NAMES)
    rows = [vars(finding) for finding in findings]
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(harmless(f"{finding.name.ljust(width)}  {finding.state}: {finding.found}"))
        if finding.fix:
            lines.append(harmless(f"{' ' * width}    {finding.fix}"))
    emit({"findings": rows}, arguments.format, "\n".join(lines), rows)
    return 0
