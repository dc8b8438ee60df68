"""A text from outside with one place in it marked, such as the letter that was graded, wrapped with the mark kept."""

import re
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content, Span

from sparktrace_tui.ui.text import harmless

MARK = "match"


@dataclass(frozen=True)
class Marked:
    """`span` is (start, end) in `text` as it came, None where nothing is marked."""

    text: str
    span: tuple[int, int] | None = None
    role: str = "text"


def cut(text: str, limit: int, span: tuple[int, int] | None = None) -> tuple[str, tuple[int, int] | None, int]:
    """At most `limit` characters of a long text around its mark (else its beginning), the mark in them, and how many
    characters are left out."""
    if len(text) <= limit:
        return text, span, 0
    start = 0 if span is None or span[1] <= limit else min(span[1] + limit // 4, len(text)) - limit
    moved = None if span is None else (max(span[0] - start, 0), min(span[1] - start, limit))
    return text[start : start + limit], moved, len(text) - limit


def marked_rows(marked: Marked, width: int) -> list[Content]:
    """The text in rows of at most `width` cells, broken at blanks; every character keeps its place in the text."""
    # Both changes keep every offset: the span is one of the text as it came.
    plain = harmless(marked.text.replace("\r\n", " \n").replace("\t", " "))
    return [_row(plain, start, end, marked) for start, end in flow(plain, width)]


def _row(plain: str, start: int, end: int, marked: Marked) -> Content:
    text = plain[start:end]
    spans = [Span(0, len(text), marked.role)] if text and marked.role else []
    if marked.span is not None:
        first, last = max(marked.span[0], start), min(marked.span[1], end)
        if first < last:
            spans.append(Span(first - start, last - start, MARK))
    return Content(text, spans=spans)


def flow(text: str, width: int) -> list[tuple[int, int]]:
    """Where each row of a text begins and ends: broken at line ends and blanks; a longer word is broken anywhere."""
    rows: list[tuple[int, int]] = []
    place = 0
    for line in text.split("\n"):
        start, end = place, place
        for word in re.finditer(r"\s*\S+", line):
            first, last = place + word.start(), place + word.end()
            if cell_len(text[start:last]) > width and end > start:
                rows.append((start, end))
                start = first + len(word[0]) - len(word[0].lstrip())
            while cell_len(text[start:last]) > width > 1:
                fits = start + 1
                while cell_len(text[start : fits + 1]) <= width:
                    fits += 1
                rows.append((start, fits))
                start = fits
            end = last
        rows.append((start, end))
        place += len(line) + 1
    return rows
