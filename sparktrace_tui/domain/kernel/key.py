"""The key rule, in one place: which rewrite is the fastest, by how much, and whether that is a question at all."""

from dataclasses import dataclass
from statistics import median

from sparktrace_tui.domain.kernel.capture import Capture
from sparktrace_tui.domain.kernel.family import ORIGINAL

NEAR_TIE = 1.08  # the write-up's: a second-fastest below this is not a question
TOO_CLOSE_TO_MODEL = 1.25  # the one constant for what a model may not tell apart
FIRST_IN_BLOCKS = 4
MODEL_STABILITY = 0.95


@dataclass(frozen=True)
class Decision:
    """The verdict on one capture. `ratio` is best other / winner; `reason` says why a family is not kept."""

    winner: str | None
    ratio: float | None
    kept: bool
    reason: str = ""
    blocks_first: int | None = None
    stability: float | None = None


def decide(capture: Capture) -> Decision:
    """Apply the key rule to the rewrites of a capture (DESIGN: key rule)."""
    times = {
        name: record.time for name, record in capture.variants.items() if name != ORIGINAL and record.time is not None
    }
    wrong = [n for n, r in capture.variants.items() if r.verdict not in ("correct", "not checked")]
    if wrong:
        return Decision(None, None, False, f"not all correct: {', '.join(wrong)}")
    if len(times) < 2:
        return Decision(None, None, False, "fewer than two rewrites have a time")
    winner = min(times, key=lambda name: times[name].median_ms)
    best_other = min(t.median_ms for name, t in times.items() if name != winner)
    ratio = best_other / times[winner].median_ms
    match capture.provenance:
        case "emulated":
            return _modelled(capture, winner, ratio)
        case "published":
            if ratio < NEAR_TIE:
                return Decision(winner, ratio, False, f"near tie: {ratio:.2f}x, under {NEAR_TIE}x")
            return Decision(winner, ratio, True)
        case "measured":
            return _measured({n: t.blocks_ms for n, t in times.items()}, winner, ratio)


def _modelled(capture: Capture, winner: str, ratio: float) -> Decision:
    share = capture.stability.share if capture.stability else None
    if ratio < TOO_CLOSE_TO_MODEL:
        reason = f"too close to model: {ratio:.2f}x, under {TOO_CLOSE_TO_MODEL}x"
        return Decision(winner, ratio, False, reason, stability=share)
    if share is None or share < MODEL_STABILITY:
        shown = "n/a" if share is None else f"{share:.0%}"
        reason = f"unstable under the model's constants: first in {shown} of draws"
        return Decision(winner, ratio, False, reason, stability=share)
    return Decision(winner, ratio, True, stability=share)


def _measured(blocks: dict[str, tuple[float, ...]], winner: str, ratio: float) -> Decision:
    counts = {len(b) for b in blocks.values()}
    if len(counts) != 1 or 0 in counts:
        return Decision(winner, ratio, False, "block medians are missing")
    rounds = range(counts.pop())
    ratios = [min(b[i] for name, b in blocks.items() if name != winner) / blocks[winner][i] for i in rounds]
    ratio = median(ratios)
    first = sum(r > 1 for r in ratios)
    if first < FIRST_IN_BLOCKS:
        reason = f"unstable: first in {first} of {len(ratios)} blocks"
        return Decision(winner, ratio, False, reason, blocks_first=first)
    if ratio < NEAR_TIE:
        reason = f"near tie: {ratio:.2f}x, under {NEAR_TIE}x"
        return Decision(winner, ratio, False, reason, blocks_first=first)
    return Decision(winner, ratio, True, blocks_first=first)
