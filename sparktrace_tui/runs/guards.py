"""What a reply cannot say of itself: that its prompt was cut, that it ran out of room, that another model answered."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sparktrace_tui.players.protocol import Reply
from sparktrace_tui.runs.log import Record

# Tokenisers make a token of 2.5 to 4.5 characters of CUDA and report text; 4 estimates low.
CHARS_PER_TOKEN = 4.0
# Reported under half of that low estimate: most of the prompt was not read.
CUT_SHARE = 0.5
# Reported at a usual context size and under this share of the estimate: cut at that size.
CUT_SHARE_AT_LIMIT = 0.9
CONTEXT_SIZES = (2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
# A prompt shorter than this is not judged.
SHORTEST_JUDGED = 400
TRUNCATED_SHARE = 0.02


def estimate_tokens(chars: int) -> int:
    """Tokens of so many characters, estimated low."""
    return math.ceil(chars / CHARS_PER_TOKEN)


def is_prompt_cut(prompt_chars: int, reported: int | None) -> bool:
    """Whether the server reports far fewer tokens than the prompt has; False where it reports none."""
    estimate = estimate_tokens(prompt_chars)
    if not reported or estimate < SHORTEST_JUDGED:
        return False
    if reported < CUT_SHARE * estimate:
        return True
    at_limit = any(size - 64 <= reported <= size for size in CONTEXT_SIZES)
    return at_limit and reported < CUT_SHARE_AT_LIMIT * estimate


def effective_stop(reply: Reply) -> str:
    """The stop reason for grading: an empty answer whose output filled the limit is truncated, whatever was said."""
    if reply.stop == "stop" and not reply.text.strip() and reply.variant is None and reply.limit:
        spent = max(reply.usage.output or 0, reply.usage.reasoning or 0)
        if spent >= 0.98 * reply.limit:
            return "truncated"
    return reply.stop


@dataclass(frozen=True)
class Warnings:
    """What a run's replies give reason to say, each as one sentence."""

    messages: tuple[str, ...]


def warnings_of(asked_model: str, records: Sequence[Record]) -> Warnings:
    """Cut prompts, more than 2% truncated with the limit they had, and a model that is not the one asked."""
    said = []
    replies = [r for r in records if r.reply.stop != "no_turn"]
    cut = [r for r in replies if is_prompt_cut(r.prompt_chars, r.reply.usage.input)]
    if cut:
        worst = min(cut, key=lambda r: (r.reply.usage.input or 0) / r.prompt_chars)
        said.append(
            f"the server cut {len(cut)} of {len(replies)} prompts without saying so: it read "
            f"{worst.reply.usage.input} tokens of about {estimate_tokens(worst.prompt_chars)} ({worst.family}); "
            "these replies are not scored. Give the server a larger context."
        )
    truncated = [r for r in replies if effective_stop(r.reply) == "truncated"]
    if replies and len(truncated) > TRUNCATED_SHARE * len(replies):
        limits = sorted({r.reply.limit for r in truncated if r.reply.limit})
        said.append(
            f"{len(truncated)} of {len(replies)} replies were truncated at a limit of "
            f"{' or '.join(map(str, limits)) or 'unknown'} tokens: the score says more of the limit than of the model."
        )
    said += [f"asked for {asked_model}, answered by {name}" for name in other_models(asked_model, replies)]
    return Warnings(tuple(said))


def other_models(asked: str, records: Iterable[Record]) -> list[str]:
    """The names that came back and are not the one asked; a dated or fully qualified form of it counts as the same."""
    wanted = asked.casefold().rpartition("/")[2]
    names = {r.reply.model for r in records if r.reply.model}
    return sorted(n for n in names if not _same_model(wanted, n.casefold().rpartition("/")[2]))


def _same_model(wanted: str, got: str) -> bool:
    if not wanted or got == wanted:
        return True
    rest = got.removeprefix(wanted)
    return (rest != got and rest.lstrip("-@:").replace("-", "").removeprefix("v").isdigit()) or rest == ":latest"
