"""What the toggle of the conflict lines costs in the explorer: CPU time from the key to the painted screen.

python benchmarks/toggle_ablation.py [REPORT] [--toggles N] [--size WxH]

Without REPORT: the public report with the most metrics where ../shared is beside the checkout, else a large one built
here. Process time in ms of a key press, its handling and the frame that shows it, median and 95th percentile; the
target is 50 ms at the 95th percentile on a quiet machine. The first turn through all levels, which makes them ready,
is printed apart.
"""

import argparse
import asyncio
import gc
import os
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot

from sparktrace_tui.domain.report.report import Instruction, KernelLaunch, Metric, Origin, Report, Rule, Section, Table
from sparktrace_tui.nsight.read import read_reports
from sparktrace_tui.ui.app import ExplorerOptions, SparkTraceApp
from sparktrace_tui.ui.screens.report import ReportScreen

PUBLIC = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "nsight" / "reports"
TARGET_MS = 50.0


def built() -> Report:
    """A report as large as a full set's: 20 sections, 1,500 raw metrics, 1,500 instructions."""
    counter = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
    rule = Rule(
        "SharedMemoryConflicts",
        "OPT",
        "Shared Load Bank Conflicts",
        "The memory access pattern for shared loads might not be optimal and causes on average a 8.0 - way bank "
        "conflict across all 1024 shared load requests. This results in 7168 bank conflicts, which represent 87.5% of "
        "the overall 8192 wavefronts for shared loads. " * 2,
        31.4,
        "global",
        (counter.format("ld"),),
    )
    table = Table("Shared Memory", ("", "Instructions", "Wavefronts", "Bank Conflicts"), (("Load", "1", "8", "7"),) * 6)
    sections = tuple(
        Section(
            f"Section{i}",
            f"Section number {i}",
            tuple(Metric(f"unit{i}__counter_{j}.sum", f"Counter {j} of {i}", "inst", 1000 * j) for j in range(30)),
            (rule, replace(rule, id="Other", title="Another finding", text="Nothing of the kind. " * 20)),
            (table,),
        )
        for i in range(20)
    )
    raw = tuple(
        Metric(counter.format(f"x{i}") if i % 9 == 0 else f"sm__metric_{i}.sum", "", "", i) for i in range(1500)
    )
    code = tuple(Instruction(16 * i, f"LDS R{i % 250}, [R2]", "", None, {"inst_executed": i}) for i in range(1500))
    launch = KernelLaunch("large_kernel", (64, 64, 1), (256, 1, 1), compute_capability="8.9")
    return Report(launch, Origin("ncu-rep"), sections, raw, (), code)


def largest() -> tuple[Path, Report] | None:
    """The public report with the most parts, None where there is none here."""
    if not PUBLIC.is_dir():
        return None
    found = [(path, report) for path in sorted(PUBLIC.glob("*")) for report in read_reports(path)[:1]]
    return max(found, key=lambda pair: len(pair[1].raw) + len(pair[1].instructions)) if found else None


async def press(pilot: Pilot[None]) -> float:
    """CPU ms of one key press up to the painted frame."""
    started = time.process_time()
    await pilot.press("x")
    await pilot.pause()
    return 1000 * (time.process_time() - started)


async def measure(path: Path, report: Report, toggles: int, size: tuple[int, int]) -> tuple[list[float], list[float]]:
    """The first turn through all levels, then `toggles` presses."""
    app = SparkTraceApp(ExplorerOptions(data_dir=Path(os.environ["SPARKTRACE_DATA"])))
    async with app.run_test(size=size) as pilot:
        await app.workers.wait_for_complete()
        await app.push_screen(ReportScreen(path, (report,)))
        await pilot.pause()
        first = [await press(pilot) for _ in range(3)]
        await app.workers.wait_for_complete()
        await pilot.pause()
        gc.collect()
        gc.freeze()  # as the explorer does once a report is loaded
        return first, [await press(pilot) for _ in range(toggles)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", nargs="?", type=Path)
    parser.add_argument("--toggles", type=int, default=60)
    parser.add_argument("--size", default="120x40")
    chosen = parser.parse_args()
    size = tuple(int(part) for part in chosen.size.split("x"))
    if chosen.report:
        path, report = chosen.report, read_reports(chosen.report)[0]
    else:
        path, report = largest() or (Path("built here"), built())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPARKTRACE_DATA"] = folder
        first, times = asyncio.run(measure(path, report, chosen.toggles, (size[0], size[1])))
    found = statistics.quantiles(times, n=20)[-1]
    print(f"{path.name}: {len(report.metrics)} metrics, {len(report.instructions)} instructions, at {chosen.size}")
    print(f"first turn: {', '.join(f'{ms:.0f}' for ms in first)} ms")
    print(f"median {statistics.median(times):.1f} ms, 95th percentile {found:.1f} ms (target {TARGET_MS:.0f} ms)")
    return 0 if found < TARGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
