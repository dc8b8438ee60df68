"""A model plays the whole two-step game on each wire: its second turn is the same chat with the revealed time."""

import json
from collections.abc import Iterator

import pytest

from sparktrace_tui.domain.quiz.game import Stage
from sparktrace_tui.players.model import PlayerSettings
from sparktrace_tui.players.registry import make_player
from sparktrace_tui.players.retry import RetryPolicy
from sparktrace_tui.runs.match import Match
from sparktrace_tui.runs.questions import build_question
from sparktrace_tui.store.captures import find_set, read_set
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import kernels_dir
from tests.players.loopback import MODEL, TEXT, Loopback, serving

SETTINGS = PlayerSettings(timeout_s=10, retry=RetryPolicy(tries=2, first_s=0.005, longest_s=0.01))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    with serving() as loop:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{loop.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback-000000000000")
        yield loop


def match_against(server: Loopback, spec: str) -> Match:
    capture_set = read_set(find_set("gb10-published"))
    family = read_family(kernels_dir() / "clamp_smem")
    question = build_question(capture_set, family, "source", "forward")
    assert question is not None
    player = make_player(spec.replace("URL", server.url), SETTINGS)
    return Match(question, capture_set, family, [(player.name, player)])


SPECS = (f"openai:{MODEL}", f"openai:{MODEL}@URL/v1", f"anthropic:{MODEL}@URL", f"google:{MODEL}@URL")


@pytest.mark.parametrize("spec", SPECS)
async def test_the_second_turn_holds_the_first_reply_and_the_picked_time_and_no_other(
    server: Loopback, spec: str
) -> None:
    match = match_against(server, spec)
    await match.play(0)
    assert match.seats[0].player is not None
    await match.seats[0].player.close()
    game = match.seats[0].game
    assert game.stage is Stage.DONE
    assert [match.question.letter_of(pick.variant) for pick in game.picks] == ["B", "B"]
    assert len(server.requests) == 2
    first, second = (json.dumps(request, ensure_ascii=False) for request in server.requests)
    assert json.dumps(TEXT)[1:-1] not in first
    assert json.dumps(TEXT)[1:-1] in second
    times = {v: f"{t.median_ms:.4g}" for v, t in match.deal.times.items() if t is not None}
    picked = game.picks[0].variant
    assert times, "the published set states times"
    if picked in times:
        assert f"{times[picked]} ms" in second
        assert f"{times[picked]} ms" not in first
    for variant, text in times.items():
        if variant != picked:
            assert f"{text} ms" not in second


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(
    ("behaviour", "kind"), [("truncated", "truncated"), ("refusal", "refused"), ("500", "no_turn")]
)
async def test_a_turn_that_fails_is_shown_as_what_it_is(server: Loopback, spec: str, behaviour: str, kind: str) -> None:
    server.script = ["normal", behaviour]
    match = match_against(server, spec)
    await match.play(0)
    assert match.seats[0].player is not None
    await match.seats[0].player.close()
    game = match.seats[0].game
    assert (len(game.picks), game.failure) == (1, kind)
