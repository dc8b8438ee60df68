"""Which letter a reply gives, by two graders whose every decision names its rule and its place.

`readable` takes any letter that a careful person can read, in this order: the last labelled verdict (`Answer: B`, a
box, a tag, a JSON field); else a verdict sentence, with guards for negation, supposition and the article; else a final
line, or part of one, that is only a letter. It never takes just any letter. Two letters in one verdict are ambiguous,
and a look-alike from another alphabet is no letter. `strict` takes a last line that is exactly `Answer: X`.
"""

import re
from dataclasses import dataclass
from typing import Literal

from sparktrace_tui.domain.quiz.reply_text import Visible, visible
from sparktrace_tui.domain.quiz.verdicts import (
    BOTH,
    Found,
    Way,
    label_before,
    letters,
    sentence_around,
    way_to,
)

GRADER_VERSION = "1"

Grader = Literal["readable", "strict"]
GRADERS: tuple[Grader, ...] = ("readable", "strict")
Outcome = Literal["correct", "wrong", "no_letter", "no_turn"]
OUTCOMES: tuple[Outcome, ...] = ("correct", "wrong", "no_letter", "no_turn")


@dataclass(frozen=True)
class Reading:
    """What one grader read: a letter, or `none` or `ambiguous`; the rule that fired; where, in the reply as it came.

    `unclosed` says that a thinking block never ended, which is how a cut trace looks.
    """

    kind: Literal["letter", "ambiguous", "none"]
    letter: str | None = None
    rule: str = ""
    span: tuple[int, int] | None = None
    unclosed: bool = False

    @property
    def is_verdict(self) -> bool:
        """True where the letter was announced as final, so that a cut later on changes nothing."""
        return self.kind == "letter" and self.rule in ("label", "box", "last line")


@dataclass(frozen=True)
class Grade:
    """An outcome. `cause` tells failures apart: `truncated`, `refused`, `ambiguous`, `none` for `no_letter`, the
    fault for `no_turn`, "" otherwise. The reading stays beside it, to be shown in the trace."""

    outcome: Outcome
    cause: str = ""
    reading: Reading = Reading("none")

    @property
    def letter(self) -> str | None:
        """The letter that was graded; None where the outcome is no letter or no turn."""
        return self.reading.letter if self.outcome in ("correct", "wrong") else None


def read(text: str, grader: Grader = "readable") -> Reading:
    """The letter that `grader` reads in a reply."""
    match grader:
        case "readable":
            return read_readable(text)
        case "strict":
            return read_strict(text)


def grade(text: str, stop: str, key: str, grader: Grader = "readable") -> Grade:
    """The grade of a reply that came back, with its normalised stop reason, against the key's letter.

    A refusal has no letter, whatever text came before it. A truncated trace counts only with a letter announced as
    final before the cut.
    """
    reading = read(text, grader)
    if stop == "refused":
        return Grade("no_letter", "refused", reading)
    if stop == "truncated" and not reading.is_verdict:
        return Grade("no_letter", "truncated", reading)
    if reading.letter is not None:
        return Grade("correct" if reading.letter == key else "wrong", "", reading)
    return Grade("no_letter", "truncated" if reading.unclosed else reading.kind, reading)


_STRICT = re.compile(r"Answer: ([A-D])")


def read_strict(text: str) -> Reading:
    """`Answer: X` as the last line that is not empty, to the letter; surrounding blanks are allowed."""
    tagged = "<" in text or "THINK]" in text or "◁" in text
    seen = visible(text) if tagged else Visible(text, len(text))
    end = len(seen.text.rstrip())
    start = max(seen.text.rfind("\n", 0, end), seen.text.rfind("\r", 0, end)) + 1
    line = seen.text[start:end]
    hit = _STRICT.fullmatch(line.strip())
    if hit is None:
        return Reading("none", unclosed=seen.unclosed)
    at = start + line.index(hit[0]) + len("Answer: ")
    return Reading("letter", hit[1], "last line", seen.span(at, at + 1), seen.unclosed)


_STRUCK = re.compile(r"~~[^~\n]+~~")
_CODE = re.compile(
    r"^[ \t]*(```|~~~)[^\n]*\n.*?(?:^[ \t]*\1|\Z)|`(?!\W*[A-Da-d]\W*`)[^`\n]+`", re.MULTILINE | re.DOTALL
)
_ASKED = re.compile(r"[*_#> ]{0,6}(?:Final )?Answer[*_]{0,2}:[*_ ]{0,4}(?P<l>[A-D])[*_.]{0,4}")
_TAIL = 240


def read_readable(text: str) -> Reading:
    """The letter a careful person reads."""
    seen = visible(text)
    plain = seen.text.replace("\r\n", " \n").replace("\r", "\n").replace("\u2028", "\n")
    if "~~" in plain:
        plain = _STRUCK.sub(lambda m: " " * len(m[0]), plain)
    plain = plain.rstrip()
    found = _announced(plain) or _lone(plain) if plain else None
    if found is None:
        return Reading("none", unclosed=seen.unclosed)
    span = seen.span(found.start, found.end)
    if found.letter in ("A", "B", "C", "D"):
        return Reading("letter", found.letter, found.rule, span, seen.unclosed)
    return Reading("ambiguous" if found.letter == BOTH else "none", None, found.rule, span, seen.unclosed)


def _announced(plain: str) -> Found | None:
    """The last labelled verdict, else the last verdict sentence outside code. The last line is looked at first, where a
    label nearly always is, then the end."""
    asked = _ASKED.fullmatch(plain, plain.rfind("\n") + 1)
    if asked is not None:
        return Found("label", asked["l"], *asked.span("l"))
    tail = max(0, len(plain) - _TAIL)
    ways: list[tuple[re.Match[str], Way | None]] = []
    for lone in letters(plain, tail):
        way = way_to(plain, lone.start())
        found = label_before(plain, lone, way)
        if found is not None:
            return found
        ways.append((lone, way))
    for lone in letters(plain, 0, tail):
        way = way_to(plain, lone.start())
        found = label_before(plain, lone, way)
        if found is not None:
            return found
        ways.append((lone, way))
    coded = [m.span() for m in _CODE.finditer(plain)] if "`" in plain or "~~~" in plain else []
    for lone, way in ways:
        if not any(start <= lone.start() < end for start, end in coded):
            found = sentence_around(plain, lone, way)
            if found is not None:
                return found
    return None


_DECORATED = r"(?:[^\w\n]|_|\\(?:text|math)[a-z]*)*"
_NOUN = r"(?:(?:option|rewrite|variant|choice|candidate|kernel|version|opción|opção|variante|вариант|选项|選項)\s*)?"
_ONLY = re.compile(
    rf"{_DECORATED}{_NOUN}{_DECORATED}(?P<l>[A-Da-d])(?![\w.]\w){_DECORATED}(?:입니다|です|번)?{_DECORATED}",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    rf"{_DECORATED}[A-D](?:{_DECORATED}(?:or|and|oder|und|ou|et|,|/|&)?{_DECORATED}[A-D])+{_DECORATED}"
)
_BOLD = re.compile(rf"(\*\*|__)(?P<in>{_NOUN}\(?(?P<l>[A-D])[).:]?)\1", re.IGNORECASE)
_OPENING = re.compile(r"(?:[^\w\n]|_)*(?P<l>[A-D])(?:[):]|\.(?=\s)|\s+[—–-]\s)(?=.*\w)")


def _lone(plain: str) -> Found | None:
    """A final line that is only a letter; else the one bold letter at the edge of it; else the letter that opens a
    reply of one line, or that is the first line alone."""
    start = plain.rfind("\n") + 1
    only = _only(plain, start, len(plain))
    if only is not None:
        return only
    if _SEVERAL.fullmatch(plain, start) and any(c in plain[start:] for c in " ,/&"):
        return Found("last line", BOTH, start, len(plain))
    bold = {m["l"].upper(): m for m in _BOLD.finditer(plain, start)}
    if len(bold) == 1:
        ((letter, hit),) = bold.items()
        at_edge = not plain[start : hit.start()].strip(" >#-*") or not plain[hit.end() :].strip(" .!")
        if at_edge and not _is_listed(plain, letter):
            return Found("bold", letter, hit.start("l"), hit.end("l"))
    first_end = plain.find("\n")
    if first_end < 0:
        opening = _OPENING.match(plain)
        return Found("only line", opening["l"], *opening.span("l")) if opening else None
    lines = [m.span() for m in re.finditer(r"[^\n]+", plain)]
    lone = [f for f in (_only(plain, a, b) for a, b in lines if b - a < 40) if f is not None]
    if len(lone) == 1 and lone[0].start < lines[0][1]:
        return Found("first line", lone[0].letter, lone[0].start, lone[0].end)
    return None


def _only(plain: str, start: int, end: int) -> Found | None:
    if end - start > 60:
        return None
    hit = _ONLY.fullmatch(plain, start, end)
    if hit is None or "?" in plain[start:end] or plain[start:end].rstrip(" *_").endswith(":"):
        return None
    return Found("last line", hit["l"].upper(), hit.start("l"), hit.end("l"))


def _is_listed(plain: str, letter: str) -> bool:
    """Whether other bold letters head a list before it, so that this one is only the list's last item."""
    return any(m["l"].upper() != letter and not plain[plain.rfind("\n", 0, m.start()) + 1 : m.start()].strip(" >#-*")
               for m in _BOLD.finditer(plain))  # fmt: skip
