"""Line-by-line drawing with roles instead of colours: the base of every pane, with wrapping, search and selection."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.segment import Segment
from textual import events
from textual.content import Content, Span
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from sparktrace_tui.ui.theme import ink


@dataclass(frozen=True)
class Row:
    """One row on the screen: `text` holds columns from `start` on of logical line `line`, drawn after `gutter`.

    tint: the role laid under the whole row. indent: blank cells before a wrapped line's next rows. target: what the
    row stands for, where it can be acted on.
    """

    text: Content
    line: int
    gutter: Content = field(default_factory=Content.empty)
    start: int = 0
    indent: int = 0
    tint: str = ""
    target: object = None


def styled(*parts: str | tuple[str, str | Style]) -> Content:
    """Content of plain parts and (text, role) parts; nothing is read as markup."""
    text, spans = "", []
    for part in parts:
        piece, role = (part, "") if isinstance(part, str) else part
        if role and piece:
            spans.append(Span(len(text), len(text) + len(piece), role))
        text += piece
    return Content(text, spans=spans)


def clickable(content: Content, action: str) -> Content:
    """The content with a click action on all of it."""
    click = Style.from_meta({"@click": action})
    return Content(content.plain, spans=[*content.spans, Span(0, len(content.plain), click)])


def joined(parts: list[Content]) -> Content:
    """The contents one after another, spans kept."""
    text, spans = "", []
    for part in parts:
        spans += [Span(s.start + len(text), s.end + len(text), s.style) for s in part.spans]
        text += part.plain
    return Content(text, spans=spans)


def wrapped(line: Content, number: int, width: int, gutter: Content, tint: str, target: object = None) -> list[Row]:
    """A logical line as rows of at most `width` cells, broken after a blank, comma or bracket where there is one."""
    text = line.plain
    indent = min(len(text) - len(text.lstrip()) + 4, max(width // 3, 0))
    if line.cell_length <= width or width < 8:
        return [Row(line, number, gutter, tint=tint, target=target)]
    rows: list[Row] = []
    start, room = 0, width
    blank = styled((" " * max(gutter.cell_length - 2, 0) + "↪ ", "gutter")) if gutter.plain else gutter
    while start < len(text):
        end = start + 1
        while end < len(text) and Content(text[start : end + 1]).cell_length <= room:
            end += 1
        if end < len(text):
            breaks = [m.end() for m in re.finditer(r"[\s,;(){}\[\]]|[^\w\s](?=\w)", text[start:end])]
            if breaks and breaks[-1] > room // 3:
                end = start + breaks[-1]
        rows.append(
            Row(
                line[start:end],
                number,
                gutter if not rows else blank,
                start,
                0 if not rows else indent,
                tint,
                target,
            )
        )
        start, room = end, width - indent
    return rows


class Inked(Widget):
    """A widget that draws Content whose spans name roles of the theme."""

    can_focus = False

    def strip(self, content: Content, width: int, tint: str = "") -> Strip:
        """The content as a strip of exactly `width` cells over the widget's own style and a tint."""
        paint = ink(self.app.theme)
        base = self.visual_style + paint(tint) if tint else self.visual_style
        segments = [Segment(text, style.rich_style) for text, style in content.render(base, end="", parse_style=paint)]
        return Strip(segments, content.cell_length).adjust_cell_length(width, base.rich_style)


class Bar(Inked):
    """A single row: header, tabs, footer. `show` sets what it says; parts may carry click actions."""

    DEFAULT_CSS = "Bar { height: 1; }"
    ALLOW_SELECT = False

    def __init__(self, make: Callable[[int], Content], *, id: str) -> None:
        super().__init__(id=id)
        self.make = make

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        return self.strip(self.make(width), width) if y == 0 else Strip.blank(width)


class LineView(ScrollView, Inked, can_focus=True, inherit_bindings=False):
    """A pane of lines. A subclass builds its rows for a width; this class draws, searches, selects and copies them."""

    DEFAULT_CSS = """
    LineView { scrollbar-size: 1 1; scrollbar-gutter: stable; overflow-x: hidden; overflow-y: auto; }
    """
    wraps = True

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.rows: list[Row] = []
        self.lines: list[str] = []
        self.cursor: int | None = None
        self.needle = ""
        self._built_width = -1
        self._said: dict[str, Content] = {}

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        """The logical lines (for search and copy) and the rows for a pane of `width` cells."""
        raise NotImplementedError

    def rebuild(self) -> None:
        """Build the rows again, after a change of content or size; the scroll position stays where it can."""
        width = self.scrollable_content_region.width
        if width <= 0:
            self._built_width = -1  # not on the screen: build when it is
            return
        self._built_width = width
        self.lines, self.rows = self.build(width)
        widest = width if self.wraps else max([width, *(r.gutter.cell_length + r.text.cell_length for r in self.rows)])
        self._resize_virtually(Size(widest, len(self.rows)))
        if self.cursor is not None:
            self.cursor = min(self.cursor, len(self.rows) - 1) if self.rows else None
        self.refresh()

    def _resize_virtually(self, size: Size) -> None:
        """Take a new number of rows. Where the scroll bar neither comes nor goes no pane moves, so none is laid out."""
        height = self.scrollable_content_region.height
        if (size.height > height) != (self.virtual_size.height > height):
            self.virtual_size = size
            return
        self.set_reactive(LineView.virtual_size, size)
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.window_virtual_size = size.height
        self.scroll_x = self.scroll_target_x = self.validate_scroll_x(self.scroll_x)
        self.scroll_y = self.scroll_target_y = self.validate_scroll_y(self.scroll_y)

    def entitle(self, title: str | Content, subtitle: str | Content = "") -> None:
        """Set what the border says. One that says the same already is not drawn anew, nor is its pane."""
        for name, text in (("border_title", title), ("border_subtitle", subtitle)):
            content = Content(text) if isinstance(text, str) else text
            if self._said.get(name) != content:
                self._said[name] = content
                setattr(self, name, content)

    def on_resize(self, event: events.Resize) -> None:
        self.rebuild_if_resized()

    def rebuild_if_resized(self) -> None:
        """Build the rows where they were built for another width, or for none."""
        if self.scrollable_content_region.width != self._built_width:
            self.rebuild()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        scroll_x, scroll_y = self.scroll_offset
        place = scroll_y + y
        if place >= len(self.rows):
            return self.strip(Content(""), width)
        row = self.rows[place]
        tint = "cursor-line" if place == self.cursor and self.cursor_shown else row.tint
        gutter = self.strip(row.gutter, row.gutter.cell_length + row.indent, tint)
        room = max(width - gutter.cell_length, 0)
        text = self._lit(row)
        drawn = self.strip(text, max(text.cell_length, scroll_x + room), tint).crop(scroll_x, scroll_x + room)
        return Strip.join([gutter, drawn.apply_offsets(row.start + scroll_x, row.line)])

    @property
    def cursor_shown(self) -> bool:
        return True

    def _lit(self, row: Row) -> Content:
        """The row's text with the search's matches and the selection on it."""
        spans = list(row.text.spans)
        end_column = row.start + len(row.text.plain)
        if self.needle:
            for found in re.finditer(re.escape(self.needle), self.lines[row.line], re.IGNORECASE):
                start, end = max(found.start(), row.start), min(found.end(), end_column)
                if start < end:
                    spans.append(Span(start - row.start, end - row.start, "match"))
        if (selection := self.text_selection) is not None and (span := selection.get_span(row.line)) is not None:
            start, end = span
            start, end = max(start, row.start), end_column if end == -1 else min(end, end_column)
            if start < end:
                spans.append(Span(start - row.start, end - row.start, "select"))
        return Content(row.text.plain, spans=spans) if len(spans) != len(row.text.spans) else row.text

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(self.lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def text_to_copy(self) -> str:
        """The selected text, or else all of the pane's."""
        if (selection := self.text_selection) is not None and (found := self.get_selection(selection)):
            return found[0]
        return "\n".join(self.lines)

    def search(self, needle: str) -> int:
        """Light up the matches of `needle` and go to the first in or below the view; returns how many lines match."""
        self.needle = needle
        matching = self.match_rows()
        if matching:
            here = [row for row in matching if row >= self.scroll_offset.y]
            self.go_to_row((here or matching)[0])
        self.refresh()
        return len({self.rows[row].line for row in matching})

    def match_rows(self) -> list[int]:
        """The rows on which a match of the search begins."""
        if not self.needle:
            return []
        found = []
        for place, row in enumerate(self.rows):
            end = row.start + len(row.text.plain)
            starts = (m.start() for m in re.finditer(re.escape(self.needle), self.lines[row.line], re.IGNORECASE))
            if any(row.start <= start < end for start in starts):
                found.append(place)
        return found

    def marked_rows(self) -> list[int]:
        """The rows that `n` visits when nothing is searched for."""
        return []

    def next_mark(self, step: int) -> bool:
        """Go to the next (or previous) match or mark, round the ends; False where there is none."""
        places = self.match_rows() if self.needle else self.marked_rows()
        if not places:
            return False
        here = self.cursor if self.cursor is not None else self.scroll_offset.y - (1 if step > 0 else 0)
        later = [p for p in places if p > here] if step > 0 else [p for p in reversed(places) if p < here]
        self.go_to_row(later[0] if later else places[0 if step > 0 else -1])
        return True

    def go_to_row(self, place: int) -> None:
        """Put the cursor on a row and bring it into view, with some rows around it."""
        self.cursor = place
        height = self.scrollable_content_region.height
        top = self.scroll_offset.y
        if not top + 1 <= place < top + height - 1:
            self.scroll_to(y=max(place - height // 3, 0), animate=False)
        self.refresh()

    def go_to_line(self, line: int) -> None:
        """Put the cursor on the first row of a logical line."""
        for place, row in enumerate(self.rows):
            if row.line == line:
                self.go_to_row(place)
                return

    def move(self, where: str) -> None:
        """Scroll: `down`, `up`, `pagedown`, `pageup`, `top`, `bottom`, `left`, `right`."""
        page = max(self.scrollable_content_region.height - 1, 1)
        x, y = self.scroll_offset
        target = {
            "down": (x, y + 1),
            "up": (x, y - 1),
            "pagedown": (x, y + page),
            "pageup": (x, y - page),
            "top": (x, 0),
            "bottom": (x, len(self.rows)),
            "left": (x - 8, y),
            "right": (x + 8, y),
        }[where]
        self.scroll_to(x=max(target[0], 0), y=max(target[1], 0), animate=False)

    def click_row(self, place: int) -> None:
        """A row was clicked."""

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or event.button != 1 or self.text_selection is not None:
            return
        place = offset.y + self.scroll_offset.y
        if 0 <= place < len(self.rows):
            self.click_row(place)

    def row_region(self, place: int) -> Region:
        """Where a row of the pane is on the screen (for tests and tooltips)."""
        content = self.scrollable_content_region
        return Region(content.x, content.y + place - self.scroll_offset.y, content.width, 1)


class ListView(LineView):
    """A pane in which the cursor moves from one row with a target to the next."""

    def targets(self) -> list[int]:
        return [place for place, row in enumerate(self.rows) if row.target is not None]

    @property
    def cursor_shown(self) -> bool:
        return self.has_focus

    @property
    def target(self) -> object:
        """What the cursor is on."""
        return self.rows[self.cursor].target if self.cursor is not None and self.rows else None

    def move(self, where: str) -> None:
        step = {"down": 1, "up": -1}.get(where)
        if step is None:
            super().move(where)
            return
        places = self.targets()
        here = self.cursor if self.cursor is not None else -1
        later = [p for p in places if p > here] if step > 0 else [p for p in reversed(places) if p < here]
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if later and abs(later[0] - here) < height:
            self.cursor = later[0]
            if not top <= later[0] < top + height:
                self.scroll_to(y=later[0] - height // 2, animate=False)
            self.refresh()
        else:
            super().move(where)

    def click_row(self, place: int) -> None:
        if self.rows[place].target is not None:
            self.cursor = place
            self.refresh()
            self.act()

    def act(self) -> None:
        """Act on what the cursor is on."""
