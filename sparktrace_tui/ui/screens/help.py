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
    ("64ks", "gutter", "how many 32-byte sectors the line's global accesses asked for"),
    ("✓", "right", "the fastest rewrite, after a reveal"),
    ("●", "title", "a family that is a question here; in the quiz, your pick before it is confirmed"),
    ("○", "dim", "a family that is not a question here: a near tie, or unstable"),
    ("+ -", "add", "lines of a diff against the original"),
    ("n/a", "dim", "not known; never a nought"),
)


class HelpView(LineView):
    """The page of keys."""

    def __init__(self, where: Where) -> None:
        super().__init__(id="page")
        self.where = where

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        contents: list[Content] = []
        for group, commands in help_for(self.where).items():
            contents.append(styled((group, "ncu-title")))
            letters = [c for c in commands if c.argument in ("a", "b", "c", "d")]
            if letters:
                contents += _entry("a-d", f"{letters[0].help.rsplit(' ', 1)[0]} A to D.", width)
            for command in commands:
                if command not in letters:
                    contents += _entry(": ctrl+p" if command.shown == ":" else command.shown, command.help, width)
            contents.append(Content(""))
        contents.append(styled(("Signs", "ncu-title")))
        for sign, role, meaning in SIGNS:
            contents += _entry(sign, meaning, width, role)
        return [c.plain for c in contents], [Row(c, i) for i, c in enumerate(contents)]


def _entry(keys: str, text: str, width: int, role: str = "title") -> list[Content]:
    first, *rest = reflow(text, max(width - 14, 10)) or [""]
    return [styled("  ", (f"{keys:<11}", role), first), *(styled(" " * 13 + line) for line in rest)]


class TextView(LineView):
    """Plain lines, wrapped."""

    def __init__(self, text: tuple[str, ...]) -> None:
        super().__init__(id="page")
        self.text = text

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        lines = [line for text in self.text for line in (reflow(text, width) or [""])]
        return lines, [Row(Content(line), i) for i, line in enumerate(lines)]


class OverScreen(ModalScreen[None]):
    """A page over the screen below; escape closes it."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_for("help"),
        Binding("question_mark,enter", "back", "Close.", show=False),
        *(
            Binding(keys, f"scroll('{where}')", where, show=False)
            for keys, where in (
                ("j,down", "down"), ("k,up", "up"), ("pagedown,space", "pagedown"), ("pageup", "pageup"),
                ("g,home", "top"), ("G,end", "bottom"),
            )
        ),
    ]  # fmt: skip

    def page(self) -> LineView:
        """What it shows."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        page = self.page()
        page.border_subtitle = Content("esc closes")
        yield page

    def action_back(self) -> None:
        self.dismiss()

    def action_scroll(self, where: str) -> None:
        self.query_one("#page", LineView).move(where)

    def action_theme(self) -> None:
        from sparktrace_tui.ui.app import SparkTraceApp

        if isinstance(self.app, SparkTraceApp):
            self.app.next_theme()

    async def action_quit(self) -> None:
        await self.app.action_quit()


class HelpScreen(OverScreen):
    """The commands of the screen that it lies over."""

    def __init__(self, where: Where) -> None:
        super().__init__()
        self.where = where

    def page(self) -> LineView:
        view = HelpView(self.where)
        view.border_title = Content("help")
        return view


class PageScreen(OverScreen):
    """Plain text, such as the summary of a quiz."""

    def __init__(self, title: str, lines: tuple[str, ...]) -> None:
        super().__init__()
        self.heading, self.text = title, lines

    def page(self) -> LineView:
        view = TextView(self.text)
        view.border_title = Content(self.heading)
        return view
