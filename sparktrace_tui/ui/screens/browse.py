"""Browse: a family's original beside a rewrite and the report of the original; times stay hidden until revealed."""

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from sparktrace_tui.domain.kernel.capture import TIME_WORD, Capture
from sparktrace_tui.domain.kernel.family import ORIGINAL, Family
from sparktrace_tui.domain.kernel.key import Decision, decide
from sparktrace_tui.ui.commands import Command, Where, bindings_for
from sparktrace_tui.ui.inspector import report_listing
from sparktrace_tui.ui.layout import View
from sparktrace_tui.ui.library import Entry, order_of
from sparktrace_tui.ui.screens.beside import Subject
from sparktrace_tui.ui.screens.parts import header_line, named, show_candidate, show_original, show_report
from sparktrace_tui.ui.screens.reporting import ReportingScreen, ShownReport
from sparktrace_tui.ui.text import one_line
from sparktrace_tui.ui.widgets.code import Code, CodeView
from sparktrace_tui.ui.widgets.families import FamiliesView, FamilyRow, ProseView
from sparktrace_tui.ui.widgets.lines import clickable, styled
from sparktrace_tui.ui.widgets.options import Option, Options, OptionsView
from sparktrace_tui.ui.widgets.report import ReportView


class BrowseScreen(ReportingScreen):
    """The explorer's first screen."""

    WHERE: ClassVar[Where] = "browse"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("browse")

    def __init__(self) -> None:
        super().__init__()
        self.letter = "A"
        self.diff = False

    def more_panes(self) -> list[Widget]:
        return [FamiliesView(id="families"), ProseView(id="about"), *super().more_panes()]

    def view(self) -> View:
        return View("browse", self.pane, self.body, self.zoomed)

    @property
    def family(self) -> Family | None:
        entry = self.explorer.entry
        return entry.family if entry else None

    @property
    def capture(self) -> Capture | None:
        captures, family = self.explorer.captures, self.family
        return captures.captures.get(family.id) if captures and family else None

    @property
    def options(self) -> Mapping[str, str]:
        """Letter -> variant."""
        captures, family = self.explorer.captures, self.family
        if family is None:
            return {}
        if captures is None:
            return dict(zip("ABCD", (r.id for r in family.rewrites), strict=False))
        return order_of(captures, family)

    @property
    def revealed(self) -> bool:
        captures, family = self.explorer.captures, self.family
        return bool(captures and family and (captures.id, family.id) in self.explorer.revealed)

    def header(self, width: int) -> Content:
        explorer = self.explorer
        left: list[tuple[str, str]] = [("SparkTrace", "title")]
        if (entry := explorer.entry) is not None:
            place = explorer.entries.index(entry) + 1
            left = [(one_line(entry.id), "title"), (f"  {place}/{len(explorer.entries)}", "dim")]
            if entry.family is not None:
                left.append((f"  {one_line(entry.family.title)}", "text"))
            if entry.id in explorer.seen:
                left.append(("  seen", "dim"))
        label = explorer.set_label
        return header_line(width, left, label)

    def tab_label(self, tab: str) -> list[Content]:
        if tab != "candidate":
            return super().tab_label("report" if tab == "report" else tab)
        parts = []
        for letter in self.options:
            on = self.body == "candidate" and letter == self.letter
            parts.append(
                clickable(styled((f" {letter} ", "tab-on" if on else "tab")), f"screen.show('{letter.lower()}')")
            )
        on = self.diff and self.body == "candidate"
        parts.append(clickable(styled((" diff ", "title" if on else "tab")), "screen.diff"))
        return parts

    def hidden_commands(self) -> set[str]:
        hidden = set() if self.current_plan.shape != "wide" else {"families"}
        return hidden | ({"reveal"} if self.revealed else set())

    def footer_label(self, command: Command) -> str:
        if command.id == "diff" and self.diff:
            return "source"
        return super().footer_label(command)

    def update(self) -> None:
        explorer, family = self.explorer, self.family
        self.query_one(FamiliesView).border_title = Content("families")
        self.query_one(FamiliesView).show(tuple(self._row(entry) for entry in explorer.entries))
        self.query_one(ProseView).border_title = Content("about")
        self.query_one(ProseView).show(self._about())
        original, candidate = self.query_one("#original", CodeView), self.query_one("#candidate", CodeView)
        report = self.query_one(ReportView)
        if family is None:
            self._show_no_family(original, candidate, report)
        else:
            capture = self.capture
            found = capture.report if capture else None
            show_original(original, family, found, explorer.level)
            if self.letter in self.options:
                show_candidate(candidate, family, self.letter, self.options[self.letter], self.diff)
            show_report(report, found, explorer.captures, explorer.level, self._no_report())
        self._show_options()
        self.update_beside()
        self.replan()

    def subject(self, pane: str) -> Subject | None:
        entry, family, captures = self.explorer.entry, self.family, self.explorer.captures
        shown = ORIGINAL if pane == "original" else self.options.get(self.letter)
        if entry is None or family is None or shown is None:
            return None
        variant = family.variant(shown)
        capture = self.capture
        own = report_listing(capture.report) if capture and shown == ORIGINAL else None
        return Subject(
            "original" if pane == "original" else self.letter,
            variant.source_name,
            variant.source,
            captures.device.id if captures else "",
            entry.folder,
            shown,
            (own,) if own else (),
        )

    def shown_report(self) -> ShownReport | None:
        entry, family, captures, capture = self.explorer.entry, self.family, self.explorer.captures, self.capture
        if entry is None or family is None or captures is None or capture is None or capture.report is None:
            return None
        program = ("python", "-m", "sparktrace_tui.backends.profile_once", str(entry.folder), ORIGINAL)
        return ShownReport(capture.report, f"{family.id} on {captures.id}", None, program, family=family.id)

    def _show_no_family(self, original: CodeView, candidate: CodeView, report: ReportView) -> None:
        entry = self.explorer.entry
        if entry is None:
            said = (
                f"There are no kernel families in {self.explorer.kernels}.\n\n"
                "A family is a folder with family.toml, original.cu, four rewrites and reference.py.\n"
                "For example: clamp_smem/family.toml\n\n"
                "sparktrace new FAMILY makes one; --kernels DIR reads a folder of your own."
            )
        else:
            said = (
                f"The family {entry.id} cannot be read.\n\n{entry.problem}\n\nsparktrace verify {entry.id} says more."
            )
        for pane, title in ((original, "no family"), (candidate, "")):
            pane.entitle(title)
            pane.show(Code(""))
        original.show(Code(said))
        show_report(report, None, self.explorer.captures, "shown", said)

    def _no_report(self) -> str:
        captures, family = self.explorer.captures, self.family
        if captures is None:
            return self.explorer.set_problem or "Reading the capture set."
        if family is not None and family.id not in captures.captures:
            return (
                f"The set {captures.id} has no capture of {family.id}.\n\n"
                f"Make one with: sparktrace capture {family.id}\nor switch to another set with s."
            )
        return f"The set {captures.id} has no report of this family: its figures are {captures.provenance} without one."

    def _row(self, entry: Entry) -> FamilyRow:
        explorer = self.explorer
        current = entry is explorer.entry
        if entry.family is None:
            return FamilyRow(entry.id, "cannot be read", False, current)
        capture = explorer.captures.captures.get(entry.id) if explorer.captures else None
        state = "no capture" if capture is None else "kept" if decide(capture).kept else "not kept"
        return FamilyRow(entry.id, state, entry.id in explorer.seen, current)

    @property
    def decision(self) -> Decision | None:
        return decide(self.capture) if self.capture else None

    def _about(self) -> tuple[tuple[str, str], ...]:
        family, capture, captures = self.family, self.capture, self.explorer.captures
        if family is None:
            return ()
        size = ", ".join(f"{name} = {value:,}" for name, value in family.problem.items())
        said = [(family.title, "title"), (family.summary, "text"), (f"Timed: {family.timed}", "text"),
                (f"Inputs: {family.inputs}", "text"), (f"Size: {size}", "text")]  # fmt: skip
        if family.contract.text:
            said.append((f"Contract: {family.contract.text}", "dim"))
        if captures is not None:
            said += [("", ""), (f"{captures.device.name}, cc {captures.device.compute_capability}", "title")]
            said.append((f"Set {captures.id}, {captures.provenance}.", "text"))
            said += [(f"{name}: {value}", "dim") for name, value in captures.facts.items()]
        if capture is not None and (decision := self.decision) is not None and not decision.kept:
            # A reason may hold the ratio, which says nothing of which rewrite wins.
            said.append((f"Not a question on this set: {decision.reason}.", "conflict"))
        return tuple((one_line(text), role) for text, role in said)

    def _show_options(self) -> None:
        pane, family, capture = self.query_one(OptionsView), self.family, self.capture
        if family is None:
            pane.border_title, pane.border_subtitle = Content("rewrites"), Content("")
            pane.show(Options())
            return
        revealed = self.revealed
        decision = self.decision
        word = TIME_WORD[capture.provenance] if capture else ""
        found = []
        for letter, name in (("o", ORIGINAL), *self.options.items()):
            record = capture.variants.get(name) if capture and revealed else None
            found.append(
                Option(
                    letter=letter,
                    description=named(family.variant(name), revealed),
                    revealed=revealed,
                    time=record.time if record else None,
                    word=word,
                    winner=bool(revealed and decision and decision.kept and decision.winner == name),
                    shown=letter == self.letter and self.body != "original",
                )
            )
        pane.border_title = Content("rewrites")
        if revealed and decision is not None:
            verdict = "kept" if decision.kept else "not kept"
            ratio = f"{decision.ratio:.2f}x to the next" if decision.ratio is not None else "ratio n/a"
            pane.border_subtitle = Content(f"{ratio} · {verdict} · {self.explorer.set_label}"
                                           if self.explorer.captures else "")  # fmt: skip
        else:
            pane.border_subtitle = Content("times hidden: r reveals" if capture else "no times in this set")
        pane.show(Options(tuple(found)))

    def action_show(self, letter: str) -> None:
        """Show a rewrite in the candidate pane."""
        if letter.upper() not in self.options:
            return
        self.letter = letter.upper()
        self.pane = "candidate"
        self.update()
        self.action_pane("candidate")

    def action_original(self) -> None:
        super().action_original()
        self.update()

    def action_diff(self) -> None:
        self.diff = not self.diff
        self.pane = "candidate"
        self.update()
        self.action_pane("candidate")

    def on_options_view_clicked(self, message: OptionsView.Clicked) -> None:
        if message.letter == "o":
            self.action_original()
        else:
            self.action_show(message.letter)

    def action_reveal(self) -> None:
        captures, family = self.explorer.captures, self.family
        if captures is None or family is None or self.capture is None:
            self.notify("This set has no times of this family.", timeout=4)
            return
        self.explorer.reveal(captures.id, family.id)
        self.update()

    def action_families(self) -> None:
        self.action_pane("original" if self.pane == "families" else "families")

    def action_family(self, step: str) -> None:
        self.explorer.step_family(int(step))
        self._opened()

    def on_families_view_chosen(self, message: FamiliesView.Chosen) -> None:
        self.explorer.choose_family(message.family)
        self._opened()
        if self.current_plan.shape != "wide":
            self.action_pane("original")

    def _opened(self) -> None:
        self.letter = "A"
        self.update()

    def action_switch_set(self) -> None:
        if not self.explorer.next_set():
            self.notify("There is no other capture set.", timeout=4)

    @property
    def shown_variant(self) -> str:
        """The variant that is looked at."""
        return self.options.get(self.letter, ORIGINAL) if self.body == "candidate" else ORIGINAL

    def action_edit(self) -> None:
        """Edit a copy of the shown variant, and emulate it again."""
        entry, family = self.explorer.entry, self.family
        if entry is None or family is None:
            self.notify("There is no kernel here to edit.", timeout=4)
            return
        self.explorer.edit_variant(entry, family, family.variant(self.shown_variant))

    def action_profile(self) -> None:
        """Profile the shown variant, after the family where that is not captured here yet."""
        self._profile(self.shown_variant)

    def action_profile_family(self) -> None:
        self._profile(None)

    def _profile(self, variant: str | None) -> None:
        entry, family = self.explorer.entry, self.family
        if entry is None or family is None:
            self.notify("There is no kernel here to profile.", timeout=4)
            return
        self.explorer.profile(entry, family, variant)

    def action_compare(self) -> None:
        """Compare the open set with another."""
        from sparktrace_tui.ui.screens.compare import CompareScreen

        left, others = self.explorer.captures, self.explorer.other_sets()
        if left is None or not others:
            self.notify("There is no other capture set to compare with.", timeout=4)
            return
        self.app.push_screen(CompareScreen(left, others))

    def action_run(self) -> None:
        from sparktrace_tui.ui.screens.run import RunScreen

        self.app.push_screen(RunScreen())

    def action_quiz(self) -> None:
        from sparktrace_tui.ui.screens.start import StartScreen

        self.app.push_screen(StartScreen(self.explorer.quiz_choices()))

    def leave(self) -> None:
        if self.pane == "families":
            self.action_pane("original")
