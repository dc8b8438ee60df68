"""The accuracy table in docs/model.md is what the benchmark prints."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from sparktrace_tui.emulator import profile

ROOT = Path(__file__).resolve().parents[2]


def _benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("model_accuracy", ROOT / "benchmarks" / "model_accuracy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_documented_table_is_what_the_benchmark_prints_and_within_what_is_allowed() -> None:
    benchmark = _benchmark()
    rows = list(benchmark.rows(profile.load("gb10"), True))
    assert [row for row in rows if row.allowed is None or abs(row.error) > row.allowed] == []
    written = [
        line
        for line in (ROOT / "docs" / "model.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and " ms | " in line and not line.startswith(f"| {benchmark.LADDER} |")
    ]
    assert written == [benchmark.markdown(row) for row in rows]
