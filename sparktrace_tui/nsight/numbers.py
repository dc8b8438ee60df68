"""Printed numbers to values: the file's locale is proved from its own digits, and what cannot be told is
refused.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sparktrace_tui.domain.report.report import Value

SPACES = " \u00a0\u202f\u2009"
_MISSING = frozenset({"", "n/a", "nan", "-nan", "inf", "-inf", "+inf", "-", "none"})
_NUMBER = re.compile(r"[-+]?\d(?:[\d.," + SPACES + r"]*\d)?(?:[eE][-+]?\d+)?$")
_PLAIN = re.compile(r"[-+]?\d+$")
_TELLS_POINT = re.compile(
    r"\d,\d{3}(?:,\d{3})*\.\d|^[-+]?\d{1,3}(?:,\d{3}){2,}$|^[-+]?\d*\.(?:\d{1,2}|\d{4,})$|^[-+]?0\d*\.\d+$"
    r"|^[-+]?\d{4,}\.\d+$|\.\d+[eE]"
)
_TELLS_COMMA = re.compile(
    r"\d\.\d{3}(?:\.\d{3})*,\d|^[-+]?\d{1,3}(?:\.\d{3}){2,}$|^[-+]?\d*,(?:\d{1,2}|\d{4,})$|^[-+]?0\d*,\d+$"
    r"|^[-+]?\d{4,},\d+$|[" + SPACES + r"]\d{3},\d|,\d+[eE]"
)
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:[.," + SPACES + r"]\d{3})+$")
# What Nsight prints with C's %f whatever the locale: exactly six decimals, never grouped.
_SIX_DECIMALS = re.compile(r"[-+]?\d+\.\d{6}$")
_LONGEST = 40  # digits that no counter prints; beyond, neither int nor float is safe
_DOUBTFUL = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}$")

Decimal = Literal[".", ",", "both", None]


@dataclass(frozen=True)
class Locale:
    """The decimal sign that a file proves: `.`, `,`, `both` (it contradicts itself), or None (nothing to
    tell).
    """

    decimal: Decimal = None


class Doubtful(ValueError):
    """A number that this file's locale does not decide, such as 1.234 alone."""


def prove(texts: Iterable[str]) -> Locale:
    """The locale of the printed values of one file, from those that can be read in one way only."""
    point = comma = False
    for text in texts:
        if ("." in text or "," in text) and not _SIX_DECIMALS.match(text):
            point = point or _TELLS_POINT.search(text) is not None
            comma = comma or _TELLS_COMMA.search(text) is not None
    if point and comma:
        return Locale("both")
    return Locale("." if point else "," if comma else None)


def is_missing(text: str) -> bool:
    """Whether a printed value says that there is none: empty, n/a, `(!) n/a`, nan, a dash."""
    return text.removeprefix("(!)").strip().lower() in _MISSING


def parse(text: str, locale: Locale) -> Value:
    """The value of a printed cell: a number, text, or None for a missing one. Raises Doubtful."""
    text = text.strip()
    if is_missing(text):
        return None
    text = text.removeprefix("(!)").strip()
    if not text.isascii() and not any(space in text for space in SPACES):
        return text
    if len(text) > _LONGEST:
        return text
    if _PLAIN.match(text):
        return int(text)
    if not _NUMBER.match(text):
        return text
    return _number(text, locale)


def _number(text: str, locale: Locale) -> Value:
    if _SIX_DECIMALS.match(text):
        return float(text)
    own = prove([text]).decimal
    decimal = own if own in (".", ",") else locale.decimal
    if decimal not in (".", ","):
        if _DOUBTFUL.match(text):
            raise Doubtful(text)
        decimal = "."
    if locale.decimal in (".", ",") and decimal != locale.decimal and text.count(decimal) != 1:
        return text
    group = "," if decimal == "." else "."
    body = re.sub(f"[{re.escape(group)}{SPACES}]", "", text)
    whole, sign, rest = body.partition(decimal)
    if decimal in rest or (body != text and not _well_grouped(text, decimal)):
        return text
    try:
        number = float(f"{whole}.{rest}") if sign else (float(whole) if "e" in whole.lower() else int(whole))
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _well_grouped(text: str, decimal: str) -> bool:
    """Whether the part before the decimal sign is made of groups of three: a version or a list is no number."""
    return _GROUPED.match(text.partition(decimal)[0]) is not None
