"""Runs one command: parses, dispatches, and turns every failure into a line or two and an exit status."""

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from sparktrace_tui.cli.output import say
from sparktrace_tui.cli.parser import DEFAULTS, build_parser
from sparktrace_tui.domain.errors import SparkTraceError


class _Terminated(BaseException):
    """SIGTERM arrived."""


def _terminate(*_: object) -> NoReturn:
    raise _Terminated


def run(argv: Sequence[str]) -> int:
    """The exit status of one command line (DESIGN: exit status)."""
    debug = "--debug" in argv
    signal.signal(signal.SIGTERM, _terminate)
    try:
        arguments = build_parser().parse_args(list(argv))
        for name, value in DEFAULTS.items():
            if not hasattr(arguments, name):
                setattr(arguments, name, value)
        if arguments.batch is not None:
            arguments.command_module = "batch"
        module = importlib.import_module(f"sparktrace_tui.cli.{arguments.command_module}")
        status: int = module.run(arguments)
        sys.stdout.flush()
        return status
    except SparkTraceError as error:
        if debug:
            raise
        say(f"sparktrace: {error}")
        return error.exit_status
    except KeyboardInterrupt:
        say("sparktrace: interrupted")
        return 130
    except _Terminated:
        return 143
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the interpreter's own flush is quiet
        return 0
    except Exception as error:
        if debug:
            raise
        say(f"sparktrace: unexpected {type(error).__name__}: {error}\n  This is a fault of ours; --debug shows where.")
        return 1
