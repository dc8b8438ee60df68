"""`sparktrace capture`: verify, time and profile families into a capture set."""

import argparse
from datetime import date
from pathlib import Path

from sparktrace_tui.backends.capture import Plan, capture_set
from sparktrace_tui.backends.client import Client
from sparktrace_tui.backends.own_report import add_to_report_set, capture_of_report
from sparktrace_tui.backends.protocol import Options
from sparktrace_tui.backends.select import choose_backend, default_set_name
from sparktrace_tui.cli.common import choose_folders, read_all
from sparktrace_tui.cli.output import Steps, emit, say, table
from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.domain.kernel.capture import TIME_WORD
from sparktrace_tui.domain.kernel.codec import capture_to_json
from sparktrace_tui.domain.kernel.key import decide
from sparktrace_tui.nsight.read import read_reports
from sparktrace_tui.store.paths import user_data_dir


def run(arguments: argparse.Namespace) -> int:
    root = Path(arguments.into).expanduser() if arguments.into else user_data_dir() / "captures"
    if arguments.from_report is not None:
        return _from_report(arguments, root)
    folders = choose_folders(arguments)
    families = read_all(folders)
    backend, device = choose_backend(arguments.backend, arguments.device)
    options = Options(seed=arguments.seed, sampling=not arguments.no_sampling)
    steps = Steps()
    with Client(backend, device) as client:
        name = arguments.set or default_set_name(
            backend, device if backend == "emulated" else client.hello().device["id"]
        )
        plan = Plan(
            list(folders.values()),
            list(families.values()),
            root / name,
            options,
            shard=_shard(arguments.shard),
            again=arguments.again,
        )
        made = capture_set(client, plan, steps)
    steps.done()
    captured = {family: made.captures[family] for family in folders if family in made.captures}
    say(f"wrote {root / name}")
    document = {
        "set": made.id,
        "provenance": made.provenance,
        "device": made.device.id,
        "facts": dict(made.facts),
        "captures": {family: capture_to_json(capture) for family, capture in captured.items()},
    }
    rows = []
    for family, capture in captured.items():
        decision = decide(capture)
        for variant, record in capture.variants.items():
            rows.append(
                {
                    "family": family,
                    "variant": variant,
                    "verdict": record.verdict,
                    "ms": record.time.median_ms if record.time else None,
                    "provenance": capture.provenance,
                    "winner": decision.winner == variant,
                }
            )
    word = TIME_WORD[made.provenance]
    text = table(
        ("family", "variant", "verdict", f"ms {word}", ""),
        [(r["family"], r["variant"], r["verdict"], r["ms"], "winner" if r["winner"] else "") for r in rows],
        right=(3,),
    )
    emit(document, arguments.format, f"{made.id} ({made.label})\n\n{text}", rows)
    return 0 if all(r.verdict == "correct" for c in captured.values() for r in c.variants.values()) else 1


def _shard(text: str) -> tuple[int, int]:
    index, slash, count = text.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal()):
        raise UsageError(f"{text!r} is no shard", hint="A shard is I/N with I from 1 to N.")
    return int(index), int(count)


def _from_report(arguments: argparse.Namespace, root: Path) -> int:
    """A capture of a user's own report: the report, and nothing that it does not hold."""
    folders = choose_folders(arguments)
    if arguments.family is None or arguments.family not in folders:
        raise UsageError("--from-report needs --family ID", hint=f"Families: {', '.join(folders)}.")
    reports = read_reports(Path(arguments.from_report).expanduser())
    if len(reports) > 1:
        say(f"{len(reports)} kernels in the file; the first is taken: {reports[0].launch.kernel}")
    name = arguments.set or f"report-{date.today().isoformat()}"
    capture = capture_of_report(arguments.family, read_all(folders)[arguments.family], reports[0])
    add_to_report_set(root / name, capture, reports[0])
    say(f"wrote {root / name}")
    document = {"set": name, "family": arguments.family, "capture": capture_to_json(capture)}
    text = f"{name}: the report of {reports[0].launch.kernel} as {arguments.family}; it has no times, so no winner"
    emit(document, arguments.format, text, [{"set": name, "family": arguments.family}])
    return 0
