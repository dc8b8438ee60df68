"""Two reports in a pane, metric by metric: both values, what changed, and whether the right one is better."""

from itertools import groupby

from textual.content import Content

from sparktrace_tui.nsight.differences import Difference, Verdict, change_words
from sparktrace_tui.nsight.glossary import explain
from sparktrace_tui.ui.text import fit, one_line, reflow
from sparktrace_tui.ui.widgets.lines import ListView, Row, styled

_ROLES: dict[Verdict, str] = {"better": "title", "worse": "wrong", "tie": "dim", "changed": "text", "n/a": "dim"}
_SIGNS: dict[Verdict, str] = {"better": "▲ better", "worse": "▼ worse", "tie": "= tie", "changed": "", "n/a": "n/a"}
_SIGN_CELLS = 8
REST = "Metrics on no section"


class DifferencesView(ListView):
    """A pane of differences. Enter folds a section, or explains a metric in a line below it; `n` visits changes."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.differences: tuple[Difference, ...] = ()
        self.names = ("", "")
        self.folded: set[str] = {REST}
        self.explained: set[Difference] = set()

    def show(self, differences: tuple[Difference, ...], names: tuple[str, str]) -> None:
        """Show the rows under the names of the two reports."""
        if (differences, names) == (self.differences, self.names):
            return
        self.differences, self.names = differences, names
        if not any(row.section for row in differences):
            self.folded.discard(REST)
        self.rebuild()

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        texts = [text for row in self.differences for text in (row.left, row.right)]
        value = min(max((len(text) for text in texts), default=0), max(width // 6, 18))
        change = max((len(change_words(row)) for row in self.differences), default=0)
        rows: list[Row] = []

        def add(content: Content, target: object = None, gutter: str = " ") -> None:
            rows.append(Row(content, len(rows), styled((gutter, "title")), target=target))

        for side, name in zip(("left ", "right"), self.names, strict=True):
            for place, line in enumerate(reflow(name, max(width - 9, 8))):
                add(styled((f"{side if place == 0 else '':5}  ", "dim"), (line, "title")))
        for section, group in groupby(self.differences, key=lambda row: row.section or REST):
            found = tuple(group)
            folded = section in self.folded
            better, worse = (sum(row.verdict == verdict for row in found) for verdict in ("better", "worse"))
            note = f" {len(found)}: ▲ {better} ▼ {worse}"
            add(Content(""))
            name = fit(one_line(section), width - 4 - len(note))
            add(styled(("▸ " if folded else "▾ ", "dim"), (name, "ncu-title"), (note, "dim")), section)
            if folded:
                continue
            for row in found:
                for content in _row(row, width - 1, value, change):
                    add(content, row)
                if row in self.explained and (said := explain(row.name) or explain(row.label)) is not None:
                    more = {"higher": " More is better.", "lower": " Less is better."}.get(said.better, "")
                    for line in reflow(f"{row.name}  {said.text}{more}", max(width - 6, 8)):
                        add(styled(("    " + line, "ncu")))
        return [row.text.plain for row in rows], rows

    def targets(self) -> list[int]:
        places = super().targets()
        return [p for p in places if p == 0 or self.rows[p].target is not self.rows[p - 1].target]

    def marked_rows(self) -> list[int]:
        """The rows of what is better or worse."""
        rows = self.rows
        return [
            place
            for place in self.targets()
            if isinstance(found := rows[place].target, Difference) and found.verdict in ("better", "worse")
        ]

    def act(self) -> None:
        match self.target:
            case str() as section:
                self.folded ^= {section}
                self.rebuild()
            case Difference() as row:
                if (explain(row.name) or explain(row.label)) is None:
                    self.notify("There is no help for this metric.", timeout=3)
                    return
                self.explained ^= {row}
                self.rebuild()


def _row(row: Difference, width: int, value: int, change: int) -> list[Content]:
    """A difference as rows: in columns where it fits, its label and long values above them where it does not."""
    role = _ROLES[row.verdict]
    end = (f"{change_words(row):>{change}} {_SIGNS[row.verdict]:<{_SIGN_CELLS}}", role)
    room = max(width - 2 * value - change - _SIGN_CELLS - 6, 12)
    label = one_line(row.label)
    if max(len(row.left), len(row.right)) > value or room == 12:
        found = [styled(("  " + line, role)) for line in reflow(label, max(width - 2, 8))]
        for side in (row.left, row.right):
            found += [styled(("      " + line, "text")) for line in reflow(side, max(width - 6, 8))]
        return [*found, styled("      ", end)]
    *above, last = reflow(label, room) or [""]
    cells = [("  " + fit(last, room) + " ", role), (f"{one_line(row.left):>{value}} ", "text")]
    cells += [(f"{one_line(row.right):>{value}} ", "text"), end]
    return [*(styled(("  " + line, role)) for line in above), styled(*cells)]
