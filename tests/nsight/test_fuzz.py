"""A seeded part of scripts/fuzz_reports.py: mutated reports are read or refused in one line."""

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz_reports.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_reports", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_mutated_texts_are_read_or_refused(fuzz, ours):
    outcomes = Counter(outcome for _, outcome, _ in fuzz.rounds([ours], 500, 7, False))
    assert outcomes.total() == 500
    assert set(outcomes) <= {"read", "BadInput"}
    assert outcomes["read"] > 250


def test_mutated_reports_are_read_or_refused(fuzz, public):
    pytest.importorskip("ncu_report")
    outcomes = Counter(outcome for _, outcome, _ in fuzz.rounds([public / "reports"], 10, 7, True))
    assert outcomes.total() == 10
    assert set(outcomes) <= {"read", "BadInput"}
