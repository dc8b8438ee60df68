"""Keeps keys out of every text and away from every server they do not belong to."""

import os
import re
from collections.abc import Callable, Mapping

REMOVED = "[key removed]"
KEY_NAMES = (
    "OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY",
    "GEMINI_API_KEY", "NVIDIA_API_KEY", "SPARKTRACE_API_KEY",
)  # fmt: skip
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|CUSTOM_HEADERS", re.IGNORECASE)
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{12,}|nvapi-[A-Za-z0-9_-]{12,}|AIza[A-Za-z0-9_-]{20,})"
    r"|(?<=[?&]key=)[^&\s\"'\\]+|(?<=://)[^/@\s\"'\\]+:[^/@\s\"'\\]+(?=@)"
)
_BEARER = re.compile(r"(?i:(bearer\s+))[A-Za-z0-9._~+/-]{12,}=*")
_SHORTEST = 4
# Other variables with a secret's name often hold plain words; only what is long and has a digit is taken for a secret.
_SHORTEST_UNKNOWN = 16


def secrets(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The keys of the providers, and what else in the environment looks like a secret, the longest first."""
    source = os.environ if environ is None else environ
    found = {source[name] for name in KEY_NAMES if len(source.get(name, "")) >= _SHORTEST}
    for name, value in source.items():
        if _SECRET_NAME.search(name):
            parts = re.split(r"[:\s]+", value) if "CUSTOM_HEADERS" in name.upper() else [value]
            found.update(v for v in parts if len(v) >= _SHORTEST_UNKNOWN and any(c.isdigit() for c in v))
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def scrub(text: str, *more: str) -> str:
    """The text without any key: those of the environment, those given, and what has the form of one."""
    return _without(text, (*secrets(), *more))


def scrubber() -> Callable[[str], str]:
    """`scrub` with the environment of this moment, for many texts."""
    known = secrets()
    return lambda text: _without(text, known)


def _without(text: str, known: tuple[str, ...]) -> str:
    for value in known:
        if len(value) >= _SHORTEST:
            text = text.replace(value, REMOVED)
    return _BEARER.sub(rf"\1{REMOVED}", _LOOKS_LIKE_KEY.sub(REMOVED, text))


def url_server_key() -> str:
    """The only key a server given by URL may get: SPARKTRACE_API_KEY, or the word none."""
    return os.environ.get("SPARKTRACE_API_KEY") or "none"


def foreign_secrets() -> tuple[str, ...]:
    """The keys of the environment that a server given by URL must not get: all but SPARKTRACE_API_KEY."""
    own = os.environ.get("SPARKTRACE_API_KEY")
    return tuple(value for value in secrets() if value != own)
