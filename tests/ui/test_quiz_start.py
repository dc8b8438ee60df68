"""Before a quiz: the choices and their keys, what is remembered, and going on with a question that was left."""

import json
from pathlib import Path

import pytest

from sparktrace_tui.cli.explore import options_of
from sparktrace_tui.cli.parser import DEFAULTS, build_parser
from sparktrace_tui.domain.quiz.game import Outcome, Stage
from sparktrace_tui.store.games import read_games
from sparktrace_tui.ui.app import SparkTraceApp
from sparktrace_tui.ui.choices import QuizChoices, following, remember, remembered
from sparktrace_tui.ui.library import ExplorerOptions
from sparktrace_tui.ui.screens.quiz import QuizScreen
from sparktrace_tui.ui.screens.start import StartScreen
from tests.ui.conftest import MakeApp
from tests.ui.looking import every_text, picture, settle

SIZES = ((80, 24), (120, 40))


def letter(app: SparkTraceApp, variant: str) -> str:
    return app.screen.match.question.letter_of(variant).lower()


def parsed(*words: str) -> ExplorerOptions:
    arguments = build_parser().parse_args(["quiz", *words])
    for name, value in DEFAULTS.items():
        if not hasattr(arguments, name):
            setattr(arguments, name, value)
    return options_of(arguments)


def test_the_command_line_chooses_family_evidence_order_and_length() -> None:
    chosen = parsed(
        "--family", "clamp_smem", "--evidence", "ablated", "--order", "mirror", "--length", "15", "--rival", "human"
    )  # fmt: skip
    assert (chosen.family, chosen.evidence, chosen.order, chosen.length) == ("clamp_smem", "ablated", "mirror", 15)
    assert (chosen.start, chosen.rival) == ("quiz", "human")
    plain = parsed()
    assert (plain.family, plain.evidence, plain.order, plain.length) == (None, None, None, 5)
    assert parsed("--length", "endless", "--evidence", "drawn", "--order", "drawn") == parsed("--length", "endless")
    assert parsed("--length", "endless").length is None


@pytest.mark.parametrize("size", SIZES)
async def test_each_choice_has_a_key_and_the_quiz_follows_them(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("Q")
        await settle(pilot)
        assert isinstance(app.screen, StartScreen)
        assert "0 of 1 families here were revealed" in " ".join(every_text(app).split())
        await pilot.press("l", "l", "e", "o", "o", "i", "i")
        await settle(pilot)
        shown = picture(app)
        for said in ("endless", "with the report", "mirrored", "baseline:always-b", "gb10 · emulated"):
            assert said in shown
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, QuizScreen)
        question = app.screen.match.question
        assert (question.evidence, question.order) == ("full", "mirror")
        assert app.screen.session.length is None
        assert app.screen.rival.name == "baseline:always-b"
    kept = json.loads((app.options.data_dir / "quiz.json").read_text())
    assert kept == {"length": None, "evidence": "full", "order": "mirror", "rival": "baseline:always-b"}


async def test_a_choice_is_remembered_and_a_rival_can_be_named(make_app: MakeApp) -> None:
    for _ in range(2):
        app = make_app()
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await pilot.press("Q")
            await settle(pilot)
            if "baseline:random" not in picture(app):
                await pilot.press("l", "I", *"baseline:random", "enter")
                await settle(pilot)
            assert app.screen.choices == QuizChoices(15, None, None, "baseline:random")
            await pilot.press("enter")
            await settle(pilot)
            assert app.screen.rival.name == "baseline:random"


async def test_space_changes_what_the_cursor_is_on_and_escape_goes_back(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("Q", "j", "space")
        await settle(pilot)
        assert app.screen.choices == QuizChoices(evidence="full")
        await pilot.press("escape")
        await settle(pilot)
        assert not isinstance(app.screen, StartScreen)
        assert not (app.options.data_dir / "quiz.json").exists()


@pytest.mark.parametrize("size", SIZES)
async def test_quitting_in_the_middle_and_coming_back_goes_on_with_the_question(
    make_app: MakeApp, size: tuple[int, int]
) -> None:
    first = make_app(start="quiz", evidence="full", order="mirror", length=1)
    async with first.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press(letter(first, "padded"), "enter")
        await settle(pilot)
        await pilot.press("q")
    # Other choices now: the question that was left comes first as it stood, in its own arm and order.
    app = make_app(start="quiz", evidence="source", order="forward", length=1)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        question, game = app.screen.match.question, app.screen.game
        assert (question.evidence, question.order) == ("full", "mirror")
        assert game.stage is Stage.SECOND
        assert "1.013 ms modelled" in picture(app)
        assert any("the question you left" in note.message for note in app._notifications)
        await pilot.press(letter(app, "registers"), "enter")
        await settle(pilot)
        assert app.screen.game.outcome is Outcome.SWITCHED_TO_RIGHT
        await pilot.press("enter")
        await settle(pilot)
    assert any("1 of 1 right at the end" in line for line in app.summary)
    events = [record["event"] for record in read_games(app.options.data_dir)]
    assert events == ["deal", "pick", "reveal", "abandon", "resume", "pick", "end"]
    # It is finished now, so a third sitting deals a new one.
    third = make_app(start="quiz", evidence="source", length=1)
    async with third.run_test(size=size) as pilot:
        await settle(pilot)
        assert third.screen.game.stage is Stage.FIRST
        assert third.screen.match.question.evidence == "source"


async def test_a_left_question_whose_answer_was_revealed_since_is_not_scored(make_app: MakeApp) -> None:
    first = make_app(start="quiz", evidence="source", length=1)
    async with first.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("q")
    app = make_app(length=1)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("r", "Q")
        await settle(pilot)
        assert "clamp_smem, step 1 of 2" in picture(app)
        await pilot.press("enter")
        await settle(pilot)
        assert app.screen.session.went_on
        assert "seen, not scored" in picture(app)


async def test_a_left_question_can_be_left_for_good(make_app: MakeApp) -> None:
    first = make_app(start="quiz", evidence="source", length=1)
    async with first.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("a", "enter", "q")
    app = make_app(evidence="source", length=1)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("Q", "g", "enter")
        await settle(pilot)
        assert app.screen.game.stage is Stage.FIRST
        assert not app.screen.session.went_on


async def test_with_another_rival_a_new_question_is_dealt(make_app: MakeApp) -> None:
    first = make_app(start="quiz", evidence="source", length=1)
    async with first.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("a", "enter", "q")
    app = make_app(start="quiz", evidence="source", length=1, rival="baseline:always-a")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.screen.game.stage is Stage.FIRST
        assert not app.screen.session.went_on


def test_a_choice_file_of_nonsense_changes_nothing(tmp_path: Path) -> None:
    otherwise = QuizChoices(length=1, rival="human")
    for text in ("{", "[]", '{"length": 7, "evidence": "all", "order": 3, "rival": 4}'):
        (tmp_path / "quiz.json").write_text(text)
        assert remembered(tmp_path, otherwise) == otherwise
    remember(QuizChoices(None, "source", "mirror", None), tmp_path)
    assert remembered(tmp_path, otherwise) == QuizChoices(None, "source", "mirror", None)


def test_the_next_value_goes_round_and_an_unknown_one_starts_again() -> None:
    assert following((1, 5, None), 5) is None
    assert following((1, 5, None), None) == 1
    assert following((1, 5), 9) == 1
