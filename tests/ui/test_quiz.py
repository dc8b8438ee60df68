"""The quiz, driven by keys: one game from the first pick to the lesson, and nothing shown too early."""

from collections import deque
from pathlib import Path

import pytest

from sparktrace_tui.domain.quiz.game import Outcome, Stage
from sparktrace_tui.players.protocol import Context, Message, Reply
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.store.games import read_games
from sparktrace_tui.store.seen import load_seen
from sparktrace_tui.ui.app import SparkTraceApp
from sparktrace_tui.ui.screens.quiz import QuizScreen
from sparktrace_tui.ui.widgets.options import OptionsView
from tests.ui.conftest import ORDER, TIMES, MakeApp, clamp_set
from tests.ui.looking import SIZES, every_text, picture, settle, styled_picture

SHOWN_TIMES = {"padded": "1.013 ms", "registers": "0.640 ms", "flat_block": "10.270 ms", "small_tile": "2.537 ms"}


def letter(app: SparkTraceApp, variant: str) -> str:
    """The key that picks a variant in the open question."""
    return app.screen.match.question.letter_of(variant).lower()


def times_on(text: str) -> set[str]:
    return {variant for variant, shown in SHOWN_TIMES.items() if shown in text}


@pytest.mark.parametrize("size", SIZES)
async def test_a_whole_game_by_keys(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app(start="quiz", evidence="full", length=1)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, QuizScreen)
        assert "Which rewrite is the fastest?" in picture(app)
        assert times_on(every_text(app)) == set()

        await pilot.press(letter(app, "padded"))
        await settle(pilot)
        assert times_on(every_text(app)) == set()
        await pilot.press("enter")
        await settle(pilot)
        said = every_text(app)
        assert times_on(said) == {"padded"}
        assert "meet in one bank" not in said
        assert "1.013 ms modelled" in picture(app)
        assert "✓" not in said
        assert "1.58" not in said

        await pilot.press(letter(app, "registers"))
        await settle(pilot)
        assert times_on(every_text(app)) == {"padded"}
        await pilot.press("enter")
        await settle(pilot)
        said = every_text(app)
        assert times_on(said) == set(SHOWN_TIMES)
        assert "10.310 ms" in said
        assert "Switched to right" in said
        assert app.screen.level == "shown"
        assert "1.58x and 1.00x the best time" in " ".join(said.split())
        assert "The report pulled towards" in said
        assert "a warp's lanes meet in one bank" in " ".join(said.split())
        assert app.screen.game.outcome is Outcome.SWITCHED_TO_RIGHT
        assert load_seen(app.options.data_dir) == {"clamp_smem": "gb10-test"}

        await pilot.press("enter")
        await settle(pilot)
        assert "1 of 1 right at the end, 0 at the first pick" in " ".join(every_text(app).split())
    assert any("switched to right" in line for line in app.summary)
    events = [record["event"] for record in read_games(app.options.data_dir)]
    assert events == ["deal", "pick", "reveal", "pick", "end"]


@pytest.mark.parametrize("size", SIZES)
async def test_the_picture_before_the_reveal_does_not_depend_on_the_key(
    make_app: MakeApp, size: tuple[int, int]
) -> None:
    pictures = []
    for turn in range(4):
        times = deque([1.0, 1.6, 2.7, 9.9])
        times.rotate(turn)
        changed = dict(zip(ORDER, times, strict=True)) | {"original": TIMES["original"]}
        app = make_app(clamp_set(times=changed), start="quiz", evidence="full", seed=3)
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            seen = [styled_picture(app)]
            for key in ("d", "u"):
                await pilot.press(key)
                await settle(pilot)
                seen.append(styled_picture(app))
            pictures.append((app.screen.match.deal.winner, seen))
    assert {winner for winner, _ in pictures} == set(ORDER)
    assert all(seen == pictures[0][1] for _, seen in pictures)


async def test_a_pick_can_be_taken_back_until_it_is_confirmed(make_app: MakeApp) -> None:
    app = make_app(start="quiz", evidence="source")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        assert app.screen.game.picks == ()
        await pilot.press("b", "u")
        assert app.screen.game.pending is None
        await pilot.press("b", "c", "enter", "u")
        await settle(pilot)
        assert len(app.screen.game.picks) == 1
        assert app.screen.game.stage is Stage.SECOND


async def test_capital_k_keeps_the_first_pick(make_app: MakeApp) -> None:
    app = make_app(start="quiz", evidence="source")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press(letter(app, "registers"), "enter", "K")
        await settle(pilot)
        assert app.screen.game.outcome is Outcome.HELD_RIGHT


@pytest.mark.parametrize(("arm", "present", "absent"), [
    ("full", ["520,093,696"], []),
    ("ablated", ["Memory Throughput"], ["520,093,696", "bank conflict", "520M"]),
    ("source", [], ["Memory Throughput", "520,093,696", "520M"]),
])  # fmt: skip
async def test_each_arm_shows_its_evidence_and_no_more(
    make_app: MakeApp, arm: str, present: list[str], absent: list[str]
) -> None:
    app = make_app(start="quiz", evidence=arm)
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot)
        await pilot.press("x", "x", "tab")
        await settle(pilot)
        # Browse lies below the quiz and may show a report; what counts is the screen on top.
        below, app._screen_stacks["_default"][:-1] = app.screen_stack[:-1], []
        text = every_text(app)
        app._screen_stacks["_default"][:0] = below
        for word in present:
            assert word in text
        for word in absent:
            assert word not in text


async def test_a_seen_family_is_marked_and_not_scored(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("r", "Q")
        await settle(pilot)
        assert "1 of 1 families here were revealed" in " ".join(every_text(app).split())
        await pilot.press("enter")
        await settle(pilot)
        assert "seen, not scored" in picture(app)
        await pilot.press(letter(app, "registers"), "enter", "K")
        await settle(pilot)
        assert "you 0" in picture(app)
        await pilot.press("q")
    assert any("1 seen before and not scored" in line for line in app.summary)


async def test_leaving_in_the_middle_takes_two_escapes_and_scores_nothing(make_app: MakeApp) -> None:
    app = make_app(start="quiz", evidence="source")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("a", "enter", "escape")
        await settle(pilot)
        assert isinstance(app.screen, QuizScreen)
        await pilot.press("escape")
        await settle(pilot)
        assert not isinstance(app.screen, QuizScreen)
    assert any("0 of 0 right" in line for line in app.summary)
    assert load_seen(app.options.data_dir) == {}
    assert read_games(app.options.data_dir)[-1]["event"] == "abandon"


class Slow:
    """A player of our own that waits to be told to answer."""

    name = "test:slow"
    paid = False

    def __init__(self, texts: list[str]) -> None:
        import asyncio

        self.texts, self.go = texts, asyncio.Event()

    async def reply(self, chat: list[Message], context: Context) -> Reply:
        await self.go.wait()
        return Reply(self.texts[context.step])

    async def close(self) -> None:
        return None


async def start_against(app: SparkTraceApp, rival: object) -> None:
    app.quiz.make_rival = lambda name: rival  # type: ignore[method-assign, assignment, return-value]
    app.open_quiz()


async def test_a_late_rival_never_holds_the_person_up_and_shows_nothing_early(make_app: MakeApp) -> None:
    app = make_app(evidence="full", length=2)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        rival = Slow(["I think so.\nAnswer: B", "Still.\nAnswer: B"])
        await start_against(app, rival)
        await pilot.pause()
        await pilot.pause()
        await pilot.press("a", "enter")
        await pilot.pause()
        assert "I think so" not in every_text(app)
        await pilot.press("K")
        await pilot.pause()
        await pilot.pause()
        assert "has not answered yet" in " ".join(every_text(app).split())
        rival.go.set()
        await settle(pilot)
        said = " ".join(every_text(app).split())
        assert "test:slow picked B then B" in said
        assert "I think so" not in said
        await pilot.press("i")
        await settle(pilot)
        assert "I think so" in every_text(app)
        marked = [
            row.text.plain[span.start : span.end]
            for row in app.screen.query_one(OptionsView).rows
            for span in row.text.spans
            if span.style == "match"
        ]
        assert marked == ["B", "B"]


async def test_a_rivals_nonsense_markup_and_escapes_are_shown_harmless(make_app: MakeApp) -> None:
    app = make_app(evidence="source")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        rival = Slow(["[red]no[/red] \x1b[2J idea " + "x" * 200_000])
        rival.go.set()
        await start_against(app, rival)
        await settle(pilot)
        await pilot.press("a", "enter", "K", "i")
        await settle(pilot)
        said = every_text(app)
        assert "gave no readable letter" in said
        assert "[red]no[/red] ␛[2J idea" in said
        assert "\x1b" not in said
        assert "more characters" in said


async def test_a_replay_plays_beside_the_person_on_its_own_set(make_app: MakeApp) -> None:
    app = make_app(evidence="full", length=1)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await start_against(app, ReplayPlayer("gpt-5.4-nano"))
        await settle(pilot)
        # The replay is bound to the published set, which is opened for it.
        assert app.captures.id == "gb10-published"
        assert "gb10 · published" in picture(app)
        await pilot.press(letter(app, "registers"), "enter", "K")
        await settle(pilot)
        rows = app.screen.query_one(OptionsView).lines
        place = next(i for i, row in enumerate(rows) if "rival 1st and 2nd" in row)
        assert "0.980 ms published" in rows[place] + rows[place - 1]
        assert "held wrong" in "\n".join(rows)
        assert any("about 10.2" in row for row in rows)
        assert any("n/a" in row for row in rows)


async def test_a_rival_named_on_the_command_line_plays(make_app: MakeApp) -> None:
    app = make_app(start="quiz", evidence="full", rival="baseline:report-follower", length=1)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press(letter(app, "registers"), "enter", "K")
        await settle(pilot)
        said = " ".join(every_text(app).split())
        padded = letter(app, "padded").upper()
        assert f"baseline:report-follower picked {padded} then {padded}: held wrong" in said
        assert "you 1, report-follower 0" in said


async def test_an_unknown_rival_is_a_message_and_browse_stays(make_app: MakeApp) -> None:
    app = make_app(start="quiz", rival="replay:nobody")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert not isinstance(app.screen, QuizScreen)
        assert any("nobody" in note.message for note in app._notifications)


async def test_quitting_from_the_help_over_a_quiz_leaves_no_question_open(make_app: MakeApp) -> None:
    app = make_app(start="quiz", evidence="source")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("a", "enter", "question_mark")
        await settle(pilot)
        await pilot.press("q")
    assert app.summary
    assert [record["event"] for record in read_games(app.options.data_dir)] == ["deal", "pick", "reveal", "abandon"]


async def test_a_data_folder_that_cannot_be_written_is_said_and_the_game_goes_on(
    make_app: MakeApp, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "games").write_text("a file where a folder should be", encoding="utf-8")
    app = make_app(start="quiz", evidence="source")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press(letter(app, "registers"), "enter", "K")
        await settle(pilot)
        assert app.screen.game.outcome is Outcome.HELD_RIGHT
        assert sum("not recorded" in note.message for note in app._notifications) == 1


async def test_quitting_in_a_quiz_prints_its_summary(make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app(start="quiz", evidence="source", length=None)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press(letter(app, "registers"), "enter", "K", "enter")
        await settle(pilot)
        await pilot.press("q")
    assert app.summary[0] == "SparkTrace quiz on gb10-test (gb10 · emulated), seed 0"
    assert any("you: 1 of 1 right at the end" in line for line in app.summary)
