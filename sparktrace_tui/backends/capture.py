"""Makes captures: verify every variant, time the family, profile the original; one file a family, then the set."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sparktrace_tui.backends.client import Cancelled, Client, WorkerDied, WorkerHung
from sparktrace_tui.backends.protocol import Hello, Options, Profile, Timing, Verification
from sparktrace_tui.backends.steps import Steps
from sparktrace_tui.domain.errors import SparkTraceError, UsageError
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
from sparktrace_tui.store.captures import SET_FILE, is_complete, read_capture, read_set, write_capture, write_set_file
from sparktrace_tui.store.files import write_atomic

Step = Callable[[str, str], None]  # what is being worked on, and what is done with it
NOT_COMPARED = ("date",)  # facts that may differ between a capture and one that would be the same


@dataclass(frozen=True)
class Plan:
    """What to capture and where to.

    `shard` is (I, N), counted from 1: this process takes every Nth family, and others take the rest into the same
    folder. `again`: families that are captured already are captured once more.
    """

    folders: Sequence[Path]
    families: Sequence[Family]
    into: Path
    options: Options
    shard: tuple[int, int] = (1, 1)
    again: bool = False

    def mine(self) -> list[tuple[Path, Family]]:
        """The families of this shard with their folders; UsageError where there is no such shard."""
        index, count = self.shard
        if not 1 <= index <= count:
            raise UsageError(f"there is no shard {index}/{count}", hint="A shard is I/N with I from 1 to N.")
        return list(zip(self.folders, self.families, strict=True))[index - 1 :: count]


def verify_variant(client: Client, folder: Path, variant: str, options: Options, step: Step) -> Verification:
    """Verify one variant; a worker that dies or hangs is the variant's verdict, not ours."""
    try:
        return client.verify(folder, variant, options, lambda text: step(f"{folder.name}/{variant}", text))
    except WorkerHung as error:
        return Verification(variant, "hang", (), (error.message,))
    except WorkerDied as error:
        return Verification(variant, "crash", (), (error.message,))


def made_by(hello: Hello, folder: Path, options: Options) -> dict[str, str]:
    """What decides a capture: the device and its tools, the family's files, and the options."""
    return {
        **hello.facts,
        "seed": str(options.seed),
        "sampling": "yes" if options.sampling else "no",
        "sources_sha256": sources_hash(folder),
    }


def is_current(made: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether what was made under `made` would come out the same again (the day does not matter)."""
    return all(made.get(key) == value for key, value in wanted.items() if key not in NOT_COMPARED)


@dataclass
class _Work:
    """One family on its way: every finished request is on disk before the next, so that a kill loses only one."""

    client: Client
    hello: Hello
    folder: Path
    family: Family
    options: Options
    step: Step
    steps: Steps
    problems: list[str] = field(default_factory=list)

    def progress(self, text: str) -> None:
        self.step(self.family.id, text)

    def verify(self) -> dict[str, Verification]:
        return {
            v.id: self.steps.verification(
                v.id, lambda name: verify_variant(self.client, self.folder, name, self.options, self.step)
            )
            for v in self.family.variants
        }

    def time(self, correct: tuple[str, ...]) -> dict[str, Timing]:
        if not correct:
            return {}
        try:
            return self.steps.timings(
                correct, lambda names: self.client.time(self.folder, names, self.options, self.progress)
            )
        except Cancelled:
            raise
        except SparkTraceError as error:
            if self.hello.provenance != "measured":
                raise
            self.problems.append(f"no times: {error.message}")
            return {}

    def profile(self, variant: str) -> Profile:
        """The original with its report; rewrites on a real GPU with their resources alone, which takes no profiler."""
        measured = self.hello.provenance == "measured"
        options = replace(self.options, report=self.options.report and (variant == ORIGINAL or not measured))

        def ask(name: str) -> Profile:
            try:
                return self.client.profile(self.folder, name, options, self.progress)
            except Cancelled:
                raise
            except SparkTraceError as error:
                if not measured:
                    raise
                why = f"no report: {error.message}"
            try:
                found = self.client.profile(self.folder, name, replace(options, report=False), self.progress)
            except (WorkerDied, WorkerHung) as error:
                return Profile(name, {}, {}, None, (why, error.message))
            return replace(found, notes=(*found.notes, why))

        return self.steps.profile(variant, ask)


def capture_family(
    client: Client,
    hello: Hello,
    folder: Path,
    family: Family,
    options: Options,
    step: Step,
    steps: Steps | None = None,
) -> tuple[Capture, dict[str, Timing]]:
    """Verify, time and profile one family; the capture, and the timings with their raw data.

    Variants that are not correct have no time. `steps` remembers what was done before a kill.
    """
    made = made_by(hello, folder, options)
    work = _Work(client, hello, folder, family, options, step, steps or Steps(None, made))
    checked = work.verify()
    correct = tuple(name for name, result in checked.items() if result.verdict == "correct")
    timings = work.time(correct)
    profiles = {name: work.profile(name) for name in correct}
    original = profiles.get(ORIGINAL)
    report = report_from_json(original.report) if original is not None and original.report is not None else None
    capture = Capture(
        family=family.id,
        provenance=_provenance(hello),
        variants={name: _record(result, timings.get(name), profiles.get(name)) for name, result in checked.items()},
        report=report,
        stability=_stability(timings),
        made={**made, **_remarks(checked, timings, profiles, work.problems)},
    )
    return capture, timings


def _remarks(
    checked: Mapping[str, Verification],
    timings: Mapping[str, Timing],
    profiles: Mapping[str, Profile],
    problems: Sequence[str],
) -> dict[str, str]:
    """What is to be known of how it went, in words: notes of the report, verdicts' reasons, clocks."""
    original = profiles.get(ORIGINAL)
    found = {"notes": "; ".join(original.notes) if original else ""}
    reasons = [
        f"{name}: {result.verdict}: {result.message or '; '.join(result.notes)}"
        for name, result in checked.items()
        if result.verdict != "correct"
    ]
    reasons += [f"{name}: {timing.wrong}" for name, timing in timings.items() if timing.wrong]
    if reasons or problems:
        found["problems"] = "; ".join([*reasons, *problems])
    bound = [name for name, timing in timings.items() if timing.raw.get("host_bound")]
    if bound:
        found["host_bound"] = ", ".join(bound)
    for timing in timings.values():
        session = timing.raw.get("session")
        if session:
            found["clock_mhz"] = str(session["clock_mhz"])
            if session["throttled_blocks"]:
                found["throttled_blocks"] = ", ".join(str(n + 1) for n in session["throttled_blocks"])
    return found


def _provenance(hello: Hello) -> Provenance:
    return "measured" if hello.provenance == "measured" else "emulated"


def _record(result: Verification, timing: Timing | None, profile: Profile | None) -> VariantRecord:
    resources = profile.resources if profile else {}
    return VariantRecord(
        verdict="wrong" if timing is not None and timing.wrong else result.verdict,
        time=None if timing is None else Time(_round(timing.median_ms), False, timing.blocks_ms),
        resources=Resources(**resources),  # type: ignore[arg-type]
        counters={name: _plain(value) for name, value in profile.counters.items()} if profile else {},
        bound=(
            Bound(timing.bound, {k: round(v, 4) for k, v in timing.shares.items()})
            if timing is not None and timing.bound
            else None
        ),
    )


def _round(value: float) -> float:
    """Six significant digits: more than a model or a clock knows, and the same on every machine."""
    return float(f"{value:.6g}")


def _plain(value: float) -> float:
    """A count as an integer, a ratio to six significant digits."""
    return int(value) if float(value).is_integer() else _round(value)


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

    A family that is there already, of the same sources, tools and options, is not captured again; what a kill left
    unfinished goes on after the last finished step. The letters are drawn from the seed once the set is complete.
    UsageError where the folder holds a set of another device.
    """
    hello = client.hello()
    mine = plan.mine()
    options = plan.options
    if hello.provenance == "measured":
        options = replace(options, keep_reports=str(plan.into))
    _write_header(plan, hello)
    for folder, family in mine:
        wanted = made_by(hello, folder, options)
        if not plan.again and _is_captured(plan.into, family.id, wanted):
            step(family.id, "captured already")
            continue
        steps = Steps(plan.into / f".{family.id}.steps.jsonl", wanted)
        capture, timings = capture_family(client, hello, folder, family, options, step, steps)
        _write_raw(plan.into, family.id, timings)
        write_capture(plan.into, capture)
        steps.remove()
    return finish_set(plan.into, {family.id: tuple(r.id for r in family.rewrites) for family in plan.families})


def add_profile(
    client: Client,
    folder: Path,
    family: Family,
    variant: str,
    into: Path,
    options: Options,
    step: Step,
    tell: Callable[[Profile], None] = lambda profile: None,
) -> Capture:
    """Profile one variant of a captured family and put what was read into its capture: counters, and the original's
    report. `tell` gets the whole profile. Raises what the profile raises; the capture then stays as it was.
    """
    capture = read_capture(into / f"{family.id}.json")
    wanted = replace(options, report=True, keep_reports=options.keep_reports or str(into))
    profile = client.profile(folder, variant, wanted, lambda text: step(f"{family.id}/{variant}", text))
    tell(profile)
    record = replace(capture.variants[variant], counters=dict(profile.counters))
    report, made = capture.report, dict(capture.made)
    if variant == ORIGINAL and profile.report is not None:
        report = report_from_json(profile.report)
        made["notes"] = "; ".join(profile.notes)
    changed = replace(capture, variants={**capture.variants, variant: record}, report=report, made=made)
    write_capture(into, changed)
    return changed


def _is_captured(into: Path, family: str, wanted: Mapping[str, str]) -> bool:
    path = into / f"{family}.json"
    if not path.is_file():
        return False
    try:
        return is_current(read_capture(path).made, wanted)
    except SparkTraceError:
        return False  # torn or of another format: made anew


def _write_header(plan: Plan, hello: Hello) -> None:
    """Write what the set is before its first family; the letters of a set that goes on are kept until the end."""
    order: Mapping[str, tuple[str, ...]] = {}
    if (plan.into / SET_FILE).is_file():
        before = read_set(plan.into)
        if before.device.id != hello.device["id"] or before.provenance != _provenance(hello):
            raise UsageError(
                f"{plan.into} holds a set of {before.label}; this is {hello.device['id']} · {hello.provenance}",
                hint="Choose another name with --set, or another folder with --into.",
            )
        order = before.order if before.seed == plan.options.seed else {}
    header = CaptureSet(
        id=plan.into.name,
        provenance=_provenance(hello),
        device=Device(**hello.device),
        captures={},
        seed=plan.options.seed,
        order=order,
        facts=hello.facts,
    )
    write_set_file(plan.into, header)


def _write_raw(into: Path, family: str, timings: Mapping[str, Timing]) -> None:
    """Keep what timing drew and read, one record a line: the session, then its blocks."""
    sessions = [timing.raw["session"] for timing in timings.values() if "session" in timing.raw]
    if not sessions:
        return
    session = sessions[0]
    variants = {
        name: {key: value for key, value in timing.raw.items() if key != "session"} for name, timing in timings.items()
    }
    lines: list[Mapping[str, object]] = [
        {**{key: value for key, value in session.items() if key not in ("blocks", "set_aside")}, "variants": variants},
        *({"block": number, **block} for number, block in enumerate(session["blocks"])),
        *({"set_aside": True, **block} for block in session["set_aside"]),
    ]
    text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
    write_atomic(into / f"{family}.timing.jsonl", text)


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
