"""scripts/gpu_session.sh, as far as it goes without a GPU."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from sparktrace_tui.store.captures import read_set
from tests.backends.gpu_stub import FamilyMaker, Stub

ROOT = Path(__file__).parents[2]
REPORT = ROOT / ".." / "shared" / "data" / "nsight" / "reports" / "rtx4090_cc89_2024.1_sgemm_2d_conflicts.ncu-rep"


def session(out: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", str(ROOT / "scripts" / "gpu_session.sh"), str(out)],
        text=True,
        capture_output=True,
        env={**os.environ, "SPARKTRACE_PYTHON": sys.executable, **environment},
        check=False,
    )


def test_without_a_driver_it_ends_at_once_and_leaves_a_log(tmp_path: Path) -> None:
    done = session(tmp_path / "out", LD_LIBRARY_PATH="")
    if done.returncode != 3:
        pytest.skip("this machine has an NVIDIA driver")
    log = (tmp_path / "out" / "session.log").read_text()
    assert "there is no NVIDIA driver here" in log
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["session.log"]


def test_over_the_stub_it_leaves_a_set_that_loads_and_a_log_and_nothing_else(
    stub: Stub, family: FamilyMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not REPORT.is_file():
        pytest.skip("the public Nsight reports are not beside this checkout (shared/data/nsight)")
    family()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ncu").symlink_to(Path(__file__).parent / "fake_ncu")
    out = tmp_path / "out"
    done = session(
        out,
        PATH=f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        PYTHONPATH=os.pathsep.join(p for p in sys.path if p),
        SPARKTRACE_KERNELS=str(family.root),
        FAKE_NCU="report",
        FAKE_NCU_LOG=str(tmp_path / "ncu.log"),
        FAKE_NCU_REPORT=str(REPORT),
    )
    assert done.returncode == 0, done.stdout
    assert sorted(p.name for p in out.iterdir()) == ["session.log", "set.tar"]
    with tarfile.open(out / "set.tar") as tar:
        tar.extractall(tmp_path / "sets", filter="data")
    (folder,) = (tmp_path / "sets").iterdir()
    made = read_set(folder)
    assert made.device.name == "NVIDIA Stub 121"
    capture = made.captures["clamp_smem"]
    assert {record.verdict for record in capture.variants.values()} == {"correct"}
    assert capture.report is not None
    assert (folder / "clamp_smem.ncu-rep").is_file()
    assert "5 of 5 sources compiled for sm_121" in (out / "session.log").read_text()
