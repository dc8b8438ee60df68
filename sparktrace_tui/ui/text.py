"""Text from outside, made harmless and fitted: control characters become visible, widths are cells."""

import re
from collections.abc import Mapping

from rich.cells import cell_len

# C0 controls have their own pictures from U+2400 on; the rest, and what turns the reading direction, gets a box.
_PICTURES: Mapping[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)},
    0x7F: "␡",
    **{code: "␦" for code in range(0x80, 0xA0)},
    **{code: "␦" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))},
    0x2028: "␤",
    0x2029: "␤",
}


def harmless(text: str) -> str:
    """`text` with every control character made visible, so that no data can steer the terminal."""
    return text.replace("\r\n", "\n").translate(_PICTURES)


def one_line(text: str) -> str:
    """Harmless text on a single line: line breaks and tabs become blanks."""
    return harmless(re.sub(r"\s+", " ", text)).strip()


def fit(text: str, width: int) -> str:
    """`text` padded, or cut with an ellipsis, to exactly `width` cells."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text + " " * (width - cell_len(text))
    kept = text
    while kept and cell_len(kept) > width - 1:
        kept = kept[:-1]
    return kept + "…" + " " * (width - 1 - cell_len(kept))


def reflow(text: str, width: int) -> list[str]:
    """The paragraphs of `text` wrapped to `width` cells at blanks; a longer word is broken."""
    lines: list[str] = []
    for paragraph in harmless(text).split("\n"):
        line = ""
        for word in paragraph.split():
            while cell_len(word) > width > 0:
                if line:
                    lines.append(line)
                    line = ""
                lines.append(word[:width])
                word = word[width:]
            joined = f"{line} {word}" if line else word
            if cell_len(joined) > width:
                lines.append(line)
                joined = word
            line = joined
        lines.append(line)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def count(value: float) -> str:
    """A count as people read it in a gutter: 31, 16.8M, 520M; at most five characters."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            scaled = value / limit
            return f"{scaled:.0f}{unit}" if scaled >= 100 else f"{scaled:.1f}{unit}"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2g}"


def number(value: float | int | str | None, raw: str | None = None) -> str:
    """A metric's value in full; what is missing is `n/a`, never 0. A value with a source keeps its spelling."""
    match value:
        case None:
            return "n/a"
        case bool() | str():
            return one_line(str(value))
        case _ if raw:
            return one_line(raw)
        case int():
            return f"{value:,}"
        case float():
            if value != value:
                return "n/a"
            if value.is_integer() and abs(value) < 1e15:
                return f"{value:,.0f}"
            return f"{value:,.2f}" if abs(value) >= 0.01 else f"{value:.3g}"


def milliseconds(value: float, approximate: bool = False) -> str:
    """A time to the microsecond, in a column that aligns; an approximate one as it was stated, with `about`."""
    if approximate:
        return f"about {value:.3g} ms"
    return f"{value:,.3f} ms" if value < 1000 else f"{value:,.1f} ms"
