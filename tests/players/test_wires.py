"""The real SDKs against a server of ours: what each reply or fault becomes, and after how many tries."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from sparktrace_tui.players.limits import Gate, Limits
from sparktrace_tui.players.model import ModelPlayer, PlayerSettings, Thinking
from sparktrace_tui.players.protocol import Context, Message, Option, Player, Reply
from sparktrace_tui.players.registry import make_player
from sparktrace_tui.players.retry import RetryPolicy
from sparktrace_tui.runs.engine import Item, run
from sparktrace_tui.runs.grades import grade_record
from sparktrace_tui.runs.guards import effective_stop, warnings_of
from sparktrace_tui.runs.log import RunLog, read_log
from tests.players.loopback import MODEL, TEXT, THOUGHT, Loopback, serving
from tests.runs.runs_support import make_header, make_items

RETRY = RetryPolicy(tries=3, first_s=0.005, longest_s=0.01, longest_asked_s=1.0)
WIRES = ("responses", "chat", "anthropic", "google")
CHAT = [Message("user", "Which is the fastest?")]
CONTEXT = Context("a-set", "clamp_smem", "source", "forward", {c: Option(c, 1) for c in "ABCD"})


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as loop:
        yield loop


@pytest.fixture
def wired(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> Loopback:
    """The server, with the SDKs' own environment leading to it, for the wire that has no URL form."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback-000000000000")
    return server


def player_on(wire: str, server: Loopback, **settings: object) -> Player:
    spec = {
        "responses": f"openai:{MODEL}",
        "chat": f"openai:{MODEL}@{server.url}/v1",
        "anthropic": f"anthropic:{MODEL}@{server.url}",
        "google": f"google:{MODEL}@{server.url}",
    }[wire]
    values = {"timeout_s": 10.0, "retry": RETRY, **settings}
    return make_player(spec, PlayerSettings(**values))  # type: ignore[arg-type]


async def asked(player: Player, chat: list[Message] | None = None) -> Reply:
    try:
        return await player.reply(chat or CHAT, CONTEXT)
    finally:
        await player.close()


@dataclass(frozen=True)
class Expected:
    """The stop, the fault of a `no_turn`, and the number of requests that reach the server."""

    stop: str
    fault: str = ""
    requests: int = 1


REPLIES = {
    "normal": Expected("stop"),
    "slow": Expected("stop"),
    "truncated": Expected("truncated"),
    "refusal": Expected("refused"),
    "empty": Expected("stop"),
    "full": Expected("truncated"),
    "wrong_model": Expected("stop"),
    "cut_prompt": Expected("stop"),
    "null_choices": Expected("no_turn", "nonsense", 3),
    "nothing": Expected("no_turn", "nonsense", 3),
    "html": Expected("no_turn", "nonsense", 3),
    "not_json": Expected("no_turn", "nonsense", 3),
    "reset": Expected("no_turn", "connection", 3),
    "429": Expected("no_turn", "rate_limited", 3),
    "429_wait": Expected("no_turn", "rate_limited", 3),
    "429_long": Expected("no_turn", "rate_limited", 1),
    "quota": Expected("no_turn", "quota", 1),
    "500": Expected("no_turn", "server", 3),
    "503": Expected("no_turn", "overloaded", 3),
    "529": Expected("no_turn", "overloaded", 3),
    "408": Expected("no_turn", "timeout", 3),
    "409": Expected("no_turn", "server", 3),
    "425": Expected("no_turn", "server", 3),
    "400": Expected("no_turn", "bad_request", 1),
    "401": Expected("no_turn", "auth", 1),
    "403": Expected("no_turn", "auth", 1),
    "404": Expected("no_turn", "bad_request", 1),
}


# These statuses are told apart by one function for all wires; one wire shows each.
ONE_WIRE = ("503", "408", "409", "425", "403", "404")


@pytest.mark.parametrize(
    ("wire", "behaviour"), [(w, b) for w in WIRES for b in REPLIES if w == "chat" or b not in ONE_WIRE]
)
async def test_what_each_behaviour_becomes(wired: Loopback, wire: str, behaviour: str) -> None:
    wired.script = [behaviour]
    reply = await asked(player_on(wire, wired))
    expected = REPLIES[behaviour]
    assert (reply.stop, reply.fault) == (expected.stop, expected.fault), reply
    assert len(wired.requests) == reply.tries == expected.requests
    assert len(reply.errors) == (expected.requests if expected.fault else 0)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_server_that_hangs_is_left_after_the_time_limit(wired: Loopback, wire: str) -> None:
    wired.script = ["hang"]
    reply = await asked(player_on(wire, wired, timeout_s=0.3))
    assert (reply.stop, reply.fault, reply.tries) == ("no_turn", "timeout", 3)
    assert "within 0.3 s" in reply.errors[0]


@pytest.mark.parametrize("wire", WIRES)
async def test_a_trickle_that_never_pauses_long_still_meets_the_time_limit(wired: Loopback, wire: str) -> None:
    wired.script = ["slow"]  # Eight pieces, 20 ms apart: 160 ms in all, and no pause of 100 ms.
    reply = await asked(player_on(wire, wired, timeout_s=0.1))
    assert (reply.stop, reply.fault) == ("no_turn", "timeout")


async def test_a_stream_that_ends_before_its_message_is_no_reply(wired: Loopback) -> None:
    wired.script = ["early_end", "normal"]
    reply = await asked(player_on("anthropic", wired))
    assert (reply.stop, reply.tries, reply.text) == ("stop", 2, TEXT)
    assert reply.errors[0].startswith("connection: the stream ended before")


@pytest.mark.parametrize("wire", WIRES)
async def test_everything_a_reply_states_is_kept(wired: Loopback, wire: str) -> None:
    reply = await asked(player_on(wire, wired))
    assert reply.text == TEXT
    assert reply.reasoning == THOUGHT
    assert reply.usage.input == 5000
    assert reply.usage.output == 19
    assert reply.usage.reasoning == (None if wire == "anthropic" else 7)
    assert reply.model == MODEL
    assert reply.request_id == ("g-1" if wire == "google" else "req-7")
    assert reply.limit == 32_768
    assert reply.latency_s is not None
    assert reply.latency_s > 0


@pytest.mark.parametrize("wire", WIRES)
async def test_a_fault_that_passes_costs_one_more_try_and_is_told(wired: Loopback, wire: str) -> None:
    wired.script = ["529", "html", "normal"]
    reply = await asked(player_on(wire, wired))
    assert (reply.stop, reply.tries, reply.text) == ("stop", 3, TEXT)
    assert [error.partition(":")[0] for error in reply.errors] == ["overloaded", "nonsense"]


@pytest.mark.parametrize("wire", WIRES)
async def test_the_second_turn_is_the_same_chat(wired: Loopback, wire: str) -> None:
    chat = [Message("user", "Pick."), Message("assistant", "Answer: A"), Message("user", "It took 1 ms. Again.")]
    await asked(player_on(wire, wired), chat)
    sent = json.dumps(wired.requests[0])
    places = [sent.index(message.text) for message in chat]
    assert places == sorted(places)
    assert ("model" if wire == "google" else "assistant") in sent


@pytest.mark.parametrize("wire", ["responses", "chat", "google"])
async def test_a_temperature_the_model_has_no_place_for_is_left_out_and_said(wired: Loopback, wire: str) -> None:
    wired.script = ["no_temperature"]
    reply = await asked(player_on(wire, wired, temperature=0.5))
    assert (reply.stop, reply.not_sent, len(wired.requests)) == ("stop", ("temperature",), 2)


async def test_a_temperature_is_never_sent_to_anthropic_and_that_is_said(wired: Loopback) -> None:
    reply = await asked(player_on("anthropic", wired, temperature=0.5))
    assert reply.not_sent == ("temperature",)
    assert "temperature" not in wired.requests[0]


@pytest.mark.parametrize("wire", WIRES)
async def test_a_thinking_setting_the_model_refuses_is_left_out_and_said(wired: Loopback, wire: str) -> None:
    wired.script = ["no_thinking"]
    reply = await asked(player_on(wire, wired, thinking="high"))
    assert (reply.stop, reply.not_sent) == ("stop", ("thinking",))


SENT = {
    ("responses", "off"): ("reasoning", {"effort": "none"}),
    ("responses", "high"): ("reasoning", {"effort": "high", "summary": "auto"}),
    ("chat", "low"): ("reasoning_effort", "low"),
    ("chat", "off"): ("chat_template_kwargs", {"enable_thinking": False}),
    ("anthropic", "off"): ("thinking", {"type": "disabled"}),
    ("anthropic", "high"): ("output_config", {"effort": "high"}),
}


@pytest.mark.parametrize(("wire", "level"), SENT)
async def test_thinking_is_set_by_each_wires_own_field(wired: Loopback, wire: str, level: Thinking) -> None:
    await asked(player_on(wire, wired, thinking=level))
    field, value = SENT[wire, level]
    assert wired.requests[0][field] == value


@pytest.mark.parametrize(
    ("model", "level", "config"),
    [
        ("gemini-2.5-flash", "off", {"thinking_budget": 0, "include_thoughts": False}),
        ("gemini-2.5-pro", "low", {"thinking_budget": 1024, "include_thoughts": True}),
        ("gemini-3.7-flash", "high", {"thinking_level": "HIGH", "include_thoughts": True}),
    ],
)
async def test_gemini_thinks_by_budget_before_version_3_and_by_level_after(
    wired: Loopback, model: str, level: Thinking, config: dict[str, object]
) -> None:
    player = make_player(f"google:{model}@{wired.url}", PlayerSettings(thinking=level, retry=RETRY))
    await asked(player)
    assert wired.requests[0]["generationConfig"]["thinkingConfig"] == config


@pytest.mark.parametrize(
    ("model", "level", "switch", "system"),
    [
        ("nvidia/nemotron-3-nano-30b", "default", False, None),
        ("nvidia/nemotron-3-super-120b", "high", True, None),
        ("nvidia/llama-3.3-nemotron-super-49b-v1.5", "default", None, "/no_think"),
        ("nvidia/llama-3.1-nemotron-ultra-253b-v1", "default", None, "detailed thinking off"),
        ("google/gemma-4-31b", "default", None, None),
    ],
)
async def test_a_nemotron_does_not_think_unless_asked_to(
    server: Loopback, model: str, level: Thinking, switch: bool | None, system: str | None
) -> None:
    player = make_player(f"nvidia:{model}@{server.url}/v1", PlayerSettings(thinking=level, retry=RETRY))
    await asked(player)
    sent = server.requests[0]
    assert sent.get("chat_template_kwargs") == (None if switch is None else {"enable_thinking": switch})
    systems = [m["content"] for m in sent["messages"] if m["role"] == "system"]
    assert systems == ([] if system is None else [system])


@pytest.mark.parametrize("wire", WIRES)
async def test_a_prompt_that_was_cut_in_silence_is_named_and_not_scored(
    wired: Loopback, wire: str, tmp_path: Path
) -> None:
    wired.script = ["cut_prompt"]  # The server says that it read 100 tokens.
    items = [Item(i.task, "kernel " * 1000, i.context) for i in make_items(6)]
    player = player_on(wire, wired)
    with RunLog.open(tmp_path / "run.jsonl", make_header(items)) as log:
        await run(items, player, log)
        await player.close()
        records = log.records
    assert {grade_record(r, "registers")["readable"].cause for r in records} == {"cut_prompt"}
    assert {grade_record(r, "registers")["readable"].outcome for r in records} == {"no_turn"}
    assert any("cut 6 of 6 prompts" in said for said in warnings_of(MODEL, records).messages)


@pytest.mark.parametrize("wire", WIRES)
async def test_another_models_name_and_a_filled_limit_are_told(wired: Loopback, wire: str, tmp_path: Path) -> None:
    wired.script = ["wrong_model", "full"]
    items = make_items(6)
    player = player_on(wire, wired)
    with RunLog.open(tmp_path / "run.jsonl", make_header(items)) as log:
        await run(items, player, log)
        await player.close()
        records = log.records
    said = " ".join(warnings_of(MODEL, records).messages)
    assert f"asked for {MODEL}, answered by another-model" in said
    assert "5 of 6 replies were truncated at a limit of 32768 tokens" in said
    assert [effective_stop(r.reply) for r in records].count("truncated") == 5


KEY = "VERYSECRET-of-no-known-form"
OTHERS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY",
          "NVIDIA_API_KEY", "OPENAI_ADMIN_KEY")  # fmt: skip


@pytest.mark.parametrize("wire", ["chat", "anthropic", "google"])
async def test_a_server_given_by_url_never_gets_a_providers_key(
    server: Loopback, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n, name in enumerate(OTHERS):
        monkeypatch.setenv(name, f"{KEY}-{n}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Extra: {KEY}-0")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"X-Extra: {KEY}-1")
    await asked(player_on(wire, server))
    everything = json.dumps([server.headers, server.paths, server.requests])
    assert server.requests
    assert "VERYSECRET" not in everything
    assert "none" in {value.removeprefix("Bearer ") for value in server.headers[0].values()}
    monkeypatch.setenv("SPARKTRACE_API_KEY", "our-own-key-1")
    await asked(player_on(wire, server))
    assert "our-own-key-1" in json.dumps(server.headers[1])
    assert "VERYSECRET" not in json.dumps(server.headers)


@pytest.mark.parametrize("behaviour", ["normal", "echo_key_401", "echo_key_500", "echo_key_200", "reset"])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_key_appears_in_no_file_error_or_output_of_a_run(
    wired: Loopback, wire: str, behaviour: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SPARKTRACE_API_KEY", KEY)
    wired.script = [behaviour]
    items = make_items(6)
    player = player_on(wire, wired)
    seen: list[object] = []
    with RunLog.open(tmp_path / "run.jsonl", make_header(items, settings={"player": player.name})) as log:
        await run(items, player, log, progress=seen.append)
        await player.close()
    assert KEY in json.dumps(wired.headers)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert b"VERYSECRET" not in path.read_bytes(), path
    captured = capfd.readouterr()
    assert "VERYSECRET" not in captured.out + captured.err + repr(seen) + repr(read_log(tmp_path / "run.jsonl"))


async def test_many_at_once_are_as_many_as_the_limit_allows(wired: Loopback, tmp_path: Path) -> None:
    wired.latency_s = 0.05
    items = make_items(30)
    player = player_on("chat", wired, limits=Limits(5))
    with RunLog.open(tmp_path / "run.jsonl", make_header(items)) as log:
        result = await run(items, player, log)
        await player.close()
    assert result.complete
    assert wired.most_busy == 5


async def test_no_try_begins_while_the_gate_is_held() -> None:
    gate = Gate(Limits(4))
    loop = asyncio.get_running_loop()
    async with gate.slot():
        gate.hold(0.05)
    free = loop.time() + 0.05

    async def enter() -> float:
        async with gate.slot():
            return loop.time()

    assert all(moment >= free - 0.001 for moment in await asyncio.gather(*(enter() for _ in range(3))))


async def test_tries_a_minute_are_spread_evenly() -> None:
    gate = Gate(Limits(8, per_minute=3000))  # One each 20 ms.
    moments = []
    for _ in range(4):
        async with gate.slot():
            moments.append(asyncio.get_running_loop().time())
    assert all(after - before >= 0.019 for before, after in pairwise(moments))


async def test_a_server_that_asks_one_try_to_wait_holds_the_others_back(wired: Loopback) -> None:
    wired.script = ["429_wait", "normal"]
    player = player_on("chat", wired)
    loop = asyncio.get_running_loop()
    told: list[float] = []
    assert isinstance(player, ModelPlayer)
    player.on_retry = lambda fault, wait: told.append(loop.time() + wait)
    first = asyncio.create_task(player.reply(CHAT, CONTEXT))
    while not told:
        await asyncio.sleep(0.001)
    await player.reply(CHAT, CONTEXT)
    assert loop.time() >= told[0] - 0.001
    reply = await first
    await player.close()
    assert (reply.stop, reply.tries) == ("stop", 2)
    assert reply.errors == ("rate_limited: HTTP 429: Error code: 429 - slow down",)
