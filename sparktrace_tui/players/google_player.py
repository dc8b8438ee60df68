"""Gemini models."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sparktrace_tui.players.faults import Fault, fault_of_status, headers_of, short
from sparktrace_tui.players.http import guarded_client
from sparktrace_tui.players.model import PlayerSettings, unreadable
from sparktrace_tui.players.protocol import Message, Reply, Stop, Usage
from sparktrace_tui.players.secrets import scrub

_REFUSALS = frozenset(
    {
        "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "LANGUAGE", "IMAGE_SAFETY",
    }
)  # fmt: skip
_FAILED = frozenset({"MALFORMED_RESPONSE", "OTHER", "MISSING_THOUGHT_SIGNATURE"})
_SMALLER_LIMIT = re.compile(
    r"max_?output_?tokens\D+(?:\d+\s+\(exclusive\)|from 1 \(inclusive\) to) (\d+)", re.IGNORECASE
)
_LOW_BUDGET, _HIGH_BUDGET = 1024, 24_576


class GoogleEndpoint:
    """`generateContent`. The client object is kept: a chained one is closed too early."""

    def __init__(self, model: str, key: str, settings: PlayerSettings, *, url: str | None = None) -> None:
        self.provider = "url" if url is not None else "google"
        self.key = key
        self._model = model
        self._settings = settings
        self._url = url
        self._client: Any = None
        self._limit = settings.max_output
        self._thinking = settings.thinking != "default"
        self._temperature = settings.temperature
        self._not_sent: tuple[str, ...] = ()

    def open(self) -> None:
        if self._client is None:
            from google import genai
            from google.genai import types

            options: dict[str, Any] = {"timeout": int(self._settings.timeout_s * 1000)}
            if self._url is not None:
                options["base_url"] = self._url
                options["httpx_async_client"] = guarded_client(self._settings.timeout_s)
            self._client = genai.Client(api_key=self.key, vertexai=False, http_options=types.HttpOptions(**options))

    async def attempt(self, chat: Sequence[Message]) -> Reply:
        """One request; a thinking setting or temperature the model refuses is left out."""
        import httpx2
        from google.genai import errors

        self.open()
        client = self._client
        while True:
            try:
                return self._read(await self._send(client, chat))
            except errors.APIError as error:
                said = f"{error.message or ''} {_details(error.details)}".strip()
                fault = fault_of_status(
                    int(error.code or 500),
                    said,
                    code=str(error.status or ""),
                    headers=headers_of(error.response),
                    key=self.key,
                )
                if fault.kind != "bad_request" or not self._give_way(said):
                    raise fault from None
            except httpx2.TimeoutException:
                raise Fault("timeout", "the server did not answer in time") from None
            except httpx2.TransportError as error:
                raise Fault("connection", short(repr(error), self.key)) from None

    def _give_way(self, message: str) -> bool:
        said = message.lower()
        if self._thinking and "think" in said:
            self._thinking = False
            self._not_sent = (*self._not_sent, "thinking")
            return True
        if self._temperature is not None and "temperature" in said:
            self._temperature = None
            self._not_sent = (*self._not_sent, "temperature")
            return True
        smaller = _SMALLER_LIMIT.search(message)
        if smaller is not None and 0 < int(smaller[1]) < self._limit:
            self._limit = int(smaller[1]) - 1
            return True
        return False

    async def _send(self, client: Any, chat: Sequence[Message]) -> Any:
        from google.genai import types

        return await client.aio.models.generate_content(
            model=self._model,
            contents=[
                types.Content(role="model" if m.role == "assistant" else "user", parts=[types.Part(text=m.text)])
                for m in chat
            ],
            config=types.GenerateContentConfig(
                max_output_tokens=self._limit,
                temperature=self._temperature,
                thinking_config=types.ThinkingConfig(**self._thinking_config()) if self._thinking else None,
            ),
        )

    def _thinking_config(self) -> dict[str, Any]:
        """A budget up to Gemini 2.5, a level from 3 on, where the lowest level is the nearest to off."""
        level = self._settings.thinking
        if re.search(r"gemini-[12](?:\.|-)", self._model):
            return {
                "thinking_budget": {"off": 0, "low": _LOW_BUDGET}.get(level, _HIGH_BUDGET),
                "include_thoughts": level != "off",
            }
        return {
            "thinking_level": {"off": "MINIMAL", "low": "LOW"}.get(level, "HIGH"),
            "include_thoughts": level != "off",
        }

    def _read(self, answer: Any) -> Reply:
        blocked = getattr(answer.prompt_feedback, "block_reason", None)
        usage = answer.usage_metadata
        base = Reply(
            "",
            usage=_usage(usage),
            request_id=answer.response_id,
            model=answer.model_version,
            limit=self._limit,
            not_sent=self._not_sent,
        )
        if not answer.candidates:
            if blocked is None:
                raise unreadable("a reply without candidates")
            return replace(base, stop="refused", stop_detail=_name(blocked))
        candidate = answer.candidates[0]
        detail = _name(candidate.finish_reason)
        if detail in _FAILED:
            raise unreadable(f"the candidate ended with {detail}")
        parts = (candidate.content.parts or ()) if candidate.content is not None else ()
        stop: Stop = "truncated" if detail == "MAX_TOKENS" else "refused" if detail in _REFUSALS else "stop"
        return replace(
            base,
            text="".join(p.text for p in parts if p.text and not p.thought),
            reasoning="".join(p.text for p in parts if p.text and p.thought),
            stop=stop,
            stop_detail=detail,
        )

    def describe(self) -> dict[str, str | int | float | None]:
        return {"wire": "generateContent", "model": self._model, "server": scrub(self._url) if self._url else None}

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aio.aclose()
            self._client = None


def _usage(usage: Any) -> Usage:
    """Thoughts stand outside the candidates' count at this provider."""
    if usage is None:
        return Usage()
    said, thought = usage.candidates_token_count, usage.thoughts_token_count
    output = None if said is None and thought is None else (said or 0) + (thought or 0)
    return Usage(usage.prompt_token_count, output, thought)


def _name(value: Any) -> str:
    return "" if value is None else str(getattr(value, "name", value))


def _details(details: Any) -> str:
    inner = details.get("error", {}) if isinstance(details, dict) else {}
    return str(inner.get("details", "")) if isinstance(inner, dict) else ""
