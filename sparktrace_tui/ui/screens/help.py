"""Help: every command of the screen below, by group, from the one table; and what the signs mean."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from sparktrace_tui.ui.commands import Where, bindings_for, help_for
from sparktrace_tui.ui.text import reflow
from sparktrace_tui.ui.widgets.lines import LineView, Row, styled

SIGNS = (
    ("!", "conflict", "a line that names shared-memory bank conflicts, or where they were counted"),
    ("✓", "right", "the fastest rewrite, after a reveal"),
    ("●", "title", "a family that is a question here; in the quiz, your pick before it is confirmed"),
    ("○", "dim", "a family that is not a question here: a near tie, or unstable"),
    ("+ -", "add", "lines of a diff against the original"),
    ("n/a", "dim", "not known; never a nought"),
)


class HelpView(LineView):
    """The page of keys."""

    def __init__(self, where: Where) -> None:
        super().__init__(id="help-page")
        self.where = where

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        contents: list[Content] = []
        for group, commands in help_for(self.where).items():
            contents.append(styled((group, "ncu-title")))
            letters = [c for c in commands if c.argument in ("a", "b", "c", "d")]
            if letters:
                contents += self._entry("a - d", letters[0].help[: letters[0].help.rindex(" ")] + " A to D.", width)
            for command in commands:
                if command not in letters:
                    keys = command.shown if command.shown != ":" else ": or ctrl+p"
                    contents += self._entry(keys, command.help, width)
            contents.append(Content(""))
        contents.append(styled(("Signs", "ncu-title")))
        for sign, role, meaning in SIGNS:
            first, *rest = reflow(meaning, width - 14)
            contents.append(styled("  ", (f"{sign:<11}", role), first))
            contents += [styled(" " * 13 + line) for line in rest]
        return [c.plain for c in contents], [Row(c, i) for i, c in enumerate(contents)]

    @staticmethod
    def _entry(keys: str, text: str, width: int) -> list[Content]:
        first, *rest = reflow(text, max(width - 14, 10))
        return [styled("  ", (f"{keys:<11}", "title"), first), *(styled(" " * 13 + line) for line in rest)]


class HelpScreen(ModalScreen[None]):
    """Over the screen that it explains; escape or ? closes it."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_for("help"),
        Binding("question_mark", "back", "Close the help.", show=False),
        *(
            Binding(keys, f"scroll('{where}')", where, show=False)
            for keys, where in (
                ("j,down", "down"), ("k,up", "up"), ("pagedown,space", "pagedown"), ("pageup", "pageup"),
                ("g,home", "top"), ("G,end", "bottom"),
            )
        ),
    ]  # fmt: skip

    def __init__(self, where: Where) -> None:
        super().__init__()
        self.where = where

    def compose(self) -> ComposeResult:
        page = HelpView(self.where)
        page.border_title = Content("help")
        page.border_subtitle = Content("esc closes")
        yield page

    def action_back(self) -> None:
        self.dismiss()

    def action_scroll(self, where: str) -> None:
        self.query_one(HelpView).move(where)

    def action_theme(self) -> None:
        from sparktrace_tui.ui.app import SparkTraceApp

        if isinstance(self.app, SparkTraceApp):
            self.app.next_theme()

    def action_quit(self) -> None:
        self.app.exit()
