"""Source code in a pane: highlighted in a worker, numbered, marked, wrapped, or as a diff against another."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from textual.content import Content
from textual.highlight import highlight
from textual.message import Message

from sparktrace_tui.ui.text import count, harmless
from sparktrace_tui.ui.theme import CodeRoles
from sparktrace_tui.ui.widgets.lines import LineView, Row, styled, wrapped

CONTEXT = 4


def code_lines(source: str) -> tuple[str, ...]:
    """The lines of a source as they are shown: tabs as four blanks, control characters visible."""
    return tuple(harmless(line).expandtabs(4) for line in source.replace("\r\n", "\n").split("\n")) or ("",)


@lru_cache(maxsize=128)
def highlighted(source: str) -> tuple[Content, ...]:
    """The lines of `code_lines(source)` with role spans. Slow on long sources (2,080 lines: 0.8 s): use a worker."""
    lines = code_lines(source)
    coloured = highlight("\n".join(lines), language="cuda", theme=CodeRoles).split("\n", allow_blank=True)
    # The lexer may add a last line break or drop one at the end: the text decides.
    padded = [*coloured, *(Content("") for _ in range(len(lines) - len(coloured)))]
    return tuple(found if found.plain == text else Content(text) for text, found in zip(lines, padded, strict=False))


@dataclass(frozen=True)
class CodeLine:
    """A line of the pane: its place (0-based) in one of the two sources, and how it differs.

    change: `+` (only in the shown source), `-` (only in the base), blank (in both), or `~` for lines left out, then
    `place` counts them.
    """

    place: int
    change: str = " "


def whole(source: str) -> tuple[CodeLine, ...]:
    """Every line of a source, undiffed; a last empty line is left out."""
    lines = code_lines(source)
    return tuple(CodeLine(i) for i in range(len(lines) - (len(lines) > 1 and not lines[-1])))


@lru_cache(maxsize=128)
def differing(base: str, source: str, context: int = CONTEXT) -> tuple[CodeLine, ...]:
    """A diff of two sources: changed lines with `context` unchanged ones around, the rest counted."""
    old, new = code_lines(base), code_lines(source)
    found: list[CodeLine] = []
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for place, (kind, a, b, c, d) in enumerate(blocks):
        if kind == "equal":
            head = 0 if place == 0 else context
            tail = 0 if place == len(blocks) - 1 else context
            if d - c > head + tail + 2:
                found += [CodeLine(i) for i in range(c, c + head)]
                found.append(CodeLine(d - c - head - tail, "~"))
                found += [CodeLine(i) for i in range(d - tail, d)]
            else:
                found += [CodeLine(i) for i in range(c, d)]
        else:
            found += [CodeLine(i, "-") for i in range(a, b)]
            found += [CodeLine(i, "+") for i in range(c, d)]
    return tuple(found)


def changed_lines(base: str, source: str) -> tuple[tuple[str, str], ...]:
    """The lines that differ, as (sign, text), for a card."""
    old, new = code_lines(base), code_lines(source)
    return tuple(
        (item.change, (old if item.change == "-" else new)[item.place].strip())
        for item in differing(base, source)
        if item.change in "+-"
    )


@dataclass(frozen=True)
class Code:
    """What a code pane shows. base: the source it is compared with, None to show it whole.

    conflicts: bank conflicts by 1-based line of `source`, sectors: 32-byte sectors of global accesses, shown on lines
    without conflicts. errors: a compiler's message by 1-based line.
    """

    source: str
    base: str | None = None
    conflicts: Mapping[int, float] | None = None
    errors: Mapping[int, str] | None = None
    sectors: Mapping[int, float] | None = None


class CodeView(LineView):
    """A pane of CUDA source."""

    class Coloured(Message):
        """A worker has highlighted a source."""

    class Picked(Message):
        """A source line was chosen (1-based), while the pane lets one be chosen."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.picks = False  # whether the keys move a cursor from line to line, for what stands beside
        self.stops: tuple[int, ...] = ()  # the 1-based lines that `n` visits then, () for the marked ones
        self.code = Code("")
        self._ready: tuple[str, str | None] = ("", None)
        self._wanted: int | None = None

    def show(self, code: Code) -> None:
        """Show a source. The place stays when only the marks change, else it starts at the top."""
        if code == self.code:
            return
        moved = (code.source, code.base) != (self.code.source, self.code.base)
        self.code = code
        if moved:
            self.cursor = None
            self.scroll_to(0, 0, animate=False)
        self.rebuild()
        self.run_worker(self._colour, thread=True, group=f"colour-{self.id}", exclusive=True, exit_on_error=False)

    def rebuild(self) -> None:
        super().rebuild()
        if self._wanted is not None and self.rows:
            self.call_after_refresh(self.go_to_source_line, self._wanted)  # the pane has its height by then
            self._wanted = None

    def _colour(self) -> None:
        code = self.code
        highlighted(code.source)
        if code.base is not None:
            highlighted(code.base)
        self.post_message(self.Coloured())

    def on_code_view_coloured(self, message: "CodeView.Coloured") -> None:
        message.stop()
        self._ready = self.code.source, self.code.base
        self.rebuild()

    def _texts(self) -> tuple[tuple[Content, ...], tuple[Content, ...]]:
        code = self.code
        if self._ready == (code.source, code.base):
            return highlighted(code.source), highlighted(code.base or "")
        return (
            tuple(Content(line) for line in code_lines(code.source)),
            tuple(Content(line) for line in code_lines(code.base or "")),
        )

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        code = self.code
        new, old = self._texts()
        shown = whole(code.source) if code.base is None else differing(code.base, code.source)
        conflicts, errors = code.conflicts or {}, code.errors or {}
        digits = max(2, len(str(max(len(new), len(old)))))
        counts = {line: count(value) for line, value in conflicts.items() if value}
        sectors = {line: f"{count(value)}s" for line, value in (code.sectors or {}).items() if value}
        count_width = max((len(text) for text in (*counts.values(), *sectors.values())), default=0)
        lines: list[str] = []
        rows: list[Row] = []
        for item in shown:
            if item.change == "~":
                text = f"⋯ {item.place} lines that are the same"
                rows.append(Row(styled((text, "dim")), len(lines), styled((" " * (digits + 2), "gutter"))))
                lines.append(text)
                continue
            text_at = (old if item.change == "-" else new)[item.place]
            number = item.place + 1
            mark, tint, message = " ", "", None
            if item.change != "-" and number in errors:
                mark, tint, message = "✗", "remove-line", errors[number]
            elif item.change != "-" and number in counts:
                mark, tint = "!", "conflict-line"
            if item.change in "+-":
                tint = "add-line" if item.change == "+" else "remove-line"
            gutter = [(mark, "wrong" if mark == "✗" else "conflict")]
            if count_width:
                told, style = (counts[number], "conflict") if number in counts else (sectors.get(number, ""), "gutter")
                gutter.append((f"{told if item.change != '-' else '':>{count_width}} ", style))
            gutter.append((f"{number:>{digits}} ", "gutter"))
            if code.base is not None:
                gutter.append((f"{item.change} ", {"+": "add", "-": "remove"}.get(item.change, "gutter")))
            made = styled(*gutter)
            room = width - made.cell_length
            if self.wraps:
                rows += wrapped(text_at, len(lines), room, made, tint, item)
            else:
                rows.append(Row(text_at, len(lines), made, tint=tint, target=item))
            lines.append(text_at.plain)
            if message:
                note = styled((f"✗ {harmless(message)}", "wrong"))
                rows += wrapped(note, len(lines), room, styled((" " * made.cell_length, "gutter")), "")
                lines.append(note.plain)
        return lines, rows

    def marked_rows(self) -> list[int]:
        """The first row of each hunk of a diff, or each line with conflicts or an error."""
        found, before = [], " "
        for place, row in enumerate(self.rows):
            item = row.target
            change = item.change if isinstance(item, CodeLine) else " "
            if self.stops:
                if isinstance(item, CodeLine) and change in " +" and row.start == 0 and item.place + 1 in self.stops:
                    found.append(place)
            elif self.code.base is not None:
                if change in "+-" and before not in "+-":
                    found.append(place)
                before = change
            elif row.start == 0 and row.gutter.plain[:1] in ("!", "✗"):
                found.append(place)
        return found

    def go_to_source_line(self, number: int) -> None:
        """Put the cursor on a 1-based line of the shown source; later, where the pane is not on the screen yet."""
        self._wanted = None if self.rows else number
        for place, row in enumerate(self.rows):
            if isinstance(row.target, CodeLine) and row.target.change in " +" and row.target.place == number - 1:
                self.go_to_row(place)
                return

    @property
    def chosen_line(self) -> int | None:
        """The 1-based line of the shown source that the cursor is on, None where there is none."""
        item = self.rows[self.cursor].target if self.cursor is not None and self.cursor < len(self.rows) else None
        return item.place + 1 if isinstance(item, CodeLine) and item.change in " +" else None

    def go_to_row(self, place: int) -> None:
        super().go_to_row(place)
        if self.picks and (line := self.chosen_line) is not None:
            self.post_message(self.Picked(line))

    def move(self, where: str) -> None:
        page = max(self.scrollable_content_region.height - 1, 1)
        end = len(self.rows)
        step = {"down": 1, "up": -1, "pagedown": page, "pageup": -page, "top": -end, "bottom": end}
        if not self.picks or where not in step or not self.rows:
            super().move(where)
            return
        here = self.cursor if self.cursor is not None else self.scroll_offset.y - (1 if where == "down" else 0)
        self.go_to_row(min(max(here + step[where], 0), len(self.rows) - 1))

    def click_row(self, place: int) -> None:
        if self.picks:
            self.go_to_row(place)
