"""`sparktrace report FILE`: an Nsight Compute report as text, JSON or CSV, whole, ablated, or against another one."""

import argparse
import shutil

from sparktrace_tui.cli.output import say
from sparktrace_tui.nsight.against import show_against
from sparktrace_tui.nsight.show import show_with_messages


def run(arguments: argparse.Namespace) -> int:
    width = min(max(shutil.get_terminal_size((120, 24)).columns, 40), 200)
    chosen = (arguments.kernel, arguments.without, arguments.format, width)
    if arguments.against is not None:
        shown = show_against(arguments.file, arguments.against, *chosen)
    else:
        shown = show_with_messages(arguments.file, *chosen)
    for message in shown.messages:
        say(message)
    print(shown.text, end="" if shown.text.endswith("\n") else "\n")
    return 0
