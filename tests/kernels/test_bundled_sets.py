"""The bundled emulated sets: complete, decided, balanced, current, and made again byte for byte."""

import json
from collections import Counter
from pathlib import Path

import pytest

from sparktrace_tui.backends.capture import sources_hash
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import CAUSAL_FAMILIES, FAMILY_IDS, Family
from sparktrace_tui.domain.kernel.key import decide
from sparktrace_tui.domain.quiz.order import LETTERS
from sparktrace_tui.domain.quiz.question import ORDERS, answer_key, options_for
from sparktrace_tui.export.prompts import CANARY, check_prompts, frozen_files
from sparktrace_tui.store.captures import default_set, is_complete, read_set
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import bundled, kernels_dir
from tests.conftest import CommandLine

SETS = ("gb10-emulated", "h200-emulated")


@pytest.fixture(scope="module")
def families() -> dict[str, Family]:
    return {name: read_family(kernels_dir() / name) for name in FAMILY_IDS}


@pytest.fixture(scope="module", params=SETS)
def capture_set(request: pytest.FixtureRequest) -> CaptureSet:
    return read_set(bundled("captures") / request.param)


def test_all_fifteen_are_kept_and_stable_under_the_models_constants(capture_set: CaptureSet) -> None:
    assert is_complete(capture_set)
    decisions = {name: decide(capture) for name, capture in capture_set.captures.items()}
    assert all(d.kept for d in decisions.values()), {n: d.reason for n, d in decisions.items() if not d.kept}
    assert all(d.stability is not None and d.stability >= 0.95 for d in decisions.values())
    assert all(r.verdict == "correct" for c in capture_set.captures.values() for r in c.variants.values())
    assert sum(len(c.variants) for c in capture_set.captures.values()) == 75


def test_both_devices_have_the_same_winners() -> None:
    one, two = (read_set(bundled("captures") / name) for name in SETS)
    assert {n: decide(c).winner for n, c in one.captures.items()} == {
        n: decide(c).winner for n, c in two.captures.items()
    }


def test_the_default_is_the_emulated_gb10_while_there_is_no_measured_set() -> None:
    assert default_set().name == "gb10-emulated"


def test_no_capture_is_older_than_its_sources(capture_set: CaptureSet) -> None:
    for name, capture in capture_set.captures.items():
        assert capture.made["sources_sha256"] == sources_hash(kernels_dir() / name), f"{name}: run make captures"


def test_a_letter_tells_nothing(capture_set: CaptureSet, families: dict[str, Family]) -> None:
    keys: dict[str, Counter[str]] = {order: Counter() for order in ORDERS}
    for name, family in families.items():
        for order in ORDERS:
            options = options_for(capture_set, family, order)
            winner = answer_key(capture_set, name)
            keys[order][next(letter for letter, variant in options.items() if variant == winner)] += 1
    assert all(keys["forward"][letter] in (3, 4) for letter in LETTERS)
    assert all(keys["forward"][letter] + keys["mirror"][letter] in (7, 8) for letter in LETTERS)


def test_the_length_of_a_source_tells_little(capture_set: CaptureSet, families: dict[str, Family]) -> None:
    shortest = longest = 0
    for name, family in families.items():
        sizes = {rewrite.id: len(rewrite.source) for rewrite in family.rewrites}
        winner = answer_key(capture_set, name)
        shortest += min(sizes, key=lambda v: sizes[v]) == winner
        longest += max(sizes, key=lambda v: sizes[v]) == winner
    assert shortest <= 6
    assert longest <= 6


def test_in_the_causal_families_one_rewrite_only_removes_the_conflicts(
    capture_set: CaptureSet, families: dict[str, Family]
) -> None:
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
    for name in CAUSAL_FAMILIES:
        records = capture_set.captures[name].variants
        winner = answer_key(capture_set, name)
        fixes = [r.id for r in families[name].rewrites if "SharedMemoryConflicts" in r.addresses and r.id != winner]
        assert records["original"].counters[conflicts] > 0
        assert any(records[fix].counters[conflicts] == 0 for fix in fixes), name


def test_the_frozen_prompts_are_those_of_the_set_and_hold_no_answer(
    capture_set: CaptureSet, families: dict[str, Family]
) -> None:
    folder = bundled("prompts") / capture_set.id
    assert check_prompts(folder, frozen_files(capture_set, families)) == []
    assert CANARY in (folder / "keys.json").read_text()
    for path in folder.glob("*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert len(lines) == 15
        for line in lines:
            assert CANARY not in line["prompt"]
            assert "a modelled time" in line["prompt"]
            assert ("(emulated:" in line["prompt"]) == (line["evidence"] != "source")
            capture = capture_set.captures[line["family"]]
            for rewrite in line["options"].values():
                time = capture.variants[rewrite].time
                assert time is not None
                assert f"{time.median_ms:g}" not in line["prompt"].split("## Profiler report")[0]


@pytest.mark.parametrize("family", ["clamp_smem", "stride_copy", "warp_reduce"])
def test_the_same_command_makes_the_same_bytes(sparktrace: CommandLine, tmp_path: Path, family: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="the extra `compile` is not installed")
    done = sparktrace("capture", family, "--backend", "emulated", "--device", "gb10", "--into", str(tmp_path))
    assert done.returncode == 0, done.stderr
    made = (tmp_path / "gb10-emulated" / f"{family}.json").read_bytes()
    assert made == (bundled("captures") / "gb10-emulated" / f"{family}.json").read_bytes()
