"""`sparktrace run [TASK...] --player P`: tasks to a run log; what the log holds already is not asked again."""

import argparse
import asyncio
import sys
from pathlib import Path

from sparktrace_tui.cli.common import chosen_sets, family_folders, read_all
from sparktrace_tui.cli.output import Steps, emit, say
from sparktrace_tui.cli.scores import row_to_json, rows_text
from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.players.limits import Limits, limits_for
from sparktrace_tui.players.model import ModelPlayer, PlayerSettings
from sparktrace_tui.players.protocol import Player
from sparktrace_tui.players.registry import make_player, parse_spec
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.runs import engine
from sparktrace_tui.runs.consent import give_consent, has_consent
from sparktrace_tui.runs.frames import score_rows
from sparktrace_tui.runs.guards import warnings_of
from sparktrace_tui.runs.log import RunLog
from sparktrace_tui.runs.plan import chosen_tasks, header_for, items_for, log_path
from sparktrace_tui.runs.prices import read_prices
from sparktrace_tui.store.paths import kernels_dir


def run(arguments: argparse.Namespace) -> int:
    tasks = chosen_tasks(arguments.tasks)
    player = make_player(arguments.player, _settings(arguments))
    if isinstance(player, ReplayPlayer):
        arguments.captures = [player.set_id]
    sets = chosen_sets(arguments)
    if len(sets) > 1:
        raise UsageError("run uses one capture set; sets are never pooled")
    (capture_set,) = sets
    folders = family_folders(arguments.kernels)
    items = items_for(capture_set, read_all(folders), tasks, samples=arguments.samples, seed=arguments.seed)
    price = read_prices().get(player.name)
    header = header_for(items, capture_set, player, samples=arguments.samples, seed=arguments.seed)
    path = Path(arguments.out).expanduser() if arguments.out else log_path(header)
    planned = engine.estimate(items, player, price)
    if arguments.dry_run:
        emit({"log": str(path), **vars(planned)}, arguments.format, _estimate_text(planned), [vars(planned)])
        return 0
    own = sorted({name for item in items if folders[name := item.context.family].parent != kernels_dir()})
    options = engine.Options(arguments.max_cost, price, arguments.retry_failed, arguments.concurrency)
    with RunLog.open(path, header) as log:
        left = engine.estimate(items, player, price, log.settled(retry_failed=arguments.retry_failed))
        _consent(arguments, left, own, player)
        result = asyncio.run(_run(items, player, log, options))
        said: tuple[str, ...] = ()
        if isinstance(player, ModelPlayer):
            said = warnings_of(parse_spec(player.name).model, log.records).messages
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


def _consent(arguments: argparse.Namespace, planned: engine.Estimate, own: list[str], player: Player) -> None:
    """Ask before many paid requests, and once before a user's own kernels leave this machine."""
    if planned.needs_consent and not arguments.yes:
        _ask(f"{planned.requests} paid requests to {player.name} ({_estimate_text(planned)}). Send them?", "--yes")
    provider = parse_spec(player.name).provider
    if own and planned.paid and planned.requests and not has_consent(provider):
        if not arguments.yes:
            _ask(f"This sends your own kernels ({', '.join(own)}) to {provider}. Send them?", "--yes")
        give_consent(provider)


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
