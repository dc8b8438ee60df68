"""What every test shares: a data folder of its own, and the command line as a subprocess."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared" / "data"

CommandLine = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder of this test alone; no key of the user's reaches a test."""
    folder = tmp_path / "user-data"
    monkeypatch.setenv("SPARKTRACE_DATA", str(folder))
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_AUTH_TOKEN", "_BASE_URL")):
            monkeypatch.delenv(name)
    return folder


@pytest.fixture
def sparktrace(data_dir: Path) -> CommandLine:
    """Runs `python -m sparktrace_tui` with the given words; keywords go to the environment."""

    def run(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "sparktrace_tui", *words],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd=REPOSITORY,
            env={**os.environ, **environment},
            timeout=300,
            check=False,
        )

    return run
