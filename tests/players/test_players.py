"""Players without a model: names, baselines, replays, a person; and the retry loop's waits."""

import random
from collections import Counter

import pytest

from sparktrace_tui.domain.errors import MissingTool, UsageError
from sparktrace_tui.domain.report.report import Rule
from sparktrace_tui.players.baselines import BASELINES, Baseline
from sparktrace_tui.players.faults import kind_of_status, retry_after, short
from sparktrace_tui.players.human import Human
from sparktrace_tui.players.protocol import Context, Message, Option, Reply
from sparktrace_tui.players.registry import Spec, make_player, parse_spec
from sparktrace_tui.players.retry import RetryPolicy, wait_before
from sparktrace_tui.players.secrets import REMOVED, scrub

OPTIONS = {
    "A": Option("padded", 900, ("SharedMemoryConflicts",)),
    "B": Option("registers", 500),
    "C": Option("flat_block", 700, ("Occupancy",)),
    "D": Option("small_tile", 700, ("Occupancy",)),
}
MIRRORED = dict(zip("ABCD", reversed(OPTIONS.values()), strict=True))
RULES = (
    Rule("Occupancy", "OPT", "", "", speedup=20.0),
    Rule("SharedMemoryConflicts", "OPT", "", "", speedup=90.0),
    Rule("Unaddressed", "OPT", "", "", speedup=95.0),
    Rule("Note", "INF", "", ""),
)


def context(options: dict[str, Option] = OPTIONS, **changes: object) -> Context:
    values: dict[str, object] = {
        "set_id": "a-set", "family": "clamp_smem", "evidence": "full", "order": "forward", "options": options,
    }  # fmt: skip
    return Context(**{**values, **changes})  # type: ignore[arg-type]


async def variant_of(name: str, asked: Context) -> str:
    reply = await Baseline(name).reply([Message("user", "?")], asked)
    return asked.options[reply.text.removeprefix("Answer: ")].variant


@pytest.mark.parametrize("letter", "abcd")
async def test_always_says_its_letter(letter: str) -> None:
    reply = await Baseline(f"always-{letter}").reply([], context())
    assert reply.text == f"Answer: {letter.upper()}"


async def test_shortest_and_longest_go_by_the_source() -> None:
    assert await variant_of("shortest", context()) == "registers"
    assert await variant_of("longest", context()) == "padded"


async def test_a_tie_in_length_is_broken_by_seed_and_not_by_letter() -> None:
    tied = {letter: Option(o.variant, 700) for letter, o in OPTIONS.items()}
    back = {letter: Option(o.variant, 700) for letter, o in MIRRORED.items()}
    picks = [await variant_of("shortest", context(tied, seed=seed)) for seed in range(30)]
    assert picks == [await variant_of("shortest", context(back, seed=seed, order="mirror")) for seed in range(30)]
    assert len(set(picks)) == 4


async def test_the_report_follower_takes_what_addresses_the_largest_estimate_an_option_addresses() -> None:
    assert await variant_of("report-follower", context(rules=RULES)) == "padded"
    assert await variant_of("report-follower", context(MIRRORED, rules=RULES, order="mirror")) == "padded"
    without = tuple(rule for rule in RULES if rule.id != "SharedMemoryConflicts")
    assert await variant_of("report-follower", context(rules=without)) in ("flat_block", "small_tile")


async def test_the_report_follower_draws_by_seed_where_there_is_no_report() -> None:
    picks = [await variant_of("report-follower", context(evidence="source", seed=seed)) for seed in range(40)]
    assert set(picks) == {"padded", "registers", "flat_block", "small_tile"}
    assert picks == [await variant_of("report-follower", context(evidence="source", seed=s)) for s in range(40)]


async def test_random_is_reproducible_and_even() -> None:
    drawn = [await variant_of("random", context(seed=seed)) for seed in range(400)]
    assert drawn == [await variant_of("random", context(seed=seed)) for seed in range(400)]
    # 100 each are expected, standard deviation 8.7.
    assert all(65 < n < 135 for n in Counter(drawn).values())
    one_seed = [await variant_of("random", context(seed=7, sample=sample)) for sample in range(40)]
    assert len(set(one_seed)) == 4


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("openai:gpt-5.4-nano", Spec("openai", "gpt-5.4-nano")),
        ("openai:qwen3:32b@http://localhost:11434/v1", Spec("openai", "qwen3:32b", "http://localhost:11434/v1")),
        ("openai:a@http://b@https://c:1/v1", Spec("openai", "a@http://b", "https://c:1/v1")),
        ("nvidia:nvidia/nemotron-3-nano", Spec("nvidia", "nvidia/nemotron-3-nano")),
        ("baseline:random", Spec("baseline", "random")),
        ("replay:gpt-5.4-nano", Spec("replay", "gpt-5.4-nano")),
        ("human", Spec("human")),
    ],
)
def test_a_name_splits_at_the_first_colon_and_the_last_address(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    "text", ["", "gpt-5", "openai", "openai:", "robot:x", "human:me", "baseline:", "openai:@http://x"]
)
def test_an_unknown_form_is_a_usage_error_that_lists_the_forms(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_player(text)
    assert "openai:MODEL@http://host:port/v1" in str(caught.value)
    assert "baseline:report-follower" in str(caught.value)


@pytest.mark.parametrize("text", ["openai:m@http://", "openai:m@httpx://h"])
def test_an_address_that_is_none_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="address"):
        make_player(text)


def test_an_unknown_baseline_lists_those_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        make_player("baseline:guess")
    assert all(f"baseline:{name}" in str(caught.value) for name in BASELINES)


@pytest.mark.parametrize(
    ("spec", "name"), [("openai:m", "OPENAI_API_KEY"), ("nvidia:m", "NVIDIA_API_KEY"), ("google:m", "GOOGLE_API_KEY")]
)
def test_a_missing_key_names_the_variable_to_set(spec: str, name: str) -> None:
    with pytest.raises(MissingTool, match=name):
        make_player(spec)


async def test_a_person_is_asked_until_there_is_a_letter() -> None:
    shown: list[str] = []
    answers = iter(["x", " b "])
    reply = await Human(shown.append, lambda prompt: next(answers)).reply([Message("user", "Pick.")], context())
    assert reply.text == "Answer: B"
    assert shown == ["Pick.", "'x' is not one of A, B, C, D."]


async def test_a_person_may_have_no_letter_or_leave() -> None:
    def gone(prompt: str) -> str:
        raise EOFError

    none: Reply = await Human(lambda text: None, lambda prompt: "").reply([Message("user", "Pick.")], context())
    assert (none.text, none.stop) == ("", "stop")
    left = await Human(lambda text: None, gone).reply([Message("user", "Pick.")], context())
    assert (left.stop, left.fault) == ("no_turn", "left")


def test_waits_double_to_a_cap_with_jitter_of_half() -> None:
    policy = RetryPolicy(tries=9, first_s=1.0, longest_s=8.0)
    draw = random.Random(0)
    for done, top in enumerate((1, 2, 4, 8, 8, 8), start=1):
        waits = [wait_before(policy, done, None, draw) for _ in range(200)]
        assert top / 2 <= min(waits) < top * 0.55
        assert top * 0.95 < max(waits) <= top


def test_the_servers_wait_is_obeyed_up_to_the_cap() -> None:
    policy = RetryPolicy(longest_asked_s=60.0)
    assert wait_before(policy, 1, 17.0, random.Random(0)) == 17.0
    assert wait_before(policy, 1, 500.0, random.Random(0)) == 60.0


def test_a_wait_is_read_as_seconds_milliseconds_or_a_date() -> None:
    assert retry_after({"Retry-After": "12"}) == 12.0
    assert retry_after({"retry-after": "0.5"}) == 0.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    # 1994-11-06 08:49:37 UTC is 784111777 s after 1970 (RFC 9110 5.6.7 gives this date).
    assert retry_after({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}, now=784111770.0) == 7.0
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({}) is None


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (429, "Rate limit reached", "rate_limited"),
        (429, "insufficient_quota", "quota"),
        (429, "GenerateRequestsPerDayPerProjectPerModel", "quota"),
        (429, "Quota exceeded, see billing details. Please retry in 12s", "rate_limited"),
        (400, "Your credit balance is too low", "quota"),
        (402, "", "quota"), (401, "", "auth"), (403, "", "auth"), (400, "", "bad_request"), (404, "", "bad_request"),
        (422, "", "bad_request"), (408, "", "timeout"), (409, "", "server"), (425, "", "server"), (500, "", "server"),
        (502, "", "server"), (503, "", "overloaded"), (529, "", "overloaded"),
    ],
)  # fmt: skip
def test_a_status_is_one_fault(status: int, said: str, kind: str) -> None:
    assert kind_of_status(status, "", said) == kind


def test_an_error_text_is_one_short_line_without_keys_or_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVIDIA_API_KEY", "plainword")
    text = short("bad\n key plainword \x1b[31mred " + "x" * 900)
    assert "plainword" not in text
    assert "\n" not in text
    assert "\x1b" not in text
    assert len(text) == 500


@pytest.mark.parametrize(
    "text",
    ["sk-proj-abcdefghijklmnop", "nvapi-abcdefghijklmnop", "AIzaSyA0123456789abcdefghij", "?key=abc123def",
     "http://user:secret1@host/v1", "Bearer abcdefghijkl0123"],
)  # fmt: skip
def test_what_has_the_form_of_a_key_is_taken_out_even_if_it_is_nobodys(text: str) -> None:
    assert REMOVED in scrub(f"said {text} and")


def test_ordinary_words_of_the_environment_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYBOARD_LAYOUT", "registers")
    assert scrub("the registers rewrite") == "the registers rewrite"
