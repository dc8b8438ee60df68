"""The words of the command line, and which module's `run` each command is."""

import argparse
from typing import Any, NoReturn

from sparktrace_tui import __version__
from sparktrace_tui.domain.errors import UsageError


class Parser(argparse.ArgumentParser):
    """Raises UsageError instead of exiting, and takes no abbreviated options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"See `{self.prog} --help`.")


def _common() -> Parser:
    """Options that work before and after the subcommand: no defaults, or one place would lose the other's."""
    common = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--captures", action="append", metavar="SET", help="read this capture set (repeatable)")
    common.add_argument("--kernels", metavar="DIR", help="use a folder of families beside the bundled ones")
    common.add_argument("--seed", type=int, metavar="N", help="seed of everything random (default 0)")
    common.add_argument("--format", choices=("text", "json", "csv"), help="what to print on stdout")
    common.add_argument("--json", action="store_const", const="json", dest="format", help="short for --format json")
    common.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return common


DEFAULTS: dict[str, Any] = {
    "captures": [],
    "kernels": None,
    "seed": 0,
    "format": "text",
    "debug": False,
    "backend": None,
    "device": None,
    "set": None,
    "into": None,
}


def _device(parser: argparse.ArgumentParser) -> None:
    suppressed = argparse.SUPPRESS
    parser.add_argument(
        "--backend",
        choices=("pycuda", "emulated"),
        default=suppressed,
        help="pycuda where a GPU works, else emulated",
    )
    parser.add_argument("--device", metavar="PROFILE", default=suppressed, help="device profile to emulate (gb10)")


def _run(run: Parser) -> None:
    run.add_argument("tasks", nargs="*", metavar="TASK", help="such as kernel-compass-full-forward (default: all six)")
    run.add_argument("--player", metavar="PLAYER", required=True)
    run.add_argument("--samples", type=int, default=1, metavar="K", help="ask each question K times")
    run.add_argument("--out", metavar="FILE", help="the run log (default: in the user's data folder)")
    run.add_argument("--dry-run", action="store_true", help="say what would be sent and send nothing")
    run.add_argument("--max-cost", type=float, metavar="MONEY", help="stop before this is passed (needs prices.toml)")
    run.add_argument("--yes", action="store_true", help="do not ask before many paid requests")
    run.add_argument("--retry-failed", action="store_true", help="ask again what ended without a turn")
    run.add_argument("--thinking", choices=("default", "off", "low", "high"), default="default")
    run.add_argument("--max-output", type=int, default=32_768, metavar="TOKENS")
    run.add_argument("--temperature", type=float, metavar="T", help="where the provider has one")
    run.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS", help="of one try")
    run.add_argument("--concurrency", type=int, metavar="N")
    run.add_argument("--per-minute", type=float, metavar="N", help="at most so many requests a minute")


def build_parser() -> Parser:
    """All commands. `arguments.command_module` names the module below `sparktrace_tui.cli` whose `run` does it."""
    common = _common()
    top = Parser(
        prog="sparktrace",
        description="Which of four correct CUDA rewrites is the fastest? Explorer, quiz and headless harness.",
        parents=[common],
    )
    top.set_defaults(command_module="explore", start="browse")
    top.add_argument("--version", action="version", version=f"sparktrace {__version__}")
    top.add_argument("--batch", metavar="OUT", help="export everything there is into a folder, without a screen")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)

    def add(name: str, module: str, text: str, **defaults: Any) -> Parser:
        parser: Parser = commands.add_parser(name, parents=[common], help=text, description=text)
        parser.set_defaults(command_module=module, **defaults)
        return parser

    quiz = add("quiz", "explore", "the explorer, at the quiz", start="quiz")
    quiz.add_argument("--rival", metavar="PLAYER", help="who plays against you")
    quiz.add_argument("--family", metavar="ID", help="begin with this family")
    quiz.add_argument("--evidence", choices=("source", "full", "ablated", "drawn"), default="drawn")
    quiz.add_argument("--order", choices=("forward", "mirror", "drawn"), default="drawn")
    quiz.add_argument("--length", choices=("1", "5", "15", "endless"), default="5", help="how many questions")

    add("families", "families", "the families of a capture set: ratio, stability, kept or why not")

    verify = add("verify", "verify", "compile and check every variant on every size")
    verify.add_argument("families", nargs="*", metavar="FAMILY")
    verify.add_argument("--sanitizer", action="store_true", help="on a GPU, under compute-sanitizer too")
    _device(verify)

    capture = add("capture", "capture", "verify, time and profile families into a capture set")
    capture.add_argument("families", nargs="*", metavar="FAMILY")
    capture.add_argument("--no-sampling", action="store_true", help="emulate every block")
    capture.add_argument("--set", metavar="NAME", default=argparse.SUPPRESS, help="name of the set to write")
    capture.add_argument("--into", metavar="DIR", default=argparse.SUPPRESS, help="write the set below this folder")
    capture.add_argument("--shard", metavar="I/N", default="1/1", help="take every Nth family, beginning with the Ith")
    capture.add_argument("--again", action="store_true", help="capture anew what is there already")
    capture.add_argument("--from-report", metavar="FILE", help="make a capture of a report of your own (--family ID)")
    capture.add_argument("--family", metavar="ID", help="the family the report is of")
    _device(capture)

    play = add("play", "play", "the two-step game, headless")
    play.add_argument("families", nargs="*", metavar="FAMILY")
    play.add_argument("--all", action="store_true", help="every kept family of the set")
    play.add_argument("--player", metavar="PLAYER", required=True)
    play.add_argument("--rival", metavar="PLAYER")
    play.add_argument(
        "--evidence",
        choices=("source", "full", "ablated", "drawn"),
        default="full",
        help="drawn: dealt between the families by seed, balanced over those whose conflicts can be causal",
    )
    play.add_argument("--order", choices=("forward", "mirror", "drawn"), default="forward", help="drawn: by seed")

    ask = add("ask", "ask", "one question to one player")
    ask.add_argument("family", metavar="FAMILY")
    ask.add_argument("--player", metavar="PLAYER", required=True)
    ask.add_argument("--evidence", choices=("source", "full", "ablated"), default="full")
    ask.add_argument("--order", choices=("forward", "mirror"), default="forward")

    _run(add("run", "run", "tasks to a run log; the same command resumes it"))

    scores = add("scores", "scores", "the tables of run and game logs (default: all of the user's)")
    scores.add_argument("logs", nargs="*", metavar="LOG")

    report = add("report", "report", "read an Nsight Compute report: .ncu-rep, CSV or text")
    report.add_argument("file", metavar="FILE")
    report.add_argument("--kernel", type=int, metavar="N", help="only kernel N, counted from 0")
    report.add_argument("--without", choices=("names", "strict"), help="leave the bank-conflict lines out")
    report.add_argument("--against", metavar="OTHER", help="compare with the same kernel in another report")

    emulate = add("emulate", "emulate", "counters and modelled time of a kernel of your own")
    emulate.add_argument("file", metavar="FILE.cu")
    emulate.add_argument("--plan", metavar="PLAN.toml", required=True, help="arrays, scalars and launches")
    emulate.add_argument("--lines", action="store_true", help="print the source with counts in the margin")
    emulate.add_argument("--no-sampling", action="store_true", help="emulate every block")
    _device(emulate)

    compare = add("compare", "compare", "two capture sets: winners, rank correlation, counters and times")
    compare.add_argument("left", metavar="SET")
    compare.add_argument("right", metavar="SET")

    add("doctor", "doctor", "what works here, and the fix for what does not")

    new = add("new", "new", "scaffold a family that verifies as it stands, below --kernels DIR (default: kernels)")
    new.add_argument("family", metavar="FAMILY")

    prompts = add("prompts", "prompts", "frozen prompts: check them against their manifest, or write them")
    prompts.add_argument("action", choices=("check", "write"))
    prompts.add_argument("--into", metavar="DIR", default=argparse.SUPPRESS, help="the folder of prompts (bundled)")
    return top
