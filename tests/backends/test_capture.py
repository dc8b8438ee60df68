"""Capturing a set: one process or several, killed and taken up again."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sparktrace_tui.backends.capture import is_current
from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.domain.kernel.family import FAMILY_IDS
from sparktrace_tui.domain.kernel.key import decide
from sparktrace_tui.store.captures import is_complete, read_set
from tests.backends import tiny_capture
from tests.backends.gpu_stub import FamilyMaker

KILLS = int(os.environ.get("SPARKTRACE_KILLS", "3"))  # the release check runs 20
PROGRAM = str(Path(__file__).parent / "tiny_capture.py")
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "requests.log"
    monkeypatch.setenv("TINY_LOG", str(path))
    return path


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a set by name, hidden ones included."""
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def capture(kernels: Path, into: Path, shard: str = "1/1", again: bool = False) -> None:
    tiny_capture.main(str(kernels), str(into), shard, again)


def test_a_complete_set_has_every_family_decided_and_its_letters_drawn(
    family: FamilyMaker, log: Path, tmp_path: Path
) -> None:
    family.many(FAMILY_IDS)
    capture(family.root, tmp_path / "set")
    made = read_set(tmp_path / "set")
    assert is_complete(made)
    assert {decide(c).winner for c in made.captures.values()} == {"registers"}
    places = Counter(made.order[name].index("registers") for name in FAMILY_IDS)
    assert sorted(places.values()) == [3, 4, 4, 4]


def test_a_set_that_is_killed_again_and_again_loads_each_time_and_loses_one_request_a_kill(
    family: FamilyMaker, log: Path, tmp_path: Path, run_python: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = FAMILY_IDS[:4]
    family.many(names)
    whole, into = tmp_path / "whole", tmp_path / "set"
    capture(family.root, whole)
    wanted = Counter(log.read_text().splitlines())
    assert set(wanted.values()) == {1}
    log.unlink()
    monkeypatch.setenv("TINY_SLEEP", "0.02")  # so that a kill has something to interrupt
    rng = random.Random(11)
    kills = 0
    for _ in range(KILLS):
        running = run_python(PROGRAM, str(family.root), str(into))
        before = len(log.read_text().splitlines()) if log.exists() else 0
        # Wait for a drawn number of requests, then a drawn moment more.
        enough = before + rng.randint(0, max(1, (len(wanted) - before) // 3))
        while running.poll() is None and (len(log.read_text().splitlines()) if log.exists() else 0) < enough:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.05))
        if running.poll() is None:
            os.kill(running.pid, signal.SIGKILL)
            kills += 1
        running.communicate()
        if (into / "set.toml").exists():
            read_set(into)
    monkeypatch.setenv("TINY_SLEEP", "0")
    capture(family.root, into)
    done = Counter(log.read_text().splitlines())
    assert set(done) == set(wanted)
    assert sum(done.values()) - len(wanted) <= kills
    assert files(into) == files(whole)


def test_a_finished_family_is_captured_again_only_where_its_sources_or_the_compiler_changed(
    family: FamilyMaker, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = family.many(FAMILY_IDS[:2])
    into = tmp_path / "set"
    capture(family.root, into)
    log.unlink()
    capture(family.root, into)
    assert not log.exists()
    (second / "padded.cu").write_text((second / "padded.cu").read_text() + "\n")
    capture(family.root, into)
    assert {line.split()[1] for line in log.read_text().splitlines()} == {second.name}
    log.unlink()
    monkeypatch.setenv("TINY_COMPILER", "2")
    capture(family.root, into)
    assert {line.split()[1] for line in log.read_text().splitlines()} == {first.name, second.name}
    log.unlink()
    capture(family.root, into, again=True)
    assert {line.split()[1] for line in log.read_text().splitlines()} == {first.name, second.name}


def test_steps_of_other_sources_are_not_taken_up(
    family: FamilyMaker, log: Path, tmp_path: Path, run_python: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder,) = family.many(FAMILY_IDS[:1])
    into = tmp_path / "set"
    monkeypatch.setenv("TINY_SLEEP", "0.3")
    running = run_python(PROGRAM, str(family.root), str(into))
    while not log.exists():
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    assert len(list(into.glob(".*.steps.jsonl"))) == 1
    (folder / "padded.cu").write_text((folder / "padded.cu").read_text() + "\n")
    log.write_text("")
    monkeypatch.setenv("TINY_SLEEP", "0")
    capture(family.root, into)
    assert log.read_text().splitlines().count(f"verify {folder.name} original") == 1
    assert not list(into.glob(".*"))


def test_shards_share_the_work_and_the_last_one_draws_the_letters(
    family: FamilyMaker, log: Path, tmp_path: Path, run_python: Start
) -> None:
    family.many(FAMILY_IDS)
    whole, into = tmp_path / "whole", tmp_path / "set"
    capture(family.root, whole)
    log.unlink()
    shards = [run_python(PROGRAM, str(family.root), str(into), f"{i}/3") for i in (1, 2, 3)]
    for shard in shards:
        output, _ = shard.communicate()
        assert shard.returncode == 0, output
    assert set(Counter(log.read_text().splitlines()).values()) == {1}  # nothing twice
    assert files(into) == files(whole)


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1/0"])
def test_a_shard_that_does_not_exist_is_a_usage_error(
    family: FamilyMaker, log: Path, tmp_path: Path, shard: str
) -> None:
    family()
    with pytest.raises(UsageError, match="there is no shard"):
        capture(family.root, tmp_path / "set", shard)


def test_a_set_of_another_device_is_not_written_into(family: FamilyMaker, log: Path, tmp_path: Path) -> None:
    family()
    into = tmp_path / "set"
    capture(family.root, into)
    text = (into / "set.toml").read_text()
    (into / "set.toml").write_text(text.replace('id = "tiny"', 'id = "other"'))
    before = files(into)
    with pytest.raises(UsageError, match=r"holds a set of other · measured; this is tiny · measured"):
        capture(family.root, into)
    assert files(into) == before


def test_a_capture_of_another_day_is_still_current_and_one_of_another_compiler_is_not() -> None:
    made = {"date": "2026-01-01", "compiler": "nvcc 13.0", "notes": "anything"}
    assert is_current(made, {"date": "2026-01-02", "compiler": "nvcc 13.0"})
    assert not is_current(made, {"date": "2026-01-01", "compiler": "nvcc 13.1"})
