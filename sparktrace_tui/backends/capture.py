"""Makes captures: verify every variant, time the family, profile the original; one file a family, then the set."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sparktrace_tui.backends.client import Client, WorkerDied, WorkerHung
from sparktrace_tui.backends.protocol import Hello, Options, Profile, Timing, Verification
from sparktrace_tui.domain.kernel.capture import (
    Bound,
    Capture,
    CaptureSet,
    Device,
    ModelStability,
    Provenance,
    Resources,
    Time,
    VariantRecord,
)
from sparktrace_tui.domain.kernel.family import ORIGINAL, Family
from sparktrace_tui.domain.kernel.key import decide
from sparktrace_tui.domain.quiz.order import draw_orders
from sparktrace_tui.domain.report.serial import report_from_json
from sparktrace_tui.store.captures import is_complete, read_set, write_capture, write_set_file

Step = Callable[[str, str], None]  # what is being worked on, and what is done with it


@dataclass(frozen=True)
class Plan:
    """What to capture and where to."""

    folders: Sequence[Path]
    families: Sequence[Family]
    into: Path
    options: Options


def verify_variant(client: Client, folder: Path, variant: str, options: Options, step: Step) -> Verification:
    """Verify one variant; a worker that dies or hangs is the variant's verdict, not ours."""
    try:
        return client.verify(folder, variant, options, lambda text: step(f"{folder.name}/{variant}", text))
    except WorkerHung as error:
        return Verification(variant, "hang", (), (error.message,))
    except WorkerDied as error:
        return Verification(variant, "crash", (), (error.message,))


def capture_family(client: Client, hello: Hello, folder: Path, family: Family, options: Options, step: Step) -> Capture:
    """Verify, time and profile one family. Variants that are not correct have no time."""
    checked = {v.id: verify_variant(client, folder, v.id, options, step) for v in family.variants}
    correct = tuple(name for name, result in checked.items() if result.verdict == "correct")

    def progress(text: str) -> None:
        step(family.id, text)

    timings = client.time(folder, correct, options, progress) if correct else {}
    profiles = {name: client.profile(folder, name, options, progress) for name in correct}
    original = profiles.get(ORIGINAL)
    report = report_from_json(original.report) if original is not None and original.report is not None else None
    return Capture(
        family=family.id,
        provenance=_provenance(hello),
        variants={name: _record(result, timings.get(name), profiles.get(name)) for name, result in checked.items()},
        report=report,
        stability=_stability(timings),
        made={
            **hello.facts,
            "seed": str(options.seed),
            "sources_sha256": sources_hash(folder),
            "notes": "; ".join(original.notes) if original else "",
        },
    )


def _provenance(hello: Hello) -> Provenance:
    return "measured" if hello.provenance == "measured" else "emulated"


def _record(result: Verification, timing: Timing | None, profile: Profile | None) -> VariantRecord:
    resources = profile.resources if profile else {}
    return VariantRecord(
        verdict=result.verdict,
        time=None if timing is None else Time(_round(timing.median_ms), False, timing.blocks_ms),
        resources=Resources(**resources),  # type: ignore[arg-type]
        counters=dict(profile.counters) if profile else {},
        bound=(
            Bound(timing.bound, {k: round(v, 4) for k, v in timing.shares.items()})
            if timing is not None and timing.bound
            else None
        ),
    )


def _round(value: float) -> float:
    """Six significant digits: more than a model or a clock knows, and the same on every machine."""
    return float(f"{value:.6g}")


def _stability(timings: dict[str, Timing]) -> ModelStability | None:
    rewrites = {name: t for name, t in timings.items() if name != ORIGINAL and t.draws_ms}
    if len(rewrites) < 2:
        return None
    winner = min(rewrites, key=lambda name: rewrites[name].median_ms)
    draws = list(zip(*(t.draws_ms for t in rewrites.values()), strict=True))
    place = list(rewrites).index(winner)
    return ModelStability(len(draws), sum(draw[place] == min(draw) for draw in draws))


def sources_hash(folder: Path) -> str:
    """SHA-256 over the family's files that decide a capture (all but its README), by name and content."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".toml", ".cu", ".cuh", ".py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def capture_set(client: Client, plan: Plan, step: Step) -> CaptureSet:
    """Capture the families one after another into `plan.into`; each is on disk before the next begins.

    The letters are drawn anew from the seed, over what the set then holds.
    """
    hello = client.hello()
    header = CaptureSet(
        id=plan.into.name,
        provenance=_provenance(hello),
        device=Device(**hello.device),
        captures={},
        seed=plan.options.seed,
        facts=hello.facts,
    )
    write_set_file(plan.into, header)
    rewrites = {family.id: tuple(r.id for r in family.rewrites) for family in plan.families}
    for folder, family in zip(plan.folders, plan.families, strict=True):
        write_capture(plan.into, capture_family(client, hello, folder, family, plan.options, step))
    return finish_set(plan.into, rewrites)


def finish_set(folder: Path, rewrites: dict[str, tuple[str, ...]] | None = None) -> CaptureSet:
    """Draw the forward option order of a set and write it into its set.toml, once all fifteen are decided.

    rewrites: rewrite ids by family, where the captures' own are not enough.
    """
    current = read_set(folder)
    families = {
        name: (rewrites or {}).get(name) or tuple(v for v in capture.variants if v != ORIGINAL)
        for name, capture in current.captures.items()
    }
    if not is_complete(current):
        return current
    winners = {name: (d.winner if (d := decide(c)).kept else None) for name, c in current.captures.items()}
    finished = replace(current, order=draw_orders(families, winners, current.seed))
    write_set_file(folder, finished)
    return finished
