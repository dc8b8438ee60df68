"""Finds the verdict in prose: walks from each lone letter to the words that announce it, with guards on the way."""

import re
from dataclasses import dataclass
from typing import Literal
from unicodedata import normalize

from sparktrace_tui.domain.quiz import grading_words as words

BOTH, VOID = "both", "void"


@dataclass(frozen=True)
class Found:
    """A verdict in the text: `letter` is A to D, or BOTH (two in one verdict), or VOID (a label with no option)."""

    rule: str
    letter: str
    start: int
    end: int


# Scripts with spaces between words: a letter must not touch these. Chinese, Thai or Korean may touch it.
_W = r"0-9A-Za-z_\u00c0-\u02ff\u0370-\u052f\u1e00-\u1fff"
_W_OPEN = _W.replace("_", "")
# The letter comes first and what it must not touch after, so that the search can skip by first character.
LONE = re.compile(
    rf"[A-Za-z\u0370-\u052f](?![{_W_OPEN}])(?<![{_W_OPEN}].)(?<![{_W_OPEN}]['’].)(?:(?<=[A-Db-d])|(?!\s*\w))"
)
_TOKEN = re.compile(r"no\.|[^\W_\u0900-\u0e4e]+(?:['’-][^\W_]+)*|[\u0900-\u0e4e]+|\n|[^\w\s]|_", re.IGNORECASE)
_CODE = re.compile(
    r"\+\+|#\w|\[\w|-[A-Za-z]|[.][A-Za-z0-9]|\([a-z]\w*\)|['’](?!s\b)[A-Za-z]"
    r"|[ ]?(?:[-+*/]?=)[ ]?\w|[ ]?[*][ ]?[A-Za-z0-9]"
)
_QUESTION = re.compile(r"[^\w\s?]{0,6}\?")
_ENDED = re.compile(r"(?:[^\w\n]|_|</?[a-z]+>)*(?:$|\n)", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[ \t]+([^\W\d_]+)")
_CLOSED = re.compile(r"[*_`]*[ \t]*[.,;:!)\]}\"'”’»*_`—–-]|[^\x00-\u024f]")
_LIST = re.compile(
    r"(?:[^\w\n,/|&+=>~、]|_)*(?:,?\s*(?:"
    + "|".join(
        re.escape(j) if not j.isalpha() else re.escape(j) + rf"(?![{_W}])"
        for j in sorted(words.JOINERS, key=lambda j: (-len(j), j))
    )
    + r")|(?P<comma>,))\s*"
    r"(?:(?:option|rewrite|variant|choice|the|also|even|maybe|possibly|either|die|la|el)\s+)*"
    rf"(?:[^\w\n.,;!?]|_)*(?P<l>[A-D])(?![{_W}'’])",
    re.IGNORECASE,
)
_AFTER_COMMA = re.compile(r"(?:[^\w\n,]|_)*(?:$|\n|,)|\s*(?:and|or|und|oder|et|ou)\b", re.IGNORECASE)
_SENTENCE_START = re.compile(r".*[.!?;\n。！？]", re.DOTALL)
_SAID_AFTER = re.compile(
    r"(?:[^\w\n.,;!?]|_)*(?:選択肢|选项|選項|方案)?\s*(?:"
    + "|".join(re.escape(normalize("NFKC", p)) for p in sorted(words.SAID_AFTER, key=lambda p: (-len(p), p)))
    + ")",
    re.IGNORECASE,
)
_SEPARATORS = frozenset(":=→⇒–—>|➜➡-")
_STOPS = frozenset(".!?;。,")


def letters(text: str, start: int = 0, end: int | None = None) -> list[re.Match[str]]:
    """Every lone letter that begins from `start` up to `end`, the last first; also those that are no option, which may
    void a label."""
    stop = len(text) if end is None else end
    return [m for m in LONE.finditer(text, start) if m.start() < stop][::-1] if stop > start else []


def label_before(text: str, lone: re.Match[str], way: "Way | None") -> Found | None:
    """The verdict if a label announces this letter: `Answer: B`, `the answer is B`, a heading, a box, a tag."""
    if way is None or way.kind not in ("label", "box"):
        return None
    letter = lone[0].upper()
    if letter not in "ABCD":
        if letter != "X" and not way.weak and way.separated and _ENDED.match(text, lone.end()):
            return Found("label", VOID, lone.start(), lone.end())
        return None
    rule = "box" if way.kind == "box" else "label"
    return _judge(text, lone, rule, weak=way.weak, alone=way.bare, firm=way.separated or way.kind == "box")


def sentence_around(text: str, lone: re.Match[str], way: "Way | None") -> Found | None:
    """The verdict if a sentence makes this letter one: `I choose B`, `the fastest is B`, `B is the fastest`."""
    if lone[0] not in "ABCD" and not (lone[0] in "bcd" and _ENDED.match(text, lone.end())):
        return None
    if way is not None and way.kind == "no":
        return None
    if way is not None and way.kind == "choice":
        found = _judge(text, lone, "sentence", weak=False, alone=way.bare, firm=False)
        if found is not None:
            return found
    if lone[0].isupper() and _is_subject(text, lone):
        joined = _joined_before(text, lone.start())
        return Found("sentence", BOTH if joined else lone[0], lone.start(), lone.end())
    return None


def _judge(text: str, lone: re.Match[str], rule: str, *, weak: bool, alone: bool, firm: bool) -> Found | None:
    start, end = lone.span()
    letter = lone[0]
    if _QUESTION.match(text, end) or _CODE.match(text, end):
        return None
    ended = _ENDED.match(text, end) is not None
    if not ended:
        if alone:
            return None
        joined = _LIST.match(text, end)
        if joined is not None and joined["l"].upper() != letter.upper() and _is_list(text, letter, joined):
            return Found(rule, BOTH, start, joined.end("l"))
        after = _NEXT_WORD.match(text, end)
        if letter.islower() and (not firm or letter == "a") and not _CLOSED.match(text, end):
            return None
        if after is not None:
            word = after[1].lower()
            if weak and word not in words.REASONS:
                return None
            if letter == "A" and not _follows_a_letter(word):
                return None
    return Found(rule, letter.upper(), start, end)


def _is_list(text: str, letter: str, joined: re.Match[str]) -> bool:
    if joined["l"].isupper() != letter.isupper():
        return False
    return joined["comma"] is None or _AFTER_COMMA.match(text, joined.end("l")) is not None


def _follows_a_letter(word: str) -> bool:
    """Whether `A word` reads as the letter: an article stands before neither a function word nor a verb in -s."""
    if word in words.AFTER_LETTER:
        return True
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))


_OPENERS = " *_`\"'([{$"
_KNOWN = frozenset().union(
    words.ANSWER, words.WEAK, words.COPULA, words.BETWEEN, words.CHOOSE, words.CHOOSE_OWN, words.PREPOSITIONS,
    words.BUT, words.CONCLUSIONS, words.NOT, ("it", "that", "a", "boxed", "fbox", "b", "em", "strong", "mark", "span"),
    (second for _, second in words.ANSWER_PAIRS),
)  # fmt: skip


@dataclass(frozen=True)
class Way:
    """What the words before a letter make of it: a label, a choice, a box, or `no` (negated). `separated`: by a colon
    or the like; `bare`: by nothing at all, so that the letter must end its line."""

    kind: Literal["label", "choice", "box", "no"]
    weak: bool = False
    separated: bool = False
    bare: bool = False


def _left_tokens(text: str, start: int, width: int) -> list[tuple[str, int]]:
    """Tokens before `start`, the nearest first, each with its place; whole words from `width` characters back."""
    low = max(0, start - width)
    if low and text[low].isalnum():
        while low < start and text[low].isalnum():
            low += 1
    return [(t[0], t.start()) for t in _TOKEN.finditer(text, low, start)][::-1]


def way_to(text: str, start: int) -> Way | None:
    """What the words before a letter make of it. Most letters are dismissed by the word right before them, so few
    characters are looked at first."""
    last = _word_before(text, start)
    if last[-1:] in (".", ";", "!", "?") and last not in ("no.", "."):
        return None
    if last.isascii() and last.isalpha() and last not in _KNOWN:
        return None
    tokens = _left_tokens(text, start, 24)
    way, used = _walk(text, tokens)
    if way is None and used < len(tokens) - 1:
        return None
    return _walk(text, _left_tokens(text, start, 160))[0]


def _word_before(text: str, start: int) -> str:
    """The word right before, with its punctuation, in lower case; "" at the start of a line."""
    near = text[start - 24 if start > 24 else 0 : start]
    return "" if "\n" in near else near.rstrip(_OPENERS).rpartition(" ")[2].lstrip(_OPENERS).lower()


def _walk(text: str, tokens: list[tuple[str, int]]) -> tuple[Way | None, int]:
    """What the tokens before a letter make of it, and how many of them were looked at."""
    separated = copula = concluded = False
    newlines = unknown = 0
    pending = ""
    it = ""
    i = 0
    while i < len(tokens):
        token, at = tokens[i]
        i += 1
        first = token[0]
        if token == "\n":
            newlines += 1
            if newlines > 3:
                return None, i
            continue
        if not first.isalnum() and not "\u0900" <= first <= "\u0e4e":
            if token in _SEPARATORS:
                separated = True
            elif token in _STOPS:
                concluded = concluded or (i < len(tokens) and tokens[i][0].lower() in words.CONCLUSIONS)
                break
            continue
        word = token.lower().replace("’", "'")
        if word in ("boxed", "fbox"):
            return Way("box"), i
        if word in ("b", "i", "em", "strong", "mark", "span") and text[at - 1 : at] in ("<", "/"):
            continue
        if pending:
            pending = ""
            chosen = word in words.CHOOSE or word in words.CHOOSE_OWN or word in words.PREPOSITIONS
            if not (chosen or separated or copula):
                return None, i
        if word in words.NOT or word.endswith("n't"):
            return Way("no"), i
        strong = word in words.ANSWER or (i < len(tokens) and (tokens[i][0].lower(), word) in words.ANSWER_PAIRS)
        weak = word in words.WEAK
        ending = _ending(word) if ord(first) > 0x2FF else None
        if ending is not None:
            what, joined = ending
            strong, weak = strong or what == "answer", weak or what == "weak"
            copula = copula or joined
            if what == "choose":
                return Way("choice"), i
            if what == "copula":
                continue
        if strong or (weak and (separated or copula or word not in words.CHOOSE)):
            way = _label_way(text, tokens, i, at, strong, separated, copula, newlines, unknown)
            if way is not None:
                return way, i
            if strong and newlines:
                return None, i
        if word in words.CHOOSE_OWN and not newlines:
            return (Way("choice") if not _is_guarded(text, at) else None), i
        if word in words.CHOOSE and not newlines and not separated and _has_subject(tokens, i):
            return (Way("choice") if not _is_guarded(text, at) else None), i
        if word in words.COPULA:
            copula = True
            it = it or ("it" if word in ("it's", "that's", "c'est") else "")
        elif word in words.PREPOSITIONS and not unknown:
            pending = word
        elif word in words.BUT and i + 1 < len(tokens):
            i = _past_not_but(tokens, i)
        elif word in words.BETWEEN or token == "a":
            concluded = concluded or word in words.CONCLUSIONS
        elif word in ("it", "that") and copula and not newlines:
            it = "it"
        elif word in words.CONCLUSIONS:
            concluded = True
        elif (separated or copula) and unknown < 6 and not newlines:
            unknown += 1
        else:
            return None, i
        if newlines and not separated and word not in words.COPULA:
            return None, i
    if not newlines and not unknown and not separated and (it or concluded):
        return Way("choice", bare=True), i
    return None, i


def _label_way(
    text: str, tokens: list[tuple[str, int]], i: int, at: int, strong: bool, separated: bool, copula: bool,
    newlines: int, unknown: int,
) -> Way | None:  # fmt: skip
    before = tokens[i][0].lower() if i < len(tokens) else ""
    if before in words.WRONG or before in words.NOT:
        return Way("no")
    if separated and (strong or not unknown):
        return Way("label", weak=not strong, separated=True)
    if copula:
        if _is_guarded(text, at):
            return Way("no")
        return Way("label" if strong else "choice", weak=False)
    if newlines:
        line = text[text.rfind("\n", 0, at) + 1 : at]
        heading = all(w in ("final", "my", "the", "correct") for w in re.findall(r"\w+", line.lower()))
        return Way("label", weak=True) if heading else None
    return Way("label", bare=True) if strong and not unknown else None


def _ending(word: str) -> tuple[str, bool] | None:
    """What a run of a script without spaces ends with, once a copula stuck to it is off: `answer`, `weak`, `choose`,
    `copula` (nothing else was there), and whether there was one."""
    joined = False
    rest = word
    for _ in range(2):
        if rest.endswith(words.CHOOSE_ENDINGS):
            return "choose", joined
        if rest.endswith(words.ANSWER_ENDINGS):
            return "answer", joined
        if rest.endswith(words.WEAK_ENDINGS):
            return "weak", joined
        cut = next((c for c in words.COPULA_ENDINGS if rest.endswith(c)), "")
        if not cut:
            return None
        joined, rest = True, rest[: -len(cut)]
        if not rest:
            return "copula", joined
    return None


def _has_subject(tokens: list[tuple[str, int]], i: int) -> bool:
    """Whether a verb before token `i` is the writer's own: `I`, `we`, or the start of a sentence."""
    for n, (token, _) in enumerate(tokens[i : i + 6]):
        word = token.lower()
        if word in words.NOT or word.endswith(("n't", "n’t")):
            return False
        if word in words.SUBJECTS:
            return True
        if token in _STOPS or token in ("\n", ":"):
            return n == 0
    rest = tokens[i : i + 6]
    return not rest or all(t.lower() in words.CONCLUSIONS or not t.isalnum() for t, _ in rest)


def _past_not_but(tokens: list[tuple[str, int]], i: int) -> int:
    """Past `not A` in `not A but B`; `i` unchanged where that is not what stands there."""
    j = i
    while j < len(tokens) and (not tokens[j][0].isalnum() or tokens[j][0] in "ABCD") and tokens[j][0] != "\n":
        j += 1
    return j + 1 if j > i and j < len(tokens) and tokens[j][0].lower() in words.NOT else i


def _sentence_of(text: str, at: int) -> str:
    low = max(0, at - 200)
    start = _SENTENCE_START.match(text, low, at)
    return text[start.end() if start else low : at].lower().replace("’", "'")


_TURN = re.compile(r",?\s(?:so|but|therefore|hence|thus|still|yet|however|donc|mais|aber|also|pero|mas)\s")


def _is_guarded(text: str, at: int) -> bool:
    """Whether the sentence up to `at` only supposes, or says that nothing can be said."""
    before = _TURN.split(_sentence_of(text, at))[-1]
    if not before:
        return False
    said = before.lstrip("(*_ ").split()
    if said[:1] and said[0] in words.SUPPOSED and ("were" in said or "had" in said):
        return True
    clause = before.rsplit(",", 1)[-1].split()
    return any(c in before for c in words.CANNOT) or any(w in words.SUPPOSED for w in clause)


_JOINED_BEFORE = re.compile(
    r"[A-D](?:[^\w\n]|_)*(?:or|and|/|&|,|oder|und|ou|et|o|y|или|и|或|和|、)(?:[^\w\n]|_)*(?:option\s+|rewrite\s+)?$",
    re.IGNORECASE,
)


def _joined_before(text: str, start: int) -> bool:
    return _JOINED_BEFORE.search(text, max(0, start - 24), start) is not None


_RIGHT_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|\n|[^\w\s]|_")


def _is_subject(text: str, lone: re.Match[str]) -> bool:
    """Whether what follows the letter says that it is the fastest, or the right one."""
    start, end = lone.span()
    if not _CODE.match(text, end) and (_SAID_AFTER.match(text, end) or _is_called_fastest(text, start, end)):
        return not _is_guarded(text, start)
    return False


_CLAIMING = frozenset({"is", "be", "'s", "s", "remains", "looks", "seems", "will", "would", "should", "must"})


def _is_called_fastest(text: str, start: int, end: int) -> bool:
    first = _NEXT_WORD.match(text, end)
    if first is not None and first[1] not in _CLAIMING and first[1] not in words.WIN_VERBS:
        last = _word_before(text, start)
        if last not in words.BETWEEN or last == "the":
            return False
        allowed = 10
    else:
        allowed = 0
    copula = False
    gap = 0
    for n, token in enumerate(_RIGHT_TOKEN.findall(text[end : end + 160])):
        word = token.lower().replace("’", "'")
        if n < 2 and token in ":(,—–-":
            allowed = max(allowed, 10)
        if token in "\n.;!?" or word in words.NOT or word.endswith("n't") or word in words.DOUBTS:
            return False
        if token in "ABCD" and token.isalpha():
            return False
        if not token[0].isalnum():
            continue
        if word in words.WIN_VERBS and (copula or gap == 0):
            return True
        if copula and (word in words.SUPERLATIVE or word in words.RIGHT):
            tail = text[end : end + 220].lower().partition(word)[2]
            return not re.match(r"[^.\n]{0,12}\b(?:if|case|when|avoided|of the naive|\?)", tail)
        if word in ("will", "would", "should", "must"):
            continue
        if word in _CLAIMING:
            copula = True
        elif copula and (word in words.BETWEEN or word in words.EMPHASIS):
            continue
        elif gap < allowed:
            gap += 1
            copula = False
        else:
            return False
    return False
