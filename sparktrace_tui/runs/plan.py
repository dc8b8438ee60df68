"""What a run asks and what its log is called: from a capture set and a player to items, header and file."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import sparktrace_tui
from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.domain.quiz.question import EVIDENCE, ORDERS, Evidence, Order, Question, answer_key, task_name
from sparktrace_tui.players.protocol import Context, Player
from sparktrace_tui.runs.engine import Item, describe, with_samples
from sparktrace_tui.runs.log import PACE, Header
from sparktrace_tui.runs.match import options_context, rules_shown
from sparktrace_tui.runs.questions import build_questions
from sparktrace_tui.store.paths import user_data_dir

TASKS: Mapping[str, tuple[Evidence, Order]] = {task_name(e, o): (e, o) for e in EVIDENCE for o in ORDERS}


def chosen_tasks(words: Sequence[str]) -> tuple[str, ...]:
    """The tasks that the words name, in the order of the six: whole names, or `source`, `full-mirror`, ...; all six for
    none. UsageError lists them."""
    if not words:
        return tuple(TASKS)
    named: set[str] = set()
    for word in words:
        parts = word.removeprefix("kernel-compass-")
        hits = [task for task in TASKS if (task.removeprefix("kernel-compass-") + "-").startswith(parts + "-")]
        if not hits:
            raise UsageError(f"no task {word!r}", hint=f"Tasks: {', '.join(TASKS)}.")
        named.update(hits)
    return tuple(task for task in TASKS if task in named)


def item_for(question: Question, capture_set: CaptureSet, family: Family, *, seed: int = 0, sample: int = 0) -> Item:
    """One question as an item; nothing of the key is in it."""
    context = Context(
        set_id=question.set_id,
        family=question.family,
        evidence=question.evidence,
        order=question.order,
        options=options_context(question.options, family),
        rules=rules_shown(question, capture_set),
        sample=sample,
        seed=seed,
    )
    return Item(question.task, question.prompt, context)


def items_for(
    capture_set: CaptureSet,
    families: Mapping[str, Family],
    tasks: Sequence[str] = tuple(TASKS),
    *,
    samples: int = 1,
    seed: int = 0,
) -> list[Item]:
    """Every item of the tasks, one a kept family and sample. BadInput where the set asks no question."""
    kinds = [TASKS[task] for task in tasks]
    items = [
        item_for(question, capture_set, families[question.family], seed=seed)
        for question in build_questions(capture_set, families)
        if (question.evidence, question.order) in kinds
    ]
    if not items:
        raise BadInput(
            f"{capture_set.id} asks no question in {', '.join(tasks)}",
            hint="`sparktrace families` says which families are kept and why.",
        )
    return with_samples(items, samples)


def prompts_hash(items: Sequence[Item]) -> str:
    """SHA-256 over the prompts of a run with their tasks and families: what two runs must share to be one."""
    digest = hashlib.sha256()
    for item in sorted(items, key=lambda i: i.key):
        if item.context.sample == 0:
            digest.update(f"{item.task}\0{item.context.family}\0{item.prompt}\0".encode())
    return digest.hexdigest()


def header_for(
    items: Sequence[Item], capture_set: CaptureSet, player: Player, *, samples: int = 1, seed: int = 0
) -> Header:
    """The header of a run's log."""
    names = dict.fromkeys(item.context.family for item in items)
    answers = {name: answer_key(capture_set, name) for name in names}
    return Header(
        player=player.name,
        set_id=capture_set.id,
        provenance=capture_set.provenance,
        tasks=tuple(dict.fromkeys(item.task for item in items)),
        answers={name: winner for name, winner in answers.items() if winner is not None},
        version=sparktrace_tui.__version__,
        settings=dict(describe(player)),
        samples=samples,
        seed=seed,
        prompt_manifest=prompts_hash(items),
        device=capture_set.device.name,
    )


def runs_dir(data_dir: Path | None = None) -> Path:
    """The user's run logs."""
    return (data_dir or user_data_dir()) / "runs"


def log_path(header: Header, data_dir: Path | None = None) -> Path:
    """Where the log of this run is unless the user says otherwise: the same for the same run, so that it resumes."""
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{header.player}-{header.set_id}").strip("-.")[:80]
    settings = sorted((k, v) for k, v in header.settings.items() if k not in PACE)
    same = f"{header.prompt_manifest}|{settings}|{header.seed}|{header.samples}"
    mark = hashlib.sha256(same.encode()).hexdigest()[:8]
    return runs_dir(data_dir) / f"{words}-{mark}.jsonl"
