"""A model's text made fit to read: thinking taken out, look of the letters evened, every offset kept."""

import re
import unicodedata
from dataclasses import dataclass

_OPEN = r"<(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|scratchpad|reflection)>|\[THINK\]|◁think▷"
_CLOSE = r"</(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|scratchpad|reflection)>|\[/THINK\]|◁/think▷"
_TAG = re.compile(
    rf"(?P<open>{_OPEN}|<\|channel\|>analysis(?:<\|message\|>)?)"
    rf"|(?P<close>{_CLOSE}|<\|end\|>|<\|channel\|>final(?:<\|message\|>)?)",
    re.IGNORECASE,
)
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
                        "\u2066-\u206f\ufeff]")  # fmt: skip
_FOREIGN_RUN = re.compile(r"[^\x00-\x7f]+")
_COMBINING = re.compile(r"[\u0300-\u036f]")
# Letters in a filled circle or square have no compatibility form; a person reads them as the letter.
_FILLED = str.maketrans({0x1F150 + i: chr(65 + i) for i in range(26)} | {0x1F170 + i: chr(65 + i) for i in range(26)})


@dataclass(frozen=True)
class Visible:
    """What a reader of the reply sees. `offsets[i]` is where character i stood in the reply, None where nothing moved;
    `unclosed` says that a thinking block never ended; `length` is the reply's own."""

    text: str
    length: int
    offsets: tuple[int, ...] | None = None
    unclosed: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the reply of characters `start` to `end` of the visible text."""
        if self.offsets is None:
            return start, end
        last = self.offsets[end - 1] if end > start else start
        return self.offsets[start], min(last + 1, self.length)


def visible(reply: str) -> Visible:
    """Thinking blocks (closed, unclosed, or with the opening tag missing), invisible characters and presentation forms
    taken out, by NFKC; the offsets lead back to the reply."""
    kept, unclosed = _outside_thinking(reply)
    whole = kept == [(0, len(reply))]
    text = reply if whole else "".join(reply[a:b] for a, b in kept)
    offsets: list[int] | None = None
    if not whole:
        offsets = [i for a, b in kept for i in range(a, b)]
    if not text.isascii():
        text, moved = _even(text)
        if moved is not None:
            offsets = [offsets[i] for i in moved] if offsets is not None else moved
    return Visible(text, len(reply), tuple(offsets) if offsets is not None else None, unclosed)


def _outside_thinking(text: str) -> tuple[list[tuple[int, int]], bool]:
    if "<" not in text and "THINK]" not in text and "◁" not in text:
        return [(0, len(text))], False
    kept: list[tuple[int, int]] = []
    depth, start = 0, 0
    for tag in _TAG.finditer(text):
        if tag["open"]:
            if depth == 0:
                kept.append((start, tag.start()))
            depth += 1
        elif depth > 0:
            depth -= 1
            start = tag.end()
        else:  # The template put the opening tag into the prompt: all before it was thinking.
            kept, start = [], tag.end()
    if depth == 0:
        kept.append((start, len(text)))
    if len(kept) > 1:
        kept = [(a, b) for a, b in kept if b > a]
    return kept, depth > 0


def _even(text: str) -> tuple[str, list[int] | None]:
    """NFKC without invisible characters, and where each character came from (None where nothing changed)."""
    plain = _INVISIBLE.sub("", text).translate(_FILLED).replace("İ", "I")
    if plain == text and unicodedata.is_normalized("NFKC", text):
        return text, None
    out: list[str] = []
    offsets: list[int] = []
    at = 0
    for run in _FOREIGN_RUN.finditer(text):
        start = run.start()
        if start > at and _COMBINING.match(text, start):
            start -= 1
        out.append(text[at:start])
        offsets.extend(range(at, start))
        for i, piece in _pieces(text[start : run.end()]):
            out.append(piece)
            offsets.extend([start + i] * len(piece))
        at = run.end()
    out.append(text[at:])
    offsets.extend(range(at, len(text)))
    return "".join(out), offsets


def _pieces(run: str) -> list[tuple[int, str]]:
    """The run's normal form in pieces, each with its offset; one piece where characters combine with each other."""
    singles = [(i, unicodedata.normalize("NFKC", _clean(c))) for i, c in enumerate(run)]
    whole = unicodedata.normalize("NFKC", _clean(run))
    return singles if "".join(piece for _, piece in singles) == whole else [(0, whole)]


def _clean(text: str) -> str:
    return _INVISIBLE.sub("", text).translate(_FILLED).replace("İ", "I")
