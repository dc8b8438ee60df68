"""What the doctor finds: on a machine without a GPU, over the stub driver, and in what a driver says of itself."""

from pathlib import Path

import pytest

from sparktrace_tui.backends.doctor import Finding, Places, examine
from tests.backends.gpu_stub import Stub

KEYS = {"openai": ("OPENAI_API_KEY",), "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY")}
SECRET = "sk-do-not-show-this-0123456789"


def found(places: Places | None = None) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(KEYS, places)}


def system(folder: Path, *, admin_only: int = 1, capabilities: int = 0, free_kb: int = 64 * 2**20) -> Places:
    """A /proc as a driver's machine has it."""
    driver = folder / "driver" / "nvidia"
    driver.mkdir(parents=True)
    (driver / "version").write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build\n"
    )
    (driver / "params").write_text(f"EnableMSI: 1\nRmProfilingAdminOnly: {admin_only}\nDeviceFileUID: 0\n")
    (folder / "self").mkdir()
    (folder / "self" / "status").write_text(f"Name:\tpython\nCapEff:\t{capabilities:016x}\n")
    (folder / "meminfo").write_text(f"MemTotal: {2 * free_kb} kB\nMemFree: 100 kB\nMemAvailable: {free_kb} kB\n")
    return Places(folder)


def test_without_a_driver_everything_else_is_still_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    monkeypatch.setenv("PATH", str(tmp_path))  # no tools
    findings = found(Places(tmp_path))
    if findings["driver"].state == "ok":
        pytest.skip("this machine has an NVIDIA driver")
    assert findings["driver"].state == findings["device"].state == "missing"
    assert findings["profiling permission"].state == "not checked"
    assert findings["clocks"].state == "not checked"
    for finding in findings.values():
        assert finding.fix or finding.state in ("ok", "not checked"), finding


def test_a_key_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", SECRET)
    findings = found()
    assert findings["google key"] == Finding("google key", "ok", "GEMINI_API_KEY is set")
    assert findings["openai key"].state == "missing"
    assert SECRET not in repr(findings)


def test_the_stub_device_is_found_with_pycuda_and_the_drivers_version(stub: Stub, tmp_path: Path) -> None:
    findings = found(system(tmp_path / "proc"))
    assert findings["driver"] == Finding("driver", "ok", "580.95.05, CUDA up to 13.0")
    assert findings["device"] == Finding("device", "ok", "NVIDIA Stub 121 (12.1)")
    assert findings["PyCUDA"].state == "ok"
    assert findings["NVRTC"].state in ("ok", "missing")


def test_a_driver_without_a_device_says_so(stub: Stub) -> None:
    stub.fault("no_device")
    finding = found()["device"]
    assert finding.state == "missing"
    assert "no CUDA-capable device is detected" in finding.found


def test_a_driver_that_kills_who_asks_is_a_finding_too(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    stub.fault("die_at_start")
    finding = found()["device"]
    assert finding.state == "missing"
    assert "looking at the devices failed" in finding.found


@pytest.mark.parametrize(
    ("admin_only", "capabilities", "state"),
    [(0, 0, "ok"), (1, 0, "warning"), (1, 1 << 21, "ok"), (1, 1 << 38, "ok"), (1, 1 << 12, "warning")],
)
def test_who_may_profile_is_read_from_the_driver_and_the_process(
    tmp_path: Path, admin_only: int, capabilities: int, state: str
) -> None:
    finding = found(system(tmp_path / "proc", admin_only=admin_only, capabilities=capabilities))["profiling permission"]
    assert finding.state == state
    assert ("NVreg_RestrictProfilingToAdminUsers=0" in finding.fix) == (state == "warning")


@pytest.mark.parametrize(
    ("mhz", "reasons", "state", "text"),
    [
        (1900, 0, "ok", "1900 MHz while busy, at most 1980"),
        (208, 0, "warning", "stuck low"),
        (1300, 0x8, "warning", "held back by hardware slowdown"),
    ],
)
def test_a_clock_that_stays_low_under_load_is_seen(stub: Stub, mhz: int, reasons: int, state: str, text: str) -> None:
    stub.clock(mhz, reasons)
    finding = found()["clocks"]
    assert finding.state == state
    assert text in finding.found


def test_memory_shared_with_a_full_system_is_a_warning(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(system(tmp_path / "separate"))["unified memory"].found == "the GPU has memory of its own"
    monkeypatch.setenv("STUB_CUDA_INTEGRATED", "1")
    assert found(system(tmp_path / "much"))["unified memory"].state == "ok"
    finding = found(system(tmp_path / "little", free_kb=2**20))["unified memory"]
    assert finding.state == "warning"
    assert "which has 1.0 GiB left" in finding.found
