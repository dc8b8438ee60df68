"""Claude models, streamed, since long outputs need it."""

import os
import re
from collections.abc import Sequence
from typing import Any

from sparktrace_tui.players.faults import Fault, fault_of_status, headers_of, short
from sparktrace_tui.players.http import guarded_client
from sparktrace_tui.players.model import PlayerSettings, unreadable
from sparktrace_tui.players.protocol import Message, Reply, Stop, Usage
from sparktrace_tui.players.secrets import scrub

_STOPS: dict[str, Stop] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "pause_turn": "truncated",
    "refusal": "refused",
}
_SMALLER_LIMIT = re.compile(r"max_tokens: \d+ > (\d+)")


class AnthropicEndpoint:
    """The Messages API. The SDK takes no temperature, so one that was asked for is logged as not sent."""

    def __init__(self, model: str, key: str, settings: PlayerSettings, *, url: str | None = None) -> None:
        self.provider = "url" if url is not None else "anthropic"
        self.key = key
        self._model = model
        self._settings = settings
        self._url = url
        self._client: Any = None
        self._limit = settings.max_output
        self._thinking = _thinking(settings)
        self._not_sent = ("temperature",) if settings.temperature is not None else ()

    def open(self) -> None:
        if self._client is None:
            import anthropic

            by_token = self._url is None and not os.environ.get("ANTHROPIC_API_KEY")
            self._client = anthropic.AsyncAnthropic(
                api_key=None if by_token else self.key,
                auth_token=self.key if by_token else None,
                base_url=self._url,
                timeout=self._settings.timeout_s,
                max_retries=0,
                http_client=guarded_client(self._settings.timeout_s) if self._url is not None else None,
            )

    async def attempt(self, chat: Sequence[Message]) -> Reply:
        """One streamed request; a thinking setting the model refuses is left out, a limit too large lowered."""
        import anthropic

        self.open()
        client = self._client
        while True:
            try:
                return await self._send(client, chat)
            except anthropic.APITimeoutError:
                raise Fault("timeout", "the server did not answer in time") from None
            except anthropic.APIResponseValidationError as error:
                raise unreadable(str(error)) from None
            except anthropic.APIStatusError as error:
                fault = fault_of_status(
                    _status(error), error.message, code=_type(error), headers=headers_of(error.response), key=self.key
                )
                if fault.kind != "bad_request" or not self._give_way(error.message):
                    raise fault from None
            except anthropic.APIConnectionError as error:
                raise Fault("connection", short(error.__cause__ or error, self.key)) from None
            except anthropic.APIError as error:
                raise Fault("nonsense", short(error, self.key)) from None

    def _give_way(self, message: str) -> bool:
        smaller = _SMALLER_LIMIT.search(message)
        if smaller is not None and 0 < int(smaller[1]) < self._limit:
            self._limit = int(smaller[1])
            return True
        if self._thinking and ("thinking" in message or "effort" in message or "output_config" in message):
            self._thinking = {}
            self._not_sent = (*self._not_sent, "thinking")
            return True
        return False

    async def _send(self, client: Any, chat: Sequence[Message]) -> Reply:
        import httpx2

        try:
            async with client.messages.stream(
                model=self._model,
                max_tokens=self._limit,
                messages=[{"role": m.role, "content": m.text} for m in chat],
                **self._thinking,
            ) as stream:
                message = await stream.get_final_message()
                request_id = stream.request_id
        except httpx2.TimeoutException:
            raise Fault("timeout", "the server stopped sending") from None
        except httpx2.TransportError as error:
            raise Fault("connection", short(repr(error), self.key)) from None
        if message.stop_reason is None:
            raise Fault("connection", "the stream ended before the message did")
        texts = [b.text for b in message.content if b.type == "text"]
        thoughts = [b.thinking for b in message.content if b.type == "thinking"]
        usage = message.usage
        read = [usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens]
        category = getattr(getattr(message, "stop_details", None), "category", None)
        return Reply(
            text="".join(texts),
            reasoning="\n\n".join(thoughts),
            stop=_STOPS.get(message.stop_reason, "stop"),
            stop_detail=message.stop_reason + (f" ({category})" if category else ""),
            usage=Usage(
                sum(n for n in read if n is not None),
                usage.output_tokens,
                getattr(usage.output_tokens_details, "thinking_tokens", None),
            ),
            request_id=request_id,
            model=message.model,
            limit=self._limit,
            not_sent=self._not_sent,
        )

    def describe(self) -> dict[str, str | int | float | None]:
        return {
            "wire": "messages",
            "model": self._model,
            "server": scrub(self._url) if self._url else None,
            "temperature": "not sent" if self._settings.temperature is not None else "not set",
        }

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None


def _thinking(settings: PlayerSettings) -> dict[str, Any]:
    match settings.thinking:
        case "off":
            return {"thinking": {"type": "disabled"}}
        case "low" | "high":
            return {"thinking": {"type": "adaptive"}, "output_config": {"effort": settings.thinking}}
        case _:
            return {}


def _type(error: Any) -> str:
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    return str(inner.get("type", "")) if isinstance(inner, dict) else ""


def _status(error: Any) -> int:
    """The status; an error inside a stream of status 200 has its own by its type."""
    by_type = {
        "overloaded_error": 529,
        "rate_limit_error": 429,
        "api_error": 500,
        "timeout_error": 408,
        "authentication_error": 401,
        "permission_error": 403,
        "invalid_request_error": 400,
        "billing_error": 402,
    }
    status = int(error.status_code)
    return by_type.get(_type(error), 500) if status == 200 else status
