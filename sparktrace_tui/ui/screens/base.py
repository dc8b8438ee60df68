"""What every screen of panes does alike: layout, tabs, focus, scrolling, search, maximise, copy, theme, help."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from sparktrace_tui.ui.commands import Command, Where, footer_for
from sparktrace_tui.ui.evidence import SHOWN, Shown
from sparktrace_tui.ui.layout import Plan, View, plan
from sparktrace_tui.ui.widgets.code import CodeView
from sparktrace_tui.ui.widgets.lines import Bar, LineView, ListView, clickable, joined, styled
from sparktrace_tui.ui.widgets.options import OptionsView
from sparktrace_tui.ui.widgets.panes import Panes, SearchInput, TooSmall
from sparktrace_tui.ui.widgets.report import ReportView

if TYPE_CHECKING:
    from sparktrace_tui.ui.app import SparkTraceApp


class PaneScreen(Screen[None]):
    """A screen whose panes stand where `layout.plan` says."""

    WHERE: ClassVar[Where] = "browse"
    BINDINGS: ClassVar[list[BindingType]] = []
    CSS_PATH = "base.tcss"
    AUTO_FOCUS = "#original"

    def __init__(self) -> None:
        super().__init__()
        self.body = "original"
        self.pane = "original"
        self.zoomed = False
        self.searching = False
        self._planned: Plan | None = None
        self._then: Callable[[str], None] | None = None

    @property
    def explorer(self) -> "SparkTraceApp":
        return cast("SparkTraceApp", self.app)

    @property
    def pane(self) -> str:
        """The pane that keys go to. Attending to the candidates or to the text about a family moves nothing."""
        return self._pane

    @pane.setter
    def pane(self, name: str) -> None:
        self._pane = name
        if name not in ("options", "about", "listing", "banks"):
            self.body = name

    def view(self) -> View:
        """What the layout has to know."""
        raise NotImplementedError

    def panes(self) -> list[Widget]:
        """All panes of the screen."""
        return [
            CodeView(id="original"),
            CodeView(id="candidate"),
            ReportView(id="report"),
            OptionsView(id="options"),
            *self.more_panes(),
        ]

    def more_panes(self) -> list[Widget]:
        """The panes that only this screen has."""
        return []

    def header(self, width: int) -> Content:
        raise NotImplementedError

    def tab_label(self, tab: str) -> list[Content]:
        """The parts of a tab in the bar, each with its own click action."""
        on = tab == (self.pane if "options" in self.current_plan.tabs else self.body)
        return [clickable(styled((f" {tab} ", "tab-on" if on else "tab")), f"screen.pane('{tab}')")]

    def hidden_commands(self) -> set[str]:
        """Ids that the footer leaves out now."""
        return set()

    def compose(self) -> ComposeResult:
        yield Panes(
            Bar(self.header, id="header"),
            Bar(self.tabs, id="tabs"),
            *self.panes(),
            Bar(self.footer, id="footer"),
            SearchInput(id="search", placeholder="search", select_on_focus=False),
            TooSmall(id="small"),
            plan=self.plan,
        )

    def planned(self, width: int, height: int, view: View) -> Plan:
        """Where the panes stand for a view."""
        return plan(width, height, view)

    def plan(self, width: int, height: int) -> Plan:
        found = self.planned(width, height, self.view())
        if not self.searching or "footer" not in found.panes:
            return found
        panes = dict(found.panes)
        panes["search"] = panes.pop("footer")
        return Plan(found.shape, panes, found.tabs)

    @property
    def current_plan(self) -> Plan:
        return self.plan(self.size.width, self.size.height)

    def tabs(self, width: int) -> Content:
        parts = [part for tab in self.current_plan.tabs for part in self.tab_label(tab)]
        return joined([styled(" "), *parts])

    def footer(self, width: int) -> Content:
        """As many commands as fit, the last two (help and quit) always, each one clickable."""
        wanted = footer_for(self.WHERE, self.hidden_commands())
        if width < 80:
            wanted = wanted[-2:] if width < 60 else (*wanted[:2], *wanted[-2:])
        kept = [*wanted]
        while len(kept) > 2 and sum(len(f"{c.footer_key or c.shown}{self.footer_label(c)}") + 4 for c in kept) > width:
            kept.pop(-3)
        parts = []
        for command in kept:
            keys, label = command.footer_key or command.shown, self.footer_label(command)
            part = styled(" ", (f" {keys} ", "key"), (f" {label}", "dim"))
            parts.append(part if command.footer_key else clickable(part, f"screen.{command.action}"))
        return joined(parts)

    def footer_label(self, command: Command) -> str:
        """What a command is called in the footer now."""
        return command.footer_label or command.label

    def repaint_bars(self) -> None:
        for bar in self.query(Bar):
            bar.refresh()

    def replan(self) -> None:
        """Lay the panes out again where the plan has changed, and draw the bars."""
        wanted = self.current_plan
        if wanted != self._planned:
            self._planned = wanted
            self.query_one(Panes).replan()
            self.call_after_refresh(self._build_new_panes)
        self.repaint_bars()

    def _build_new_panes(self) -> None:
        """A pane that comes onto the screen is not told of its size where something asked for its place before the
        layout was drawn; it would stay empty."""
        for pane in self.query(LineView):
            pane.rebuild_if_resized()

    def action_pane(self, name: str) -> None:
        """Give a pane the attention."""
        self.pane = name
        self.replan()
        found = self.query(f"#{name}")
        if found:
            found.first().focus(scroll_visible=False)

    @property
    def attended(self) -> LineView:
        """The pane that keys go to."""
        return self.query_one(f"#{self.pane}", LineView)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, LineView) and event.widget.id and event.widget.id != self.pane:
            self.pane = event.widget.id
            self.replan()

    def order(self) -> list[str]:
        """The panes that tab goes round."""
        found = self.current_plan
        if found.tabs and not self.zoomed:
            return list(found.tabs) + (["options"] if "options" in found.panes and "options" not in found.tabs else [])
        if self.zoomed:
            found = self.planned(self.size.width, self.size.height, replace(self.view(), zoomed=False))
            if found.tabs:
                return list(found.tabs)
        return [p for p in found.panes if p not in ("header", "footer", "tabs", "small", "search")]

    def action_next_pane(self, step: int = 1) -> None:
        if self.searching:
            self._close_search()
            return
        names = self.order()
        if names:
            here = names.index(self.pane) if self.pane in names else -1
            self.action_pane(names[(here + step) % len(names)])

    def action_previous_pane(self) -> None:
        self.action_next_pane(-1)

    def action_scroll(self, where: str) -> None:
        self.attended.move(where)

    def action_next_mark(self, step: str) -> None:
        if not self.attended.next_mark(int(step)):
            self.notify("Nothing is marked in this pane.", timeout=3)

    def action_maximise(self) -> None:
        self.zoomed = not self.zoomed
        self.replan()

    def action_wrap(self) -> None:
        view = self.attended
        view.wraps = not view.wraps
        view.rebuild()

    def action_copy(self) -> None:
        text = self.attended.text_to_copy()
        self.app.copy_to_clipboard(text)
        lines = text.count("\n") + 1
        self.notify(f"Copied {lines} line{'s' if lines != 1 else ''}.", timeout=3)

    def action_theme(self) -> None:
        self.explorer.next_theme()

    def action_palette(self) -> None:
        self.app.action_command_palette()

    def action_help(self) -> None:
        from sparktrace_tui.ui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.WHERE))

    async def action_quit(self) -> None:
        await self.app.action_quit()

    def close(self) -> None:
        """The explorer is about to end: leave nothing open, and hand in what is to be printed."""

    def action_search(self) -> None:
        self.ask("search in the pane", self._search_for)

    def _search_for(self, needle: str) -> None:
        found = self.attended.search(needle)
        self.notify(f"{found} line{'s' if found != 1 else ''} found." if found else "Not found.", timeout=3)

    def action_open_report(self) -> None:
        """Ask for the path of a report, and open it."""
        self.ask("path of a report: .ncu-rep, .csv or text", self.explorer.open_report)

    def ask(self, prompt: str, then: Callable[[str], None]) -> None:
        """A line of input in the footer's place."""
        if self.current_plan.shape == "small":
            return
        self._then = then
        self.searching = True
        self.replan()
        search = self.query_one(SearchInput)
        search.value, search.placeholder = "", prompt
        search.focus()

    @on(Input.Submitted, "#search")
    def _searched(self, event: Input.Submitted) -> None:
        self._close_search()
        if event.value and self._then is not None:
            self._then(event.value)

    def _close_search(self) -> None:
        self.searching = False
        self.action_pane(self.pane)

    def action_back(self) -> None:
        """Out of the innermost thing that is open."""
        if self.searching:
            self._close_search()
        elif self.attended.needle:
            self.attended.search("")
        elif self.zoomed:
            self.action_maximise()
        else:
            self.leave()

    def leave(self) -> None:
        """Escape with nothing open."""

    def action_fold(self) -> None:
        view = self.attended
        if isinstance(view, ListView):
            view.act()

    def action_ablate(self) -> None:
        """The next level of the report's bank-conflict lines."""
        levels = self.levels()
        here = levels.index(self.explorer.level) if self.explorer.level in levels else 0
        self.explorer.level = levels[(here + 1) % len(levels)]
        self.update()

    def levels(self) -> tuple[Shown, ...]:
        """The levels that `x` goes through."""
        return SHOWN

    def action_original(self) -> None:
        self.action_pane("original")

    def on_report_view_jump(self, message: ReportView.Jump) -> None:
        self.jump(message)

    def jump(self, message: ReportView.Jump) -> None:
        """Go to the place that a rule is about."""
        if message.line is not None:
            self.action_pane("original")
            self.call_after_refresh(self.query_one("#original", CodeView).go_to_source_line, message.line)

    def update(self) -> None:
        """Draw the state anew."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.update()

    def on_screen_resume(self) -> None:
        self.update()
