"""Browse, driven by keys at three sizes: what is shown, what stays hidden, and what each key does."""

from pathlib import Path

import pytest
from rich.color import ColorType
from textual.geometry import Offset

from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.domain.report.report import Rule
from sparktrace_tui.store.seen import load_seen
from sparktrace_tui.ui.widgets.code import CodeView
from sparktrace_tui.ui.widgets.options import OptionsView
from sparktrace_tui.ui.widgets.report import ReportView
from tests.ui.conftest import MakeApp, clamp_set, report
from tests.ui.looking import SIZES, every_text, picture, settle

HIDDEN = ("0.64", "1.013", "2.537", "10.27", "1.58", "✓")


@pytest.mark.parametrize("size", SIZES)
async def test_before_the_reveal_no_time_and_no_winner_is_anywhere(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key in ("a", "b", "c", "d", "v", "a", "b", "o", "x", "x", "x", "f", "escape", "z", "z"):
            await pilot.press(key)
            await pilot.pause()
            said = every_text(app)
            for secret in HIDDEN:
                assert secret not in said, (key, secret)


@pytest.mark.parametrize("size", SIZES)
async def test_the_reveal_shows_bars_the_word_and_a_tick_on_the_winner(
    make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        rows = app.screen.query_one(OptionsView).lines
        ticked = [row for row in rows if "✓" in row]
        assert len(ticked) == 1
        assert " B " in ticked[0]
        assert "0.640 ms modelled" in ticked[0]
        assert sum("ms modelled" in row for row in rows) == 5
        assert "gb10 · emulated" in picture(app)
        assert load_seen(app.options.data_dir) == {"clamp_smem": "gb10-test"}


@pytest.mark.parametrize("size", SIZES)
async def test_original_and_rewrites_can_be_read_whole(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        family = app.entry.family
        original = app.screen.query_one("#original", CodeView)
        assert "\n".join(original.lines) == family.original.source.rstrip("\n")
        for letter, name in zip("abcd", clamp_set().order["clamp_smem"], strict=True):
            await pilot.press(letter)
            await settle(pilot)
            candidate = app.screen.query_one("#candidate", CodeView)
            assert "\n".join(candidate.lines) == family.variant(name).source.rstrip("\n")
            assert "#define T" in picture(app)


async def test_brackets_in_source_survive_to_the_screen(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "__shared__ float tile[TILE][TILE];" in picture(app)


@pytest.mark.parametrize("size", SIZES)
async def test_x_hides_the_conflict_lines_and_their_marks_in_the_gutter(
    make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        app.screen.action_pane("report")  # at 80 columns a pane of its own
        await settle(pilot)
        original, view = app.screen.query_one("#original", CodeView), app.screen.query_one(ReportView)
        gutters = [row.gutter.plain for row in original.rows if row.gutter.plain.startswith("!")]
        assert [gutter[1:].split() for gutter in gutters] == [["16.3M", "16"], ["520M", "19"], ["520M", "21"]]
        assert "520,093,696" in "\n".join(view.lines)
        await pilot.press("x")
        await settle(pilot)
        text = "\n".join(view.lines).lower()
        assert "conflict" not in text
        assert "536,870,912" in text  # what only derives them stays
        assert "DRAM Throughput" in "\n".join(view.lines)
        await pilot.press("x")
        await settle(pilot)
        assert "536,870,912" not in "\n".join(view.lines)
        await pilot.press("o")
        await settle(pilot)
        assert "!" not in picture(app)
        assert not [row for row in original.rows if "!" in row.gutter.plain]
        app.screen.action_pane("report")
        await pilot.press("x")
        await settle(pilot)
        assert "520,093,696" in "\n".join(view.lines)


async def test_conflict_lines_carry_a_mark_that_is_not_colour(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot)
        rows = [row for row in app.screen.query_one(ReportView).rows if row.gutter.plain.startswith("!")]
        assert rows
        assert any("Bank Conflicts" in row.text.plain for row in rows)
        assert not any("Throughput" in row.text.plain for row in rows)


async def test_a_missing_metric_keeps_its_row(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot)
        (row,) = [line for line in app.screen.query_one(ReportView).lines if "DRAM Throughput" in line]
        assert row.split()[-2:] == ["n/a", "%"]


async def test_an_emulated_report_is_never_titled_ncu(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "emulated report" in picture(app)
        assert "─ ncu ─" not in picture(app)


async def test_a_section_folds_and_a_rule_jumps_to_its_line(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot)
        view, original = app.screen.query_one(ReportView), app.screen.query_one("#original", CodeView)
        await pilot.click(ReportView)
        view.cursor = next(i for i, row in enumerate(view.rows) if row.target == "SpeedOfLight")
        await pilot.press("enter")
        assert "Memory Throughput" not in "\n".join(view.lines)
        await pilot.press("enter")
        assert "Memory Throughput" in "\n".join(view.lines)
        for title, number in (("Shared Load Bank Conflicts", 19), ("Shared Store Bank Conflicts", 21)):
            app.screen.action_pane("report")
            view.cursor = next(
                i for i, row in enumerate(view.rows) if isinstance(row.target, Rule) and title in row.text.plain
            )
            await pilot.press("enter")
            await settle(pilot)
            assert app.focused is original
            assert original.rows[original.cursor].target.place == number - 1


async def test_search_lights_up_matches_and_n_goes_round(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"tile[tx]", "enter")
        await settle(pilot)
        original = app.screen.query_one("#original", CodeView)
        visited = [original.rows[original.cursor].target.place + 1]
        for _ in range(3):
            await pilot.press("n")
            visited.append(original.rows[original.cursor].target.place + 1)
        assert visited == [16, 19, 21, 16]
        await pilot.press("escape")
        assert original.needle == ""


async def test_n_goes_from_conflict_to_conflict_and_from_hunk_to_hunk(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        original = app.screen.query_one("#original", CodeView)
        visited = []
        for key in ("n", "n", "n", "N"):
            await pilot.press(key)
            visited.append(original.rows[original.cursor].target.place + 1)
        assert visited == [16, 19, 21, 19]
        await pilot.press("c", "v")  # the padded tile: one hunk
        await settle(pilot)
        candidate = app.screen.query_one("#candidate", CodeView)
        await pilot.press("n")
        assert candidate.rows[candidate.cursor].target.change == "-"
        assert [line for line in candidate.lines if "TILE + 1" in line]


async def test_z_gives_a_pane_the_screen_and_back(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        original = app.screen.query_one("#original", CodeView)
        before = original.region
        await pilot.press("z")
        await settle(pilot)
        assert original.region.width == 120
        await pilot.press("z")
        await settle(pilot)
        assert original.region == before


async def test_y_copies_the_pane_and_a_selection_copies_itself(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("y")
        assert app.clipboard == app.entry.family.original.source.rstrip("\n")
        original = app.screen.query_one("#original", CodeView)
        place = next(i for i, row in enumerate(original.rows) if "__shared__ float" in row.text.plain)
        region = original.row_region(place)
        left = region.x + original.rows[place].gutter.cell_length
        start, end = Offset(left + 4, region.y), Offset(left + 14, region.y)
        await pilot.mouse_down(offset=start)
        await pilot.hover(offset=end)
        await pilot.mouse_up(offset=end)
        await pilot.pause()
        await pilot.press("y")
        assert app.clipboard.startswith("__shared__")
        assert "\n" not in app.clipboard


async def test_the_mouse_chooses_tabs_rewrites_and_footer_commands(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        rows = picture(app).split("\n")
        await pilot.click(offset=(rows[1].index(" C "), 1))
        await settle(pilot)
        assert app.screen.letter == "C"
        assert app.screen.pane == "candidate"
        place = next(i for i, row in enumerate(rows) if " D  " in row and i > 10)
        await pilot.click(offset=(20, place))
        await settle(pilot)
        assert app.screen.letter == "D"
        last = picture(app).split("\n")[-1]
        await pilot.click(offset=(last.index("diff"), 23))
        await settle(pilot)
        assert app.screen.diff


async def test_a_kernel_with_terminal_escapes_is_shown_harmless(make_app: MakeApp) -> None:
    evil = report(kernel="k\x1b[2J\x9b31m[bold]x[/bold]", note="a\x1b]0;owned\x07b\rc\u202ed")
    app = make_app(clamp_set(made_of=evil))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        said = every_text(app)
        assert not [c for c in said if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c == "\u202e"]
        assert "[bold]x[/bold]" in said
        assert "␛" in said


async def test_the_theme_changes_and_changes_back(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        first = app.theme
        dark = app.screen.query_one("#original").styles.background
        await pilot.press("t")
        await settle(pilot)
        assert app.theme != first
        assert app.screen.query_one("#original").styles.background != dark
        await pilot.press("t")
        assert app.theme == first


async def test_no_color_draws_no_colour_at_all(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("r", "b", "v")
        await settle(pilot)
        strips = app.screen._compositor.render_strips()
        for line_filter in (f for f in app._filters if f.enabled):
            strips = [strip.apply_filter(line_filter, app.screen.background_colors[0]) for strip in strips]
        drawn = [segment.style for strip in strips for segment in strip if segment.style]
        assert {c.type for style in drawn for c in (style.color, style.bgcolor) if c} == {ColorType.DEFAULT}
        assert any(style.reverse for style in drawn) or any(style.bold for style in drawn)
        assert "✓" in picture(app)


@pytest.mark.parametrize("size", [(39, 24), (80, 11)])
async def test_a_screen_that_is_too_small_says_what_it_has_and_needs(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert f"has {size[0]}x{size[1]}" in picture(app)
        assert "needs 40x12" in picture(app)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert "original" in picture(app)


async def test_a_set_without_the_family_says_how_to_make_it(make_app: MakeApp) -> None:
    app = make_app(family="stride_copy")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "sparktrace capture stride_copy" in picture(app)
        await pilot.press("r")
        await settle(pilot)
        assert load_seen(app.options.data_dir) == {}


async def test_no_families_says_where_they_are_expected(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sparktrace_tui.ui.library.kernels_dir", lambda: tmp_path / "none")
    monkeypatch.setattr("sparktrace_tui.ui.app.kernels_dir", lambda: tmp_path / "none")
    app = make_app(family=None, kernels=tmp_path / "none")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert str(tmp_path / "none") in every_text(app).replace("\n", "")
        assert "clamp_smem/family.toml" in picture(app)
        for key in ("b", "v", "r", "x", "bracketright", "n", "f", "s", "p"):
            await pilot.press(key)
        await settle(pilot)
        assert app.is_running


async def test_a_family_that_cannot_be_read_says_where_and_the_others_work(make_app: MakeApp, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "broken"
    folder.mkdir(parents=True)
    (folder / "family.toml").write_text('id = "broken"\ntitle = 7\n', encoding="utf-8")
    app = make_app(family="broken", kernels=tmp_path / "own")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        said = every_text(app)
        assert "family.toml:" in said.replace("\n", "")
        await pilot.press("right_square_bracket")
        await settle(pilot)
        assert app.entry.id == "stride_copy"


async def test_no_capture_set_says_how_to_make_one(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparktrace_tui.store.captures.set_folders", dict)
    app = make_app(captures=())
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "no capture set" in picture(app)
        assert "sparktrace capture" in every_text(app)
        await pilot.press("r", "Q")
        await settle(pilot)
        assert app.is_running


async def test_a_set_that_cannot_be_read_is_a_message(make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app()
    (tmp_path / "captures" / "gb10-test" / "clamp_smem.json").write_text("{", encoding="utf-8")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "clamp_smem.json" in every_text(app).replace("\n", "")
        assert "no capture set" in picture(app)


def test_an_unknown_family_is_a_usage_error_that_lists_the_known(make_app: MakeApp) -> None:
    with pytest.raises(UsageError, match="no family 'clamp_smen'") as caught:
        make_app(family="clamp_smen")
    assert "clamp_smem" in str(caught.value)


async def test_help_and_palette_come_from_the_table(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("question_mark")
        await settle(pilot)
        page = every_text(app)
        for text in ("Reveal the times", "Bank-conflict lines", "Search in the pane"):
            assert text in page
        await pilot.press("escape", "colon")
        await pilot.pause()
        assert type(app.screen).__name__ == "CommandPalette"
