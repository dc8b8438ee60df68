"""`sparktrace capture`: verify, time and profile families into a capture set."""

import argparse
from pathlib import Path

from sparktrace_tui.backends.capture import Plan, capture_set
from sparktrace_tui.backends.client import Client
from sparktrace_tui.backends.protocol import Options
from sparktrace_tui.backends.select import choose_backend, default_set_name
from sparktrace_tui.cli.common import choose_folders, read_all
from sparktrace_tui.cli.output import Steps, emit, say, table
from sparktrace_tui.domain.kernel.capture import TIME_WORD
from sparktrace_tui.domain.kernel.codec import capture_to_json
from sparktrace_tui.domain.kernel.key import decide
from sparktrace_tui.store.paths import user_data_dir


def run(arguments: argparse.Namespace) -> int:
    folders = choose_folders(arguments)
    families = read_all(folders)
    backend, device = choose_backend(arguments.backend, arguments.device)
    name = arguments.set or default_set_name(backend, device)
    root = Path(arguments.into).expanduser() if arguments.into else user_data_dir() / "captures"
    options = Options(seed=arguments.seed, sampling=not arguments.no_sampling)
    steps = Steps()
    with Client(backend, device) as client:
        plan = Plan(list(folders.values()), list(families.values()), root / name, options)
        made = capture_set(client, plan, steps)
    steps.done()
    captured = {family: made.captures[family] for family in folders}
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
