"""`sparktrace run [TASK...] --player P`: tasks to a run log; what the log holds already is not asked again."""

import argparse
import asyncio
import hashlib
import re
import sys
from datetime import date
from pathlib import Path

from sparktrace_tui import __version__
from sparktrace_tui.cli.common import chosen_sets, family_folders, read_all
from sparktrace_tui.cli.output import Steps, emit, say
from sparktrace_tui.cli.scores import row_to_json, rows_text
from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.domain.quiz.question import EVIDENCE, ORDERS, Question, answer_key, task_name
from sparktrace_tui.players.limits import Limits, limits_for
from sparktrace_tui.players.model import ModelPlayer, PlayerSettings
from sparktrace_tui.players.protocol import Context, Player
from sparktrace_tui.players.registry import make_player, parse_spec
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.runs import engine
from sparktrace_tui.runs.frames import score_rows
from sparktrace_tui.runs.guards import warnings_of
from sparktrace_tui.runs.log import Header, RunLog
from sparktrace_tui.runs.match import options_context, rules_shown
from sparktrace_tui.runs.prices import read_prices
from sparktrace_tui.runs.questions import build_questions
from sparktrace_tui.store.paths import bundled, kernels_dir, user_data_dir

TASKS = tuple(task_name(evidence, order) for evidence in EVIDENCE for order in ORDERS)


def run(arguments: argparse.Namespace) -> int:
    for task in arguments.tasks:
        if task not in TASKS:
            raise UsageError(f"no task {task!r}", hint=f"Tasks: {', '.join(TASKS)}.")
    player = make_player(arguments.player, _settings(arguments))
    if isinstance(player, ReplayPlayer):
        arguments.captures = [player.set_id]
    sets = chosen_sets(arguments)
    if len(sets) > 1:
        raise UsageError("run uses one capture set; sets are never pooled")
    (capture_set,) = sets
    folders = family_folders(arguments.kernels)
    families = read_all(folders)
    tasks = tuple(arguments.tasks) or TASKS
    questions = [q for q in build_questions(capture_set, families) if q.task in tasks]
    if not questions:
        raise BadInput(f"{capture_set.id} asks no question", hint="`sparktrace families` says why.")
    items = [
        _item(q, capture_set, families[q.family], sample, arguments.seed)
        for sample in range(arguments.samples)
        for q in questions
    ]
    price = read_prices().get(player.name)
    header = _header(arguments, player, capture_set, questions, tasks)
    path = Path(arguments.out).expanduser() if arguments.out else _log_path(player, capture_set)
    planned = engine.estimate(items, player, price)
    if arguments.dry_run:
        emit({"log": str(path), **vars(planned)}, arguments.format, _estimate_text(planned), [vars(planned)])
        return 0
    own = [name for name in {q.family for q in questions} if folders[name].parent != kernels_dir()]
    options = engine.Options(arguments.max_cost, price, arguments.retry_failed, arguments.concurrency)
    with RunLog.open(path, header) as log:
        left = engine.estimate(items, player, price, log.settled(retry_failed=arguments.retry_failed))
        _consent(arguments, left, own, player)
        result = asyncio.run(_run(items, player, log, options))
        said = (
            warnings_of(parse_spec(player.name).model, log.records).messages if isinstance(player, ModelPlayer) else ()
        )
    for line in said:
        say(f"warning: {line}")
    say(f"log: {path}")
    rows = score_rows(path)
    document = {
        "log": str(path),
        "complete": result.complete,
        "stopped": result.stopped,
        "why": result.why,
        "warnings": list(said),
        "scores": [row_to_json(row) for row in rows],
    }
    emit(document, arguments.format, rows_text(rows), [row_to_json(row) for row in rows])
    return 0 if result.complete else 1


def _settings(arguments: argparse.Namespace) -> PlayerSettings:
    limits = None
    if arguments.concurrency is not None or arguments.per_minute is not None:
        usual = limits_for("")
        limits = Limits(arguments.concurrency or usual.concurrency, arguments.per_minute)
    return PlayerSettings(
        thinking=arguments.thinking,
        max_output=arguments.max_output,
        temperature=arguments.temperature,
        timeout_s=arguments.timeout,
        limits=limits,
    )


def _item(question: Question, capture_set: CaptureSet, family: Family, sample: int, seed: int) -> engine.Item:
    context = Context(
        set_id=capture_set.id,
        family=family.id,
        evidence=question.evidence,
        order=question.order,
        options=options_context(question.options, family),
        rules=rules_shown(question, capture_set),
        sample=sample,
        seed=seed,
    )
    return engine.Item(question.task, question.prompt, context)


def _header(
    arguments: argparse.Namespace,
    player: Player,
    capture_set: CaptureSet,
    questions: list[Question],
    tasks: tuple[str, ...],
) -> Header:
    answers = {q.family: winner for q in questions if (winner := answer_key(capture_set, q.family)) is not None}
    prompts = hashlib.sha256("".join(q.prompt for q in questions).encode("utf-8")).hexdigest()
    return Header(
        player=player.name,
        set_id=capture_set.id,
        provenance=capture_set.provenance,
        tasks=tasks,
        answers=answers,
        version=__version__,
        settings=player.describe() if isinstance(player, ModelPlayer) else {},
        samples=arguments.samples,
        seed=arguments.seed,
        prompt_manifest=_manifest_hash(capture_set) or prompts,
        device=capture_set.device.id,
    )


def _manifest_hash(capture_set: CaptureSet) -> str | None:
    path = bundled("prompts") / capture_set.id / "manifest.json"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _log_path(player: Player, capture_set: CaptureSet) -> Path:
    """One log a player and set: the same command resumes it."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", player.name)
    return user_data_dir() / "runs" / f"{name}@{capture_set.id}.jsonl"


def _consent(arguments: argparse.Namespace, planned: engine.Estimate, own: list[str], player: Player) -> None:
    """Ask before many paid requests, and once before a user's own kernels leave this machine."""
    if planned.needs_consent and not arguments.yes:
        _ask(f"{planned.requests} paid requests to {player.name} ({_estimate_text(planned)}). Send them?", "--yes")
    told = user_data_dir() / "sent-own-kernels"
    if own and planned.paid and planned.requests and not told.exists():
        if not arguments.yes:
            _ask(f"This sends your own kernels ({', '.join(sorted(own))}) to {player.name}. Send them?", "--yes")
        told.parent.mkdir(parents=True, exist_ok=True)
        told.write_text(f"agreed on {date.today().isoformat()}\n", encoding="utf-8")


def _ask(question: str, option: str) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(question, hint=f"Without a terminal to ask at, say {option}.")
    say(f"{question} [y/N]")
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise UsageError("not sent")


async def _run(items: list[engine.Item], player: Player, log: RunLog, options: engine.Options) -> engine.Result:
    steps = Steps()

    def progress(event: engine.Event) -> None:
        match event:
            case engine.Began(snapshot, recovered):
                if recovered:
                    say(recovered)
                if snapshot.resumed:
                    say(f"resumed: {snapshot.resumed} of {snapshot.total} are in the log")
            case engine.Retrying(error, wait):
                steps(player.name, f"waits {wait:.1f} s: {error}")
            case engine.Answered(_, snapshot):
                steps(player.name, _where(snapshot))
            case engine.Ended(snapshot, stopped, why):
                steps.done()
                if stopped:
                    say(f"stopped: {why}; {snapshot.total - snapshot.done} left, the same command goes on")

    try:
        return await engine.run(items, player, log, options, progress)
    finally:
        await player.close()


def _where(snapshot: engine.Snapshot) -> str:
    parts = [f"{snapshot.done}/{snapshot.total}"]
    if snapshot.failed:
        parts.append(f"{snapshot.failed} failed")
    if snapshot.rate:
        parts.append(f"{snapshot.rate:.0f}/min")
    parts.append(f"cost {snapshot.cost:.4f}" if snapshot.cost is not None else "cost n/a")
    if snapshot.left_s:
        parts.append(f"{snapshot.left_s:.0f} s left")
    return ", ".join(parts)


def _estimate_text(planned: engine.Estimate) -> str:
    cost = "n/a (no price)" if planned.cost is None else f"about {planned.cost:.4f}, at most {planned.worst_cost:.4f}"
    return (
        f"{planned.requests} requests, about {planned.input_tokens} input tokens "
        f"(largest prompt {planned.largest_prompt_tokens}), cost {cost if planned.paid else 'nothing'}"
    )
