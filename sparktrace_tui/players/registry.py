"""From a player's name on the command line to the player."""

import os
from dataclasses import dataclass

from sparktrace_tui.domain.errors import MissingTool, UsageError
from sparktrace_tui.players.baselines import BASELINES, Baseline
from sparktrace_tui.players.human import Human
from sparktrace_tui.players.model import Endpoint, ModelPlayer, PlayerSettings
from sparktrace_tui.players.protocol import Player
from sparktrace_tui.players.replay import ReplayPlayer
from sparktrace_tui.players.secrets import url_server_key

KEY_NAMES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "nvidia": ("NVIDIA_API_KEY",),
}
FORMS = (
    "openai:MODEL, anthropic:MODEL, google:MODEL, nvidia:MODEL, openai:MODEL@http://host:port/v1 "
    "for any compatible server, " + ", ".join(f"baseline:{name}" for name in BASELINES) + ", replay:NAME, human"
)


@dataclass(frozen=True)
class Spec:
    """A player's name taken apart: split at the first `:` and the last `@http`."""

    provider: str
    model: str = ""
    url: str | None = None


def parse_spec(text: str) -> Spec:
    """UsageError with the list of forms where it is none."""
    provider, colon, rest = text.strip().partition(":")
    url: str | None = None
    if provider in KEY_NAMES and "@http" in rest:
        rest, _, tail = rest.rpartition("@http")
        url = "http" + tail
        if not url.startswith(("http://", "https://")) or not url.partition("://")[2]:
            raise UsageError(f"{url!r} is not the address of a server", hint="For example http://localhost:11434/v1")
    known = provider in KEY_NAMES or provider in ("baseline", "replay")
    if text.strip() == "human":
        return Spec("human")
    if not known or not colon or not rest:
        raise UsageError(f"no player {text!r}", hint=f"Players: {FORMS}.")
    return Spec(provider, rest, url)


def make_player(spec: str, settings: PlayerSettings | None = None) -> Player:
    """The player of that name; its SDK is loaded on its first turn.

    Raises UsageError for an unknown form, MissingTool where the provider's key is not in the environment.
    """
    chosen = settings or PlayerSettings()
    parsed = parse_spec(spec)
    match parsed.provider:
        case "human":
            return Human(print, input)
        case "baseline":
            return Baseline(parsed.model)
        case "replay":
            return ReplayPlayer(parsed.model)
        case _:
            endpoint = _endpoint(parsed, chosen)
            return ModelPlayer(spec.strip(), endpoint, chosen, paid=parsed.url is None)


def _endpoint(spec: Spec, settings: PlayerSettings) -> Endpoint:
    key = url_server_key() if spec.url is not None else _provider_key(spec.provider)
    match spec.provider:
        case "anthropic":
            from sparktrace_tui.players.anthropic_player import AnthropicEndpoint

            return AnthropicEndpoint(spec.model, key, settings, url=spec.url)
        case "google":
            from sparktrace_tui.players.google_player import GoogleEndpoint

            return GoogleEndpoint(spec.model, key, settings, url=spec.url)
        case "openai" if spec.url is None:
            from sparktrace_tui.players.openai_player import ResponsesEndpoint

            return ResponsesEndpoint(spec.model, key, settings)
        case _:
            from sparktrace_tui.players.openai_player import ChatEndpoint

            return ChatEndpoint(spec.provider, spec.model, key, settings, url=spec.url)


def _provider_key(provider: str) -> str:
    names = KEY_NAMES[provider]
    for name in names:
        if value := os.environ.get(name):
            return value
    raise MissingTool(
        f"{provider} needs a key, and {' and '.join(names)} {'is' if len(names) == 1 else 'are'} not set",
        hint=f"Set {names[0]} in the environment; it is never written anywhere.",
    )
