"""Replays: every recorded game plays back, the published ones and the user's own, on the set it was recorded on."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.domain.quiz.question import Evidence, Order
from sparktrace_tui.players.protocol import Context, Reply
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.runs.match import Match
from sparktrace_tui.runs.questions import build_question
from sparktrace_tui.store.games import GameLog, read_game_log
from sparktrace_tui.store.replays import find_replays
from tests.runs.games_support import FAMILIES, Says, small_set

SET = small_set()


def record(
    log: GameLog,
    family: str,
    evidence: Evidence,
    *players: Says | ReplayPlayer,
    order: Order = "forward",
    set_id: str = "small",
    seen: bool = False,
) -> Match:
    captures = small_set(set_id)
    question = build_question(captures, FAMILIES[family], evidence, order)
    assert question is not None
    seats = [(player.name, player) for player in players]
    match = Match(question, captures, FAMILIES[family], seats, log=log, seen=seen)
    for seat in range(len(players)):
        asyncio.run(match.play(seat))
    return match


def picks(match: Match, seat: int = 0) -> list[str]:
    return [pick.variant for pick in match.seats[seat].game.picks]


def test_a_game_of_ones_own_plays_back_in_the_other_order_with_the_same_variants(data_dir: Path) -> None:
    record(GameLog.new(), "clamp_smem", "full", Says("padded", "registers", name="openai:some-model"))
    player = ReplayPlayer("openai:some-model")
    assert (player.set_id, player.recorded) == ("small", (("clamp_smem", "full"),))
    again = record(GameLog(data_dir / "other.jsonl"), "clamp_smem", "full", player, order="mirror")
    assert picks(again) == ["padded", "registers"]


def test_a_log_is_played_back_by_its_id_and_each_player_of_it_by_name(data_dir: Path) -> None:
    log = GameLog.new()
    record(log, "clamp_smem", "full", Says("padded", "padded", name="a"), Says("registers", "registers", name="b"))
    record(GameLog(log.path.with_name("later.jsonl")), "clamp_smem", "full", Says("flat_block", "padded", name="a"))
    other = GameLog(data_dir / "other.jsonl")
    assert picks(record(other, "clamp_smem", "full", ReplayPlayer(log.path.stem))) == ["padded", "padded"]
    assert picks(record(other, "clamp_smem", "full", ReplayPlayer(f"{log.path.stem}/b"))) == ["registers"] * 2
    # By name the latest game is played back.
    assert picks(record(other, "clamp_smem", "full", ReplayPlayer("a"))) == ["flat_block", "padded"]


def test_a_first_sight_comes_before_a_later_game_of_a_family_seen_before() -> None:
    log = GameLog.new()
    record(log, "clamp_smem", "full", Says("padded", "registers", name="human"))
    record(log, "clamp_smem", "full", Says("registers", "registers", name="human"), seen=True)
    assert [replay.picks for replay in find_replays("human")] == [("padded", "registers"), ("registers", "registers")]


@pytest.mark.parametrize(("stop", "failure"), [("truncated", "truncated"), ("refused", "refused"), ("stop", "none")])
def test_a_turn_that_failed_fails_again(data_dir: Path, stop: str, failure: str) -> None:
    record(GameLog.new(), "clamp_smem", "full", Says("padded", Reply("Hm", stop=stop), name="m"))  # type: ignore[arg-type]
    again = record(GameLog(data_dir / "other.jsonl"), "clamp_smem", "full", ReplayPlayer("m"))
    assert (picks(again), again.seats[0].game.failure) == (["padded"], failure)


def test_a_replay_is_no_recording_of_its_own_and_a_game_that_was_left_is_none() -> None:
    record(GameLog.new(), "clamp_smem", "full", Says("padded", "padded", name="m"))
    record(GameLog.new(), "clamp_smem", "full", ReplayPlayer("m"))
    with pytest.raises(UsageError, match="no replay 'replay:m'"):
        find_replays("replay:m")
    log = GameLog.new()
    question = build_question(SET, FAMILIES["clamp_smem"], "full", "forward")
    assert question is not None
    left = Match(question, SET, FAMILIES["clamp_smem"], [("left", None)], log=log)
    left.choose(0, "A")
    left.confirm(0)
    left.abandon(0)
    assert len(read_game_log(log.path)) == 1
    with pytest.raises(UsageError, match="no replay 'left'"):
        ReplayPlayer("left")


def test_a_player_recorded_on_two_sets_is_bound_to_the_one_with_more_unless_told(data_dir: Path) -> None:
    log = GameLog.new()
    record(log, "clamp_smem", "full", Says("padded", "padded", name="m"), set_id="other")
    for family in ("stride_smem", "matmul_tiled"):
        variant = FAMILIES[family].rewrites[0].id
        record(log, family, "full", Says(variant, variant, name="m"))
    player = ReplayPlayer("m")
    assert (player.set_id, sorted(player.set_ids)) == ("small", ["other", "small"])
    assert player.recorded == (("matmul_tiled", "full"), ("stride_smem", "full"))
    assert player.bound_to("other").recorded == (("clamp_smem", "full"),)
    with pytest.raises(UsageError, match="recorded on small, other, not on third"):
        player.bound_to("third")


def test_a_one_shot_is_no_game_and_says_so() -> None:
    player = ReplayPlayer("gpt-5.4-nano")
    assert ("clamp_smem", "ablated") not in player.recorded
    asked = Context("gb10-published", "clamp_smem", "ablated", "forward", {})
    assert asyncio.run(player.reply((), asked)).variant == "registers"
    with pytest.raises(UsageError, match="no second pick recorded for clamp_smem with ablated"):
        asyncio.run(player.reply((), replace(asked, step=1)))
