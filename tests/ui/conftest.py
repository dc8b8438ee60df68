"""A small capture set of our own values on disk, and apps that draw it without touching the user's data."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sparktrace_tui.domain.kernel.capture import (
    Capture,
    CaptureSet,
    Device,
    ModelStability,
    Resources,
    Time,
    VariantRecord,
)
from sparktrace_tui.domain.report.report import (
    KernelLaunch,
    Metric,
    Origin,
    Report,
    Rule,
    Section,
    SourceLine,
    Table,
)
from sparktrace_tui.store.captures import write_capture, write_set_file
from sparktrace_tui.store.paths import kernels_dir
from sparktrace_tui.ui.app import ExplorerOptions, SparkTraceApp

LOADS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
STORES = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
KERNELS = Path(__file__).parent / "kernels"  # clamp_smem held still, so that a picture changes by the code alone
TIMES = {"original": 10.31, "padded": 1.013, "registers": 0.6402, "flat_block": 10.27, "small_tile": 2.537}
ORDER = ("flat_block", "registers", "padded", "small_tile")


def report(kernel: str = "clamp_kernel", note: str = "modelled on gb10") -> Report:
    """An emulated report of clamp_smem's original, with one metric missing and one rule on bank conflicts."""
    return Report(
        launch=KernelLaunch(
            kernel, (128, 128, 1), (32, 32, 1), compute_capability="12.1", device_name="NVIDIA GB10"
        ),
        origin=Origin("emulated", "", "sparktrace emulator 1", "emulated", (note,)),
        sections=(
            Section(
                "SpeedOfLight",
                "GPU Speed Of Light Throughput",
                (
                    Metric("sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "%", 6.02),
                    Metric("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput", "%",
                           94.1),
                    Metric("dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput", "%", None),
                    Metric("gpu__time_duration.sum", "Duration", "ms", 10.31),
                ),
                (
                    Rule("SOLBottleneck", "INF", "High Memory Throughput",
                         "Memory is more heavily utilized than Compute: look at the L1 bottleneck."),
                ),
            ),
            Section(
                "MemoryWorkloadAnalysis_Tables",
                "Memory Workload Analysis Tables",
                (
                    Metric(LOADS, "Shared Load Bank Conflicts", "", 520_093_696),
                    Metric("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "Shared Load Wavefronts", "",
                           536_870_912),
                    Metric("smsp__inst_executed_op_shared_ld.sum", "Shared Load Instructions", "inst", 16_777_216),
                ),
                (
                    Rule("SharedMemoryConflicts", "OPT", "Shared Load Bank Conflicts",
                         "The memory access pattern for shared loads might not be optimal and causes on average a 32.0 "
                         "- way bank conflict across all 16777216 shared load requests. This results in 520093696 bank "
                         "conflicts.", 91.2, "global", (LOADS,)),
                    Rule("SharedMemoryConflicts", "OPT", "Shared Store Bank Conflicts",
                         "The memory access pattern for shared stores causes a 32.0 - way bank conflict.", 93.7,
                         "global", (STORES,)),
                ),
                (
                    Table("Shared Memory", ("", "Instructions", "Requests", "Bank Conflicts"),
                          (("Shared Load", "16,777,216", "16,777,216", "520,093,696"),
                           ("Shared Store", "17,301,504", "17,301,504", "536,346,624"))),
                ),
            ),
            Section("Occupancy", "Occupancy", (Metric("sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy",
                                                      "%", 66.67),)),
        ),
        raw=(Metric("smsp__inst_executed.sum", "", "inst", 123_456_789),),
        source=(
            SourceLine("original.cu", 16, "tile[tx][ty] = v;", {STORES: 16_252_928}),
            SourceLine("original.cu", 19, "v = tile[tx][ty];", {LOADS: 520_093_696}),
            SourceLine("original.cu", 21, "tile[tx][ty] = v;", {STORES: 520_093_696}),
        ),
    )  # fmt: skip


def clamp_set(
    name: str = "gb10-test",
    times: Mapping[str, float] = TIMES,
    order: tuple[str, ...] = ORDER,
    made_of: Report | None = None,
    with_report: bool = True,
) -> CaptureSet:
    """A set with clamp_smem alone, emulated, kept."""
    records = {
        variant: VariantRecord("correct", Time(ms), Resources(registers=16, blocks_per_sm=1))
        for variant, ms in times.items()
    }
    capture = Capture(
        "clamp_smem",
        "emulated",
        records,
        (made_of or report()) if with_report else None,
        ModelStability(200, 200),
        {"model": "1"},
    )
    device = Device("gb10", "NVIDIA GB10 (DGX Spark)", "12.1", 48, 273.0, 24.0)
    return CaptureSet(name, "emulated", device, {"clamp_smem": capture}, 0, {"clamp_smem": order}, {"model": "1"})


def write_set(folder: Path, capture_set: CaptureSet) -> Path:
    """The set on disk, in a folder of its name below `folder`."""
    path = folder / capture_set.id
    for capture in capture_set.captures.values():
        write_capture(path, capture)
    write_set_file(path, capture_set)
    return path


MakeApp = Callable[..., SparkTraceApp]


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPARKTRACE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def make_app(tmp_path: Path) -> MakeApp:
    """Makes an app on the small set (or another one), opened at clamp_smem."""

    def make(capture_set: CaptureSet | None = None, **options: object) -> SparkTraceApp:
        path = write_set(tmp_path / "captures", capture_set or clamp_set())
        chosen = {
            "captures": (str(path),),
            "kernels": KERNELS,
            "family": "clamp_smem",
            "data_dir": tmp_path / "data",
            **options,
        }
        return SparkTraceApp(ExplorerOptions(**chosen))  # type: ignore[arg-type]

    return make


@pytest.fixture
def small_kernels(tmp_path: Path) -> Path:
    """clamp_smem at 128 x 96: 12,288 threads are checked and counted at once."""
    folder = tmp_path / "kernels" / "clamp_smem"
    folder.mkdir(parents=True)
    for path in (KERNELS / "clamp_smem").iterdir():
        if path.is_file():
            text = path.read_text().replace("width = 4096, height = 4096", "width = 128, height = 96")
            (folder / path.name).write_text(text)
    shutil.copy(kernels_dir() / "clamp_smem" / "reference.py", folder)
    return folder.parent
