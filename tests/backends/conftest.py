"""A CUDA driver without a GPU for the real PyCUDA, and small families to run on it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.backends.gpu_stub import FamilyMaker, Stub, build, pycuda_site


@pytest.fixture(scope="session")
def stub_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled stub driver and host kernels; skips with the reason where they cannot be built."""
    return build(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def stub(stub_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stub:
    """The real PyCUDA over the stub driver, for workers started from here; host kernels compute what clamp does."""
    site = pycuda_site()
    if site is None:
        pytest.skip("PyCUDA is not built for this Python: run scripts/build_pycuda.sh")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(stub_folder))
    # Compiled kernels are shared between tests; nothing else is kept there.
    monkeypatch.setenv("SPARKTRACE_DATA", str(stub_folder / "data"))
    made = Stub(stub_folder, tmp_path / "cuda.log", monkeypatch)
    monkeypatch.setenv("STUB_CUDA_LOG", str(made.log_file))
    made.host_kernels("host_clamp")
    return made


@pytest.fixture
def family(tmp_path: Path) -> FamilyMaker:
    """Makes small copies of clamp_smem."""
    return FamilyMaker(tmp_path / "kernels")


@pytest.fixture
def run_python() -> Callable[..., "subprocess.Popen[str]"]:
    """Starts a Python program of these tests in a session of its own."""

    def start(*arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, *arguments],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )

    return start
