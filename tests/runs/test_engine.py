"""A run asks everything once, survives faults, kills and cancellation, and stops where it was told to."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite, UsageError
from sparktrace_tui.players.baselines import Baseline
from sparktrace_tui.players.faults import Fault
from sparktrace_tui.players.limits import Limits
from sparktrace_tui.players.model import ModelPlayer, PlayerSettings
from sparktrace_tui.players.protocol import Message, Reply
from sparktrace_tui.runs.engine import Answered, Began, Ended, Event, Options, Retrying, estimate, run, with_samples
from sparktrace_tui.runs.log import RunLog, read_log
from sparktrace_tui.runs.prices import Price
from tests.runs.runs_support import FaultyEndpoint, faulty_player, make_header, make_items

KILLS = int(os.environ.get("SPARKTRACE_TEST_KILLS", "3"))


def keys_in(path: Path) -> Counter[tuple[str, str, int]]:
    return Counter(record.key for record in read_log(path)[1])


async def test_five_thousand_items_with_five_percent_faults_end_complete_without_duplicates(tmp_path: Path) -> None:
    items = make_items(5000)
    path = tmp_path / "run.jsonl"
    with RunLog.open(path, make_header(items)) as log:
        result = await run(items, faulty_player(0.05, concurrency=32), log)
    assert keys_in(path) == Counter(item.key for item in items)
    # Four tries at 5% each: 0.03 items in 5,000 are expected to fail wholly.
    assert result.left == 0
    assert result.snapshot.failed <= 2
    retried = [record for record in read_log(path)[1] if record.reply.tries > 1]
    assert 150 < len(retried) < 350  # 250 expected, standard deviation 15.4
    assert all(len(record.reply.errors) == record.reply.tries - 1 for record in retried if record.reply.text)


@pytest.mark.parametrize("attempt", range(KILLS))
def test_a_killed_run_resumes_and_ends_with_every_item_once(tmp_path: Path, attempt: int) -> None:
    path, count = tmp_path / "run.jsonl", 1500
    script = Path(__file__).with_name("killed_run.py")
    words = [sys.executable, str(script), str(path), str(count)]
    moment = random.Random(attempt)
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    reached = moment.randint(0, count // 3)
    while process.poll() is None and path.read_bytes().count(b"\n") <= reached:
        time.sleep(moment.uniform(0.0, 0.003))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    written = len(read_log(path)[1])
    assert written < count
    finished = subprocess.run(words, capture_output=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr.decode()
    items = make_items(count)
    assert keys_in(path) == Counter(item.key for item in items)


@pytest.mark.parametrize("cut", [1, 30, 250])
async def test_a_torn_last_line_is_cut_off_said_and_asked_again(tmp_path: Path, cut: int) -> None:
    items = make_items(12)
    path = tmp_path / "run.jsonl"
    with RunLog.open(path, make_header(items)) as log:
        await run(items, Baseline("always-b"), log)
    whole = path.read_bytes()
    last = len(whole) - whole.rstrip(b"\n").rfind(b"\n") - 1
    path.write_bytes(whole[: len(whole) - 1 - cut])
    events: list[Event] = []
    with RunLog.open(path, make_header(items)) as log:
        assert log.recovery.torn_bytes == last - 1 - cut
        await run(items, Baseline("always-b"), log, progress=events.append)
    began = events[0]
    assert isinstance(began, Began)
    assert f"{last - 1 - cut} bytes" in began.recovered
    assert began.snapshot.resumed == 11
    assert keys_in(path) == Counter(item.key for item in items)


async def test_a_last_line_that_only_lacks_its_end_is_kept(tmp_path: Path) -> None:
    items = make_items(6)
    path = tmp_path / "run.jsonl"
    with RunLog.open(path, make_header(items)) as log:
        await run(items, Baseline("always-b"), log)
    path.write_bytes(path.read_bytes()[:-1])
    with RunLog.open(path, make_header(items)) as log:
        assert log.recovery.message == ""
        assert len(log.records) == 6
        log.append(log.records[0])
    assert sum(keys_in(path).values()) == 7


async def test_a_line_broken_in_the_middle_is_left_out_and_said(tmp_path: Path) -> None:
    items = make_items(6)
    path = tmp_path / "run.jsonl"
    with RunLog.open(path, make_header(items)) as log:
        await run(items, Baseline("always-b"), log)
    lines = path.read_bytes().split(b"\n")
    lines[3] = b"\x00\xff garbage"
    path.write_bytes(b"\n".join(lines))
    with RunLog.open(path, make_header(items)) as log:
        assert "1 lines in the middle" in log.recovery.message
        assert len(log.records) == 5


def test_a_second_process_on_one_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    items = make_items(6)
    script = Path(__file__).with_name("killed_run.py")
    with RunLog.open(path, make_header(items)):
        second = subprocess.run(
            [sys.executable, str(script), str(path), "6"], capture_output=True, text=True, timeout=60, check=False
        )
        assert second.returncode != 0
        assert "in use by another process" in second.stderr
        with pytest.raises(CannotReadOrWrite):
            RunLog.open(path, make_header(items))
    RunLog.open(path, make_header(items)).close()


def test_a_log_of_another_run_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    items = make_items(6)
    RunLog.open(path, make_header(items)).close()
    for changes in ({"player": "other"}, {"set_id": "b-set"}, {"seed": 3}, {"prompt_manifest": "f" * 64}):
        with pytest.raises(BadInput, match="another run"):
            RunLog.open(path, make_header(items, **changes))
    with pytest.raises(BadInput, match="its key differs"):
        RunLog.open(path, make_header(make_items(12)))


def test_a_resume_may_go_at_another_pace(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    items = make_items(6)
    RunLog.open(path, make_header(items, settings={"concurrency": 4, "thinking": "off"})).close()
    RunLog.open(path, make_header(items, settings={"concurrency": 9, "thinking": "off"})).close()
    with pytest.raises(BadInput, match="settings"):
        RunLog.open(path, make_header(items, settings={"concurrency": 4, "thinking": "high"}))


async def test_cancelling_keeps_what_came_back_and_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = os.fsync

    def slow_sync(handle: int) -> None:
        time.sleep(0.02)
        synced(handle)

    monkeypatch.setattr("sparktrace_tui.runs.log.os.fsync", slow_sync)
    items = make_items(400)
    path = tmp_path / "run.jsonl"
    events: list[Event] = []
    seen = asyncio.Event()

    def progress(event: Event) -> None:
        events.append(event)
        if isinstance(event, Answered) and event.snapshot.done >= 20:
            seen.set()

    with RunLog.open(path, make_header(items)) as log:
        task = asyncio.create_task(run(items, faulty_player(0.0, wait_s=0.002), log, progress=progress))
        await seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        ended = events[-1]
        assert isinstance(ended, Ended)
        assert ended.stopped == "cancelled"
        assert f"{400 - len(log.records)} of 400 not asked yet" in ended.why
    assert 20 <= sum(keys_in(path).values()) < 400
    with RunLog.open(path, make_header(items)) as log:
        result = await run(items, faulty_player(0.0), log)
    assert result.complete
    assert keys_in(path) == Counter(item.key for item in items)


class _Scripted(FaultyEndpoint):
    """Raises the given faults in turn, then answers."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__(0.0)
        self._faults = list(faults)

    async def attempt(self, chat: "list[Message] | tuple[Message, ...]") -> Reply:  # type: ignore[override]
        if self._faults:
            self.asked += 1
            raise self._faults.pop(0)
        return await super().attempt(chat)


def scripted(*faults: Fault, concurrency: int = 1) -> ModelPlayer:
    player = faulty_player(0.0, concurrency=concurrency)
    return ModelPlayer("test:player", _Scripted(*faults), player.settings)


async def test_a_bad_key_stops_the_run_at_once_and_a_resume_asks_all_of_it(tmp_path: Path) -> None:
    items = make_items(30)
    path = tmp_path / "run.jsonl"
    with RunLog.open(path, make_header(items)) as log:
        result = await run(items, scripted(Fault("auth", "HTTP 401: no")), log, Options(concurrency=1))
        assert (result.stopped, result.snapshot.done, result.left) == ("fatal", 1, 29)
        assert "HTTP 401: no" in result.why
    with RunLog.open(path, make_header(items)) as log:
        result = await run(items, scripted(), log)
        assert result.complete
        assert len(log.records) == 30


async def test_an_item_without_a_turn_is_recorded_with_its_errors_and_asked_again_on_request(tmp_path: Path) -> None:
    items = make_items(6)
    path = tmp_path / "run.jsonl"
    events: list[Event] = []
    with RunLog.open(path, make_header(items)) as log:
        player = scripted(*[Fault("server", f"HTTP 500: {n}") for n in range(4)])
        result = await run(items, player, log, Options(concurrency=1), events.append)
        assert (result.snapshot.done, result.snapshot.failed, result.complete) == (6, 1, False)
        failed = next(r for r in log.records if r.reply.stop == "no_turn")
        assert (failed.reply.tries, failed.reply.fault) == (4, "server")
        assert failed.reply.errors == tuple(f"server: HTTP 500: {n}" for n in range(4))
        assert sum(isinstance(e, Retrying) for e in events) == 3
    with RunLog.open(path, make_header(items)) as log:
        again = await run(items, scripted(), log)
        assert (again.snapshot.resumed, again.snapshot.failed) == (6, 1)
        last = await run(items, scripted(), log, Options(retry_failed=True))
        assert last.complete
    assert sum(keys_in(path).values()) == 7


async def test_max_cost_stops_before_it_is_passed(tmp_path: Path) -> None:
    items = make_items(60)
    price = Price(input=1.0, output=1.0)  # 1,010 tokens a reply: 0.00101
    with RunLog.open(tmp_path / "run.jsonl", make_header(items)) as log:
        options = Options(max_cost=0.02, price=price, concurrency=3)
        result = await run(items, faulty_player(0.0), log, options)
    assert result.stopped == "cost"
    assert result.snapshot.cost is not None
    assert 0.01 < result.snapshot.cost <= 0.02
    assert "not asked yet" in result.why


async def test_max_cost_without_a_price_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    items = make_items(6)
    with RunLog.open(tmp_path / "run.jsonl", make_header(items)) as log:
        with pytest.raises(UsageError, match="price"):
            await run(items, faulty_player(0.0), log, Options(max_cost=1.0))
        assert log.records == ()


async def test_a_cost_is_not_known_without_a_price_and_nothing_for_a_baseline(tmp_path: Path) -> None:
    items = make_items(6)
    with RunLog.open(tmp_path / "a.jsonl", make_header(items)) as log:
        assert (await run(items, faulty_player(0.0), log)).snapshot.cost is None
    with RunLog.open(tmp_path / "b.jsonl", make_header(items)) as log:
        assert (await run(items, Baseline("random"), log)).snapshot.cost == 0.0


def test_an_estimate_counts_what_is_left_and_asks_above_fifty_paid_requests() -> None:
    items = make_items(60, prompt="x" * 4000)
    model, baseline = faulty_player(0.0), Baseline("random")
    price = Price(input=2.0, output=10.0)
    whole = estimate(items, model, price)
    assert (whole.requests, whole.needs_consent, whole.max_output) == (60, True, 32_768)
    assert 60 * 1000 < whole.input_tokens < 60 * 1050
    assert whole.cost == pytest.approx(whole.input_tokens * 2e-6 + 60 * 1000 * 10e-6)
    settled = frozenset(item.key for item in items[:10])
    assert estimate(items, model, None, settled).requests == 50
    assert not estimate(items, model, None, settled).needs_consent
    assert estimate(items, model, None).cost is None
    assert not estimate(items, baseline, None).needs_consent


async def test_samples_are_asked_apart_and_each_once(tmp_path: Path) -> None:
    items = with_samples(make_items(6), 3)
    with RunLog.open(tmp_path / "run.jsonl", make_header(items, samples=3)) as log:
        result = await run(items, faulty_player(0.0), log)
        assert result.snapshot.total == len(log.records) == 18
        assert Counter(r.sample for r in log.records) == {0: 6, 1: 6, 2: 6}


class _Counting(FaultyEndpoint):
    """Counts how many tries are in flight."""

    def __init__(self) -> None:
        super().__init__(0.1, wait_s=0.002)
        self.now = self.most = 0

    async def attempt(self, chat: "list[Message] | tuple[Message, ...]") -> Reply:  # type: ignore[override]
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await super().attempt(chat)
        finally:
            self.now -= 1


async def test_no_more_tries_at_once_than_the_limit(tmp_path: Path) -> None:
    items = make_items(120)
    endpoint = _Counting()
    settings = PlayerSettings(limits=Limits(5), retry=faulty_player(0.0).settings.retry)
    with RunLog.open(tmp_path / "run.jsonl", make_header(items)) as log:
        await run(items, ModelPlayer("test:player", endpoint, settings), log)
    assert endpoint.most == 5


async def test_a_run_of_random_picks_is_the_same_for_a_seed_whatever_the_order(tmp_path: Path) -> None:
    items = make_items(60)
    letters = []
    for n, order in enumerate((items, items[::-1])):
        with RunLog.open(tmp_path / f"{n}.jsonl", make_header(items)) as log:
            await run(order, Baseline("random"), log)
            letters.append({r.key: r.reply.text for r in log.records})
    assert letters[0] == letters[1]
    assert len(set(letters[0].values())) == 4
