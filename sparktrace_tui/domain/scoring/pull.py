"""Pull, the project's own measure: how much a report's conflict lines draw a reader to the rewrite that removes only
the conflicts."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import sqrt

from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import Family
from sparktrace_tui.domain.quiz.question import EVIDENCE, Evidence, answer_key
from sparktrace_tui.domain.report.conflicts import CONFLICT_RULES
from sparktrace_tui.domain.scoring.statistics import Interval, bootstrap, wilson

Fixes = Mapping[str, Set[str]]


@dataclass(frozen=True)
class Answer:
    """What a reader picked of one question: the variant, None where the reply held no letter. An item without a turn is
    no answer, and neither is a game that was left. second: the pick after the reveal; `two_step` says there was one to
    make."""

    set_id: str
    family: str
    evidence: Evidence
    first: str | None
    second: str | None = None
    two_step: bool = False
    seen: bool = False


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    hits: int
    asked: int

    @property
    def value(self) -> float | None:
        """0 to 1; None where nothing was asked."""
        return self.hits / self.asked if self.asked else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's, at 95%."""
        return wilson(self.hits, self.asked)

    @property
    def text(self) -> str:
        """`3/6`; `n/a` where nothing was asked."""
        return f"{self.hits}/{self.asked}" if self.asked else "n/a"


@dataclass(frozen=True)
class Pull:
    """One reader on one set. `picks`: how often the first pick was a rewrite that only removes the conflicts, by
    evidence. `kept`: of the two-step games whose first pick was one, how often the second was the same.

    by_families: the bootstrap interval of `value` over families, None unless every family has an answer in both arms
    (arms that are dealt between families leave none). by_answers: Newcombe's, from the two Wilson intervals, which
    takes the answers for independent.
    """

    set_id: str
    families: tuple[str, ...]
    picks: Mapping[Evidence, Share]
    kept: Mapping[Evidence, Share]
    by_families: Interval | None
    by_answers: Interval | None

    @property
    def value(self) -> float | None:
        """P(picks it | full) - P(picks it | ablated), -1 to 1; None where an arm has no answer."""
        full, ablated = self.picks["full"].value, self.picks["ablated"].value
        return None if full is None or ablated is None else full - ablated


def conflict_fixes(capture_set: CaptureSet, families: Mapping[str, Family]) -> dict[str, frozenset[str]]:
    """The rewrites that only remove the conflicts, of each kept family whose report holds the bank-conflict rule.

    From data alone: the rewrites whose `addresses` holds that rule and that are not the winner on this set. Where the
    winner addresses it too, following the line to it is no mistake, so the winner is never among them. A family without
    such a rewrite is left out.
    """
    fixes = {}
    for name, capture in capture_set.captures.items():
        winner = answer_key(capture_set, name)
        if winner is None or name not in families or capture.report is None:
            continue
        if not any(rule.id in CONFLICT_RULES for rule in capture.report.rules):
            continue
        found = {
            rewrite.id
            for rewrite in families[name].rewrites
            if rewrite.id != winner and any(rule in CONFLICT_RULES for rule in rewrite.addresses)
        }
        if found:
            fixes[name] = frozenset(found)
    return fixes


def pull(answers: Iterable[Answer], fixes: Fixes, *, seed: int) -> Pull | None:
    """The pull of one reader on one set; None where nothing was asked of a family in `fixes`.

    Seen families are left out. ValueError for answers of more than one set: sets are never pooled.
    """
    counted = [a for a in answers if a.family in fixes and not a.seen]
    if not counted:
        return None
    sets = sorted({answer.set_id for answer in counted})
    if len(sets) > 1:
        raise ValueError(f"answers of more than one set: {', '.join(sets)}")
    picks = {e: _share(a.first in fixes[a.family] for a in counted if a.evidence == e) for e in EVIDENCE}
    kept = {
        e: _share(a.second == a.first for a in counted if a.evidence == e and a.two_step and a.first in fixes[a.family])
        for e in EVIDENCE
    }
    names = tuple(dict.fromkeys(a.family for a in counted))
    groups = [_arms([a for a in counted if a.family == name], fixes[name]) for name in names]
    groups = [group for group in groups if any(group)]
    paired = all(full and ablated for full, ablated in groups)
    return Pull(
        set_id=sets[0],
        families=names,
        picks=picks,
        kept=kept,
        by_families=bootstrap(groups, _difference, seed=seed) if paired else None,
        by_answers=newcombe(picks["full"], picks["ablated"]),
    )


def newcombe(first: Share, second: Share) -> Interval | None:
    """The 95% interval of first minus second, two independent shares: Newcombe 1998, method 10, the hybrid of the two
    Wilson intervals. None where either has nothing."""
    one, two = first.interval, second.interval
    if one is None or two is None or first.value is None or second.value is None:
        return None
    p, q = first.value, second.value
    low = p - q - sqrt((p - one.low) ** 2 + (two.high - q) ** 2)
    high = p - q + sqrt((one.high - p) ** 2 + (q - two.low) ** 2)
    return Interval(max(-1.0, low), min(1.0, high), one.level)


Arms = tuple[tuple[bool, ...], tuple[bool, ...]]


def _arms(answers: Sequence[Answer], fixes: Set[str]) -> Arms:
    full, ablated = (tuple(a.first in fixes for a in answers if a.evidence == e) for e in ("full", "ablated"))
    return full, ablated


def _difference(groups: Sequence[Arms]) -> float:
    full = [hit for group in groups for hit in group[0]]
    ablated = [hit for group in groups for hit in group[1]]
    return sum(full) / len(full) - sum(ablated) / len(ablated)


def _share(hits: Iterable[bool]) -> Share:
    found = list(hits)
    return Share(sum(found), len(found))
