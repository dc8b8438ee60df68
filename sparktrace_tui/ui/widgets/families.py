"""The list of families, and what is known of the one that is open."""

from dataclasses import dataclass

from textual.content import Content
from textual.message import Message

from sparktrace_tui.ui.text import fit, one_line, reflow
from sparktrace_tui.ui.widgets.lines import LineView, ListView, Row, styled


@dataclass(frozen=True)
class FamilyRow:
    """A family in the list. state: `kept`, `not kept`, `no capture` or `cannot be read`."""

    id: str
    state: str
    seen: bool
    current: bool


_SIGNS = {
    "kept": ("●", "text"),
    "not kept": ("○", "dim"),
    "no capture": ("·", "dim"),
    "cannot be read": ("✗", "wrong"),
}


class FamiliesView(ListView):
    """The families: which are questions on this set (kept), and which this person has seen the answer of."""

    class Chosen(Message):
        """A family was chosen."""

        def __init__(self, family: str) -> None:
            super().__init__()
            self.family = family

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.families: tuple[FamilyRow, ...] = ()

    def show(self, families: tuple[FamilyRow, ...]) -> None:
        if families == self.families:
            return
        self.families = families
        if self.cursor is None or not self.has_focus:
            self.cursor = next((i for i, row in enumerate(families) if row.current), None)
        self.rebuild()

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        rows = []
        for place, family in enumerate(self.families):
            sign, role = _SIGNS[family.state]
            mark = "seen" if family.seen else ""
            room = width - 3 - (len(mark) + 1 if mark else 0)
            text = styled(
                (f"{'▸' if family.current else ' '}", "title"),
                (f"{sign} ", role),
                (
                    fit(one_line(family.id), room),
                    "title" if family.current else role if role != "wrong" else "text",
                ),
                (f" {mark}" if mark else "", "dim"),
            )
            rows.append(Row(text, place, target=family.id))
        return [row.text.plain for row in rows], rows

    def act(self) -> None:
        if isinstance(self.target, str):
            self.post_message(self.Chosen(self.target))


@dataclass(frozen=True)
class ListedKernel:
    """A kernel of a report file: its place (0-based) and name."""

    place: int
    name: str
    current: bool


class KernelsView(ListView):
    """The kernels of a report file, in launch order."""

    class Chosen(Message):
        """A kernel was chosen."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.kernels: tuple[ListedKernel, ...] = ()

    def show(self, kernels: tuple[ListedKernel, ...]) -> None:
        if kernels != self.kernels:
            self.kernels = kernels
            self.rebuild()

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        rows = []
        for kernel in self.kernels:
            sign = ("▸" if kernel.current else " ", "title")
            name = fit(one_line(kernel.name), width - 5)
            text = styled(sign, (f"{kernel.place:>3} ", "dim"), (name, "title" if kernel.current else "text"))
            rows.append(Row(text, kernel.place, target=kernel.place))
        return [one_line(kernel.name) for kernel in self.kernels], rows

    def act(self) -> None:
        if isinstance(self.target, int):
            self.post_message(self.Chosen(self.target))


class ProseView(LineView):
    """A pane of reflowed text: (text, role) paragraphs."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.paragraphs: tuple[tuple[str, str], ...] = ()

    def show(self, paragraphs: tuple[tuple[str, str], ...]) -> None:
        if paragraphs != self.paragraphs:
            self.paragraphs = paragraphs
            self.scroll_to(0, 0, animate=False)
            self.rebuild()

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        rows: list[Row] = []
        for text, role in self.paragraphs:
            for line in reflow(text, width - 2) or [""]:
                rows.append(Row(styled((line, role)) if line else Content(""), len(rows), styled(" ")))
        return [row.text.plain for row in rows], rows

    def text_to_copy(self) -> str:
        """The selected text, or the paragraphs as they are, unwrapped."""
        if self.text_selection is not None:
            return super().text_to_copy()
        return "\n".join(text for text, _ in self.paragraphs)
