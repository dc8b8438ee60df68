"""The two-step quiz: pick, see the picked rewrite's time and nothing else, pick again, then everything and why."""

from collections.abc import Mapping
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.content import Content

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.kernel.capture import TIME_WORD
from sparktrace_tui.domain.kernel.family import ORIGINAL, Family
from sparktrace_tui.domain.quiz.game import Game, Stage
from sparktrace_tui.domain.quiz.question import Evidence
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.runs.match import Match
from sparktrace_tui.ui.commands import Command, Where, bindings_for
from sparktrace_tui.ui.evidence import Shown
from sparktrace_tui.ui.layout import View
from sparktrace_tui.ui.lesson import Below, Words, final_words
from sparktrace_tui.ui.screens.base import PaneScreen
from sparktrace_tui.ui.screens.parts import header_line, named, show_candidate, show_original, show_report
from sparktrace_tui.ui.session import Session
from sparktrace_tui.ui.sitting import steps
from sparktrace_tui.ui.text import one_line
from sparktrace_tui.ui.widgets.code import CodeView, changed_lines
from sparktrace_tui.ui.widgets.lines import clickable, styled
from sparktrace_tui.ui.widgets.options import Option, Options, OptionsView
from sparktrace_tui.ui.widgets.report import ReportView

EVIDENCE_WORDS: Mapping[Evidence, str] = {
    "source": "source alone",
    "full": "with the report",
    "ablated": "report without conflict lines",
}
_LEVEL: Mapping[Evidence, Shown] = {"source": "strict", "full": "shown", "ablated": "names"}


class QuizScreen(PaneScreen):
    """A session of questions for one person, alone or against a rival."""

    WHERE: ClassVar[Where] = "quiz"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("quiz")

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.captures, self.rival = session.captures, session.rival
        self.letter = "A"
        self.diff = False
        self.level: Shown = "shown"
        self.unfolded = False
        self.leaving = False
        self.rival_problem = ""

    @property
    def matches(self) -> list[Match]:
        return self.session.matches

    @property
    def match(self) -> Match | None:
        return self.matches[-1] if self.matches else None

    @property
    def game(self) -> Game | None:
        return self.match.seats[0].game if self.match else None

    @property
    def done(self) -> bool:
        return self.game is not None and self.game.over

    @property
    def evidence(self) -> Evidence:
        return self.match.question.evidence if self.match else "source"

    @property
    def report(self) -> Report | None:
        """The report that this question's evidence holds, None where it holds none."""
        if self.match is None or (self.evidence == "source" and not self.done):
            return None
        return self.captures.captures[self.match.question.family].report

    def view(self) -> View:
        report = self.evidence != "source" or (self.done and self.report is not None)
        return View("quiz", self.pane, self.body, self.zoomed, report, self.done)

    def on_mount(self) -> None:
        self.session.begin(self._not_recorded)
        if not self.next_question():
            self.notify("This set has no question to ask here.", timeout=6)
        elif self.session.went_on and self.match is not None:
            family = one_line(self.match.question.family)
            self.notify(f"On with the question you left: {family}.", timeout=4, markup=False)

    def _not_recorded(self, problem: str) -> None:
        self.notify(f"This game is not recorded: {problem}", severity="warning", timeout=8, markup=False)

    def next_question(self) -> bool:
        """Deal the next question; False where the session is over."""
        match = self.session.next(self.explorer.seen, self._changed)
        if match is None:
            return False
        self.letter, self.diff, self.zoomed, self.unfolded = "A", False, False, False
        self.leaving, self.rival_problem = False, ""
        self.level = _LEVEL[match.question.evidence]
        self.pane = "original"
        if self.rival is not None and not match.seats[1].game.over:
            self._play_rival(match)
        self.update()
        self.action_pane("original")
        return True

    @work(group="rival", exclusive=True, exit_on_error=False)
    async def _play_rival(self, match: Match) -> None:
        """The rival plays beside the person; whatever it does, the person is not held up."""
        try:
            await match.play(1)
        except SparkTraceError as error:
            self.rival_problem = str(error)
            match.abandon(1)

    def _changed(self, seat: int) -> None:
        if self.is_mounted:
            self.update()

    def header(self, width: int) -> Content:
        match, game = self.match, self.game
        if match is None or game is None:
            return header_line(width, [("quiz", "title")], self.captures.label)
        length = self.session.length
        place = f"{len(self.matches)}/{length}" if length is not None else str(len(self.matches))
        step = {Stage.FIRST: "step 1 of 2", Stage.SECOND: "step 2 of 2"}.get(game.stage, "answer")
        left = [
            (one_line(match.question.family), "title"),
            (f" {place} · {step}", "dim"),
            (f" · {self.session.score()}", "text"),
            (f" · {EVIDENCE_WORDS[self.evidence]}", "dim"),
        ]
        if match.deal.seen:
            left.insert(1, (" (seen, not scored)", "dim"))
        return header_line(width, left, self.captures.label)

    def tab_label(self, tab: str) -> list[Content]:
        if tab != "candidate" or self.match is None:
            return super().tab_label(tab)
        parts = []
        for letter in self.match.question.options:
            on = self.body == "candidate" and letter == self.letter
            parts.append(
                clickable(styled((f" {letter} ", "tab-on" if on else "tab")), f"screen.look('{letter.lower()}')")
            )
        parts.append(clickable(styled((" diff ", "title" if self.diff else "tab")), "screen.diff"))
        return parts

    def hidden_commands(self) -> set[str]:
        game = self.game
        hidden = {"ablate"} if not self.done else {"pick", "undo"}
        if game is not None and not game.over and game.pending is None:
            hidden |= {"confirm", "undo"}
        return hidden

    def footer_label(self, command: Command) -> str:
        if command.id == "confirm" and self.done:
            return "next"
        if command.id == "diff" and self.diff:
            return "source"
        return super().footer_label(command)

    def update(self) -> None:
        match = self.match
        if match is None or not self.query(OptionsView):
            return
        family, game = match.family, match.seats[0].game
        show_original(self.query_one("#original", CodeView), family, self.report, self.level)
        variant = match.question.options[self.letter]
        show_candidate(self.query_one("#candidate", CodeView), family, self.letter, variant, self.diff)
        show_report(self.query_one(ReportView), self.report, self.captures, self.level, self._no_report())
        options = self.query_one(OptionsView)
        options.border_title = Content(self._title(game))
        options.border_subtitle = Content(self._subtitle(game))
        options.show(self._options(match, family))
        self.replan()

    def _no_report(self) -> str:
        return "The report of this recorded game is not published, so none is shown here."

    def _title(self, game: Game) -> str:
        match game.stage:
            case Stage.FIRST:
                return "Which rewrite is the fastest?"
            case Stage.SECOND:
                return f"Keep {self._letter_of(game.picks[0].variant)}, or pick again?"
            case _:
                return "The answer"

    def _subtitle(self, game: Game) -> str:
        if game.over:
            return "enter: next question"
        if game.pending is not None:
            return f"{self._letter_of(game.pending)}: enter confirms, u takes it back"
        return "a-d pick" if game.stage is Stage.FIRST else "K keeps, a-d pick"

    def _letter_of(self, variant: str) -> str:
        return self.match.question.letter_of(variant) if self.match else ""

    def _options(self, match: Match, family: Family) -> Options:
        mine = match.seats[0].game
        rival = match.seats[1].game if len(match.seats) > 1 and match.rival_visible else None
        times = mine.visible_times
        word = TIME_WORD[match.question.provenance]
        names = dict(match.question.options)
        if mine.over:
            names = {"o": ORIGINAL, **names}
        found = []
        for letter, name in names.items():
            rewrite = family.variant(name)
            found.append(
                Option(
                    letter=letter,
                    description=named(rewrite, mine.over),
                    revealed=name in times,
                    time=times.get(name),
                    word=word,
                    winner=name == mine.answer,
                    shown=letter == self.letter and self.body == "candidate",
                    chosen=name == mine.pending,
                    picks=steps(mine, name),
                    rival=steps(rival, name) if rival else (),
                    changes=changed_lines(family.original.source, rewrite.source) if not mine.over else (),
                )
            )
        above, below = self._words(match)
        return Options(tuple(found), above, below, cards=not mine.over)

    def _words(self, match: Match) -> tuple[Words, Below]:
        """What stands above and below the candidates, at the end of a game only."""
        if not match.seats[0].game.over:
            return (), ()
        entry = next((e for e in self.explorer.entries if e.id == match.question.family), None)
        return final_words(match, entry.readme() if entry else "", self.rival_problem, self.unfolded)

    def action_look(self, letter: str) -> None:
        """Look at a candidate without picking it."""
        self.letter = letter.upper()
        self.pane = "candidate"
        self.update()
        self.action_pane("candidate")

    def action_pick(self, letter: str) -> None:
        """Mark a candidate, and look at it; after the end only look."""
        if self.match is None:
            return
        self.leaving = False
        if not self.done:
            self.match.choose(0, letter.upper())
        self.action_look(letter)

    def action_undo(self) -> None:
        if self.match is not None and not self.done:
            self.match.undo(0)

    def action_keep(self) -> None:
        """Choose the first pick again and confirm it."""
        if self.match is not None and (game := self.game) is not None and game.stage is Stage.SECOND:
            self.match.choose(0, self._letter_of(game.picks[0].variant))
            self.action_confirm()

    def action_confirm(self) -> None:
        """Confirm the marked candidate; after the end, the next question."""
        match, game = self.match, self.game
        if match is None or game is None:
            return
        if game.over:
            self._go_on()
            return
        if game.pending is None:
            self.notify("Pick with a to d first." if game.stage is Stage.FIRST else "K keeps; a to d pick again.",
                        timeout=3)  # fmt: skip
            return
        match.confirm(0)
        if self.done:
            self.explorer.saw(match.question.family, self.captures.id)
            self.level = "shown"
            self.pane = "options"
            self.update()
            self.action_pane("options")

    def _go_on(self) -> None:
        match = self.match
        if match is not None and not match.over:
            self.workers.cancel_group(self, "rival")
            match.abandon(1)
        if not self.next_question():
            self.finish()

    def finish(self) -> None:
        """Leave the quiz with its summary, on a page now and as plain text when the explorer ends."""
        lines = self.session.summary_lines()
        self.explorer.summary += lines
        if self.rival is not None:
            self.app.run_worker(self.rival.close(), exit_on_error=False)
        self.dismiss()
        if lines:
            self.explorer.show_page("summary", lines)

    def action_rival(self) -> None:
        """Unfold or fold what the rival wrote."""
        if self.match is not None and self.match.rival_visible and self.rival is not None:
            self.unfolded = not self.unfolded
            self.update()
        else:
            self.notify("What a rival wrote is shown when both have answered.", timeout=4)

    def action_diff(self) -> None:
        self.diff = not self.diff
        self.action_look(self.letter)

    def action_ablate(self) -> None:
        if not self.done:
            self.notify(f"This question's evidence is fixed: {EVIDENCE_WORDS[self.evidence]}.", timeout=4)
            return
        levels = self.levels()
        self.level = levels[(levels.index(self.level) + 1) % len(levels)]
        self.update()

    def action_original(self) -> None:
        super().action_original()
        self.update()

    def on_options_view_clicked(self, message: OptionsView.Clicked) -> None:
        if message.letter == "o":
            self.action_original()
        else:
            self.action_pick(message.letter.lower())

    def leave(self) -> None:
        if self.done or self.leaving or self.match is None:
            self.session.abandon()
            self.finish()
        else:
            self.leaving = True
            self.notify("Escape again leaves the quiz; this question is not scored.", timeout=4)

    def close(self) -> None:
        self.session.abandon()
        self.explorer.summary += self.session.summary_lines()
