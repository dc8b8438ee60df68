"""Text, commands, diffs and wrapping: the small parts the screens are made of."""

from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from sparktrace_tui.ui.app import SparkTraceApp
from sparktrace_tui.ui.commands import COMMANDS, commands_for, footer_for, help_for
from sparktrace_tui.ui.evidence import Place, line_conflicts, rule_place
from sparktrace_tui.ui.lesson import lesson
from sparktrace_tui.ui.screens.browse import BrowseScreen
from sparktrace_tui.ui.screens.compare import CompareScreen
from sparktrace_tui.ui.screens.edit import EditScreen
from sparktrace_tui.ui.screens.help import OverScreen
from sparktrace_tui.ui.screens.profile import ProfileScreen
from sparktrace_tui.ui.screens.quiz import QuizScreen
from sparktrace_tui.ui.screens.report import ReportScreen
from sparktrace_tui.ui.screens.run import RunScreen
from sparktrace_tui.ui.screens.start import StartScreen
from sparktrace_tui.ui.text import count, fit, harmless, milliseconds, number, one_line, reflow
from sparktrace_tui.ui.widgets.code import code_lines, differing, highlighted
from sparktrace_tui.ui.widgets.lines import styled, wrapped
from tests.ui.conftest import report

TEXTS = st.text(max_size=200)


@given(TEXTS)
def test_no_control_character_survives(text: str) -> None:
    shown = harmless(text)
    assert not [c for c in shown if c not in "\n\t" and (ord(c) < 32 or 127 <= ord(c) < 160)]
    assert "\n" not in one_line(text)


@given(TEXTS, st.integers(1, 60))
def test_fitted_text_has_exactly_its_width(text: str, width: int) -> None:
    shown = fit(one_line(text), width)
    assert cell_len(shown) == width or "…" in shown


@given(st.text(alphabet="ab c\n", max_size=300), st.integers(4, 60))
def test_reflowed_lines_fit_and_lose_no_word(text: str, width: int) -> None:
    lines = reflow(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(text.split())


@given(st.text(alphabet="ab_[](){};, +", max_size=200), st.integers(8, 60))
def test_wrapped_code_holds_every_character_once(text: str, width: int) -> None:
    rows = wrapped(styled(text), 0, width, styled("12 "), "")
    assert "".join(row.text.plain for row in rows) == text
    assert all(row.indent + row.text.cell_length <= width for row in rows)
    assert [row.start for row in rows] == [sum(len(r.text.plain) for r in rows[:i]) for i in range(len(rows))]


def test_numbers_as_people_read_them() -> None:
    assert [count(v) for v in (31, 16_252_928, 520_093_696, 2.5e9)] == ["31", "16.3M", "520M", "2.5G"]
    assert [number(v) for v in (None, 0, 1234567, 0.5, float("nan"), "n/a")] == [
        "n/a", "0", "1,234,567", "0.50", "n/a", "n/a",
    ]  # fmt: skip
    assert [milliseconds(v) for v in (0.621, 10.465, 123.4)] == ["0.621 ms", "10.465 ms", "123.400 ms"]
    assert milliseconds(10.2, approximate=True) == "about 10.2 ms"


def test_every_command_has_a_screen_that_answers_it() -> None:
    screens = {
        "browse": BrowseScreen, "quiz": QuizScreen, "report": ReportScreen, "edit": EditScreen, "start": StartScreen,
        "profile": ProfileScreen, "run": RunScreen, "compare": CompareScreen, "help": OverScreen,
    }  # fmt: skip
    for where, screen in screens.items():
        for command in commands_for(where):
            assert hasattr(screen, f"action_{command.id}"), f"{where} has no action_{command.id}"


def test_no_key_means_two_things_on_one_screen() -> None:
    for where in ("browse", "quiz", "report", "edit", "start", "profile", "run", "compare"):
        keys = [key for command in commands_for(where) for key in command.keys.split(",")]
        assert len(keys) == len(set(keys)), sorted(k for k in keys if keys.count(k) > 1)


def test_every_command_says_what_it_does_and_the_help_has_them_all() -> None:
    for command in COMMANDS:
        assert command.help.endswith("."), command
        assert len(command.label) <= 16
    listed = [command for commands in help_for("browse").values() for command in commands]
    assert set(listed) == set(commands_for("browse"))


def test_the_footer_starts_with_the_wanted_and_ends_with_help_and_quit() -> None:
    for where in ("browse", "quiz"):
        found = [command.id for command in footer_for(where)]
        assert found[-2:] == ["help", "quit"]
        assert found[0] in ("show", "pick")


def test_a_diff_shows_what_changed_and_counts_the_rest() -> None:
    base = "\n".join(f"line {i}" for i in range(40))
    changed = base.replace("line 20", "line twenty")
    found = differing(base, changed)
    assert [(item.place, item.change) for item in found if item.change in "+-"] == [(20, "-"), (20, "+")]
    left_out = [item.place for item in found if item.change == "~"]
    assert sum(left_out) + sum(item.change == " " for item in found) == 39


def test_highlighting_changes_no_text() -> None:
    for source in ("", "\n", 'int a[2];\r\n\tx = "[b]";\n', "a\n\n\n", "// \x1b[31m\n", "/* open\n"):
        assert tuple(line.plain for line in highlighted(source)) == code_lines(source)


def test_conflicts_by_line_and_the_line_of_a_rule() -> None:
    found = report()
    assert dict(line_conflicts(found)) == {16: 16_252_928, 19: 520_093_696, 21: 520_093_696}
    loads, stores = (rule for rule in found.rules if rule.id == "SharedMemoryConflicts")
    assert (rule_place(found, loads), rule_place(found, stores)) == (Place(19), Place(21))
    assert rule_place(found, found.rules[0]) is None
    assert line_conflicts(None) == {}


def test_a_lesson_turns_headings_tables_and_paragraphs_into_lines() -> None:
    text = "# Title\n\nOne\nparagraph with `code`.\n\n| a | b |\n|---|---|\n| x | 1 |\n"
    assert lesson(text) == [("", ""), ("Title", "title"), ("One paragraph with code.", "text"), ("x: b 1.", "text")]
    assert lesson("") == []


def test_a_crash_report_shows_no_values_of_variables(make_app) -> None:  # type: ignore[no-untyped-def]
    from rich.console import Console

    app: SparkTraceApp = make_app()
    try:
        secret = "sk-" + "do-not-show"
        raise RuntimeError(len(secret))
    except RuntimeError:
        app._fatal_error()
    console = Console(record=True, width=100, file=StringIO())
    console.print(app._exit_renderables[0])
    text = console.export_text()
    assert "RuntimeError" in text
    assert "sk-do-not-show" not in text
