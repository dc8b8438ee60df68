"""An SDK is loaded on its player's first turn and not before."""

import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY


@pytest.mark.parametrize("spec", ["openai:m", "anthropic:m", "google:m", "nvidia:m", "openai:m@http://127.0.0.1:1/v1"])
def test_making_a_player_loads_no_sdk(spec: str) -> None:
    code = (
        "import os, sys\n"
        "for name in ('OPENAI', 'ANTHROPIC', 'GOOGLE', 'NVIDIA'): os.environ[name + '_API_KEY'] = 'k' * 20\n"
        "from sparktrace_tui.players.registry import make_player\n"
        f"make_player({spec!r})\n"
        "import sparktrace_tui.runs.engine, sparktrace_tui.runs.frames, sparktrace_tui.runs.grades\n"
        "heavy = ('openai', 'anthropic', 'google.genai', 'httpx2', 'polars', 'textual')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert done.stdout.strip() == "[]"
