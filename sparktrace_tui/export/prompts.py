"""Frozen prompts: one JSON-lines file a task, a manifest of hashes, and the keys in a file apart.

Everything is derived from the set, the families and the templates; `check` builds it anew and names what drifted.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.domain.quiz.question import Question, answer_key
from sparktrace_tui.runs.questions import build_questions
from sparktrace_tui.store.files import to_json, write_atomic

KEYS_FILE = "keys.json"
MANIFEST_FILE = "manifest.json"
# Stands in the file of keys alone: text that holds it was made with the answers at hand.
CANARY = "sparktrace-answer-key-canary-0b6f5d1e-5c1c-4a55-9d38-1f6a7f7f2a90"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def tasks_of(capture_set: CaptureSet, families: Mapping[str, Family]) -> dict[str, list[Question]]:
    """The questions of a set by task."""
    tasks: dict[str, list[Question]] = {}
    for question in build_questions(capture_set, families):
        tasks.setdefault(question.task, []).append(question)
    return tasks


def question_to_json(question: Question) -> dict[str, Any]:
    """One line of a task's file: the prompt with its hash, and which variant each letter is. No key."""
    return {
        "set": question.set_id,
        "provenance": question.provenance,
        "family": question.family,
        "evidence": question.evidence,
        "order": question.order,
        "options": dict(question.options),
        "prompt_sha256": sha256(question.prompt),
        "prompt": question.prompt,
    }


def task_files(tasks: Mapping[str, list[Question]]) -> dict[str, str]:
    """`<task>.jsonl` -> its text."""
    return {
        f"{task}.jsonl": "".join(json.dumps(question_to_json(q), ensure_ascii=False) + "\n" for q in questions)
        for task, questions in tasks.items()
    }


def keys_of(capture_set: CaptureSet, tasks: Mapping[str, list[Question]]) -> dict[str, Any]:
    """The right letter by task and family, with the canary."""
    keys: dict[str, dict[str, str]] = {}
    for task, questions in tasks.items():
        for question in questions:
            winner = answer_key(capture_set, question.family)
            if winner is not None:
                keys.setdefault(task, {})[question.family] = question.letter_of(winner)
    return {"canary": CANARY, "set": capture_set.id, "provenance": capture_set.provenance, "key": keys}


def frozen_files(capture_set: CaptureSet, families: Mapping[str, Family]) -> dict[str, str]:
    """Every file of `prompts/<set>/`, by name."""
    tasks = tasks_of(capture_set, families)
    files = task_files(tasks)
    manifest = {
        "set": capture_set.id,
        "provenance": capture_set.provenance,
        "questions": {task: len(questions) for task, questions in tasks.items()},
        "sha256": {name: sha256(text) for name, text in files.items()},
    }
    files[KEYS_FILE] = to_json(keys_of(capture_set, tasks))
    files[MANIFEST_FILE] = to_json(manifest)
    return files


def write_prompts(folder: Path, files: Mapping[str, str]) -> None:
    """Write `prompts/<set>/`; a task that no longer exists is removed."""
    for name, text in files.items():
        write_atomic(folder / name, text)
    for path in folder.glob("*.jsonl"):
        if path.name not in files:
            path.unlink()


def check_prompts(folder: Path, files: Mapping[str, str]) -> list[str]:
    """What differs between the folder and what the set gives now: a line a file, with the families that differ."""
    drift = []
    for name, text in files.items():
        try:
            frozen = (folder / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            drift.append(f"{folder.name}/{name} is missing")
            continue
        except OSError as error:
            raise CannotReadOrWrite(f"cannot read {folder / name}: {error.strerror or error}") from error
        if frozen != text:
            drift.append(f"{folder.name}/{name} has drifted{_where(frozen, text)}")
    names = {path.name for path in folder.glob("*.jsonl")} if folder.is_dir() else set()
    return drift + [f"{folder.name}/{name} is not of this set" for name in sorted(names - set(files))]


def _where(frozen: str, text: str) -> str:
    families = []
    for old, new in zip(frozen.splitlines(), text.splitlines(), strict=False):
        if old != new:
            try:
                families.append(str(json.loads(new)["family"]))
            except (json.JSONDecodeError, KeyError, TypeError):
                return ""
    return f" ({', '.join(families)})" if families else ""
