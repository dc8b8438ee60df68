"""Plays recorded picks back: variants, not letters, since the published games state neither letters nor order."""

from collections.abc import Sequence

from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.players.protocol import Context, Message, Reply
from sparktrace_tui.store.replays import Replay, find_replays


class ReplayPlayer:
    """A recorded player. It answers only what was recorded, on the set it was recorded on."""

    paid = False

    def __init__(self, player: str, replays: Sequence[Replay] | None = None) -> None:
        self.name = f"replay:{player}"
        self.replays = tuple(find_replays(player) if replays is None else replays)

    @property
    def set_id(self) -> str:
        """The capture set the recording is bound to."""
        return self.replays[0].set_id

    @property
    def recorded(self) -> tuple[tuple[str, str], ...]:
        """The (family, evidence) pairs there are two-step games of."""
        return tuple((r.family, r.evidence) for r in self.replays if not r.one_shot)

    async def reply(self, chat: Sequence[Message], context: Context) -> Reply:
        """The recorded pick of this step. UsageError where nothing was recorded for the question."""
        for replay in self.replays:
            asked = (context.set_id, context.family, context.evidence)
            if (replay.set_id, replay.family, replay.evidence) == asked and len(replay.picks) > context.step:
                return Reply(text="", variant=replay.picks[context.step])
        known = ", ".join(f"{r.family} with {r.evidence} on {r.set_id}" for r in self.replays)
        raise UsageError(
            f"{self.name} has nothing recorded for {context.family} with {context.evidence} evidence "
            f"on {context.set_id}",
            hint=f"Recorded: {known}.",
        )

    async def close(self) -> None:
        """Nothing is open."""
