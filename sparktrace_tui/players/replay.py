"""Plays recorded picks back: variants, not letters, since the published games state neither letters nor order."""

from collections.abc import Sequence

from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.players.protocol import Context, Message, Reply
from sparktrace_tui.store.replays import Replay, find_replays


class ReplayPlayer:
    """A recorded player, bound to one set it was recorded on: the one given, else the one with the most games.

    It answers only what was recorded. A turn that failed fails again, without the text that failed: what was ambiguous
    is played back as no letter. UsageError where nothing was recorded on the set given.
    """

    paid = False

    def __init__(self, player: str, replays: Sequence[Replay] | None = None, *, set_id: str | None = None) -> None:
        self.name = f"replay:{player}"
        self.replays = tuple(find_replays(player) if replays is None else replays)
        counts = {name: sum(r.set_id == name for r in self.replays) for name in self.set_ids}
        self.set_id = max(counts, key=lambda name: counts[name]) if set_id is None else set_id
        if self.set_id not in counts:
            raise UsageError(f"{self.name} was recorded on {', '.join(counts)}, not on {set_id}")

    @property
    def set_ids(self) -> tuple[str, ...]:
        """The capture sets there are recordings on."""
        return tuple(dict.fromkeys(replay.set_id for replay in self.replays))

    @property
    def recorded(self) -> tuple[tuple[str, str], ...]:
        """The (family, evidence) pairs there are two-step games of, on its set, each once."""
        pairs = ((r.family, r.evidence) for r in self.replays if not r.one_shot and r.set_id == self.set_id)
        return tuple(dict.fromkeys(pairs))

    def bound_to(self, set_id: str) -> "ReplayPlayer":
        """The same player on another set it was recorded on; UsageError where it was not."""
        return ReplayPlayer(self.name.removeprefix("replay:"), self.replays, set_id=set_id)

    async def reply(self, chat: Sequence[Message], context: Context) -> Reply:
        """The recorded pick of this step. UsageError where nothing was recorded for the question."""
        asked = (context.set_id, context.family, context.evidence)
        found = [r for r in self.replays if (r.set_id, r.family, r.evidence) == asked]
        replay = min(found, key=lambda r: r.one_shot, default=None)
        if replay is not None and len(replay.picks) > context.step:
            return Reply(text="", variant=replay.picks[context.step])
        if replay is not None and replay.failure is not None:
            return _failed(replay.failure)
        known = ", ".join(
            dict.fromkeys(
                f"{r.family} with {r.evidence} on {r.set_id}{' (one pick)' if r.one_shot else ''}" for r in self.replays
            )
        )
        lacks = "nothing" if replay is None else "no second pick"
        raise UsageError(
            f"{self.name} has {lacks} recorded for {context.family} with {context.evidence} evidence "
            f"on {context.set_id}",
            hint=f"Recorded: {known}.",
        )

    async def close(self) -> None:
        """Nothing is open."""


def _failed(kind: str) -> Reply:
    match kind:
        case "truncated" | "refused":
            return Reply(text="", stop=kind)
        case "no_turn" | "cut_prompt":
            return Reply(text="", stop="no_turn", errors=(f"recorded as {kind}",), fault="left")
        case _:
            return Reply(text="")
