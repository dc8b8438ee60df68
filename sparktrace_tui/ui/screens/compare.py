"""Two capture sets side by side: whose winners differ, how alike the orders are, and a family's times and counters."""

from functools import partial
from pathlib import Path
from statistics import median
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.kernel.capture import TIME_WORD, CaptureSet
from sparktrace_tui.domain.scoring.sets import FamilyComparison, SetComparison, compare_sets
from sparktrace_tui.ui.commands import Where, bindings_for
from sparktrace_tui.ui.layout import View
from sparktrace_tui.ui.library import open_set
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.parts import header_line
from sparktrace_tui.ui.text import fit, number, one_line
from sparktrace_tui.ui.widgets.sheet import SheetRow, SheetView, paragraph

_WINNERS = {True: ("same winner", "text"), False: ("differs", "conflict"), None: ("n/a", "dim")}


class CompareScreen(PaneScreen):
    """The open set at the left, another at the right. A family's times are shown once it is revealed."""

    WHERE: ClassVar[Where] = "compare"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("compare")
    AUTO_FOCUS = "#families"

    class Read(Message):
        """The other set was read, or could not be."""

        def __init__(self, captures: CaptureSet | None, problem: str) -> None:
            super().__init__()
            self.captures, self.problem = captures, problem

    def __init__(self, left: CaptureSet, others: tuple[Path, ...]) -> None:
        super().__init__()
        self.pane = "families"
        self.left, self.others, self.place = left, others, 0
        self.right: CaptureSet | None = None
        self.problem = ""
        self.comparison: SetComparison | None = None

    def panes(self) -> list[Widget]:
        return [SheetView(id="families"), SheetView(id="figures")]

    def view(self) -> View:
        return View("listed", self.pane, self.body, self.zoomed, listed=("families", "figures"), lead=52)

    def header(self, width: int) -> Content:
        right = self.right.label if self.right else "reading…"
        return header_line(width, [("compare", "title"), (f"  {self.left.id}", "text")], f"{self.left.label} | {right}")

    def on_mount(self) -> None:
        self._read_other()

    def _read_other(self) -> None:
        self.right, self.comparison, self.problem = None, None, ""
        self.update()
        self.run_worker(partial(self._read, self.others[self.place]), thread=True, exclusive=True, exit_on_error=False)

    def _read(self, path: Path) -> None:
        try:
            self.post_message(self.Read(open_set(path), ""))
        except SparkTraceError as error:
            self.post_message(self.Read(None, str(error)))

    def on_compare_screen_read(self, message: Read) -> None:
        self.right, self.problem = message.captures, message.problem
        self.comparison = compare_sets(self.left, self.right) if self.right else None
        self.update()

    def update(self) -> None:
        families = self.query_one("#families", SheetView)
        families.border_title = Content("families")
        families.show(self._families())
        self._show_family()
        self.replan()

    def _families(self) -> tuple[SheetRow, ...]:
        found = self.comparison
        if found is None:
            return (paragraph(self.problem or "Reading the other set.", "conflict" if self.problem else "dim"),)
        same, known = found.same_winners
        rows = [paragraph(f"left: {found.left}", "dim"), paragraph(f"right: {found.right}", "dim")]
        ratio, alike = _figure(found.time_ratio), _figure(found.rank_correlation)
        rows.append(paragraph(f"Same winner in {same} of {known}; median rank correlation {alike}; "
                              f"median time, right over left, {ratio}."))  # fmt: skip
        rows += [paragraph(""), SheetRow(((f"{fit('family', 16)}{fit('winners', 13)}{'ranks':>6}{'time':>8}", "dim"),))]
        for family in found.families:
            said, role = _WINNERS[family.same_winner]
            times = [r for pair in family.times.values() if (r := pair.ratio) is not None]
            figures = f"{_figure(family.rank_correlation):>6}{_figure(median(times) if times else None):>8}"
            cells = ((fit(one_line(family.family), 16), "text"), (fit(said, 13), role), (figures, "text"))
            rows.append(SheetRow(cells, target=family.family))
        for side, names in (("left", found.only_left), ("right", found.only_right)):
            if names:
                rows.append(paragraph(f"Only in the {side} set: {', '.join(names)}.", "dim"))
        return tuple(rows)

    @property
    def family(self) -> FamilyComparison | None:
        """The family that the cursor is on."""
        target = self.query_one("#families", SheetView).target
        found = self.comparison.families if self.comparison else ()
        return next((family for family in found if family.family == target), None)

    def _show_family(self) -> None:
        pane, family = self.query_one("#figures", SheetView), self.family
        pane.border_title = Content(one_line(family.family) if family else "figures")
        if family is None or self.right is None:
            pane.show(())
        elif (self.left.id, family.family) not in self.explorer.revealed:
            pane.show((paragraph("Times hidden: r reveals. The family then counts as seen.", "dim"),))
        else:
            pane.show(tuple(_figures(family, self.left, self.right)))

    def action_scroll(self, where: str) -> None:
        super().action_scroll(where)
        self._show_family()

    def on_sheet_view_chosen(self, message: SheetView.Chosen) -> None:
        self._show_family()
        self.action_pane("figures")

    def action_reveal(self) -> None:
        """Show the times of the family under the cursor."""
        if (family := self.family) is not None:
            self.explorer.reveal(self.left.id, family.family)
            self.update()

    def action_switch_set(self) -> None:
        """Compare with the next set."""
        self.place = (self.place + 1) % len(self.others)
        self._read_other()

    def leave(self) -> None:
        self.dismiss()


def _figure(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def _figures(family: FamilyComparison, left: CaptureSet, right: CaptureSet) -> list[SheetRow]:
    """Times of every variant in both sets, then the counters that both hold."""
    words = TIME_WORD[left.provenance], TIME_WORD[right.provenance]
    rows = [SheetRow(((f"{fit('ms', 20)}{words[0]:>12}{words[1]:>12}{'ratio':>9}", "dim"),))]
    for name, pair in family.times.items():
        marks = "".join(sign for sign, side in (("L", family.left), ("R", family.right)) if side.winner == name)
        text = f"{fit(one_line(name), 20)}{number(pair.left):>12}{number(pair.right):>12}{_figure(pair.ratio):>9}"
        rows.append(SheetRow(((text, "text"), (f"  ✓{marks}" if marks else "", "right")), target=("time", name)))
    rows.append(paragraph("✓L and ✓R: the fastest rewrite of the left and of the right set.", "dim"))
    for name, counters in family.counters.items():
        differing = {counter: pair for counter, pair in counters.items() if pair.left != pair.right}
        if counters:
            rows += [paragraph(""), paragraph(f"{name}: {len(differing)} of {len(counters)} counters differ", "title")]
        for counter, pair in differing.items():
            rows.append(paragraph(counter, "dim"))
            text = f"{'':20}{number(pair.left):>12}{number(pair.right):>12}{_figure(pair.ratio):>9}"
            rows.append(SheetRow(((text, "text"),), target=(name, counter)))
    return rows
