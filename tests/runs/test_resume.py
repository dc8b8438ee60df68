"""A match that was left or killed goes on from its log: whatever was confirmed before is still there."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparktrace_tui.domain.quiz.game import Outcome, Stage
from sparktrace_tui.domain.quiz.question import Order
from sparktrace_tui.domain.quiz.recorded import open_matches, rebuild, recorded_games
from sparktrace_tui.players.protocol import Player, Reply
from sparktrace_tui.runs.match import HUMAN, Match, deal_from
from sparktrace_tui.runs.questions import build_question
from sparktrace_tui.store.games import GameLog, read_game_log
from tests.runs.games_support import FAMILIES, Says, small_set

SET = small_set()
FAMILY = FAMILIES["clamp_smem"]
PERSON = ("padded", "registers")
RIVAL = ("flat_block", "padded")


QUESTIONS = {order: build_question(SET, FAMILY, "full", order) for order in ("forward", "mirror")}


def match(log: GameLog, rival: Player | None = None, *, order: Order = "forward", **more: Any) -> Match:
    question = QUESTIONS[order]
    assert question is not None
    players: list[tuple[str, Player | None]] = [(HUMAN, None)]
    if rival is not None:
        players.append((rival.name, rival))
    return Match(question, SET, FAMILY, players, log=log, clock=lambda: 0.0, **more)


def pick(played: Match, variant: str) -> None:
    played.choose(0, played.question.letter_of(variant))
    played.confirm(0)


def play_on(played: Match) -> None:
    """To the end, as the person and the rival of these tests play."""
    while not played.seats[0].game.over:
        pick(played, PERSON[len(played.seats[0].game.picks)])
    if len(played.seats) > 1:
        asyncio.run(played.play(1))


def whole_log(path: Path) -> bytes:
    log = GameLog(path)
    played = match(log, Says(*RIVAL))
    asyncio.run(played.turn(1))
    play_on(played)
    return path.read_bytes()


def confirmed(lines: bytes) -> dict[int, list[str]]:
    """The picks that are whole records, by seat."""
    found: dict[int, list[str]] = {0: [], 1: []}
    for line in lines.split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record["event"] == "pick":
            found[record["seat"]].append(record["variant"])
    return found


def test_a_kill_at_any_record_loses_nothing_confirmed_and_the_game_ends_as_it_would_have(
    tmp_path: Path,
) -> None:
    whole = whole_log(tmp_path / "whole.jsonl")
    ends = [game.outcome for game in read_game_log(tmp_path / "whole.jsonl")]
    assert ends == [Outcome.SWITCHED_TO_RIGHT, Outcome.SWITCHED_WRONG]
    first = whole.index(b"\n") + 1
    # Each record is cut at its start, inside, before its newline, and after it.
    starts = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    cuts = sorted({c for a in starts for c in (a - 1, a, a + 1, a + 40) if first - 1 <= c <= len(whole)})
    assert len(cuts) > 30
    for cut in cuts:
        path = tmp_path / f"cut-{cut}.jsonl"
        path.write_bytes(whole[:cut])
        before = confirmed(whole[:cut])
        games = read_game_log(path)
        assert [[p.variant for p in game.picks] for game in games] == [before[0], before[1]]
        asked = Says(*RIVAL[len(games[1].replies) :])
        played = match(GameLog(path), asked, resumed=games)
        for seat, side in enumerate(played.seats):
            assert [p.variant for p in side.game.picks][: len(before[seat])] == before[seat]
        play_on(played)
        again = read_game_log(path)
        assert len(again) == 2
        assert [game.outcome for game in again] == ends
        assert [[p.variant for p in game.picks] for game in again] == [list(PERSON), list(RIVAL)]
        assert [game.regrets for game in again] == [(2.0, 1.0), (4.0, 2.0)]
        assert asked.said == []


def test_a_game_left_by_the_person_opens_again_where_it_stood(tmp_path: Path) -> None:
    log = GameLog(tmp_path / "a.jsonl")
    played = match(log)
    pick(played, "padded")
    played.choose(0, "A")
    played.abandon(0)
    (left,) = read_game_log(log.path)
    assert left.abandoned
    assert not left.scored
    again = match(GameLog(log.path), resumed=[left])
    game = again.seats[0].game
    assert (game.stage, game.pending, [p.variant for p in game.picks]) == (Stage.SECOND, None, ["padded"])
    assert set(game.visible_times) == {"padded"}
    pick(again, "padded")
    (ended,) = read_game_log(log.path)
    assert (ended.outcome, ended.abandoned, ended.scored) == (Outcome.HELD_WRONG, False, True)


def test_a_later_game_of_the_same_log_does_not_hide_the_one_that_is_resumed(tmp_path: Path) -> None:
    log = GameLog(tmp_path / "a.jsonl")
    first = match(log)
    pick(first, "padded")
    second = match(log)
    pick(second, "flat_block")
    third = match(log, Says(*RIVAL))
    play_on(third)
    left, other = open_matches(read_game_log(log.path))
    assert [[p.variant for p in game.picks] for game in (*left, *other)] == [["padded"], ["flat_block"]]
    play_on(match(GameLog(log.path), resumed=left))
    games = read_game_log(log.path)
    assert [[p.variant for p in game.picks] for game in games[:2]] == [["padded", "registers"], ["flat_block"]]
    assert [game.finished for game in games] == [True, False, True, True]
    assert GameLog(log.path).next_game() == 4


def test_a_model_that_is_resumed_sees_its_own_first_reply_and_the_revealed_time_again(tmp_path: Path) -> None:
    log = GameLog(tmp_path / "a.jsonl")
    killed = match(log, Says("padded"))
    asyncio.run(killed.turn(1))
    rival = Says("registers")
    again = match(GameLog(log.path), rival, resumed=read_game_log(log.path))
    asyncio.run(again.play(1))
    (chat,) = rival.chats
    assert [m.role for m in chat] == ["user", "assistant", "user"]
    assert chat[0].text == again.question.prompt
    assert chat[1].text == killed.seats[1].replies[0].text
    assert "2 ms" in chat[2].text
    assert [p.variant for p in again.seats[1].game.picks] == ["padded", "registers"]


def test_a_game_seen_in_between_no_longer_counts(tmp_path: Path) -> None:
    log = GameLog(tmp_path / "a.jsonl")
    pick(match(log), "padded")
    again = match(GameLog(log.path), resumed=read_game_log(log.path), seen=True)
    pick(again, "registers")
    (game,) = read_game_log(log.path)
    assert game.seen
    assert game.outcome is Outcome.SWITCHED_TO_RIGHT
    assert not game.scored


def test_a_failed_turn_can_be_asked_again_and_the_first_reply_counts(tmp_path: Path) -> None:
    log = GameLog(tmp_path / "a.jsonl")
    played = match(log, Says(Reply("Hm", stop="truncated"), "registers"))
    asyncio.run(played.play(1))
    said = asyncio.run(played.ask_again(1))
    assert said.text.endswith(f"Answer: {played.question.letter_of('registers')}")
    (_, game) = read_game_log(log.path)
    assert (game.outcome, game.picks) == (Outcome.NO_LETTER, ())
    assert played.seats[1].game.failure == "truncated"
    assert json.loads(log.path.read_bytes().split(b"\n")[-2])["event"] == "again"


def test_another_question_or_another_player_is_not_resumed(tmp_path: Path) -> None:
    log = GameLog(tmp_path / "a.jsonl")
    pick(match(log), "padded")
    games = read_game_log(log.path)
    with pytest.raises(ValueError, match="order is 'forward' in the log and 'mirror' here"):
        match(log, order="mirror", resumed=games)
    with pytest.raises(ValueError, match="players"):
        match(log, Says(), resumed=games)


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("choose"), st.sampled_from([r.id for r in FAMILY.rewrites])),
        st.tuples(st.sampled_from(["confirm", "undo", "abandon"]), st.just("")),
    ),
    max_size=10,
)


def moved(path: Path, order: Order, moves: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """The records that the moves leave, letters mapped back to variants."""
    path.unlink(missing_ok=True)
    log = GameLog(path)
    played = match(log, order=order)
    for move, variant in moves:
        try:
            if move == "choose":
                played.choose(0, played.question.letter_of(variant))
            else:
                getattr(played, move)(0)
        except ValueError:
            continue
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    options = records[0]["options"]
    for record in records:
        record.pop("when")
        if "letter" in record:
            record["letter"] = options[record["letter"]]
    assert records[0].pop("order") == order
    assert sorted(records[0].pop("options").values()) == sorted(r.id for r in FAMILY.rewrites)
    return records


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES)
def test_mirror_and_forward_give_the_same_records_after_mapping_back(
    tmp_path: Path, moves: list[tuple[str, str]]
) -> None:
    forward = moved(tmp_path / "forward.jsonl", "forward", moves)
    assert forward == moved(tmp_path / "mirror.jsonl", "mirror", moves)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES, order=st.sampled_from(["forward", "mirror"]))
def test_a_game_rebuilt_from_its_records_is_the_game_that_was_played(
    tmp_path: Path, moves: list[tuple[str, str]], order: Order
) -> None:
    path = tmp_path / "log.jsonl"
    path.unlink(missing_ok=True)
    played = match(GameLog(path), order=order)
    for move, variant in moves:
        try:
            if move == "choose":
                played.choose(0, played.question.letter_of(variant))
            elif move != "abandon":
                getattr(played, move)(0)
        except ValueError:
            continue
    (told,) = read_game_log(path)
    game = played.seats[0].game
    rebuilt = rebuild(deal_from(played.question, SET, False), told)
    assert (rebuilt.stage, rebuilt.picks, rebuilt.outcome) == (game.stage, game.picks, game.outcome)
    assert told.outcome == game.outcome
    assert rebuilt.visible_times == game.visible_times


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["event", "seat", "step", "variant", "players", "options", "winner", "regret", "game"]),
            st.one_of(
                st.sampled_from(["deal", "pick", "end", "fail", "resume", "padded"]),
                st.integers(-1, 3),
                st.none(),
                st.lists(st.text(max_size=2), max_size=2),
            ),
        )
    )
)
def test_records_that_make_no_sense_are_left_out(records: list[dict[str, Any]]) -> None:
    assert recorded_games(records) == ()
