"""What a reader sees of a family must not tell the answer: no grading words, no times, no tell-tale lengths."""

import re
from pathlib import Path

import pytest

from sparktrace_tui.domain.kernel.family import CAUSAL_FAMILIES, FAMILY_IDS, Family
from sparktrace_tui.domain.kernel.key import decide
from sparktrace_tui.emulator.rules import ADDRESSABLE_RULES
from sparktrace_tui.store.captures import read_set
from sparktrace_tui.store.families import read_family

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "kernels"
EMULATED = ROOT / "captures" / "gb10-emulated"

GRADING = re.compile(
    r"fast|slow|optimi[sz]|\bopt\b|\bbad|\bgood|\bfix|\bbest|\bbetter|\bworse|\bworst|improv|efficien|naive|tuned"
    r"|quick|speed|winner|wins?\b|loser|bottleneck|baseline|ideal|proper|clever|smart|perf|cheap|expensive|costly"
    r"|wasteful|uncoalesced|coalesced|conflict|hot path|todo|trap|tempt|answer",
    re.IGNORECASE,
)
TIMES = re.compile(
    r"\d\s*(ms|us|µs|ns|milliseconds?|microseconds?|seconds?|[GT]B/s|GHz)\b|\d\s*x\s+(fast|slow)", re.IGNORECASE
)


@pytest.fixture(scope="module")
def families() -> dict[str, Family]:
    return {name: read_family(KERNELS / name) for name in FAMILY_IDS}


def shown_texts(family: Family) -> dict[str, str]:
    """Everything of a family that may stand in a prompt or on the screen before the reveal."""
    texts = {
        "title": family.title, "summary": family.summary, "timed": family.timed, "inputs": family.inputs,
        "contract": family.contract.text,
    }  # fmt: skip
    for variant in family.variants:
        texts[f"{variant.id}: id"] = variant.id
        texts[f"{variant.id}: file name"] = variant.source_name
        texts[f"{variant.id}: description"] = variant.description
        texts[f"{variant.id}: source"] = variant.source
    return texts


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_no_text_a_reader_sees_holds_a_grading_word_or_a_time(name: str, families: dict[str, Family]) -> None:
    for place, text in shown_texts(families[name]).items():
        words = text.replace("_", " ")
        assert not GRADING.search(words), f"{name}, {place}: {GRADING.search(words)}"
        assert not TIMES.search(words), f"{name}, {place}: {TIMES.search(words)}"


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_a_source_holds_no_text_but_code_and_few_comments(name: str, families: dict[str, Family]) -> None:
    """Comments are as sparse in every variant: one line at most more than in the original."""
    counts = {v.id: len(re.findall(r"//|/\*", v.source)) for v in families[name].variants}
    assert max(counts.values()) <= 1 + counts["original"], counts


def test_descriptions_are_one_line_and_all_different(families: dict[str, Family]) -> None:
    for family in families.values():
        texts = [rewrite.description for rewrite in family.rewrites]
        assert len(set(texts)) == 4
        assert all(text and "\n" not in text and len(text) <= 140 for text in texts), family.id


def winner_of(family: Family) -> str:
    """The captured winner where the set is there, else the rewrite that the family's page lists first."""
    if (EMULATED / f"{family.id}.json").is_file():
        decision = decide(read_set(EMULATED).captures[family.id])
        assert decision.winner is not None
        return decision.winner
    return first_in_page(family.id)


def first_in_page(name: str) -> str:
    page = (KERNELS / name / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^\|(?:-+\|)+\n\| `(\w+)`", page, re.MULTILINE)
    assert found, f"{name}/README.md has no table of rewrites"
    return found[1]


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_the_page_lists_the_winner_first_and_every_rewrite(name: str, families: dict[str, Family]) -> None:
    page = (KERNELS / name / "README.md").read_text(encoding="utf-8")
    assert first_in_page(name) == winner_of(families[name])
    for rewrite in families[name].rewrites:
        assert f"| `{rewrite.id}` |" in page
    for heading in ("What the original does", "The rewrites", "What decides", "What would change the answer"):
        assert f"## {heading}" in page


def test_the_length_of_a_source_does_not_tell_the_winner(families: dict[str, Family]) -> None:
    lengths = {name: {r.id: len(r.source) for r in family.rewrites} for name, family in families.items()}
    winners = {name: winner_of(family) for name, family in families.items()}
    shortest = [n for n, sizes in lengths.items() if min(sizes, key=lambda r: sizes[r]) == winners[n]]
    longest = [n for n, sizes in lengths.items() if max(sizes, key=lambda r: sizes[r]) == winners[n]]
    assert len(shortest) <= 6, shortest
    assert len(longest) <= 6, longest


def test_the_place_in_the_file_does_not_tell_the_winner(families: dict[str, Family]) -> None:
    places = [[r.id for r in family.rewrites].index(winner_of(family)) for family in families.values()]
    assert max(places.count(place) for place in range(4)) <= 6, places


@pytest.mark.parametrize("name", CAUSAL_FAMILIES)
def test_in_a_causal_family_one_losing_rewrite_addresses_the_conflicts(name: str, families: dict[str, Family]) -> None:
    family = families[name]
    winner = family.variant(winner_of(family))
    rules = {"SharedMemoryConflicts", "UncoalescedSharedAccess"}
    assert not rules & set(winner.addresses)
    assert any(set(r.addresses) == rules for r in family.rewrites if r.id != winner.id)


def test_every_address_is_a_rule_that_the_report_can_hold(families: dict[str, Family]) -> None:
    for family in families.values():
        for rewrite in family.rewrites:
            assert set(rewrite.addresses) <= ADDRESSABLE_RULES, f"{family.id}/{rewrite.id}"
