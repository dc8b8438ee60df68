"""OpenAI's own models through Responses, and every compatible server through chat completions."""

import re
from collections.abc import Sequence
from typing import Any

from sparktrace_tui.players.faults import Fault, fault_of_status, headers_of, short
from sparktrace_tui.players.http import guarded_client
from sparktrace_tui.players.model import PlayerSettings, unreadable
from sparktrace_tui.players.protocol import Message, Reply, Stop, Usage
from sparktrace_tui.players.secrets import scrub

NVIDIA_URL = "https://integrate.api.nvidia.com/v1"
_STOPS: dict[str, Stop] = {
    "stop": "stop",
    "completed": "stop",
    "length": "truncated",
    "max_output_tokens": "truncated",
    "max_tokens": "truncated",
    "content_filter": "refused",
}
_SMALLER_LIMIT = re.compile(r"(?:at most|maximum[^.\d]{0,80}|less than or equal to|<=)\s*(\d{3,7})", re.IGNORECASE)


class _OpenAIEndpoint:
    """What both wires share: the client, its faults, and the settings a model turned out to have no place for."""

    def __init__(self, provider: str, model: str, key: str, settings: PlayerSettings, url: str | None) -> None:
        self.provider = "url" if url is not None else provider
        self.key = key
        self._model = model
        self._settings = settings
        self._url = url if url is not None else NVIDIA_URL if provider == "nvidia" else None
        self._by_url = url is not None
        self._client: Any = None
        self._limit = settings.max_output
        self._refused: dict[str, None] = {}

    def open(self) -> None:
        if self._client is None:
            import openai

            self._client = openai.AsyncOpenAI(
                api_key=self.key,
                base_url=self._url,
                timeout=self._settings.timeout_s,
                max_retries=0,
                http_client=guarded_client(self._settings.timeout_s) if self._by_url else None,
            )

    async def attempt(self, chat: Sequence[Message]) -> Reply:
        """One request; a setting that the model refuses by name is left out, and the request repeated without it."""
        import openai

        self.open()
        client = self._client
        while True:
            try:
                return self._read(await self._send(client, chat))
            except openai.APITimeoutError:
                raise Fault("timeout", "the server did not answer in time") from None
            except openai.APIResponseValidationError as error:
                raise unreadable(str(error)) from None
            except openai.APIStatusError as error:
                fault = fault_of_status(
                    error.status_code,
                    error.message,
                    code=str(error.code or ""),
                    headers=headers_of(error.response),
                    key=self.key,
                )
                if fault.kind != "bad_request" or not self._give_way(str(error.param or ""), error.message):
                    raise fault from None
            except openai.APIConnectionError as error:
                raise Fault("connection", short(error.__cause__ or error, self.key)) from None
            except openai.APIError as error:
                raise Fault("nonsense", short(error, self.key)) from None

    def _give_way(self, parameter: str, message: str) -> bool:
        """Whether something can be left out or lowered after a bad request; it stays so for this player."""
        said = f"{parameter} {message}".lower()
        if "max_" in said and "tokens" in said and (smaller := _SMALLER_LIMIT.search(message)):
            limit = int(smaller[1])
            if 0 < limit < self._limit:
                self._limit = limit
                return True
        for setting, words in self._optional().items():
            if setting not in self._refused and any(word in said for word in words):
                self._refused[setting] = None
                return True
        return False

    def _optional(self) -> dict[str, tuple[str, ...]]:
        """The settings that were sent and may be left out, with what an error calls them."""
        sent: dict[str, tuple[str, ...]] = {}
        if self._settings.temperature is not None:
            sent["temperature"] = ("temperature",)
        if self._settings.thinking != "default":
            sent["thinking"] = ("reasoning", "effort", "chat_template_kwargs", "thinking")
        return sent

    def _temperature(self) -> dict[str, Any]:
        if self._settings.temperature is None or "temperature" in self._refused:
            return {}
        return {"temperature": self._settings.temperature}

    @property
    def _not_sent(self) -> tuple[str, ...]:
        return tuple(self._refused)

    async def _send(self, client: Any, chat: Sequence[Message]) -> Any:
        raise NotImplementedError

    def _read(self, answer: Any) -> Reply:
        raise NotImplementedError

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None


class ResponsesEndpoint(_OpenAIEndpoint):
    """OpenAI's own models. Honours OPENAI_BASE_URL as the SDK does."""

    def __init__(self, model: str, key: str, settings: PlayerSettings) -> None:
        super().__init__("openai", model, key, settings, None)

    async def _send(self, client: Any, chat: Sequence[Message]) -> Any:
        arguments: dict[str, Any] = {
            "model": self._model,
            "input": [{"role": m.role, "content": m.text} for m in chat],
            "max_output_tokens": self._limit,
            "store": False,
            **self._temperature(),
        }
        if self._settings.thinking != "default" and "thinking" not in self._refused:
            effort = {"off": "none"}.get(self._settings.thinking, self._settings.thinking)
            arguments["reasoning"] = {"effort": effort}
            if effort != "none":
                arguments["reasoning"]["summary"] = "auto"
        return await client.responses.create(**arguments)

    def _read(self, answer: Any) -> Reply:
        status = answer.status
        if status == "failed":
            failed = answer.error
            code = str(getattr(failed, "code", "") or "")
            said = str(getattr(failed, "message", "") or "the response failed")
            raise fault_of_status(429 if "rate_limit" in code else 500, said, code=code, key=self.key)
        texts, thoughts, refusals = [], [], []
        for item in answer.output:
            match item.type:
                case "message":
                    for part in item.content:
                        if part.type == "refusal":
                            refusals.append(part.refusal)
                        elif part.type == "output_text":
                            texts.append(part.text)
                case "reasoning":
                    thoughts += [s.text for s in (*(item.summary or ()), *(getattr(item, "content", None) or ()))]
        detail = getattr(answer.incomplete_details, "reason", None) if status == "incomplete" else status
        if detail is None:
            raise unreadable(f"a response with status {status!r} and no output")
        usage = answer.usage
        return Reply(
            text="".join(texts) or "".join(refusals),
            reasoning="\n\n".join(thoughts),
            stop="refused" if refusals else _STOPS.get(str(detail), "stop"),
            stop_detail="refusal" if refusals else str(detail),
            usage=Usage()
            if usage is None
            else Usage(
                usage.input_tokens,
                usage.output_tokens,
                getattr(usage.output_tokens_details, "reasoning_tokens", None),
            ),
            request_id=answer._request_id,
            model=answer.model,
            limit=self._limit,
            not_sent=self._not_sent,
        )

    def describe(self) -> dict[str, str | int | float | None]:
        return {"wire": "responses", "model": self._model}


class ChatEndpoint(_OpenAIEndpoint):
    """NVIDIA's endpoint, and any server by URL (ollama, vLLM, llama.cpp, LM Studio, TensorRT-LLM)."""

    def __init__(
        self, provider: str, model: str, key: str, settings: PlayerSettings, *, url: str | None = None
    ) -> None:
        super().__init__(provider, model, key, settings, url)
        self._switch = nemotron_switch(model, settings.thinking) if provider == "nvidia" else ""

    def _thinking(self) -> dict[str, Any]:
        """What turns thinking: Nemotron's own switches, else the two ways compatible servers have."""
        thinking = self._settings.thinking
        if self._switch == "template":
            return {"extra_body": {"chat_template_kwargs": {"enable_thinking": thinking in ("low", "high")}}}
        if self._switch or thinking == "default" or "thinking" in self._refused:
            return {}
        if thinking == "off":
            off = {"chat_template_kwargs": {"enable_thinking": False}}
            return {"reasoning_effort": "none", "extra_body": off}
        return {"reasoning_effort": thinking}

    async def _send(self, client: Any, chat: Sequence[Message]) -> Any:
        messages = [{"role": m.role, "content": m.text} for m in chat]
        if self._switch.startswith("system:"):
            messages.insert(0, {"role": "system", "content": self._switch.removeprefix("system:")})
        return await client.chat.completions.create(
            model=self._model,
            messages=messages,
            max_tokens=self._limit,
            **self._temperature(),
            **self._thinking(),
        )

    def _read(self, answer: Any) -> Reply:
        if not answer.choices:
            raise unreadable("a reply without choices")
        choice = answer.choices[0]
        message = choice.message
        more = message.model_extra or {}
        thoughts = more.get("reasoning") or more.get("reasoning_content") or ""
        refusal = message.refusal
        detail = choice.finish_reason or ""
        usage = answer.usage
        details = getattr(usage, "completion_tokens_details", None)
        return Reply(
            text=message.content or refusal or "",
            reasoning=thoughts if isinstance(thoughts, str) else "",
            stop="refused" if refusal else _STOPS.get(detail, "stop"),
            stop_detail="refusal" if refusal else detail,
            usage=Usage()
            if usage is None
            else Usage(usage.prompt_tokens, usage.completion_tokens, getattr(details, "reasoning_tokens", None)),
            request_id=answer._request_id or answer.id,
            model=answer.model,
            limit=self._limit,
            not_sent=self._not_sent,
        )

    def describe(self) -> dict[str, str | int | float | None]:
        return {
            "wire": "chat completions",
            "model": self._model,
            "server": scrub(self._url) if self._url else None,
            "thinking_switch": self._switch or None,
        }


def nemotron_switch(model: str, thinking: str) -> str:
    """How a Nemotron's thinking is turned: `template` (Nemotron 3), a system prompt (before), or "" for others.

    It is off unless asked for: with it on, traces filled up and no letter came back.
    """
    name = model.lower()
    if "nemotron" not in name:
        return ""
    if "nemotron-3-" in name or name.endswith("nemotron-3"):
        return "template"
    on = thinking in ("low", "high")
    if "v1.5" in name or "v1_5" in name or "-v2" in name:
        return "system:/think" if on else "system:/no_think"
    return "system:detailed thinking on" if on else "system:detailed thinking off"
