"""Where shared-memory bank conflicts show in a profiler report: metric names, labels, prose, free text.

The lines are drawn from public reports of Nsight Compute 2020.2 to 2026.2. Level `names` finds what names a
conflict, level `strict` also what lets a reader work one out (wavefronts of the shared-memory pipe,
excessive accesses, the data-bank rates). Stall reasons, L1/TEX throughput and shared instruction counts
only correlate and stay; so do the look-alikes `c[bank][offset]`, "other conflicts or events", L1 set
conflicts, L2 data banks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Level = Literal["names", "strict"]
LEVELS: tuple[Level, ...] = ("names", "strict")

NAMED = "names bank conflicts"
LISTS = "lists the bank-conflict metrics"
DERIVES = "gives the shared-memory wavefronts, from which conflicts follow"
EXCESSIVE = "counts excessive shared-memory accesses, from which conflicts follow"
BANKS = "gives the data-bank rates, from which conflicts may be guessed"
BREAKDOWN = "breaks a throughput down into data-bank and wavefront rates"
WITHHELD = "withheld"

_NAMED_METRIC = re.compile(
    r"l1tex_+data_bank_conflicts|derived__memory_l1_conflicts_shared|bank_?conflict|memory__shared_table",
    re.I,
)
_DERIVING_METRICS = (
    (re.compile(r"l1tex_+data_pipe_lsu_wavefronts|sass_l1tex_\w*wavefronts_mem_shared", re.I), DERIVES),
    (re.compile(r"memory_l1_wavefronts_shared(?!_excessive)", re.I), DERIVES),
    (re.compile(r"memory_l1_(?:wavefronts|sectors)_shared_excessive", re.I), EXCESSIVE),
    (re.compile(r"memory_l1_sectors_shared|memory_(?:ideal_)?shared_transactions", re.I), DERIVES),
    (re.compile(r"l1tex_+data_bank_(?:reads|writes)", re.I), BANKS),
    (re.compile(r"^breakdown:", re.I), BREAKDOWN),
)
_NAMED_LABEL = re.compile(
    r"bank[\s_-]*conflict"
    r"|conflicts?[\s_-]+shared[\s_-]+n[\s_-]*way"
    r"|conflict\w*\b.*\b(?:lsu|smem|lds|sts|shared)\b"
    r"|\b(?:lsu|smem|lds|sts|shared)\b.*\bconflict",
    re.I,
)
_DERIVING_LABELS = (
    (re.compile(r"wavefronts?\s+shared(?!\s+excessive)|shared\w*\s+wavefronts?", re.I), DERIVES),
    (re.compile(r"(?:wavefronts?|sectors?)\s+shared\s+excessive", re.I), EXCESSIVE),
    (re.compile(r"sectors?\s+shared\b|(?:ideal\s+)?shared\s+(?:memory\s+)?transactions", re.I), DERIVES),
    (re.compile(r"data\s+pipe\s+lsu\s+wavefronts", re.I), DERIVES),
    (re.compile(r"data\s+bank\s+(?:reads|writes)", re.I), BANKS),
)
_NAMED_PROSE = re.compile(
    r"bank[\s_-]*conflict|\d\s*-\s*way\s+(?:bank|conflict)|shared[\s_-]+memory[\s_-]+conflict|smem[\s_-]+conflict"
    r"|sharedmemoryconflict|l1tex_+data_bank_conflicts|conflicts?[\s_-]+shared[\s_-]+n[\s_-]*way"
    r"|memory_l1_conflicts_shared"
    r"|\bconflict\w*\b[^.]{0,40}\b(?:shared|smem|lds|sts)\b|\b(?:shared|smem|lds|sts)\b[^.]{0,40}\bconflict",
    re.I,
)
_DERIVING_PROSE = (
    (re.compile(r"excessive\s+(?:shared\s+)?(?:memory\s+)?wavefront|uncoalesced\s*shared", re.I), EXCESSIVE),
    (
        re.compile(r"wavefronts?\s+shared|wavefronts\s+for\s+shared|shared\s+(?:memory\s+)?wavefronts?", re.I),
        DERIVES,
    ),
    (
        re.compile(r"data_pipe_lsu_wavefronts|wavefronts_mem_shared|memory_l1_(?:wavefronts|sectors)_shared", re.I),
        DERIVES,
    ),
    (re.compile(r"data\s+pipe\s+lsu\s+wavefronts", re.I), DERIVES),
    (re.compile(r"data[\s_]bank[\s_](?:reads|writes)", re.I), BANKS),
)
_CLAUSE = re.compile(
    r",?\s+and\s+(?:to\s+)?reduce\s+(?:any\s+)?(?:shared\s+memory\s+)?bank\s+conflicts(?:,?\s+if\s+(?:any\s+(?:are\s+)?)?reported)?",
    re.I,
)
_LOOK_ALIKE = re.compile(
    r"c\[bank\]\[offset\]|other\s+conflicts\s+or\s+events|set[\s_]conflicts?|lts__\w*|data\s+banks", re.I
)
_FREE_WORD = re.compile(r"[\w$]*conflict[\w$]*", re.I)
_FREE_PHRASE = re.compile(
    r"(?:\d+[\s-]*way[\s-]+)?(?:(?:shared|smem|lds|sts)[\s_-]+)?(?:mem(?:ory)?[\s_-]+)?(?:bank[\s_-]+)?[\w$]*conflict[\w$]*(?:[\s-]+free)?",
    re.I,
)


@lru_cache(maxsize=16384)
def metric_reason(name: str, level: Level) -> str | None:
    """Why a metric of that Nsight name (any suffix) goes at this level, or None where it stays."""
    if _NAMED_METRIC.search(name):
        return LISTS if name.startswith("group:") else NAMED
    if level == "strict":
        return next((why for pattern, why in _DERIVING_METRICS if pattern.search(name)), None)
    return None


@lru_cache(maxsize=16384)
def label_reason(label: str, level: Level) -> str | None:
    """Why a row or column with that label goes at this level; labels may be metric names."""
    if reason := metric_reason(label, level):
        return reason
    if _NAMED_LABEL.search(label):
        return NAMED
    if level == "strict":
        return next((why for pattern, why in _DERIVING_LABELS if pattern.search(label)), None)
    return None


_SHARED_TABLE = re.compile(r"\bshared\s+memory\b", re.I)
# Nsight's "% Peak" in that table is the peak share of the wavefronts.
_SHARED_COLUMN = re.compile(r"\s*(?:wavefronts?(?:\s+per\s+\w+)?|%\s*peak)\s*$", re.I)


def column_reason(title: str, column: str, level: Level) -> str | None:
    """Why a column of the table with that title goes at this level: by its label, or by what both say together."""
    if reason := label_reason(column, level):
        return reason
    derives = level == "strict" and _SHARED_TABLE.search(title) and _SHARED_COLUMN.match(column)
    return DERIVES if derives else None


_LIST = re.compile(r"[\w:.]+(?:,[\w:.]+)+$")


def thinned(value: str, level: Level) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A list of metric names without those that go, and (name, why) of each; other text is left as it is."""
    if not _LIST.match(value):
        return value, ()
    names = value.split(",")
    gone = tuple((name, why) for name in names if (why := metric_reason(name, level)))
    if not gone:
        return value, ()
    bad = {name for name, _ in gone}
    return ",".join(name for name in names if name not in bad), gone


@lru_cache(maxsize=8192)
def prose_reason(text: str, level: Level) -> str | None:
    """Why unwrapped prose (a rule's text, a list of metric names) goes at this level, or None."""
    low = text.lower()
    if ("conflict" in low or "way" in low) and _NAMED_PROSE.search(_LOOK_ALIKE.sub("", text)):
        return NAMED
    if level == "strict":
        return next((why for pattern, why in _DERIVING_PROSE if pattern.search(text)), None)
    return None


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z@(])|(?<=[a-z]\.)(?=This results)")


CONFLICT_RULES = ("SharedMemoryConflicts",)
STRICT_RULES = ("UncoalescedSharedAccess",)


@dataclass(frozen=True)
class Cut:
    """Characters `start` to `end` of a text that go, and why."""

    start: int
    end: int
    why: str


@dataclass(frozen=True)
class Verdict:
    """What an ablation does to a rule's finding: `whole` is why all of it goes; else `cuts` are what its
    text loses.
    """

    whole: str | None = None
    cuts: tuple[Cut, ...] = ()


def judge_rule(identifier: str, title: str, text: str, level: Level) -> Verdict:
    """A finding whose id, title or first sentence names (or, if strict, derives) conflicts goes as a whole.

    Any other loses the short-scoreboard advice's clause about reducing bank conflicts, and the sentences
    that name or derive conflicts. `text` is unwrapped.
    """
    ids = (*CONFLICT_RULES, *STRICT_RULES) if level == "strict" else CONFLICT_RULES
    clauses = [Cut(m.start(), m.end(), NAMED) for m in _CLAUSE.finditer(text)]
    ends = [m.start() for m in _SENTENCE.finditer(text)] + [len(text)]
    begins = [0] + [m.end() for m in _SENTENCE.finditer(text)]
    said = [(begin, without(text, clauses, begin, end)) for begin, end in zip(begins, ends, strict=True)]
    for part in (identifier, title, said[0][1]):
        if why := prose_reason(part, level):
            return Verdict(whole=why)
    if identifier in ids:
        return Verdict(whole=NAMED)
    cuts = list(clauses)
    for (begin, sentence), after in zip(said, [*begins[1:], len(text)], strict=True):
        if why := prose_reason(sentence, level):
            cuts = [cut for cut in cuts if not begin <= cut.start < after] + [Cut(begin, after, why)]
    return Verdict(cuts=tuple(sorted(cuts, key=lambda cut: cut.start)))


def without(text: str, cuts: Sequence[Cut], begin: int = 0, end: int | None = None) -> str:
    """The text (or its part from `begin` to `end`) without the given cuts."""
    end = len(text) if end is None else end
    parts, at = [], begin
    for cut in cuts:
        if begin <= cut.start < end:
            parts.append(text[at : cut.start])
            at = min(cut.end, end)
    parts.append(text[at:end])
    return "".join(parts)


@lru_cache(maxsize=4096)
def names_conflict(text: str) -> bool:
    """Whether free text (a kernel name, path, comment, command line) speaks of conflicts."""
    if "onflict" not in text and "ONFLICT" not in text:
        return False
    return _FREE_WORD.search(_LOOK_ALIKE.sub("", text)) is not None


def withheld(text: str) -> str:
    """Free text with every phrase about conflicts replaced by one neutral word; look-alikes survive."""
    if not names_conflict(text):
        return text
    parts, end = [], 0
    for match in _LOOK_ALIKE.finditer(text):
        parts.append(_FREE_PHRASE.sub(WITHHELD, text[end : match.start()]))
        parts.append(match.group())
        end = match.end()
    parts.append(_FREE_PHRASE.sub(WITHHELD, text[end:]))
    return "".join(parts)


_COMMENT = re.compile(r"//.*$|/\*.*?(?:\*/|$)")


def source_withheld(text: str) -> str:
    """A line of source without the comments that speak of conflicts, and with such identifiers renamed."""
    if not names_conflict(text):
        return text
    bare = _COMMENT.sub(lambda m: "" if names_conflict(m.group()) else m.group(), text)
    return withheld(bare).rstrip() if bare != text else withheld(bare)
