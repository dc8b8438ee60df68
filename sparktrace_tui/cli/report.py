"""`sparktrace report FILE`: an Nsight Compute report as text, JSON or CSV, whole or without its bank-conflict lines."""

import argparse
import shutil

from sparktrace_tui.cli.output import say
from sparktrace_tui.nsight.show import show_with_messages


def run(arguments: argparse.Namespace) -> int:
    width = min(max(shutil.get_terminal_size((120, 24)).columns, 40), 200)
    shown = show_with_messages(arguments.file, arguments.kernel, arguments.without, arguments.format, width)
    for message in shown.messages:
        say(message)
    print(shown.text, end="" if shown.text.endswith("\n") else "\n")
    return 0
