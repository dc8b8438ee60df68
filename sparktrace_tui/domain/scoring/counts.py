"""Scores: correct out of asked, failures apart, never pooled over sets, and never a total with a hole in it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sparktrace_tui.domain.kernel.capture import Provenance
from sparktrace_tui.domain.quiz.grading import Grader, Outcome
from sparktrace_tui.domain.quiz.question import EVIDENCE, Evidence
from sparktrace_tui.domain.scoring.statistics import Interval, Paired, bootstrap, paired, wilson


@dataclass(frozen=True)
class Scored:
    """One item with its outcome under one grader; `cause` says what kind of failure it was."""

    family: str
    evidence: Evidence
    order: str
    outcome: Outcome
    cause: str = ""
    sample: int = 0
    variant: str | None = None

    @property
    def pair(self) -> tuple[str, str, int]:
        """What it has in common with the same question under other evidence."""
        return self.family, self.order, self.sample


@dataclass(frozen=True)
class Cell:
    """What came of the questions of one kind of evidence. `no_turn` items are not among those asked."""

    correct: int = 0
    wrong: int = 0
    no_letter: Mapping[str, int] = field(default_factory=dict)
    no_turn: int = 0

    @property
    def failures(self) -> int:
        """Replies without a letter: failures, and not wrong letters."""
        return sum(self.no_letter.values())

    @property
    def asked(self) -> int:
        """The denominator."""
        return self.correct + self.wrong + self.failures

    @property
    def text(self) -> str:
        """`26/30`; `n/a` where nothing was asked."""
        return f"{self.correct}/{self.asked}" if self.asked else "n/a"

    @property
    def interval(self) -> Interval | None:
        """Wilson's, at 95%."""
        return wilson(self.correct, self.asked)

    def __add__(self, other: "Cell") -> "Cell":
        failures = Counter(self.no_letter) + Counter(other.no_letter)
        return Cell(
            self.correct + other.correct, self.wrong + other.wrong, dict(failures), self.no_turn + other.no_turn
        )


@dataclass(frozen=True)
class Row:
    """A run's line in the table: always with its set and the provenance of its key."""

    player: str
    set_id: str
    provenance: Provenance
    grader: Grader
    cells: Mapping[Evidence, Cell]
    expected: int
    items: tuple[Scored, ...] = ()

    @property
    def whole(self) -> Cell:
        """All cells together."""
        return sum(self.cells.values(), Cell())

    @property
    def total(self) -> Cell | None:
        """The total, only where every expected item has a turn."""
        whole = self.whole
        return whole if whole.no_turn == 0 and whole.asked == self.expected else None

    def effect(self, first: Evidence, second: Evidence) -> Paired | None:
        """Second against first over the questions that have a turn in both; None where there are none."""
        arms = [{i.pair: i.outcome == "correct" for i in self._turns(e)} for e in (first, second)]
        result = paired(arms[0], arms[1])
        return result if result.asked else None

    @property
    def full_minus_source(self) -> int | None:
        """The last column: in questions, only where both cells have all their turns."""
        cells = [self.cells.get(e) for e in ("full", "source")]
        full, source = cells
        if full is None or source is None or full.no_turn or source.no_turn or full.asked != source.asked:
            return None
        return full.correct - source.correct if full.asked else None

    def effect_interval(self, first: Evidence, second: Evidence, *, seed: int) -> Interval | None:
        """Of second minus first as a share, by a bootstrap over families; None where no family has both."""
        groups: dict[str, list[int]] = {}
        before = {i.pair: i.outcome == "correct" for i in self._turns(first)}
        for item in self._turns(second):
            if item.pair in before:
                groups.setdefault(item.family, []).append((item.outcome == "correct") - before[item.pair])
        return bootstrap(list(groups.values()), _mean_of_groups, seed=seed)

    def by_family(self) -> dict[str, Cell]:
        """A cell for each family, over all evidence."""
        families = dict.fromkeys(item.family for item in self.items)
        return {name: cell_of(i for i in self.items if i.family == name) for name in families}

    def _turns(self, evidence: Evidence) -> list[Scored]:
        return [i for i in self.items if i.evidence == evidence and i.outcome != "no_turn"]


def _mean_of_groups(groups: Sequence[Sequence[int]]) -> float:
    values = [value for group in groups for value in group]
    return sum(values) / len(values)


def cell_of(items: Iterable[Scored]) -> Cell:
    """Count items into one cell."""
    outcomes: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for item in items:
        outcomes[item.outcome] += 1
        if item.outcome == "no_letter":
            failures[item.cause or "none"] += 1
    return Cell(outcomes["correct"], outcomes["wrong"], dict(sorted(failures.items())), outcomes["no_turn"])


def score(
    player: str,
    set_id: str,
    provenance: Provenance,
    grader: Grader,
    items: Iterable[Scored],
    *,
    expected: int,
) -> Row | None:
    """The row of a run; None where no turn came back, since such a run has no score, not a score of zero."""
    scored = tuple(items)
    if all(item.outcome == "no_turn" for item in scored):
        return None
    cells = {e: cell_of(i for i in scored if i.evidence == e) for e in EVIDENCE}
    return Row(player, set_id, provenance, grader, cells, expected, scored)


def noise_note(effect: Paired) -> str:
    """One sentence on a difference between two arms, by McNemar's exact test at 5%."""
    moved = effect.only_first + effect.only_second
    if moved == 0:
        return f"No question moved, of {effect.asked}."
    kind = "could be noise" if effect.p >= 0.05 else "is more than noise would give"
    questions = "question" if moved == 1 else "questions"
    return f"{moved} {questions} of {effect.asked} moved, {effect.difference:+d} net: this {kind} (p = {effect.p:.2g})."
