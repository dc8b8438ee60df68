"""A pane of short rows in columns, and paragraphs between them; a row may stand for something that can be chosen."""

from dataclasses import dataclass

from textual.content import Content
from textual.message import Message

from sparktrace_tui.ui.text import reflow
from sparktrace_tui.ui.widgets.lines import ListView, Row, styled

Cell = tuple[str, str]  # text and role


@dataclass(frozen=True)
class SheetRow:
    """One row: its cells are drawn side by side as they are; a paragraph (`flows`) is wrapped to the pane.

    target: what the row stands for, None for words alone. tint: the role laid under it.
    """

    cells: tuple[Cell, ...] = ()
    target: object = None
    flows: bool = False
    tint: str = ""


def paragraph(text: str, role: str = "text") -> SheetRow:
    """Words that wrap."""
    return SheetRow(((text, role),), flows=True)


class SheetView(ListView):
    """A pane of rows; enter, or a click, on a row that stands for something says so."""

    class Chosen(Message):
        """A row was acted on."""

        def __init__(self, sheet: "SheetView", target: object) -> None:
            super().__init__()
            self.sheet, self.target = sheet, target

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.sheet: tuple[SheetRow, ...] = ()

    def show(self, sheet: tuple[SheetRow, ...]) -> None:
        """Show these rows; the cursor stays on the target it is on, else goes to the first there is."""
        if sheet == self.sheet:
            return
        self.sheet = sheet
        self.rebuild()

    def rebuild(self) -> None:
        kept = self.target
        super().rebuild()
        places = self.targets()
        same = [place for place in places if self.rows[place].target == kept]
        self.cursor = next(iter(same or places), None)

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        rows: list[Row] = []
        for item in self.sheet:
            if not item.flows:
                text = styled(*item.cells) if item.cells else Content("")
                rows.append(Row(text, len(rows), styled(" "), tint=item.tint, target=item.target))
                continue
            for text_, role in item.cells:
                for line in reflow(text_, width - 2) or [""]:
                    made = styled((line, role)) if line else Content("")
                    rows.append(Row(made, len(rows), styled(" "), tint=item.tint, target=item.target))
        return [row.text.plain for row in rows], rows

    def choose(self, target: object) -> None:
        """Put the cursor on the first row that stands for `target`."""
        for place, row in enumerate(self.rows):
            if row.target == target:
                self.go_to_row(place)
                return

    def act(self) -> None:
        if self.target is not None:
            self.post_message(self.Chosen(self, self.target))
