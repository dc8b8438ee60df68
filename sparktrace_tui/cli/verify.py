"""`sparktrace verify`: compile and check every variant on every size."""

import argparse

from sparktrace_tui.backends.capture import verify_variant
from sparktrace_tui.backends.client import Client
from sparktrace_tui.backends.protocol import Options, to_json
from sparktrace_tui.backends.select import choose_backend
from sparktrace_tui.cli.common import choose_folders, read_all
from sparktrace_tui.cli.output import Steps, emit, table


def run(arguments: argparse.Namespace) -> int:
    folders = choose_folders(arguments)
    families = read_all(folders)
    backend, device = choose_backend(arguments.backend, arguments.device)
    options = Options(seed=arguments.seed, sanitizer=arguments.sanitizer)
    steps, results = Steps(), []
    with Client(backend, device) as client:
        hello = client.hello()
        for name, folder in folders.items():
            for variant in families[name].variants:
                found = verify_variant(client, folder, variant.id, options, steps)
                results.append({"family": name, **to_json(found), "message": found.message})
    steps.done()
    correct = sum(r["verdict"] == "correct" for r in results)
    document = {
        "backend": hello.backend,
        "device": hello.device["id"],
        "facts": dict(hello.facts),
        "seed": arguments.seed,
        "correct": correct,
        "variants": len(results),
        "results": results,
    }
    rows = [
        {k: r[k] for k in ("family", "variant", "verdict", "message")} | {"checks": len(r["checks"])} for r in results
    ]
    lines = [table(("family", "variant", "checks", "verdict"), [
        (r["family"], r["variant"], len(r["checks"]), r["verdict"]) for r in results
    ])]  # fmt: skip
    lines += [
        f"{r['family']}/{r['variant']}: {r['message'] or '; '.join(r['notes'])}"
        for r in results
        if r["verdict"] != "correct"
    ]
    lines.append(f"{correct} of {len(results)} correct ({hello.backend}, {hello.device['id']})")
    emit(document, arguments.format, "\n".join(lines), rows)
    return 0 if correct == len(results) else 1
