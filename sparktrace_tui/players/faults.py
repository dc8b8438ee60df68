"""From what an SDK raises to one small set of faults: what may pass by itself, and how long to wait."""

import email.utils
import json
import re
import time
from collections.abc import Mapping
from typing import Any, Literal

from sparktrace_tui.players.secrets import scrub

LONGEST_MESSAGE = 500

FaultKind = Literal[
    "auth", "quota", "bad_request", "rate_limited", "overloaded", "server", "timeout", "connection", "nonsense",
    "not_recorded", "left", "missing",
]  # fmt: skip
# A fault of these kinds may pass by itself.
RETRIED: frozenset[str] = frozenset({"rate_limited", "overloaded", "server", "timeout", "connection", "nonsense"})
# A fault of these kinds would meet every further request too.
FATAL: frozenset[str] = frozenset({"auth", "quota", "left", "missing"})


class Fault(Exception):
    """A try that brought no reply. The message holds no key. `retry_after` is in seconds, as the server asked;
    `parameter` is the request's field that the server rejected, where it names one."""

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        parameter: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.parameter = parameter

    @property
    def retried(self) -> bool:
        return self.kind in RETRIED


# What a reply that is not one makes an SDK, or our reading of it, raise.
NONSENSE_ERRORS: tuple[type[Exception], ...] = (
    AttributeError, TypeError, KeyError, IndexError, ValueError, AssertionError, json.JSONDecodeError,
)  # fmt: skip


def kind_of_status(status: int, code: str = "", message: str = "") -> FaultKind:
    """The fault of an HTTP status, with the provider's own code and message where they say more."""
    said = f"{code} {message}".lower()
    if _is_quota(status, said):
        return "quota"
    match status:
        case 401 | 403:
            return "auth"
        case 402:
            return "quota"
        case 429:
            return "rate_limited"
        case 408:
            return "timeout"
        case 409 | 425:
            return "server"
        case 503 | 529:
            return "overloaded"
        case _ if status >= 500:
            return "server"
        case _:
            return "bad_request"


def _is_quota(status: int, said: str) -> bool:
    if "insufficient_quota" in said or "credit balance is too low" in said or "billing_hard_limit" in said:
        return True
    return status == 429 and ("perday" in said or ("billing details" in said and "retry in" not in said))


def fault_of_status(
    status: int, message: str, *, code: str = "", headers: Mapping[str, str] | None = None, key: str = ""
) -> Fault:
    """A fault with its wait, as the headers or the message give it."""
    wait = retry_after(headers or {})
    return Fault(
        kind_of_status(status, code, message),
        f"HTTP {status}: {short(message, key)}",
        status=status,
        retry_after=wait if wait is not None else _wait_in_message(message),
    )


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after` (seconds or a date, RFC 9110 10.2.3); None where neither."""
    lowered = {name.lower(): value for name, value in headers.items()}
    try:
        if "retry-after-ms" in lowered:
            return max(0.0, float(lowered["retry-after-ms"]) / 1000)
        value = lowered.get("retry-after")
        if value is None:
            return None
        if re.fullmatch(r"\s*\d+(\.\d+)?\s*", value):
            return float(value)
        moment = email.utils.parsedate_to_datetime(value).timestamp()
        return max(0.0, moment - (time.time() if now is None else now))
    except (ValueError, TypeError, OverflowError):
        return None


def _wait_in_message(message: str) -> float | None:
    hit = re.search(r"retryDelay\W+(\d+(?:\.\d+)?)s|retry in (\d+(?:\.\d+)?)\s?s", message)
    return float(hit[1] or hit[2]) if hit else None


def short(message: object, key: str = "") -> str:
    """One line of at most 500 characters, without keys and without control characters."""
    text = scrub(str(message), key) if key and key != "none" else scrub(str(message))
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


def nonsense(what: object, key: str = "") -> Fault:
    """A reply with status 200 that is none."""
    if isinstance(what, Exception):
        return Fault("nonsense", f"the reply could not be read: {type(what).__name__}: {short(what, key)}")
    return Fault("nonsense", f"the reply could not be read: {short(what, key)}")


def headers_of(response: Any) -> dict[str, str]:
    """A response's headers; none where it has none."""
    headers = getattr(response, "headers", None)
    return {str(k): str(v) for k, v in headers.items()} if headers is not None else {}
