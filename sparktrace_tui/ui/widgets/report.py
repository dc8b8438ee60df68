"""A report in a pane: sections that fold, rules with their estimated speedups, text reflowed to the width."""

from functools import partial

from textual.content import Content
from textual.message import Message

from sparktrace_tui.domain.report.disagreements import disagreements
from sparktrace_tui.domain.report.report import Metric, Report, Rule, Section, Table
from sparktrace_tui.nsight.glossary import explain
from sparktrace_tui.nsight.units import scaled
from sparktrace_tui.ui.evidence import SHOWN, Evidence, Place, Shown, evidence, rule_place
from sparktrace_tui.ui.text import fit, number, one_line, reflow
from sparktrace_tui.ui.widgets.lines import ListView, Row, styled

_Key = tuple[Shown, int, frozenset[str], frozenset[str]]  # level, width, folded sections, explained metrics
COPY_WIDTH = 100
_SEVERITY = {"OPT": "ncu-title", "INF": "dim", "WRN": "conflict", "ERR": "wrong"}


class ReportView(ListView):
    """A pane with a report. `level` is what is shown of the bank-conflict lines.

    Enter folds a section, explains a metric in a line below it, or jumps from a rule to its source line.
    """

    class Jump(Message):
        """A rule asks for its source line (1-based), or where there is none for an instruction's address."""

        def __init__(self, place: Place) -> None:
            super().__init__()
            self.line, self.address = place.line, place.address

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.report: Report | None = None
        self.level: Shown = "shown"
        self.empty = "There is no report here."
        self.knows_instructions = False  # whether its screen can show a single instruction
        self.folded: set[str] = set()
        self.explained: set[str] = set()
        self._evidence: Evidence | None = None
        self._pages: dict[_Key, _Page] = {}

    def show(self, report: Report | None, level: Shown, empty: str = "") -> None:
        """Show a report at a level, or in its place a sentence that says why there is none."""
        if report is self.report and level == self.level and empty == self.empty:
            return
        if report is not self.report:
            self.cursor = None
            self.scroll_to(0, 0, animate=False)
            self._pages = {}
        self.report, self.level, self.empty = report, level, empty
        self._evidence = None if report is None else evidence(report, level)
        self.rebuild()

    @property
    def removed(self) -> int:
        """How many things the level took out."""
        return self._evidence.removed if self._evidence else 0

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        if self._evidence is None:
            page = _Page(width)
            for line in reflow(self.empty, width - 2):
                page.add(styled((line, "dim")), "  ")
            return page.lines, page.rows
        key = (self.level, width, frozenset(self.folded), frozenset(self.explained))
        if key not in self._pages:
            self._pages[key] = make_page(self._evidence, *key[1:])
            if len(self._pages) == 1 and self.report is not None:
                # The other levels are made ready meanwhile, so that the toggle only draws.
                self.run_worker(
                    partial(_warm, self._pages, self.report, key), thread=True, group="warm", exit_on_error=False
                )
        return self._pages[key].lines, self._pages[key].rows

    def text_to_copy(self) -> str:
        """The selected text, or the page at a width of its own, whatever the pane's."""
        if self.text_selection is not None or self._evidence is None:
            return super().text_to_copy()
        page = make_page(self._evidence, COPY_WIDTH, frozenset(self.folded), frozenset(self.explained))
        return "\n".join(page.lines)

    def marked_rows(self) -> list[int]:
        found, before = [], False
        for place, row in enumerate(self.rows):
            marked = row.gutter.plain[:1] == "!"
            if marked and not before:
                found.append(place)
            before = marked
        return found

    def act(self) -> None:
        """Act on the section, the metric or the rule under the cursor."""
        match self.target:
            case Metric() as metric:
                if explain(metric) is None:
                    self.notify("There is no help for this metric.", timeout=3)
                    return
                self.explained ^= {metric.name or metric.label}
                self.rebuild()
            case str() as section:
                self.folded ^= {section}
                self.rebuild()
            case Rule() as rule if self._evidence is not None:
                place = rule_place(self._evidence.report, rule)
                if place is None or (place.line is None and not self.knows_instructions):
                    self.notify("This rule names no source line.", timeout=3)
                else:
                    self.post_message(self.Jump(place))


class _Page:
    """The rows of a report at one width."""

    def __init__(self, width: int, explained: frozenset[str] = frozenset()) -> None:
        self.width = width
        self.explained = explained
        self.lines: list[str] = []
        self.rows: list[Row] = []

    def add(self, text: Content, indent: str = "", flagged: bool = False, target: object = None) -> None:
        gutter = styled(("!" if flagged else " ", "conflict"), indent)
        tint = "conflict-line" if flagged else ""
        self.rows.append(Row(text, len(self.lines), gutter, tint=tint, target=target))
        self.lines.append(indent + text.plain)

    def gap(self) -> None:
        if self.rows:
            self.add(Content(""))

    def prose(self, text: str, indent: str, role: str, flagged: bool = False) -> None:
        for line in reflow(text, max(self.width - len(indent) - 1, 8)):
            self.add(styled((line, role)), indent, flagged)

    def launch(self, report: Report) -> None:
        launch = report.launch
        facts = [" x ".join(map(str, extent)) for extent in (launch.grid, launch.block) if extent is not None]
        shape = f"  grid {facts[0]}, block {facts[1]}" if len(facts) == 2 else ""
        for line in reflow(f"{launch.kernel or 'n/a'}{shape}", self.width - 1):
            self.add(styled((line, "title")))
        device = ", ".join(
            part
            for part in (
                launch.device_name or "",
                f"cc {launch.compute_capability}" if launch.compute_capability else "",
                report.origin.tool,
            )
            if part
        )
        self.prose(device, "", "dim")
        for note in report.origin.notes:
            self.prose(note, "", "dim")

    def contradictions(self, shown: Evidence) -> None:
        """Where the report contradicts itself on bank conflicts; nothing of it once their lines are hidden."""
        found = disagreements(shown.report) if shown.level == "shown" else ()
        if not found:
            return
        self.gap()
        self.add(styled(("≠ ", "conflict"), ("This report disagrees with itself", "conflict")), "", True)
        for item in found:
            self.prose(item.text, "  ", "text", True)

    def heading(self, name: str, key: str, folded: bool, note: str = "") -> None:
        sign = "▸ " if folded else "▾ "
        room = self.width - 3 - len(note)
        self.add(styled((sign, "dim"), (fit(one_line(name), room), "ncu-title"), (note, "dim")), "", False, key)

    def section(self, section: Section, folded: bool, shown: Evidence) -> None:
        self.gap()
        rules = len(section.rules)
        note = f" {rules} rule{'s' if rules != 1 else ''}" if folded and rules else ""
        self.heading(section.name or section.id, section.id, folded, note)
        if folded:
            return
        self.metrics(section.metrics, shown)
        for table in section.tables:
            self.table(table, "  ", shown.is_flagged(table))
        for rule in section.rules:
            self.rule(rule, shown)

    def metrics(self, metrics: tuple[Metric, ...], shown: Evidence) -> None:
        # As ncu's page does it: in the largest unit that keeps the value at or above one.
        shown_as = [(m.value, m.unit) if m.raw else scaled(m.value, m.unit) for m in metrics]
        values = [number(value, m.raw) for m, (value, _) in zip(metrics, shown_as, strict=True)]
        units = [one_line(unit) for _, unit in shown_as]
        unit_width = min(max((len(unit) for unit in units), default=0), 14)
        value_width = min(max((len(value) for value in values), default=0), max(self.width // 3, 8))
        for metric, value, unit in zip(metrics, values, units, strict=True):
            name = one_line(metric.label or metric.name)
            room = self.width - 3 - value_width - 1 - unit_width
            role = "dim" if metric.value is None else "text"
            if len(value) > value_width or room < 8:
                self.prose(f"{name}: {value} {unit}", "  ", role, shown.is_flagged(metric))
                self.help(metric)
                continue
            if len(name) > room:
                *head, name = reflow(name, room)
                for part in head:
                    self.add(styled((part, role)), "  ", shown.is_flagged(metric))
            self.add(
                styled(
                    (fit(name, room), role),
                    (f"{value:>{value_width}} ", role),
                    (fit(unit, unit_width), "dim"),
                ),
                "  ",
                shown.is_flagged(metric),
                metric,
            )
            self.help(metric)

    def help(self, metric: Metric) -> None:
        """What the metric means and which direction is better, where it was asked for."""
        if (metric.name or metric.label) in self.explained and (found := explain(metric)) is not None:
            better = {"higher": " More is better.", "lower": " Less is better."}.get(found.better, "")
            self.prose(f"{metric.name}  {found.text}{better}", "    ", "ncu")

    def rule(self, rule: Rule, shown: Evidence) -> None:
        flagged = shown.is_flagged(rule)
        speedup = "" if rule.speedup is None else f"est. {rule.speedup_kind or ''} speedup".replace("  ", " ")
        title = one_line(rule.title or rule.id)
        place = rule_place(shown.report, rule)
        tail = f"{speedup} {rule.speedup:.3g}%" if rule.speedup is not None else ""
        jump = "" if place is None else f"→ line {place.line}" if place.line is not None else "→ its instruction"
        room = self.width - 3 - 5
        role = _SEVERITY[rule.severity]
        first, *rest = reflow(title, room) or [""]
        self.add(styled((f"{rule.severity}  ", role), (first, role)), "  ", flagged, rule)
        for part in rest:
            self.add(styled((part, role)), "       ", flagged)
        if tail or jump:
            gap = " · " if tail and jump else ""
            self.add(styled((tail, "title"), (gap, "dim"), (jump, "ncu")), "       ", flagged)
        self.prose(rule.text, "       ", "text", flagged)
        for table in rule.details:
            self.table(table, "       ", flagged or shown.is_flagged(table))

    def table(self, table: Table, indent: str, flagged: bool) -> None:
        if table.title:
            self.add(styled((one_line(table.title), "dim")), indent, flagged)
        cells = [[one_line(cell) for cell in row] for row in (table.columns, *table.rows)]
        columns = max((len(row) for row in cells), default=0)
        widths = [max((len(row[i]) for row in cells if i < len(row)), default=0) for i in range(columns)]
        if sum(widths) + 2 * max(columns - 1, 0) + len(indent) + 1 <= self.width:
            for place, row in enumerate(cells):
                text = "  ".join(
                    f"{cell:<{widths[i]}}" if i == 0 else f"{cell:>{widths[i]}}" for i, cell in enumerate(row)
                )
                self.add(styled((text, "dim" if place == 0 else "text")), indent, flagged)
            return
        # Too wide for the pane: one block a row, so that nothing is cut.
        names = cells[0]
        for row in cells[1:]:
            self.add(
                styled((fit(row[0] if row else "", self.width - len(indent) - 1).rstrip(), "text")),
                indent,
                flagged,
            )
            pairs = [f"{name} {cell}" for name, cell in zip(names[1:], row[1:], strict=False) if cell]
            self.prose(", ".join(pairs), indent + "  ", "dim", flagged)

    def raw(self, metrics: tuple[Metric, ...], folded: bool, shown: Evidence) -> None:
        self.gap()
        self.heading("Raw metrics", "raw", folded, f" {len(metrics)}")
        if not folded:
            self.metrics(metrics, shown)


def make_page(shown: Evidence, width: int, folded: frozenset[str], explained: frozenset[str]) -> _Page:
    """The rows of a report at a level of the toggle, for a pane of `width` cells."""
    page, report = _Page(width, explained), shown.report
    page.launch(report)
    page.contradictions(shown)
    for section in report.sections:
        page.section(section, section.id in folded, shown)
    if report.raw:
        # Many and seldom wanted: folded at first, unless there is nothing else.
        page.raw(report.raw, ("raw" in folded) != bool(report.sections), shown)
    if report.other:
        page.gap()
        page.heading("Other", "other", "other" in folded)
        if "other" not in folded:
            for text in report.other:
                page.prose(text, "    ", "dim")
    return page


def _warm(pages: dict[_Key, _Page], report: Report, key: _Key) -> None:
    for level in SHOWN:
        if (other := (level, *key[1:])) not in pages:
            pages[other] = make_page(evidence(report, level), *key[1:])
