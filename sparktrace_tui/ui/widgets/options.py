"""The candidates in a pane: letter, description and, once revealed, a bar with its time; as rows or as cards."""

from dataclasses import dataclass

from textual import events
from textual.content import Content, Span
from textual.message import Message
from textual.style import Style

from sparktrace_tui.domain.kernel.capture import Time
from sparktrace_tui.ui.text import fit, milliseconds, one_line, reflow
from sparktrace_tui.ui.widgets.lines import LineView, Row, joined, styled
from sparktrace_tui.ui.widgets.marked import Marked, marked_rows

BAR = "█"
PARTS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True)
class Option:
    """A candidate, or the original (letter `o`). `time` is what may be shown of it: None is hidden or not known.

    revealed: its time may be shown. shown: it stands in the candidate pane. chosen: picked, not yet confirmed.
    picks: the steps (1, 2) at which it was picked. rival: the same of the other player, once both are in.
    """

    letter: str
    description: str
    revealed: bool = False
    time: Time | None = None
    word: str = ""
    winner: bool = False
    shown: bool = False
    chosen: bool = False
    picks: tuple[int, ...] = ()
    rival: tuple[int, ...] = ()
    changes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Options:
    """All that the pane says: a line above the candidates, they, and lines below; each is (text, role) or a text with
    a mark in it."""

    options: tuple[Option, ...] = ()
    above: tuple[tuple[str, str], ...] = ()
    below: tuple[tuple[str, str] | Marked, ...] = ()
    cards: bool = False


class OptionsView(LineView):
    """The pane of the candidates; a click on one says which."""

    class Clicked(Message):
        """A candidate was clicked."""

        def __init__(self, letter: str) -> None:
            super().__init__()
            self.letter = letter

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.options = Options()

    def show(self, options: Options) -> None:
        if options != self.options:
            self.options = options
            self.rebuild()

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        shown = self.options
        rows: list[Content] = []
        for text, role in shown.above:
            rows += [styled(" ", (line, role)) for line in reflow(text, width - 2)]
        columns = 4 if width >= 150 else 2 if width >= 90 else 1
        height = self.scrollable_content_region.height
        if shown.cards and columns > 1 and height >= 8:
            rows += cards(shown.options, width, columns, height - len(rows))
        else:
            # With words below it scrolls anyway, so nothing is cut.
            rows += option_rows(shown.options, width, 1000 if shown.below else height - len(rows))
        for item in shown.below:
            if isinstance(item, Marked):
                rows += [joined([styled(" "), row]) for row in marked_rows(item, width - 2)]
                continue
            text, role = item
            rows += [styled(" ", (line, role)) for line in reflow(text, width - 2)] or [Content("")]
        return [row.plain for row in rows], [Row(row, i) for i, row in enumerate(rows)]

    def on_click(self, event: events.Click) -> None:
        letter = event.style.meta.get("option")
        if letter:
            event.stop()
            self.post_message(self.Clicked(str(letter)))


def clickable_option(content: Content, letter: str) -> Content:
    """The content, told apart by the mouse as the candidate of that letter."""
    return Content(
        content.plain,
        spans=[*content.spans, Span(0, len(content.plain), Style.from_meta({"option": letter}))],
    )


TIME_CELLS = 26  # ` about 10.2 ms published` and a blank
_STEP = {1: "1st", 2: "2nd"}


def option_rows(options: tuple[Option, ...], width: int, height: int) -> list[Content]:
    """The candidates, a row each; where there is room, with all of each description after or under its bar."""
    longest = max((o.time.median_ms for o in options if o.revealed and o.time), default=0.0)
    drawn = [option_row(option, width, longest, wrap=True) for option in options]
    if sum(map(len, drawn)) > height:
        drawn = [option_row(option, width, longest, wrap=False) for option in options]
    return [row for rows in drawn for row in rows]


def option_row(option: Option, width: int, longest: float, wrap: bool) -> list[Content]:
    """One candidate; its bar, scaled to the longest time shown, once revealed."""
    head = lead(option)
    indent = styled(" " * head.cell_length)
    room = width - head.cell_length
    words = one_line(option.description)
    described = reflow(words, room) if wrap else [fit(words, room)]
    if not option.revealed:
        rows = [joined([indent if i else head, styled(fit(line, room))]) for i, line in enumerate(described)]
    else:
        bar_width = min(max(room // 3, 8), 48)
        rest = room - bar_width - TIME_CELLS
        note = said(option)
        below = wrap and len(note) + len(words) + 2 > rest
        if below:
            after = styled((fit(note if len(note) <= rest else "", rest), "title"))
        else:
            gap = "  " if note else ""
            after = styled((note + gap, "title"), (fit(words, rest - len(note + gap)), "dim"))
        rows = [joined([head, timed(option, bar_width, longest), after])]
        if below and note and len(note) > rest:
            rows.append(joined([indent, styled((fit(note, room), "title"))]))
        if below:
            rows += [joined([indent, styled((fit(line, room), "dim"))]) for line in described]
    return [clickable_option(row, option.letter) for row in rows]


def lead(option: Option) -> Content:
    """A mark (fastest, picked, or shown) and the letter."""
    mark = (" ", "")
    if option.winner:
        mark = ("✓", "right")
    elif option.chosen:
        mark = ("●", "title")
    elif option.shown:
        mark = ("▸", "dim")
    return styled(" ", mark, " ", (f" {option.letter} ", "prior" if option.letter == "o" else "key"), " ")


def timed(option: Option, bar_width: int, longest: float) -> Content:
    """A bar and the time in words, `TIME_CELLS` of them after the bar."""
    if option.time is None:
        return styled(fit("", bar_width), (fit("       n/a", TIME_CELLS), "dim"))
    length = option.time.median_ms / longest * bar_width if longest else 0
    full = int(length)
    bar = BAR * full + PARTS[int((length - full) * 8)].strip() or PARTS[1]
    role = "right-bar" if option.winner else "prior" if option.letter == "o" else "bar"
    words = f" {milliseconds(option.time.median_ms, option.time.approximate):>9} {option.word}"
    return styled((fit(bar, bar_width), role), (fit(words, TIME_CELLS), "right" if option.winner else "text"))


def said(option: Option) -> str:
    """Who picked it, and when: `you 1st and 2nd, rival 2nd`."""
    parts = []
    for who, steps in (("you", option.picks), ("rival", option.rival)):
        if steps:
            parts.append(f"{who} " + " and ".join(_STEP[step] for step in steps))
    return ", ".join(parts)


def cards(options: tuple[Option, ...], width: int, columns: int, height: int) -> list[Content]:
    """The candidates as bordered cards with as much of their diff as fits."""
    card_rows = -(-len(options) // columns)
    each = max(height // max(card_rows, 1), 4)
    share, odd = divmod(width, columns)
    longest = max((o.time.median_ms for o in options if o.revealed and o.time), default=0.0)
    rows: list[Content] = []
    for first in range(0, len(options), columns):
        drawn = [
            card(option, share + (place < odd), each, longest)
            for place, option in enumerate(options[first : first + columns])
        ]
        rows += [joined([one[line] for one in drawn]) for line in range(each)]
    return rows


def card(option: Option, width: int, height: int, longest: float) -> list[Content]:
    """One card: a border with the letter, the description, the bar once revealed, and the lines that change."""
    inside = width - 4
    edge = "right" if option.winner else "title" if option.chosen else "dim"
    corner = "╭─" if not option.chosen else "┏━"
    across, side, right, foot = ("━", "┃", "┓", ("┗", "┛")) if option.chosen else ("─", "│", "╮", ("╰", "╯"))
    mark = "✓ " if option.winner else "● " if option.chosen else ""
    body = [styled((line, "text")) for line in reflow(option.description, inside)]
    if option.revealed:
        body.append(timed(option, max(inside - TIME_CELLS, 4), longest))
        if note := said(option):
            body.append(styled((note, "title")))
    room = height - 2 - len(body)
    changes = list(option.changes)
    if len(changes) > room > 0:
        hidden = len(changes) - room + 1
        changes = [*changes[: room - 1], ("~", f"⋯ {hidden} more lines: v")]
    for sign, text in changes[: max(room, 0)]:
        role = {"+": "add", "-": "remove"}.get(sign, "dim")
        body.append(styled((f"{sign} " if sign in "+-" else "", role), (text, "text" if sign in "+-" else "dim")))
    body = body[: height - 2] + [Content("")] * (height - 2 - len(body))
    title = f" {mark}{option.letter} "
    top = styled((corner, edge), (title, "key" if not option.winner else "right"),
                 (across * (width - 3 - len(title)) + right, edge))  # fmt: skip
    rows = [top]
    for line in body:
        cut = line if line.cell_length <= inside else joined([line[: inside - 1], styled(("…", "dim"))])
        pad = styled(" " * (inside - cut.cell_length))
        rows.append(joined([styled((f"{side} ", edge)), cut, pad, styled((f" {side}", edge))]))
    rows.append(styled((foot[0] + across * (width - 2) + foot[1], edge)))
    return [clickable_option(row, option.letter) for row in rows]
