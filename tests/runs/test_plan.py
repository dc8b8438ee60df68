"""What a run asks follows from the set and the words; its log is found again by the same run and no other."""

from dataclasses import replace
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import BadInput, UsageError
from sparktrace_tui.players.baselines import Baseline
from sparktrace_tui.runs.consent import CONSENT_FILE, give_consent, has_consent
from sparktrace_tui.runs.engine import run
from sparktrace_tui.runs.frames import score_rows
from sparktrace_tui.runs.log import RunLog
from sparktrace_tui.runs.plan import TASKS, chosen_tasks, header_for, items_for, log_path, prompts_hash
from sparktrace_tui.store.captures import find_set, read_set
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import kernels_dir

SOURCE = ("kernel-compass-source-forward", "kernel-compass-source-mirror")


def test_tasks_are_named_whole_or_by_evidence_and_order() -> None:
    assert chosen_tasks([]) == tuple(TASKS)
    assert chosen_tasks(["source"]) == SOURCE
    assert chosen_tasks(["full-mirror", "source-mirror"]) == (SOURCE[1], "kernel-compass-full-mirror")
    assert chosen_tasks(["kernel-compass-full-forward"]) == ("kernel-compass-full-forward",)
    for word in ("half", "sour", "mirror", ""):
        with pytest.raises(UsageError, match="no task"):
            chosen_tasks([word])


async def test_a_set_is_asked_in_both_orders_and_the_winner_found_under_either_letter(tmp_path: Path) -> None:
    capture_set = read_set(find_set("gb10-published"))
    families = {"clamp_smem": read_family(kernels_dir() / "clamp_smem")}
    items = items_for(capture_set, families, SOURCE, samples=2, seed=4)
    assert [item.context.sample for item in items] == [0, 0, 1, 1]
    forward, mirror = (list(item.context.options.values()) for item in items[:2])
    assert forward == [o for o in mirror[::-1]]
    header = header_for(items, capture_set, Baseline("shortest"), samples=2, seed=4)
    assert header.answers == {"clamp_smem": "registers"}  # SPEC.md: 0.621 ms, the fastest
    assert header.provenance == "published"
    path = log_path(header, tmp_path)
    with RunLog.open(path, header) as log:
        await run(items, Baseline("shortest"), log)
    outcomes = {item.outcome for row in score_rows(path) for item in row.items}
    assert len(outcomes) == 1  # One variant is the shortest under every letter.
    with pytest.raises(BadInput, match="asks no question"):
        items_for(capture_set, {}, SOURCE)


def test_a_log_is_named_by_what_makes_a_run_and_not_by_its_pace(tmp_path: Path) -> None:
    capture_set = read_set(find_set("gb10-published"))
    families = {"clamp_smem": read_family(kernels_dir() / "clamp_smem")}
    items = items_for(capture_set, families, SOURCE)
    header = header_for(items, capture_set, Baseline("random"))
    header = replace(header, settings={"thinking": "off", "concurrency": 4})
    path = log_path(header, tmp_path)
    assert path.parent == tmp_path / "runs"
    assert log_path(replace(header, settings={"thinking": "off", "concurrency": 9}), tmp_path) == path
    for other in (
        replace(header, settings={"thinking": "high"}), replace(header, seed=1), replace(header, samples=2),
        replace(header, player="openai:a"), replace(header, prompt_manifest=prompts_hash(items[:1])),
    ):  # fmt: skip
        assert log_path(other, tmp_path) != path
    hostile = log_path(replace(header, player="openai:../../x@http://h/v1"), tmp_path)
    assert hostile.parent == tmp_path / "runs"


def test_consent_is_kept_by_provider_and_a_broken_file_is_none(tmp_path: Path) -> None:
    assert not has_consent("openai", tmp_path)
    give_consent("openai", tmp_path)
    give_consent("google", tmp_path)
    assert [has_consent(name, tmp_path) for name in ("openai", "google", "anthropic")] == [True, True, False]
    (tmp_path / CONSENT_FILE).write_text("[]")
    assert not has_consent("openai", tmp_path)
