"""What a player is: given a chat and what the question is about, it gives a reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from sparktrace_tui.domain.report.report import Rule

Role = Literal["user", "assistant"]
Stop = Literal["stop", "truncated", "refused", "no_turn"]


@dataclass(frozen=True)
class Message:
    """One turn of a chat. The prompt is the first user message; a second step adds the player's own reply."""

    role: Role
    text: str


@dataclass(frozen=True)
class Option:
    """What stands under a letter, for players that do not read: variant id, source length, rules it addresses."""

    variant: str
    source_length: int
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Context:
    """What a turn is about. No time, no winner. `step` is 0 for the first turn, 1 for the turn after a reveal.

    rules: the report's rules where the evidence holds a report, in the report's order.
    """

    set_id: str
    family: str
    evidence: str
    order: str
    options: Mapping[str, Option]
    rules: tuple[Rule, ...] = ()
    step: int = 0
    sample: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider reports them; None where it does not."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True)
class Reply:
    """What came back of one turn. `stop` is `no_turn` where nothing did: then `errors` says why, try by try.

    variant: the choice itself, from a player that names no letter (a replay, a person's key). stop_detail: the
    provider's own word. limit: the output limit that was sent, in tokens. not_sent: the settings this model has no
    place for. fault: the kind of the last error of a `no_turn`.
    """

    text: str
    stop: Stop = "stop"
    reasoning: str = ""
    usage: Usage = field(default_factory=Usage)
    latency_s: float | None = None
    request_id: str | None = None
    model: str | None = None
    tries: int = 1
    errors: tuple[str, ...] = ()
    stop_detail: str = ""
    variant: str | None = None
    limit: int | None = None
    not_sent: tuple[str, ...] = ()
    fault: str = ""


class Player(Protocol):
    """Anyone who answers. `name` is the spec it was made from; `paid` says whether a turn may cost money."""

    name: str
    paid: bool

    async def reply(self, chat: Sequence[Message], context: Context) -> Reply:
        """Answer the last message of the chat. Never raises for what a provider does: that is a `no_turn` reply."""
        ...

    async def close(self) -> None:
        """Free connections."""
        ...
