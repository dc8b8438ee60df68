"""PTX or machine code in a pane, linked to the source: what comes from the chosen source line is marked."""

from textual.content import Content
from textual.message import Message

from sparktrace_tui.domain.kernel.machine_code import ListedLine, Listing
from sparktrace_tui.ui.text import count, harmless, reflow
from sparktrace_tui.ui.widgets.lines import ListView, Row, styled, wrapped


class ListingView(ListView):
    """A pane with a listing; `mark` says which source line is chosen, a chosen instruction posts `Picked`."""

    class Picked(Message):
        """An instruction was chosen: the 1-based source line that it comes from."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.listing: Listing | None = None
        self.said = ""
        self.line: int | None = None
        self._wanted: int | None = None

    def show(self, listing: Listing | None, said: str = "") -> None:
        """Show a listing, or in its place what is to be said."""
        if listing is self.listing and said == self.said:
            return
        self.listing, self.said = listing, said
        self.cursor = None
        self.scroll_to(0, 0, animate=False)
        self.rebuild()
        self._into_view()

    def mark(self, line: int | None) -> None:
        """Mark what comes from a source line, and bring the first of it into view."""
        if line == self.line:
            return
        self.line = line
        self.rebuild()
        self._into_view()

    @property
    def linked(self) -> int:
        """How many instructions come from the marked line."""
        found = self.listing.lines if self.listing else ()
        return sum(1 for item in found if item.line is not None and item.line == self.line)

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        if self.listing is None:
            texts = reflow(self.said, max(width - 2, 8))
            return texts, [Row(styled((text, "dim")), i, styled("  ")) for i, text in enumerate(texts)]
        shown = self.listing.lines
        addressed = any(item.address is not None for item in shown)
        counts = [count(item.executed) if item.executed else "" for item in shown]
        conflicts = [count(item.conflicts) if item.conflicts else "" for item in shown]
        room = max((len(text) for text in counts), default=0)
        conflict_room = max((len(text) for text in conflicts), default=0)
        digits = max(3, *(len(str(item.line)) for item in shown if item.line is not None), 0)
        lines: list[str] = []
        rows: list[Row] = []
        for item, executed, crowded in zip(shown, counts, conflicts, strict=True):
            linked = item.line is not None and item.line == self.line
            gutter = [("▸" if linked else " ", "title")]
            if conflict_room:
                gutter.append((f"{'!' if crowded else ' '}{crowded:>{conflict_room}} ", "conflict"))
            gutter.append((f"{item.line if item.line is not None else '':>{digits}} ", "gutter"))
            if room:
                gutter.append((f"{executed:>{room}} ", "dim"))
            if addressed:
                gutter.append((f"{'' if item.address is None else f'{item.address:04x}':>4} ", "gutter"))
            text = harmless(item.text)
            role = "text" if item.line is not None else "dim"
            made = styled(*gutter)
            content = styled((text, "title" if linked else role))
            target = item if item.line is not None or item.address is not None else None
            tint = "select" if linked else "conflict-line" if crowded else ""
            if self.wraps:
                rows += wrapped(content, len(lines), width - made.cell_length, made, tint, target)
            else:
                rows.append(Row(content, len(lines), made, tint=tint, target=target))
            lines.append(text)
        return lines, rows

    def marked_rows(self) -> list[int]:
        """The first row of each run of marked instructions; those with conflicts where no line is marked."""
        found, before = [], False
        for place, row in enumerate(self.rows):
            item = row.target
            linked = isinstance(item, ListedLine) and (
                item.line == self.line if self.line is not None else bool(item.conflicts)
            )
            if linked and not before:
                found.append(place)
            before = linked
        return found

    def rebuild(self) -> None:
        first = not self.rows
        super().rebuild()
        if not first or not self.rows or self.listing is None:
            return
        self._into_view()
        if self._wanted is not None:
            self.call_after_refresh(self.go_to_address, self._wanted)
            self._wanted = None

    def go_to_address(self, address: int) -> None:
        """Put the cursor on the instruction at an address of where the listing comes from."""
        if not self.rows:
            self._wanted = address  # not on the screen yet
            return
        address -= self.listing.start if self.listing else 0
        for place, row in enumerate(self.rows):
            if isinstance(row.target, ListedLine) and row.target.address == address:
                self.go_to_row(place)
                return

    def _into_view(self) -> None:
        places = self.marked_rows()
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if places and not any(top <= place < top + height for place in places):
            self.scroll_to(y=max(places[0] - height // 3, 0), animate=False)

    def move(self, where: str) -> None:
        before = self.cursor
        super().move(where)
        if self.cursor != before:
            self.act()

    def act(self) -> None:
        if isinstance(self.target, ListedLine) and self.target.line is not None:
            self.post_message(self.Picked(self.target.line))

    def text_to_copy(self) -> str:
        """The selected text, or the listing with the source line before each instruction."""
        if self.text_selection is not None or self.listing is None:
            return super().text_to_copy()
        return "\n".join(f"{item.line or '':>4}  {item.text}" for item in self.listing.lines)


def listing_words(view: ListingView) -> Content:
    """What the border says: by what it was made, and how much comes from the chosen line."""
    if view.listing is None:
        return Content("")
    linked = f"line {view.line}: {view.linked} of {len(view.listing.lines)} · " if view.line is not None else ""
    return Content(linked + view.listing.made_by)
