"""Drives games: the screen, the headless command and every player go through here, and each step is recorded.

A match is one question and one or two seats. Each seat plays its own two-step game; what one seat does is not shown
to the other before both are done (`rival_visible`). A match that was left or killed goes on from its log: what was
recorded stays.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import Any

from sparktrace_tui.domain.kernel.capture import TIME_WORD, CaptureSet, Time
from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.domain.quiz.game import Deal, Game, IllegalMove, Stage
from sparktrace_tui.domain.quiz.grading import grade
from sparktrace_tui.domain.quiz.question import Question, answer_key
from sparktrace_tui.domain.quiz.recorded import RecordedGame, rebuild
from sparktrace_tui.domain.report.ablation import ablate
from sparktrace_tui.domain.report.report import Rule
from sparktrace_tui.players.protocol import Context, Message, Option, Player, Reply, Usage
from sparktrace_tui.players.secrets import scrubber
from sparktrace_tui.runs.guards import effective_stop, is_prompt_cut
from sparktrace_tui.runs.log import reply_without_keys
from sparktrace_tui.store.games import GameLog
from sparktrace_tui.store.templates import read_template

HUMAN = "human"


@dataclass
class Seat:
    """One side of a match. `player` is None for a person at a screen, whose moves come through the match."""

    name: str
    player: Player | None
    game: Game
    chat: list[Message] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    waiting_since: float = 0.0


class Match:
    """One question, one or two seats. `on_change` is called with the seat's number after each step of that seat.

    resumed: the same match as its log tells it, a game a seat; it goes on from there, in the same log. ValueError where
    that is of another question.
    """

    def __init__(
        self,
        question: Question,
        capture_set: CaptureSet,
        family: Family,
        players: Sequence[tuple[str, Player | None]],
        *,
        log: GameLog | None = None,
        seed: int = 0,
        seen: bool = False,
        clock: Callable[[], float] = time.monotonic,
        on_change: Callable[[int], None] = lambda seat: None,
        resumed: Sequence[RecordedGame] = (),
    ) -> None:
        self.question, self.capture_set, self.family = question, capture_set, family
        self.deal: Deal = deal_from(question, capture_set, seen)
        self.seats = [Seat(name, player, Game(self.deal)) for name, player in players]
        self.seed, self.on_change = seed, on_change
        self._log, self._clock = log, clock
        for seat in self.seats:
            seat.waiting_since = clock()
        self._number = None if log is None or resumed else log.next_game()
        if resumed:
            self._resume(resumed)
            return
        self._record(
            {
                "event": "deal",
                "set": question.set_id,
                "provenance": question.provenance,
                "family": question.family,
                "evidence": question.evidence,
                "order": question.order,
                "options": dict(question.options),
                "seed": seed,
                "seen": seen,
                "players": [seat.name for seat in self.seats],
            }
        )

    def _resume(self, recorded: Sequence[RecordedGame]) -> None:
        """Take every seat to where its records end. A reply that was recorded and not acted on counts now."""
        if [game.player for game in recorded] != [side.name for side in self.seats]:
            raise ValueError("the players are not those of the log")
        for side, told in zip(self.seats, recorded, strict=True):
            side.game = rebuild(self.deal, told)
        self._number = recorded[0].game
        self._record({"event": "resume", "seen": self.deal.seen})
        for seat, (side, told) in enumerate(zip(self.seats, recorded, strict=True)):
            side.replies = [reply_from_json(value) for value in told.replies]
            if side.game.over:
                if told.winner is None:
                    self._record_end(seat)
                continue
            if side.player is None or not side.replies:
                continue
            done = len(told.picks)
            side.chat = [Message("user", self.question.prompt)]
            side.chat += [Message("assistant", reply.text) for reply in side.replies[:done]]
            if len(side.replies) > done:
                self._next_message(side)
                self._act(seat, side.replies[done])

    @property
    def over(self) -> bool:
        return all(seat.game.over for seat in self.seats)

    @property
    def rival_visible(self) -> bool:
        """Whether one seat may be shown what the other did."""
        return self.over

    def choose(self, seat: int, letter: str) -> None:
        """Mark a letter for a person; IllegalMove where the game does not allow it."""
        self.seats[seat].game = self.seats[seat].game.choose(letter)
        self.on_change(seat)

    def undo(self, seat: int) -> None:
        self.seats[seat].game = self.seats[seat].game.undo()
        self.on_change(seat)

    def confirm(self, seat: int) -> None:
        """Confirm the marked letter: the pick is recorded, and the next step begins."""
        self._confirm(seat, self._clock() - self.seats[seat].waiting_since)

    def abandon(self, seat: int = 0) -> None:
        """Leave the game at this seat."""
        self.seats[seat].game = self.seats[seat].game.abandon()
        self._record({"event": "abandon", "seat": seat})
        self.on_change(seat)

    async def play(self, seat: int) -> None:
        """Let the player of a seat play to the end (from wherever its game stands)."""
        while not self.seats[seat].game.over:
            await self.turn(seat)

    async def turn(self, seat: int) -> None:
        """Ask the player once, and make the move that its reply says."""
        side = self.seats[seat]
        if side.player is None:
            raise ValueError(f"seat {seat} has no player to ask")
        self._next_message(side)
        reply = await side.player.reply(tuple(side.chat), self.context(side))
        if side.game.over:  # abandoned meanwhile
            return
        reply = reply_without_keys(reply, scrubber())
        side.replies.append(reply)
        self._record({"event": "reply", "seat": seat, "step": len(side.game.picks), **reply_to_json(reply)})
        self._act(seat, reply)

    async def ask_again(self, seat: int) -> Reply:
        """Ask a player whose turn failed once more, and log what it says; the first reply counts, so the game stays as
        it ended. IllegalMove where no turn failed."""
        side = self.seats[seat]
        if side.player is None or side.game.failure is None:
            raise IllegalMove("no turn of this seat failed")
        reply = await side.player.reply(tuple(side.chat), self.context(side))
        reply = reply_without_keys(reply, scrubber())
        self._record({"event": "again", "seat": seat, "step": len(side.game.picks), **reply_to_json(reply)})
        self.on_change(seat)
        return reply

    def _act(self, seat: int, reply: Reply) -> None:
        """Make the move that a recorded reply says."""
        side = self.seats[seat]
        letter, failure = self._choice(reply, sum(len(message.text) for message in side.chat))
        if letter is None:
            side.game = side.game.fail(failure)
            self._record({"event": "fail", "seat": seat, "step": len(side.game.picks), "kind": failure})
            self._record_end(seat)
            self.on_change(seat)
            return
        side.chat.append(Message("assistant", reply.text))
        side.game = side.game.choose(letter)
        self._confirm(seat, None)

    def context(self, seat: Seat) -> Context:
        """What the turn of a seat is about, with nothing of the key in it."""
        return Context(
            set_id=self.question.set_id,
            family=self.question.family,
            evidence=self.question.evidence,
            order=self.question.order,
            options=options_context(self.question.options, self.family),
            rules=rules_shown(self.question, self.capture_set),
            step=len(seat.game.picks),
            seed=self.seed,
        )

    def _next_message(self, side: Seat) -> None:
        if side.game.stage is Stage.FIRST:
            if not side.chat:
                side.chat.append(Message("user", self.question.prompt))
        elif side.chat[-1].role == "assistant":
            side.chat.append(Message("user", self.reveal_text(side)))

    def reveal_text(self, seat: Seat) -> str:
        """The second turn's message: the picked rewrite's time with its provenance, and nothing else."""
        picked = seat.game.picks[0].variant
        time_ = self.deal.times.get(picked)
        return Template(read_template("reveal")).substitute(
            letter=self.question.letter_of(picked),
            time="n/a" if time_ is None else f"{time_.median_ms:.4g}",
            word=TIME_WORD[self.question.provenance],
            device=self.capture_set.device.name,
            about=", approximately" if time_ is not None and time_.approximate else "",
        )

    def _choice(self, reply: Reply, chat_chars: int) -> tuple[str | None, str]:
        """The letter a reply to a chat of so many characters chooses, or how it fails to. A reply to a prompt that the
        server cut is a failure, as in a run, whatever letter it holds."""
        if reply.stop == "no_turn":
            return None, "no_turn"
        if is_prompt_cut(chat_chars, reply.usage.input):
            return None, "cut_prompt"
        if reply.variant is not None:
            letters = {variant: letter for letter, variant in self.question.options.items()}
            return letters.get(reply.variant), "none"
        graded = grade(reply.text, effective_stop(reply), next(iter(self.question.options)))
        if graded.letter is None:
            return None, graded.cause or "none"
        return graded.letter, ""

    def _confirm(self, seat: int, seconds: float | None) -> None:
        side = self.seats[seat]
        step = len(side.game.picks)
        side.game = side.game.confirm(None if seconds is None else round(seconds, 3))
        pick = side.game.picks[-1]
        self._record(
            {
                "event": "pick",
                "seat": seat,
                "step": step,
                "variant": pick.variant,
                "letter": self.question.letter_of(pick.variant),
                "seconds": pick.seconds,
            }
        )
        side.waiting_since = self._clock()
        if side.game.stage is Stage.SECOND:
            self._record({"event": "reveal", "seat": seat, **self._time_json(pick.variant)})
        else:
            self._record_end(seat)
        self.on_change(seat)

    def _record_end(self, seat: int) -> None:
        self._record({"event": "end", "seat": seat, **self.result(seat)})

    def result(self, seat: int) -> dict[str, Any]:
        """How the game of a seat ended."""
        game = self.seats[seat].game
        outcome = game.outcome
        return {
            "outcome": None if outcome is None else outcome.value,
            "failure": game.failure,
            "regret": [None if (r := game.regret(i)) is None else round(r, 6) for i in range(len(game.picks))],
            "winner": game.answer,
        }

    def _time_json(self, variant: str) -> dict[str, Any]:
        time_ = self.deal.times.get(variant)
        return {"variant": variant, **time_to_json(time_), "provenance": self.question.provenance}

    def transcript(self, seat: int) -> dict[str, Any]:
        """A seat's game as one document: picks, the reveal between them, and the end."""
        side = self.seats[seat]
        picks = [
            {"variant": p.variant, "letter": self.question.letter_of(p.variant), **self._time_json(p.variant)}
            for p in side.game.picks
        ]
        return {
            "player": side.name,
            "set": self.question.set_id,
            "provenance": self.question.provenance,
            "family": self.question.family,
            "evidence": self.question.evidence,
            "order": self.question.order,
            "options": dict(self.question.options),
            "seen": self.deal.seen,
            "picks": picks,
            "reveal": self._time_json(side.game.picks[0].variant) if side.game.picks else None,
            "replies": [reply.text for reply in side.replies],
            **self.result(seat),
        }

    def _record(self, record: dict[str, Any]) -> None:
        if self._log is not None:
            self._log.append({"game": self._number, **record})


def time_to_json(time_: Time | None) -> dict[str, Any]:
    """`time_ms` and whether it is approximate; None is not known."""
    if time_ is None:
        return {"time_ms": None, "approximate": None}
    return {"time_ms": time_.median_ms, "approximate": time_.approximate}


def reply_to_json(reply: Reply) -> dict[str, Any]:
    """A reply as it stands in a game log."""
    return {
        "text": reply.text,
        "reasoning": reply.reasoning,
        "stop": reply.stop,
        "stop_detail": reply.stop_detail,
        "usage": vars(reply.usage),
        "latency_s": reply.latency_s,
        "request_id": reply.request_id,
        "model": reply.model,
        "tries": reply.tries,
        "errors": list(reply.errors),
        "variant": reply.variant,
        "limit": reply.limit,
        "fault": reply.fault,
    }


def reply_from_json(value: Mapping[str, Any]) -> Reply:
    """A reply from its record in a game log; what is not there is as where a player did not say."""
    known = {f for f in Reply.__dataclass_fields__ if f not in ("usage", "errors", "not_sent") and f in value}
    usage = {f: value.get("usage", {}).get(f) for f in Usage.__dataclass_fields__}
    return Reply(usage=Usage(**usage), errors=tuple(value.get("errors", ())), **{f: value[f] for f in known})


def options_context(options: Mapping[str, str], family: Family) -> dict[str, Option]:
    """What stands under each letter, for players that do not read."""
    return {
        letter: Option(name, len(family.variant(name).source), family.variant(name).addresses)
        for letter, name in options.items()
    }


def rules_shown(question: Question, capture_set: CaptureSet) -> tuple[Rule, ...]:
    """The rules of the report that the question shows: none in `source`."""
    report = capture_set.captures[question.family].report
    if report is None or question.evidence == "source":
        return ()
    return (report if question.evidence == "full" else ablate(report, "names").report).rules


def deal_from(question: Question, capture_set: CaptureSet, seen: bool) -> Deal:
    """The question with its key; ValueError where the set does not decide the family."""
    winner = answer_key(capture_set, question.family)
    if winner is None:
        raise ValueError(f"{question.family} is no question on {capture_set.id}")
    records = capture_set.captures[question.family].variants
    return Deal(
        set_id=question.set_id,
        provenance=question.provenance,
        family=question.family,
        evidence=question.evidence,
        order=question.order,
        options=question.options,
        times={name: records[name].time for name in ("original", *question.options.values()) if name in records},
        winner=winner,
        seen=seen,
    )
