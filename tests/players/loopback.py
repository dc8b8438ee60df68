"""A server on 127.0.0.1 that speaks the wires of the model SDKs and every fault they meet."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "loop-1"
TEXT = "Padding removes the conflicts.\n\nAnswer: B"
THOUGHT = "A spills. B does not."

# The outcomes that end a reply, by wire: text, and the provider's word for why it stopped.
ENDINGS = {
    "normal": (TEXT, "stop"),
    "truncated": ("Rewrite A pads the", "truncated"),
    "refusal": ("I can't help with that.", "refused"),
    "empty": ("", "stop"),
    "wrong_model": (TEXT, "stop"),
    "cut_prompt": (TEXT, "stop"),
    "slow": (TEXT, "stop"),
    "full": ("", "truncated"),
}
WORDS = {
    "chat": {"stop": "stop", "truncated": "length", "refused": "content_filter"},
    "responses": {"stop": "completed", "truncated": "max_output_tokens", "refused": "content_filter"},
    "anthropic": {"stop": "end_turn", "truncated": "max_tokens", "refused": "refusal"},
    "google": {"stop": "STOP", "truncated": "MAX_TOKENS", "refused": "SAFETY"},
}


class Loopback:
    """What was asked of the server, and what it does next: `script` is used up front to back, its last entry stays."""

    def __init__(self) -> None:
        self.script: list[str] = ["normal"]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.latency_s = 0.0
        self.busy = 0
        self.most_busy = 0
        self.port = 0
        self.lock = threading.Lock()
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next_behaviour(self) -> str:
        with self.lock:
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def body(wire: str, behaviour: str, model: str) -> dict[str, Any]:
    """The JSON of a whole reply."""
    text, stop = ENDINGS[behaviour]
    word = WORDS[wire][stop]
    named = "another-model" if behaviour == "wrong_model" else model
    given = 100 if behaviour == "cut_prompt" else 5000
    said, thought = (0, 32_768) if behaviour == "full" else (12, 7)
    match wire:
        case "chat":
            return {
                "id": "chat-1", "object": "chat.completion", "created": 1, "model": named,
                "choices": [{
                    "index": 0, "finish_reason": word,
                    "message": {
                        "role": "assistant", "content": text or None, "reasoning_content": THOUGHT,
                    },
                }],
                "usage": {
                    "prompt_tokens": given, "completion_tokens": said + thought, "total_tokens": given + 19,
                    "completion_tokens_details": {"reasoning_tokens": thought},
                },
            }  # fmt: skip
        case "responses":
            part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
            if stop == "refused":
                part = {"type": "refusal", "refusal": text}
            done = stop != "truncated"
            return {
                "id": "resp-1", "object": "response", "created_at": 1, "model": named, "error": None,
                "status": "completed" if done else "incomplete",
                "incomplete_details": None if done else {"reason": "max_output_tokens"},
                "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
                "output": [
                    {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}]},
                    {"id": "m_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]},
                ],
                "usage": {
                    "input_tokens": given, "output_tokens": said + thought, "total_tokens": given + 19,
                    "input_tokens_details": {"cached_tokens": 0},
                    "output_tokens_details": {"reasoning_tokens": thought},
                },
            }  # fmt: skip
        case "google":
            return {
                "candidates": [{
                    "content": {"role": "model", "parts": [{"text": THOUGHT, "thought": True}, {"text": text}]},
                    "finishReason": word,
                }],
                "usageMetadata": {
                    "promptTokenCount": given, "candidatesTokenCount": said, "thoughtsTokenCount": thought,
                    "totalTokenCount": given + 19,
                },
                "modelVersion": named, "responseId": "g-1",
            }  # fmt: skip
        case _:
            raise ValueError(wire)


def events(behaviour: str, model: str) -> list[tuple[str, dict[str, Any]]]:
    """The stream of an Anthropic message."""
    text, stop = ENDINGS[behaviour]
    named = "another-model" if behaviour == "wrong_model" else model
    given = 100 if behaviour == "cut_prompt" else 5000
    out = 32_768 if behaviour == "full" else 19
    message: dict[str, Any] = {
        "id": "msg-1", "type": "message", "role": "assistant", "model": named, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": given, "output_tokens": 1},
    }  # fmt: skip
    blocks: list[tuple[str, dict[str, Any]]] = []
    for index, (kind, value) in enumerate((("thinking", THOUGHT), ("text", text))):
        start = {"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})}
        blocks += [
            ("content_block_start", {"index": index, "content_block": start}),
            ("content_block_delta", {"index": index, "delta": {"type": f"{kind}_delta", kind: value}}),
            ("content_block_stop", {"index": index}),
        ]
    ends = {"delta": {"stop_reason": WORDS["anthropic"][stop], "stop_sequence": None}, "usage": {"output_tokens": out}}
    every = [("message_start", {"message": message}), *blocks, ("message_delta", ends), ("message_stop", {})]
    return [(name, {"type": name, **values}) for name, values in every]


def error_body(wire: str, status: int, code: str, message: str) -> dict[str, Any]:
    """The JSON of an error."""
    match wire:
        case "anthropic":
            return {"type": "error", "error": {"type": code, "message": message}, "request_id": "req-1"}
        case "google":
            return {"error": {"code": status, "message": message, "status": code}}
        case _:
            return {"error": {"message": message, "type": code, "code": code, "param": None}}


FAULTS = {
    "429": (429, "rate_limit_error", "slow down", {}),
    "429_wait": (429, "rate_limit_error", "slow down", {"Retry-After": "0.2"}),
    "429_long": (429, "rate_limit_error", "slow down", {"Retry-After": "4000"}),
    "quota": (429, "insufficient_quota", "insufficient_quota: check your plan and billing details", {}),
    "500": (500, "api_error", "oops", {}),
    "503": (503, "api_error", "unavailable", {}),
    "529": (529, "overloaded_error", "overloaded", {}),
    "408": (408, "timeout_error", "took too long", {}),
    "409": (409, "api_error", "conflict", {}),
    "425": (425, "api_error", "too early", {}),
    "401": (401, "authentication_error", "bad key", {}),
    "403": (403, "permission_error", "no", {}),
    "400": (400, "invalid_request_error", "bad request", {}),
    "404": (404, "not_found_error", "no such model", {}),
}


def wire_of(path: str) -> str:
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    return "google" if "generateContent" in path else "anthropic"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    loop: Loopback

    def log_message(self, format: str, *args: Any) -> None:
        return None

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        loop, wire = self.loop, wire_of(self.path.partition("?")[0])
        with loop.lock:
            loop.requests.append(asked)
            loop.headers.append(dict(self.headers))
            loop.paths.append(self.path)
            loop.busy += 1
            loop.most_busy = max(loop.most_busy, loop.busy)
        try:
            if loop.latency_s:
                time.sleep(loop.latency_s)
            self._behave(loop.next_behaviour(), wire, str(asked.get("model", MODEL)))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with loop.lock:
                loop.busy -= 1

    def _behave(self, behaviour: str, wire: str, model: str) -> None:
        if behaviour in FAULTS:
            status, code, message, headers = FAULTS[behaviour]
            self._send(status, json.dumps(error_body(wire, status, code, message)).encode(), headers=headers)
            return
        if behaviour.startswith("echo_key"):
            said = f"bad key {self.headers.get('Authorization')} {self.headers.get('x-api-key')} " + str(
                self.headers.get("x-goog-api-key")
            )
            self._send(int(behaviour.removeprefix("echo_key_")), json.dumps(error_body(wire, 401, "x", said)).encode())
            return
        match behaviour:
            case "html":
                self._send(200, b"<html><body>Gateway</body></html>", kind="text/html")
            case "null_choices":
                self._send(200, json.dumps({"choices": None, "content": None, "output": None}).encode())
            case "nothing":
                self._send(200, b"{}")
            case "not_json":
                self._send(200, b'{"choices": [')
            case "hang":
                self.loop.released.wait(20)
                self.close_connection = True
            case "reset":
                self._cut(wire, model)
            case "early_end":
                payload, kind = self._payload("normal", wire, model)
                self._send(200, payload[: payload.index(b"event: message_delta")], kind=kind)
            case "no_temperature":
                self._refuse_setting(wire, model, "temperature")
            case "no_thinking":
                self._refuse_setting(wire, model, "thinking")
            case _:
                self._whole(behaviour, wire, model)

    def _refuse_setting(self, wire: str, model: str, setting: str) -> None:
        asked = self.loop.requests[-1]
        config = asked.get("generationConfig", {})
        fields = {
            "temperature": ("temperature",),
            "thinking": ("thinking", "reasoning", "reasoning_effort", "output_config", "thinkingConfig"),
        }[setting]
        if any(name in asked or name in config for name in fields):
            said = error_body(wire, 400, "invalid_request_error", f"{setting} is not supported by this model")
            self._send(400, json.dumps(said).encode())
        else:
            self._whole("normal", wire, model)

    def _payload(self, behaviour: str, wire: str, model: str) -> tuple[bytes, str]:
        if wire != "anthropic":
            return json.dumps(body(wire, behaviour, model)).encode(), "application/json"
        lines = [f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events(behaviour, model)]
        return "".join(lines).encode(), "text/event-stream"

    def _whole(self, behaviour: str, wire: str, model: str) -> None:
        payload, kind = self._payload(behaviour, wire, model)
        if behaviour != "slow":
            self._send(200, payload, kind=kind)
            return
        self._head(200, len(payload), kind, {})
        step = max(1, len(payload) // 8)
        for at in range(0, len(payload), step):
            self.wfile.write(payload[at : at + step])
            self.wfile.flush()
            if self.loop.released.wait(0.02):
                return

    def _cut(self, wire: str, model: str) -> None:
        payload, kind = self._payload("normal", wire, model)
        self._head(200, len(payload), kind, {})
        self.wfile.write(payload[: len(payload) // 2])
        self.wfile.flush()
        self.close_connection = True

    def _head(self, status: int, length: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.send_header("x-request-id", "req-7")
        self.send_header("request-id", "req-7")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(
        self, status: int, payload: bytes, *, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        self._head(status, len(payload), kind, headers or {})
        self.wfile.write(payload)
        self.wfile.flush()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def serving() -> Iterator[Loopback]:
    """A running server; it ends with the block."""
    loop = Loopback()
    handler = type("BoundHandler", (Handler,), {"loop": loop})
    server = _Server(("127.0.0.1", 0), handler)
    loop.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.released.set()
        server.shutdown()
        server.server_close()
