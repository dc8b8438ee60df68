"""Where a warp's shared accesses fall: for each access of a source line the 32 lanes and the 32 banks, with counts."""

from textual.content import Content

from sparktrace_tui.domain.kernel.machine_code import BANKS, SharedAccess, bank_of
from sparktrace_tui.ui.text import harmless, reflow
from sparktrace_tui.ui.widgets.lines import LineView, Row, styled

ACROSS = 8  # lanes and banks in a row, so that both grids fit a third of a wide screen


class BanksView(LineView):
    """A pane with the accesses of one source line. `said` stands in their place, or above them."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.accesses: tuple[SharedAccess, ...] = ()
        self.said = ""

    def show(self, accesses: tuple[SharedAccess, ...], said: str = "") -> None:
        if (accesses, said) == (self.accesses, self.said):
            return
        self.accesses, self.said = accesses, said
        self.scroll_to(0, 0, animate=False)
        self.rebuild()

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        contents: list[Content] = [styled((line, "dim")) for line in reflow(self.said, max(width - 2, 8))]
        for access in self.accesses:
            if contents:
                contents.append(Content(""))
            contents += _access(access, width)
        rows = [Row(content, place, styled(" ")) for place, content in enumerate(contents)]
        return [content.plain for content in contents], rows

    def marked_rows(self) -> list[int]:
        """The banks with conflicts."""
        return [place for place, row in enumerate(self.rows) if "!" in row.text.plain]


def _access(access: SharedAccess, width: int) -> list[Content]:
    """One access: what it costs, which word each lane touches, and how many words lie in each bank."""
    groups, conflicts = len(access.groups), access.conflicts
    found = [styled((harmless(access.text)[: width - 2], "title"))]
    found += _prose(
        f"{access.operation}, {access.width} bytes a lane, warp {access.warp}: {_many(access.wavefronts, 'wavefront')}"
        f" for {_many(groups, 'group')} of lanes, {_many(conflicts, 'conflict')}.",
        "conflict" if conflicts else "text",
        width,
    )
    found += _prose(
        f"The first block: {_many(access.requests, 'request')}, {_many(access.all_wavefronts, 'wavefront')}, "
        f"{_many(access.all_conflicts, 'conflict')}.",
        "dim",
        width,
    )
    found += _prose("banks: distinct words; ! several for one group of lanes", "ncu-title", width)
    found += _grid(
        [
            (f"{'!' if most > 1 else ''}{words}", "conflict" if most > 1 else "text") if words else ("·", "dim")
            for words, most in zip(access.words, access.worst, strict=True)
        ],
        width,
    )
    found += _prose("lanes: bank:row of the first word (a row is 128 bytes)", "ncu-title", width)
    found += _grid([_lane(address, access) for address in access.addresses], width)
    return found


def _lane(address: int | None, access: SharedAccess) -> tuple[str, str]:
    if address is None:
        return "·", "dim"
    bank = bank_of(address)
    return f"{bank}:{address // (4 * BANKS)}", "conflict" if access.worst[bank] > 1 else "text"


def _grid(cells: list[tuple[str, str]], width: int) -> list[Content]:
    """32 cells in rows of eight, or of four where eight do not fit; each row begins with the places it holds."""
    cell = max(5, *(len(text) + 1 for text, _ in cells))
    across = ACROSS if 5 + ACROSS * cell < width else ACROSS // 2
    return [
        styled(
            (f"{f'{start}-{start + across - 1}':<5}", "gutter"),
            *((f"{text:>{cell}}", role) for text, role in cells[start : start + across]),
        )
        for start in range(0, len(cells), across)
    ]


def _prose(text: str, role: str, width: int) -> list[Content]:
    return [styled((line, role)) for line in reflow(text, max(width - 2, 8))]


def _many(value: int, noun: str) -> str:
    return f"{value:,} {noun}{'' if value == 1 else 's'}"
