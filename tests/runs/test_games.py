"""Games and runs as scores: what counts, what is left out, and the pull of either."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from sparktrace_tui.domain.kernel.capture import Time
from sparktrace_tui.domain.quiz.game import Outcome
from sparktrace_tui.domain.quiz.question import EVIDENCE, Evidence
from sparktrace_tui.domain.scoring.pull import Share
from sparktrace_tui.players.baselines import Baseline
from sparktrace_tui.players.protocol import Reply
from sparktrace_tui.runs.engine import record_of, run
from sparktrace_tui.runs.games import (
    game_pulls,
    game_score_rows,
    is_game_log,
    read_all_games,
    run_pull,
    sets_by_id,
)
from sparktrace_tui.runs.log import RunLog
from sparktrace_tui.runs.match import Match
from sparktrace_tui.runs.plan import header_for, items_for
from sparktrace_tui.runs.questions import build_question
from sparktrace_tui.store.games import GameLog
from tests.runs.games_support import FAMILIES, Says, small_set, winner, write_small_set

SET = small_set()


def play(
    log: GameLog, family: str, evidence: Evidence, *said: str | Reply, name: str = "test:says", seen: bool = False
) -> None:
    question = build_question(SET, FAMILIES[family], evidence, "forward")
    assert question is not None
    player = Says(*said, name=name)
    asyncio.run(Match(question, SET, FAMILIES[family], [(name, player)], log=log, seen=seen).play(0))


def test_a_players_games_are_counted_by_evidence_with_regret_and_what_is_left_out(data_dir: Path) -> None:
    write_small_set(data_dir)
    log = GameLog.new()
    play(log, "clamp_smem", "full", "padded", "padded")
    play(log, "clamp_smem", "full", "padded", "registers")
    play(log, "clamp_smem", "source", "registers", "padded")
    play(log, "clamp_smem", "source", "registers", "registers", seen=True)
    play(log, "clamp_smem", "full", Reply("Hm", stop="truncated"))
    play(log, "clamp_smem", "full", Reply("", stop="no_turn", errors=("503",)))
    source, full, whole = game_score_rows(read_all_games([log.path], sets_by_id()))
    assert (source.evidence, full.evidence, whole.evidence) == ("source", "full", None)
    assert (source.games, source.seen, source.within_two) == (1, 1, Share(1, 1))
    assert source.outcomes[Outcome.SWITCHED_FROM_RIGHT] == 1
    assert (full.games, full.no_turn, full.within_two) == (3, 1, Share(1, 3))
    # The winner takes 1 ms and the padded tile 2 ms: 2x and 2x, 2x and 1x; a turn without a letter has no regret.
    assert full.regret == (2.0, 1.5)
    assert (full.outcomes[Outcome.HELD_WRONG], full.outcomes[Outcome.NO_LETTER]) == (1, 1)
    assert (whole.games, whole.set_id, whole.provenance) == (4, "small", "emulated")


def test_players_and_sets_are_kept_apart(data_dir: Path) -> None:
    log = GameLog.new()
    play(log, "clamp_smem", "full", "padded", "padded")
    play(log, "clamp_smem", "full", "registers", "registers", name="test:other")
    games = read_all_games([log.path], sets_by_id())
    assert [(row.player, row.within_two) for row in game_score_rows(games)] == [
        ("test:says", Share(0, 1)), ("test:other", Share(1, 1)),
    ]  # fmt: skip


def test_a_game_killed_after_its_last_pick_gets_its_end_from_its_set(data_dir: Path) -> None:
    log = GameLog.new()
    play(log, "clamp_smem", "full", "padded", "registers")
    whole = log.path.read_bytes()
    log.path.write_bytes(whole[: whole.rindex(b'{"when"')])
    (without,) = read_all_games([log.path], sets_by_id())
    assert (without.finished, without.outcome) == (True, None)
    write_small_set(data_dir)
    (game,) = read_all_games([log.path], sets_by_id())
    assert (game.outcome, game.regrets) == (Outcome.SWITCHED_TO_RIGHT, (2.0, 1.0))


def test_the_pull_of_games_says_how_often_the_lure_is_kept_and_leaves_seen_families_out(data_dir: Path) -> None:
    write_small_set(data_dir)
    log = GameLog.new()
    play(log, "clamp_smem", "full", "padded", "padded")
    play(log, "clamp_smem", "ablated", "registers", "registers")
    play(log, "clamp_smem", "ablated", "padded", "registers", seen=True)
    play(log, "clamp_smem", "source", Reply("", stop="no_turn", errors=("503",)))
    play(log, "matmul_tiled", "full", winner("matmul_tiled"), winner("matmul_tiled"))
    play(log, "softmax", "full", winner("softmax"), winner("softmax"))
    (row,) = game_pulls(read_all_games([log.path], sets_by_id()), sets_by_id(), FAMILIES)
    assert row.pull is not None
    assert {e: s.text for e, s in row.pull.picks.items()} == {"source": "n/a", "full": "1/2", "ablated": "0/1"}
    assert row.pull.kept["full"] == Share(1, 1)
    assert row.pull.families == ("clamp_smem", "matmul_tiled")
    assert (row.player, row.set_id, row.source, row.pull.value) == ("test:says", "small", "games", 0.5)


def test_a_second_turn_that_never_came_leaves_the_first_pick_in_the_pull_and_nothing_kept(data_dir: Path) -> None:
    write_small_set(data_dir)
    log = GameLog.new()
    play(log, "clamp_smem", "full", "padded", Reply("", stop="no_turn", errors=("503",)))
    (row,) = game_pulls(read_all_games([log.path], sets_by_id()), sets_by_id(), FAMILIES)
    assert row.pull is not None
    assert (row.pull.picks["full"], row.pull.kept["full"]) == (Share(1, 1), Share(0, 0))


def test_a_game_of_a_set_that_has_another_winner_now_is_left_out_of_the_pull(data_dir: Path) -> None:
    log = GameLog.new()
    play(log, "clamp_smem", "full", "padded", "padded")
    captures = small_set()
    clamp = captures.captures["clamp_smem"]
    faster = replace(clamp.variants["flat_block"], time=Time(0.2))
    changed = replace(clamp, variants={**clamp.variants, "flat_block": faster})
    now = replace(captures, captures={**captures.captures, "clamp_smem": changed})
    (row,) = game_pulls(read_all_games([log.path], sets_by_id()), lambda set_id: now, FAMILIES)
    assert (row.pull, row.why) == (None, "no family whose report holds the bank-conflict rule")


def test_an_item_without_a_turn_is_no_answer_of_a_run(data_dir: Path) -> None:
    captures = write_small_set(data_dir)
    items = items_for(captures, FAMILIES, ("kernel-compass-full-forward",))
    said = [Reply("", stop="no_turn", fault="overloaded"), *(Reply("Answer: A") for _ in items[1:])]
    path = data_dir / "run.jsonl"
    player = Says(*said)
    with RunLog.open(path, header_for(items, captures, player)) as log:
        log.append(*(record_of(item, reply) for item, reply in zip(items, said, strict=True)))
    row = run_pull(path, sets_by_id(), FAMILIES)
    assert row.pull is not None
    assert row.pull.picks["full"].asked == 2  # of three causal families


def test_a_set_that_is_not_here_has_no_pull_and_says_why(data_dir: Path) -> None:
    log = GameLog.new()
    play(log, "clamp_smem", "full", "padded", "padded")
    (row,) = game_pulls(read_all_games([log.path], sets_by_id()), sets_by_id(), FAMILIES)
    assert (row.pull, row.why) == (None, "its capture set is not here")


@pytest.mark.parametrize(("rule", "value"), [("report-follower", 1.0), ("always-a", 0.0)])
def test_the_pull_of_a_run_is_what_the_conflict_lines_change(data_dir: Path, rule: str, value: float) -> None:
    captures = write_small_set(data_dir)
    items = items_for(captures, FAMILIES)
    player = Baseline(rule)
    path = data_dir / "run.jsonl"
    with RunLog.open(path, header_for(items, captures, player)) as log:
        asyncio.run(run(items, player, log))
    assert not is_game_log(path)
    row = run_pull(path, sets_by_id(), FAMILIES)
    assert row.pull is not None
    assert row.pull.picks["full"].asked == 6  # three families, two orders
    assert len(row.pull.families) == 3
    if rule == "always-a":
        # A letter is not drawn by lines: the same variants under every kind of evidence.
        assert len({row.pull.picks[e] for e in EVIDENCE}) == 1
    else:
        # With the lines it follows them in all; without, it draws by seed, so only how often it hits is chance.
        assert row.pull.picks["full"] == Share(6, 6)
        value = 1 - row.pull.picks["ablated"].hits / 6
    assert row.pull.value == pytest.approx(value)
    assert row.pull.by_families is not None
