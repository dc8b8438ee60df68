"""Matches: the one driver of games, with real players and a real log."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.domain.quiz.game import IllegalMove, Outcome, Stage
from sparktrace_tui.domain.quiz.question import Evidence, Order
from sparktrace_tui.players.protocol import Context, Message, Reply, Usage
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.runs.match import Match
from sparktrace_tui.runs.questions import build_question
from sparktrace_tui.store.captures import find_set, read_set
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.games import GameLog, read_games
from sparktrace_tui.store.paths import kernels_dir

SET = read_set(find_set("gb10-published"))
FAMILY = read_family(kernels_dir() / "clamp_smem")


class Scripted:
    """Says the given replies one after another and keeps the chats it was shown."""

    name, paid = "scripted", False

    def __init__(self, *replies: Reply) -> None:
        self.replies, self.chats, self.contexts = list(replies), [], []  # type: ignore[var-annotated]

    async def reply(self, chat: Sequence[Message], context: Context) -> Reply:
        self.chats.append(tuple(chat))
        self.contexts.append(context)
        return self.replies.pop(0)

    async def close(self) -> None:
        pass


def match(
    *players: object, evidence: Evidence = "source", order: Order = "forward", log: GameLog | None = None
) -> Match:
    question = build_question(SET, FAMILY, evidence, order, recorded=True)
    assert question is not None
    seats = [(getattr(p, "name", "human"), p) for p in players]
    return Match(question, SET, FAMILY, seats, log=log)  # type: ignore[arg-type]


def answer(played: Match, variant: str) -> Reply:
    return Reply(f"I think so.\n\nAnswer: {played.question.letter_of(variant)}")


@pytest.mark.parametrize("order", ["forward", "mirror"])
async def test_a_second_turn_is_the_same_chat_with_the_reply_and_the_revealed_time_alone(order: Order) -> None:
    player = Scripted()
    played = match(player, order=order)
    player.replies = [answer(played, "padded"), answer(played, "registers")]
    await played.play(0)
    first, second = player.chats
    assert second[0] == first[0]
    assert [m.role for m in second] == ["user", "assistant", "user"]
    reveal = second[2].text
    assert "0.98 ms (published on NVIDIA GB10" in reveal
    for other in ("0.621", "10.2", "10.465"):
        assert other not in reveal
    assert played.seats[0].game.outcome is Outcome.SWITCHED_TO_RIGHT
    assert [c.step for c in player.contexts] == [0, 1]


async def test_an_approximate_time_is_revealed_as_approximate() -> None:
    player = Scripted()
    played = match(player)
    player.replies = [answer(played, "flat_block"), answer(played, "flat_block")]
    await played.play(0)
    assert "10.2 ms (published on NVIDIA GB10 (DGX Spark), approximately)" in player.chats[1][2].text


@pytest.mark.parametrize(
    ("reply", "failure", "outcome"),
    [
        (Reply("Let me see. A uses", stop="truncated"), "truncated", Outcome.NO_LETTER),
        (Reply("I cannot say.", stop="refused"), "refused", Outcome.NO_LETTER),
        (Reply("", stop="no_turn", errors=("503",)), "no_turn", None),
    ],
)
async def test_a_failed_turn_ends_that_seat_and_never_blocks_the_other(
    reply: Reply, failure: str, outcome: Outcome | None
) -> None:
    played = match(None, Scripted(reply))
    await played.play(1)
    assert played.seats[1].game.failure == failure
    assert played.seats[1].game.outcome is outcome
    assert not played.rival_visible
    for _ in range(2):
        played.choose(0, "A")
        played.confirm(0)
    assert played.over
    assert played.rival_visible


def test_a_person_can_change_their_mind_before_confirming_and_not_after() -> None:
    played = match(None)
    played.choose(0, "A")
    played.undo(0)
    with pytest.raises(IllegalMove):
        played.confirm(0)
    played.choose(0, "B")
    played.confirm(0)
    assert played.seats[0].game.stage is Stage.SECOND


async def test_every_step_is_on_disk_before_the_next(data_dir: Path) -> None:
    log = GameLog.new()
    played = match(None, ReplayPlayer("gpt-5.4-nano"), evidence="full", log=log)
    assert [r["event"] for r in read_games()] == ["deal"]
    played.choose(0, "A")
    played.confirm(0)
    assert [r["event"] for r in read_games()] == ["deal", "pick", "reveal"]
    await played.play(1)
    played.abandon(0)
    events = [(r["event"], r.get("seat")) for r in read_games()]
    assert events[3:] == [
        ("reply", 1), ("pick", 1), ("reveal", 1), ("reply", 1), ("pick", 1), ("end", 1), ("abandon", 0),
    ]  # fmt: skip
    end = next(r for r in read_games() if r["event"] == "end")
    assert (end["outcome"], end["winner"]) == ("held wrong", "registers")
    assert "winner" not in read_games()[0]


async def test_a_replay_says_what_it_has_when_asked_for_something_else() -> None:
    played = match(ReplayPlayer("gpt-5.4-nano"), evidence="ablated")
    with pytest.raises(UsageError, match="nothing recorded for clamp_smem with ablated evidence") as caught:
        await ReplayPlayer("gemini-3.7-flash").reply((), played.context(played.seats[0]))
    assert "clamp_smem with full on gb10-published" in str(caught.value)


async def test_a_reply_to_a_prompt_that_the_server_cut_is_a_failure_and_no_pick() -> None:
    player = Scripted()
    played = match(player)
    cut = len(played.question.prompt) // 16  # a quarter of a low estimate of its tokens
    player.replies = [replace(answer(played, "registers"), usage=Usage(cut, 10, 0))]
    await played.play(0)
    game = played.seats[0].game
    assert (game.failure, game.picks, game.outcome) == ("cut_prompt", (), None)
    assert played.transcript(0)["failure"] == "cut_prompt"


async def test_a_second_turn_whose_chat_was_cut_keeps_the_first_pick() -> None:
    player = Scripted()
    played = match(player)
    chars = len(played.question.prompt)
    turns = (("padded", chars // 3), ("padded", chars // 16))
    player.replies = [replace(answer(played, v), usage=Usage(n, 10, 0)) for v, n in turns]
    await played.play(0)
    game = played.seats[0].game
    assert (game.failure, [pick.variant for pick in game.picks]) == ("cut_prompt", ["padded"])


async def test_an_empty_reply_that_filled_its_limit_is_truncated_in_a_game_as_in_a_run() -> None:
    played = match(Scripted(Reply("", stop="stop", usage=Usage(None, 32_700, 32_700), limit=32_768)))
    await played.play(0)
    assert played.seats[0].game.failure == "truncated"
    assert played.seats[0].game.outcome is Outcome.NO_LETTER


async def test_a_recorded_variant_that_is_no_option_any_more_is_no_letter() -> None:
    played = match(Scripted(Reply("", variant="gone")))
    await played.play(0)
    assert played.seats[0].game.failure == "none"


async def test_a_reply_with_odd_line_ends_and_a_lone_surrogate_is_read_back_whole_and_without_keys(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-000000000000")
    player, log = Scripted(), GameLog.new()
    played = match(player, log=log)
    letter = played.question.letter_of("padded")
    text = f"one\u2028two\x85three \ud83d sk-secret-000000000000\n\nAnswer: {letter}"
    player.replies = [Reply(text), answer(played, "padded")]
    await played.play(0)
    reply = next(record for record in read_games() if record["event"] == "reply")
    assert reply["text"] == text.replace("sk-secret-000000000000", "[key removed]")
    assert b"sk-secret" not in log.path.read_bytes()
    assert played.transcript(0)["replies"][0] == reply["text"]
    assert [record["event"] for record in read_games()] == [
        "deal", "reply", "pick", "reveal", "reply", "pick", "end",
    ]  # fmt: skip
