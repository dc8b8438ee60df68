"""The container that puts every pane where the pure layout says, the search line, and the too-small screen."""

from collections.abc import Callable

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from sparktrace_tui.ui.layout import MIN_HEIGHT, MIN_WIDTH, Plan
from sparktrace_tui.ui.widgets.lines import Inked, styled


class _PlannedLayout(Layout):
    """Places children by id where the plan has a rectangle; the others are not on the screen."""

    name = "planned"

    def __init__(self, plan: Callable[[int, int], Plan]) -> None:
        self.plan = plan

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        panes = self.plan(size.width, size.height).panes
        placed = []
        for child in children:
            if child.id is not None and (rect := panes.get(child.id)) is not None:
                region = Region(rect.x, rect.y, rect.width, rect.height)
                placed.append(WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, child))
        return placed


class Panes(Widget):
    """All panes of a screen; the plan decides which are seen and where."""

    DEFAULT_CSS = "Panes { width: 100%; height: 100%; overflow: hidden; }"
    can_focus = False

    def __init__(self, *children: Widget, plan: Callable[[int, int], Plan]) -> None:
        super().__init__(*children)
        self._planned = _PlannedLayout(plan)

    @property
    def layout(self) -> Layout:
        return self._planned

    def replan(self) -> None:
        """Place the panes anew."""
        self._clear_arrangement_cache()
        self.refresh(layout=True)


class TooSmall(Inked):
    """What a terminal that is too small shows: what it has and what it needs."""

    def render_line(self, y: int) -> Strip:
        has = self.app.size
        lines = ("Too small", f"has {has.width}x{has.height}", f"needs {MIN_WIDTH}x{MIN_HEIGHT}", "q quits")
        place = y - max((self.size.height - len(lines)) // 2, 0)
        if not 0 <= place < len(lines):
            return self.strip(styled(""), self.size.width)
        text = lines[place].center(self.size.width)[: self.size.width]
        return self.strip(styled((text, "title" if place == 0 else "text")), self.size.width)


class SearchInput(Input):
    """The search line that takes the footer's place."""

    DEFAULT_CSS = """
    SearchInput, SearchInput:focus { border: none; height: 1; padding: 0 1; background: $panel; }
    """
