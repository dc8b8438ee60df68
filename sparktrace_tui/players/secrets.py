"""Keeps keys out of every text and away from every server they do not belong to."""

import os
import re
from collections.abc import Mapping

REMOVED = "[key removed]"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|CUSTOM_HEADERS", re.IGNORECASE)
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{12,}|nvapi-[A-Za-z0-9_-]{12,}|AIza[A-Za-z0-9_-]{20,})"
    r"|(?i:bearer)\s+[A-Za-z0-9._~+/-]{12,}=*"
    r"|(?<=[?&]key=)[^&\s\"']+"
)
_SHORTEST = 6


def secrets(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values in the environment whose names look like a secret's, the longest first."""
    source = os.environ if environ is None else environ
    found: set[str] = set()
    for name, value in source.items():
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST:
            found.add(value)
            if "CUSTOM_HEADERS" in name.upper():
                found.update(v for v in re.split(r"[:\n]\s*", value) if len(v) >= _SHORTEST)
    return tuple(sorted(found, key=len, reverse=True))


def scrub(text: str, *more: str) -> str:
    """The text without any key: those of the environment, those given, and what has the form of one."""
    for value in (*secrets(), *more):
        if len(value) >= _SHORTEST:
            text = text.replace(value, REMOVED)
    return _LOOKS_LIKE_KEY.sub(REMOVED, text)


def url_server_key() -> str:
    """The only key a server given by URL may get: SPARKTRACE_API_KEY, or the word none."""
    return os.environ.get("SPARKTRACE_API_KEY") or "none"


def foreign_secret(values: Mapping[str, str]) -> str | None:
    """The name of a header that carries a key of the environment other than SPARKTRACE_API_KEY; None is good."""
    own = os.environ.get("SPARKTRACE_API_KEY")
    others = [value for value in secrets() if value != own]
    for name, value in values.items():
        if any(secret in value for secret in others):
            return name
    return None
