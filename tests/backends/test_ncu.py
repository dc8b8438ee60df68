"""Nsight Compute as a child: the command line, its complaints, its limits; real reports through the real reader."""

import json
import os
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sparktrace_tui.backends import ncu
from sparktrace_tui.backends.client import Cancelled, Client
from sparktrace_tui.backends.gpu_report import read_counters
from sparktrace_tui.backends.processes import run_limited, session_members
from sparktrace_tui.backends.protocol import Options
from sparktrace_tui.domain.errors import BadInput, MissingTool, SparkTraceError
from tests.backends.gpu_stub import FamilyMaker, Stub

REPORTS = Path(__file__).parents[2] / ".." / "shared" / "data" / "nsight" / "reports"
CONFLICTS = REPORTS / "rtx4090_cc89_2024.1_sgemm_2d_conflicts.ncu-rep"
TWO_LAUNCHES = ["stage", "stages"]


class FakeNcu:
    """The stand-in on the PATH, what it is to do, and what it was called with."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch, self._log = monkeypatch, folder / "ncu.log"
        (folder / "bin").mkdir()
        (folder / "bin" / "ncu").symlink_to(Path(__file__).parent / "fake_ncu")
        monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("FAKE_NCU_LOG", str(self._log))
        monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")

    def does(self, what: str, report: Path | None = None) -> None:
        self._patch.setenv("FAKE_NCU", what)
        if report is not None:
            self._patch.setenv("FAKE_NCU_REPORT", str(report))

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNcu:
    return FakeNcu(tmp_path, monkeypatch)


@pytest.fixture
def report() -> Path:
    if not CONFLICTS.is_file():
        pytest.skip("the public Nsight reports are not beside this checkout (shared/data/nsight)")
    return CONFLICTS


def profile(tmp_path: Path, limit_s: float = 60.0) -> tuple[str, ...]:
    found = ncu.find_ncu()
    assert found is not None
    profiled = ncu.Profiled(["program", "--once"], TWO_LAUNCHES, 16, tmp_path)
    return ncu.profile(found, profiled, tmp_path / "out" / "chain.ncu-rep", limit_s)


def test_the_version_is_read_from_what_ncu_says(fake: FakeNcu) -> None:
    found = ncu.find_ncu()
    assert found is not None
    assert ncu.ncu_version(found) == "2025.3.1"


def test_the_command_asks_for_all_sections_the_source_and_the_plans_launches_only(
    fake: FakeNcu, tmp_path: Path, report: Path
) -> None:
    fake.does("report", report)
    warnings = profile(tmp_path)
    words = fake.calls[0]["words"]
    pairs = dict(pairwise(words))
    assert pairs["--set"] == "full"
    assert pairs["--import-source"] == "yes"
    assert pairs["--clock-control"] == "none"
    assert pairs["--kernel-name"] == "regex:^(stage|stages)$"
    assert (pairs["--launch-skip"], pairs["--launch-count"]) == ("0", "16")
    assert pairs["--source-folders"] == str(tmp_path)
    assert words[-2:] == ["program", "--once"]
    assert fake.calls[0]["LC_ALL"] == "C"
    assert warnings == ("Found outstanding GPU clock reset, trying to revert...Success.",)


def test_a_missing_permission_says_how_to_get_it(fake: FakeNcu, tmp_path: Path) -> None:
    fake.does("permission")
    with pytest.raises(MissingTool) as caught:
        profile(tmp_path)
    assert "ERR_NVGPUCTRPERM" in caught.value.message
    assert "NVreg_RestrictProfilingToAdminUsers=0" in (caught.value.hint or "")


def test_a_hang_is_ended_with_everything_it_started(fake: FakeNcu, tmp_path: Path) -> None:
    fake.does("hang")
    with pytest.raises(SparkTraceError, match=r"past its limit of 1 s .* left no report"):
        profile(tmp_path, limit_s=1.0)
    pid = fake.calls[0]["pid"]
    assert not Path(f"/proc/{pid}").exists()


def test_a_report_that_was_cut_off_is_kept_and_said_to_be_partial(fake: FakeNcu, tmp_path: Path, report: Path) -> None:
    fake.does("hang with a report", report)
    assert profile(tmp_path, limit_s=3.0) == ("ncu was stopped after 3 s: the report is partial",)
    assert (tmp_path / "out" / "chain.ncu-rep").is_file()


def test_no_kernels_is_an_error_of_its_own_even_though_ncu_ends_well(fake: FakeNcu, tmp_path: Path) -> None:
    fake.does("no kernels")
    with pytest.raises(BadInput, match="profiled no kernel"):
        profile(tmp_path)


def test_what_ncu_refuses_is_passed_on_in_its_own_words(fake: FakeNcu, tmp_path: Path) -> None:
    fake.does("refused")
    with pytest.raises(SparkTraceError, match=r"no report \(exit 9\): LibraryNotLoaded"):
        profile(tmp_path)


def test_a_real_report_gives_its_counters_and_says_which_launches_are_missing(report: Path) -> None:
    read = read_counters(report, 3)
    # The conflicts of this public report, as the facts on Nsight state them.
    assert read.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] == 50_331_648
    assert read.report is not None
    assert read.notes == ("the report is partial: 1 of 3 launches",)


def test_a_report_that_cannot_be_read_is_a_note_and_no_crash(tmp_path: Path, report: Path) -> None:
    broken = tmp_path / "clamp_smem.ncu-rep"
    broken.write_bytes(report.read_bytes()[:100])
    read = read_counters(broken, 1)
    assert (read.report, read.counters) == (None, {})
    assert read.notes[0].startswith("clamp_smem.ncu-rep could not be read: ")


def test_a_profile_keeps_the_report_beside_the_set_and_reads_it(
    stub: Stub, fake: FakeNcu, family: FamilyMaker, tmp_path: Path, report: Path
) -> None:
    fake.does("report", report)
    folder = family()
    options = Options(seed=5, keep_reports=str(tmp_path / "set"))
    with Client("pycuda", "0") as client:
        original = client.profile(folder, "original", options)
        client.profile(folder, "padded", options)
    assert sorted(p.name for p in (tmp_path / "set").iterdir()) == ["clamp_smem.ncu-rep", "clamp_smem.padded.ncu-rep"]
    assert original.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] == 50_331_648
    assert original.report is not None
    words = fake.calls[0]["words"]
    program = words[words.index("-c") :]
    assert program[3:] == [str(folder), "original", "--device", "0", "--seed", "5"]
    # ncu's own Python, which applies the rules, must not find our modules.
    assert [call["PYTHONPATH"] for call in fake.calls] == [None, None]


def test_the_profiled_program_runs_as_ncu_is_told_to_run_it(stub: Stub, family: FamilyMaker) -> None:
    done = run_limited(ncu.once_command(family(), "flat_block", "0", 3), 60.0, ncu.environment())
    assert (done.status, done.output) == (0, "")
    assert stub.log("launch") == ["launch clamp_kernel grid 3x16x1 block 32x4x1 shared 0 arguments 32 bytes"]
    assert stub.log("release") == ["release, 0 allocations live"]


def test_cancelling_ends_the_profiler_too(stub: Stub, fake: FakeNcu, family: FamilyMaker) -> None:
    fake.does("hang")
    folder = family()
    with Client("pycuda", "0") as client:
        client.hello()
        assert client._process is not None
        worker = client._process.pid

        def cancel_once_ncu_runs() -> None:
            while not any("--export" in call["words"] for call in fake.calls):
                time.sleep(0.05)
            client.cancel()

        waiting = threading.Thread(target=cancel_once_ncu_runs)
        waiting.start()
        with pytest.raises(Cancelled):
            client.profile(folder, "original", Options())
        waiting.join()
    assert session_members(worker) == []
