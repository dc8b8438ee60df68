"""Texts with a mark: wrapped without losing a character, with the mark where it was."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from sparktrace_tui.ui.text import harmless
from sparktrace_tui.ui.widgets.marked import Marked, cut, flow, marked_rows

TEXTS = st.text(alphabet="ab B\t\r\n\x1b界", max_size=200)


@given(TEXTS, st.integers(4, 40), st.data())
def test_the_mark_covers_what_it_covered_before(text: str, width: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    rows = marked_rows(Marked(text, (start, end)), width)
    shown = "".join(row.plain[s.start : s.end] for row in rows for s in row.spans if s.style == "match")
    wanted = harmless(text[start:end].replace("\t", " ").replace("\r\n", " \n"))
    assert "".join(shown.split()).replace("␍", "") == "".join(wanted.split()).replace("␍", "")


@given(TEXTS, st.integers(4, 40))
def test_rows_fit_and_lose_nothing_but_blanks(text: str, width: int) -> None:
    plain = harmless(text)
    rows = [plain[a:b] for a, b in flow(plain, width)]
    assert all(cell_len(row) <= width for row in rows)
    assert "".join("".join(rows).split()) == "".join(plain.split())


def test_a_long_text_is_cut_around_its_mark() -> None:
    text = "x" * 900 + "B" + "y" * 99
    kept, span, left_out = cut(text, 100, (900, 901))
    assert span is not None
    assert kept[span[0] : span[1]] == "B"
    assert (len(kept), left_out) == (100, 900)
    assert cut("short B", 100, (6, 7)) == ("short B", (6, 7), 0)
    assert cut("x" * 150, 100) == ("x" * 100, None, 50)
