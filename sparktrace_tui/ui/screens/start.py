"""Before a quiz: how long, with which evidence, in which order, against whom; the choice is kept for the next time."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.ui.choices import ARMS, BOTH_ORDERS, LENGTHS, QuizChoices, following, remember, remembered, rivals
from sparktrace_tui.ui.commands import Where, bindings_for
from sparktrace_tui.ui.layout import View
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.parts import header_line
from sparktrace_tui.ui.session import LeftOpen, left_open
from sparktrace_tui.ui.text import fit, one_line
from sparktrace_tui.ui.widgets.sheet import SheetRow, SheetView, paragraph

_EVIDENCE = {
    None: "drawn, dealt evenly between the families",
    "full": "with the report",
    "ablated": "the report without its conflict lines",
    "source": "the source alone",
}
_ORDER = {None: "drawn by the seed", "forward": "forward", "mirror": "mirrored"}


class StartScreen(PaneScreen):
    """The choices of a quiz, a key each."""

    WHERE: ClassVar[Where] = "start"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("start")
    AUTO_FOCUS = "#choices"

    def __init__(self, choices: QuizChoices) -> None:
        super().__init__()
        self.pane = "choices"
        self.otherwise = choices
        self.choices = choices
        self.left: LeftOpen | None = None
        self.rivals: tuple[str | None, ...] = (None,)

    def panes(self) -> list[Widget]:
        return [SheetView(id="choices")]

    def view(self) -> View:
        return View("listed", self.pane, self.body, self.zoomed, listed=("choices",))

    def header(self, width: int) -> Content:
        return header_line(width, [("quiz", "title")], self.explorer.set_label)

    def on_mount(self) -> None:
        data_dir, captures = self.explorer.options.data_dir, self.explorer.captures
        self.choices = remembered(data_dir, self.otherwise)
        self.rivals = rivals()
        self.left = left_open(captures.id, data_dir) if captures else None
        super().on_mount()

    def hidden_commands(self) -> set[str]:
        return set() if self.left else {"go_on"}

    def update(self) -> None:
        sheet = self.query_one("#choices", SheetView)
        sheet.border_title = Content("a quiz")
        sheet.show(self._rows())
        self.replan()

    def _rows(self) -> tuple[SheetRow, ...]:
        chosen = self.choices
        length = "endless" if chosen.length is None else str(chosen.length)
        rows = [
            _row("l", "questions", length, "length"),
            _row("e", "evidence", _EVIDENCE[chosen.evidence], "evidence"),
            _row("o", "order", _ORDER[chosen.order], "order"),
            _row("i", "rival", chosen.rival or "nobody: you alone", "rival"),
        ]
        if self.left is not None:
            said = f"{self.left.family}, step {self.left.step} of 2" if chosen.resume else "no: leave it"
            rows.append(_row("g", "go on with", said, "go_on"))
        captures, seen = self.explorer.captures, self.explorer.seen
        rows += [paragraph(""), SheetRow(((" enter ", "key"), (" begins", "text")), target="begin"), paragraph("")]
        rows.append(paragraph("I names another rival, such as a model: openai:MODEL, or any compatible server.", "dim"))
        if captures is not None:
            asked = [name for name in captures.captures if name in {entry.id for entry in self.explorer.entries}]
            known = sum(name in seen for name in asked)
            said = f"{known} of {len(asked)} families here were revealed to you before: they are asked, marked `seen`, "
            rows.append(paragraph(said + "and left out of the score.", "dim"))
        rows.append(paragraph("By chance: 25% at the first pick, 50% within two different picks.", "dim"))
        return tuple(rows)

    def on_sheet_view_chosen(self, message: SheetView.Chosen) -> None:
        actions: dict[object, Callable[[], None]] = {
            "length": self.action_length,
            "evidence": self.action_evidence,
            "order": self.action_order,
            "rival": self.action_rival,
            "go_on": self.action_go_on,
            "begin": self.action_begin,
        }
        actions[message.target]()

    def _choose(self, choices: QuizChoices) -> None:
        self.choices = choices
        self.update()

    def action_length(self) -> None:
        self._choose(replace(self.choices, length=following(LENGTHS, self.choices.length)))

    def action_evidence(self) -> None:
        self._choose(replace(self.choices, evidence=following(ARMS, self.choices.evidence)))

    def action_order(self) -> None:
        self._choose(replace(self.choices, order=following(BOTH_ORDERS, self.choices.order)))

    def action_rival(self) -> None:
        self._choose(replace(self.choices, rival=following(self.rivals, self.choices.rival)))

    def action_name_rival(self) -> None:
        """Ask for the name of a player."""
        self.ask("a player, such as openai:MODEL", self._named)

    def _named(self, name: str) -> None:
        self._choose(replace(self.choices, rival=one_line(name) or None))

    def action_go_on(self) -> None:
        self._choose(replace(self.choices, resume=not self.choices.resume))

    def action_change(self) -> None:
        """Change what the cursor is on."""
        self.query_one("#choices", SheetView).act()

    def action_begin(self) -> None:
        """Keep the choice and start."""
        try:
            remember(self.choices, self.explorer.options.data_dir)
        except SparkTraceError as error:
            self.notify(str(error), severity="warning", timeout=6, markup=False)
        self.dismiss()
        self.explorer.open_quiz(self.choices)

    def leave(self) -> None:
        self.dismiss()


def _row(key: str, name: str, value: str, target: str) -> SheetRow:
    return SheetRow(((f" {key} ", "key"), (f" {fit(name, 12)}", "dim"), (one_line(value), "title")), target=target)
