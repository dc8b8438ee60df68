"""Opens a quiz: makes the rival, opens the set it is bound to, draws the questions, and puts the screen up."""

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.ui.choices import QuizChoices
from sparktrace_tui.ui.text import harmless

if TYPE_CHECKING:
    from sparktrace_tui.domain.kernel.capture import CaptureSet
    from sparktrace_tui.players.protocol import Player
    from sparktrace_tui.ui.app import SparkTraceApp


class QuizOpener:
    """Starts quizzes for the app; one that needs a set that is still being read starts when it is there."""

    def __init__(self, app: "SparkTraceApp") -> None:
        self.app = app
        self.waiting: QuizChoices | None = None

    def set_opened(self) -> None:
        """A set was read: go on with the quiz that waited for it."""
        if self.waiting is not None:
            self.open(self.waiting)

    def open(self, choices: QuizChoices) -> None:
        """Start a quiz on the open set, or on the set that a replay is bound to."""
        app = self.app
        self.waiting = choices if app.captures is None and not app.set_problem else None
        if app.captures is None:
            if app.set_problem:
                app.notify(app.set_problem, title="No quiz", timeout=8, markup=False)
            return
        try:
            rival = self.make_rival(choices.rival)
            recorded = None
            if (known := getattr(rival, "set_ids", None)) is not None:
                rival, elsewhere = self._bound(rival, known, app.captures.id)
                if elsewhere is not None:
                    self._open_on(elsewhere, choices)
                    return
                recorded = tuple(getattr(rival, "recorded", ()))
        except SparkTraceError as error:
            app.notify(harmless(str(error)), title="Rival", severity="error", timeout=10, markup=False)
            return
        self._start(app.captures, rival, recorded, choices)

    def make_rival(self, name: str | None) -> "Player | None":
        """The player of that name, None for a person alone."""
        if name is None or name == "human":
            return None
        from sparktrace_tui.players.registry import make_player

        return make_player(name)

    def _bound(self, rival: "Player | None", known: tuple[str, ...], set_id: str) -> "tuple[Player | None, str | None]":
        """A replay on the open set, or the set to open for it."""
        from sparktrace_tui.players.replay import ReplayPlayer

        if not isinstance(rival, ReplayPlayer) or rival.set_id == set_id:
            return rival, None
        return (rival.bound_to(set_id), None) if set_id in known else (rival, rival.set_id)

    def _open_on(self, set_id: str, choices: QuizChoices) -> None:
        from sparktrace_tui.store.captures import find_set

        self.waiting = choices
        self.app.open_set_at(find_set(set_id))

    def _start(
        self,
        captures: "CaptureSet",
        rival: "Player | None",
        recorded: "tuple[tuple[str, str], ...] | None",
        choices: QuizChoices,
    ) -> None:
        from sparktrace_tui.ui.screens.quiz import QuizScreen
        from sparktrace_tui.ui.session import Session, left_open
        from sparktrace_tui.ui.sitting import draw

        app, options = self.app, self.app.options
        families = {entry.id: entry.family for entry in app.entries if entry.family is not None}
        draws = draw(
            captures,
            families,
            seed=options.seed,
            evidence=choices.evidence,
            seen=tuple(app.seen),
            recorded=recorded,
            only=app.entry.id if app.entry else None,
        )
        if choices.order is not None:
            order = choices.order
            draws = (replace(drawn, order=order) for drawn in draws)
        first = next(draws, None)
        if first is None:
            said = f"{captures.id} has no question of this kind: no family is captured and kept."
            app.notify(said, title="No quiz", timeout=8, markup=False)
            return
        left = left_open(captures.id, options.data_dir) if choices.resume else None
        session = Session(
            captures, families, chain((first,), draws), rival, choices.length, options.seed, options.data_dir, left
        )
        app.push_screen(QuizScreen(session))
