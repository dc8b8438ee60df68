"""Players that do not read: the floor under every score, and the one that does what the report says."""

import random
from collections.abc import Callable, Mapping, Sequence

from sparktrace_tui.domain.errors import UsageError
from sparktrace_tui.players.protocol import Context, Message, Option, Reply, Usage

_Choice = Callable[[Context], str]


class Baseline:
    """`baseline:NAME`: a rule that names a letter; free, immediate, and the same for the same question and seed."""

    paid = False

    def __init__(self, rule: str) -> None:
        if rule not in BASELINES:
            known = ", ".join(f"baseline:{known}" for known in BASELINES)
            raise UsageError(f"no baseline {rule!r}", hint=f"There are: {known}.")
        self.name = f"baseline:{rule}"
        self._choose = BASELINES[rule]

    async def reply(self, chat: Sequence[Message], context: Context) -> Reply:
        """Reads nothing of the chat; the seed is the context's."""
        letter = self._choose(context)
        return Reply(f"Answer: {letter}", usage=Usage(0, 0, 0), latency_s=0.0, model=self.name, stop_detail="rule")

    async def close(self) -> None:
        """Nothing is open."""


def _drawn(context: Context, among: list[str], *, with_order: bool) -> str:
    """One of `among`, drawn by the question's own seed, so that neither other questions nor their order matter."""
    parts: list[object] = [context.seed, context.set_id, context.family, context.evidence, context.sample]
    if with_order:
        parts += [context.order, context.step]
    return random.Random("|".join(map(str, parts))).choice(sorted(among))


def _always(letter: str) -> _Choice:
    return lambda context: letter


def _random(context: Context) -> str:
    return _drawn(context, list(context.options) or list("ABCD"), with_order=True)


def _by_length(context: Context, wanted: Callable[[list[int]], int]) -> str:
    length = wanted([option.source_length for option in context.options.values()])
    tied = {o.variant: letter for letter, o in context.options.items() if o.source_length == length}
    return tied[_drawn(context, list(tied), with_order=False)]


def _report_follower(context: Context) -> str:
    """The rewrite that addresses the rule with the largest estimated speedup; by seed where no rule leads to one."""
    variants = {option.variant: letter for letter, option in context.options.items()}
    estimated = [rule for rule in context.rules if rule.speedup is not None]
    for rule in sorted(estimated, key=lambda r: (-(r.speedup or 0.0), r.id)):
        addressing = _addressing(context.options, rule.id)
        if addressing:
            return variants[_drawn(context, addressing, with_order=False)]
    return variants[_drawn(context, list(variants), with_order=False)]


def _addressing(options: Mapping[str, Option], rule: str) -> list[str]:
    return [option.variant for option in options.values() if rule in option.addresses]


BASELINES: Mapping[str, _Choice] = {
    **{f"always-{letter.lower()}": _always(letter) for letter in "ABCD"},
    "random": _random,
    "shortest": lambda context: _by_length(context, min),
    "longest": lambda context: _by_length(context, max),
    "report-follower": _report_follower,
}
