"""Units of metrics: one spelling for comparison across profiler versions, and a readable scale for display."""

import math
import re
from functools import lru_cache

from sparktrace_tui.domain.report.report import Metric, Value

_TIMES = {
    "ns": 1e-9, "nsecond": 1e-9, "nanosecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "microsecond": 1e-6,
    "ms": 1e-3, "msecond": 1e-3, "millisecond": 1e-3, "s": 1.0, "second": 1.0, "sec": 1.0,
}  # fmt: skip
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
_SINGULAR = {
    "branches": "branch", "sectors": "sector", "cycles": "cycle", "warps": "warp", "threads": "thread",
    "bytes": "byte", "blocks": "block", "requests": "request", "instructions": "inst", "samples": "sample",
}  # fmt: skip
_PREFIXED = re.compile(r"([kmgtp]?)(byte|bytes|hz|bit|bits|b)$", re.IGNORECASE)
_NAMES = {"byte": "byte", "bytes": "byte", "b": "byte", "hz": "hz", "bit": "bit", "bits": "bit"}


@lru_cache(maxsize=1024)
def _part(unit: str) -> tuple[str, float]:
    """One side of a fraction in its base unit, and what to multiply a value with."""
    low = unit.strip()
    if low.lower() in _TIMES:
        return "s", _TIMES[low.lower()]
    if match := _PREFIXED.match(low):
        return _NAMES[match[2].lower()], _PREFIXES[match[1].lower()]
    return _SINGULAR.get(low.lower(), low), 1.0


@lru_cache(maxsize=1024)
def base_unit(unit: str) -> tuple[str, float]:
    """The base unit of a spelling and its factor: `Gbyte/second` is (`byte/s`, 1e9), `nsecond` is (`ns`, 1).

    Times are in ns, rates in x/s, frequencies (cycles a second) in hz; `Kbyte` is 1,000 bytes, as Nsight
    counts. An unknown unit is its own base.
    """
    top, slash, bottom = unit.strip().partition("/")
    name, factor = _part(top)
    if not slash:
        return ("ns", factor * 1e9) if name == "s" else (name, factor)
    per, divisor = _part(bottom)
    if per == "s" and name == "cycle":
        return "hz", factor / divisor
    return f"{name}/{per}", factor / divisor


def normalise(value: Value, unit: str) -> tuple[Value, str]:
    """The value in its base unit, for comparison across versions; text and missing values are left as they
    are.
    """
    name, factor = base_unit(unit)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value, name
    if factor == 1.0:
        return value, name
    return value * factor, name


_SCALED = {"ns": ("ns", "us", "ms", "s"), "hz": ("hz", "Khz", "Mhz", "Ghz")}
_BYTES = ("byte", "Kbyte", "Mbyte", "Gbyte", "Tbyte")


def scaled(value: Value, unit: str) -> tuple[Value, str]:
    """The value in the largest unit that keeps it at or above one, as Nsight's details page shows it."""
    top, slash, bottom = unit.partition("/")
    steps = _SCALED.get(unit) or (_BYTES if top == "byte" and bottom in ("", "s", "block", "second") else None)
    if steps is None or isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return value, unit
    number = float(value)
    index = 0
    while abs(number) >= 1000 and index < len(steps) - 1:
        number, index = number / 1000, index + 1
    if index == 0:
        return value, unit
    return number, steps[index] + (slash + bottom if steps is _BYTES else "")


def format_value(value: Value) -> str:
    """A value as the details page prints it: whole numbers bare, others with two decimals, missing as `n/a`."""
    match value:
        case None:
            return "n/a"
        case bool():
            return str(value)
        case int():
            return str(value)
        case float():
            if not math.isfinite(value):
                return "n/a"
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.2f}"
        case _:
            return value


def shown(metric: Metric) -> tuple[str, str]:
    """A metric's value and unit as text: as its source printed them, else scaled to a readable unit."""
    if metric.raw is not None:
        return (metric.raw.strip() or "n/a"), metric.unit
    value, unit = scaled(metric.value, metric.unit)
    return format_value(value), unit
