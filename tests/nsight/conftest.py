"""Where the reports are: small ones of our own beside the tests, public ones in a folder that may be absent."""

import importlib.util
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.nsight.read import read_reports

HERE = Path(__file__).parent
OURS = HERE / "data"
PUBLIC = HERE.parents[1] / ".." / "shared" / "data" / "nsight"
HAS_LIBRARY = importlib.util.find_spec("ncu_report") is not None

Reader = Callable[[str], tuple[Report, ...]]


@pytest.fixture
def ours() -> Path:
    """The folder of our own small reports."""
    return OURS


@pytest.fixture(scope="session")
def public() -> Path:
    """The folder of public reports; the test is skipped where it is absent."""
    if not PUBLIC.is_dir():
        pytest.skip("the public reports (../shared/data/nsight) are not here")
    return PUBLIC


@pytest.fixture(scope="session")
def read_public(public: Path) -> Reader:
    """Reads a public report once a session."""
    read: dict[str, tuple[Report, ...]] = {}

    def reader(name: str) -> tuple[Report, ...]:
        if name.endswith(".ncu-rep") and not HAS_LIBRARY:
            pytest.skip("NVIDIA's ncu_report is not installed")
        if name not in read:
            read[name] = read_reports(public / name)
        return read[name]

    return reader


@pytest.fixture(scope="session")
def patterns() -> dict[str, list[re.Pattern[str]]]:
    """The leak patterns by level, and the look-alikes under `survive`."""
    lists = tomllib.loads((HERE / "leak_patterns.toml").read_text(encoding="utf-8"))
    return {level: [re.compile(p, re.IGNORECASE) for p in found] for level, found in lists.items()}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each public file of a kind: `report_file`, `text_file`, `broken_file`."""
    for argument, folder in (("report_file", "reports"), ("text_file", "text"), ("broken_file", "broken")):
        if argument in metafunc.fixturenames:
            names = sorted(f"{folder}/{p.name}" for p in (PUBLIC / folder).glob("*")) if PUBLIC.is_dir() else []
            if names:
                metafunc.parametrize(argument, names)
            else:
                reason = "the public reports (../shared/data/nsight) are not here"
                metafunc.parametrize(argument, [pytest.param("", marks=pytest.mark.skip(reason=reason))])
