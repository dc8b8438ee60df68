"""Where a warp's shared accesses fall: for each access of a source line the 32 lanes and the 32 banks, with counts."""

from textual.content import Content

from sparktrace_tui.domain.kernel.machine_code import BANKS, SharedAccess, bank_of
from sparktrace_tui.ui.text import harmless, reflow
from sparktrace_tui.ui.widgets.lines import LineView, Row, joined, styled

ACROSS = 8  # lanes and banks in a row, so that both grids fit a pane of 58 cells


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
    found.append(styled(("banks   distinct words; ! several for one group of lanes", "ncu-title")))
    for start in range(0, BANKS, ACROSS):
        parts = [styled((f"{start:>2}-{start + ACROSS - 1:<3}", "gutter"))]
        for bank in range(start, start + ACROSS):
            words = access.words[bank]
            crowded = access.worst[bank] > 1
            text = "·" if not words else f"{'!' if crowded else ''}{words}"
            parts.append(styled((f"{text:>6}", "conflict" if crowded else "text" if words else "dim")))
        found.append(joined(parts))
    found.append(styled(("lanes   bank:row of the first word (a row is 128 bytes)", "ncu-title")))
    for start in range(0, len(access.addresses), ACROSS):
        cells: list[tuple[str, str]] = [(f"{start:>2}-{start + ACROSS - 1:<3}", "gutter")]
        for address in access.addresses[start : start + ACROSS]:
            if address is None:
                cells.append((f"{'·':>6}", "dim"))
            else:
                bank = bank_of(address)
                role = "conflict" if access.worst[bank] > 1 else "text"
                cells.append((f"{f'{bank}:{address // (4 * BANKS)}':>6}", role))
        found.append(styled(*cells))
    return found


def _prose(text: str, role: str, width: int) -> list[Content]:
    return [styled((line, role)) for line in reflow(text, max(width - 2, 8))]


def _many(value: int, noun: str) -> str:
    return f"{value:,} {noun}{'' if value == 1 else 's'}"
