"""What reading a report costs: against a bare walk with NVIDIA's library, on the largest text, and an
ablation.

python benchmarks/report_reading.py [FOLDER]

The bare walk loads a report in a process of its own and asks for every metric's value, unit and
instances, every rule and every section, as any reader must. Medians of five; the targets are those of a
quiet machine.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sparktrace_tui.domain.report.ablation import ablate
from sparktrace_tui.nsight.read import read_reports
from sparktrace_tui.nsight.text import render

FOLDER = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "nsight"
WALK = """
import sys, time, ncu_report
started = time.process_time()
for scope in ncu_report.load_report(sys.argv[1]):
    for action in scope:
        action.name(action.NameBase_DEMANGLED)
        for name in action.metric_names():
            metric = action.metric_by_name(name)
            metric.has_value(), metric.value(), metric.unit(), metric.label()
            count = metric.num_instances()
            if count and metric.has_correlation_ids():
                ids = metric.correlation_ids()
                [(ids.value(i), metric.value(i)) for i in range(count)]
        action.rule_results_as_dicts(), action.source_markers(), action.source_files()
        for section in action.sections():
            section.header_metrics(), section.body_metrics()
        pcs = action.metric_by_name("inst_executed")
        if pcs is not None and pcs.has_correlation_ids():
            ids = pcs.correlation_ids()
            for i in range(pcs.num_instances()):
                action.sass_by_pc(ids.value(i)), action.source_info(ids.value(i))
print(time.process_time() - started)
"""
ROUNDS = 5


def cpu() -> float:
    """CPU seconds of this process and its ended children so far."""
    return sum(os.times()[:4])


def median(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """CPU seconds, the median of some rounds."""
    times = []
    for _ in range(rounds):
        started = cpu()
        work()
        times.append(cpu() - started)
    return statistics.median(times)


def clock(work: Callable[[], object]) -> float:
    """Seconds on the clock of one round."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def walk(path: Path) -> float:
    """CPU seconds of a bare walk, without starting its process and importing the library."""
    done = subprocess.run([sys.executable, "-c", WALK, str(path)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> int:
    """Prints one line a file and a verdict a target; 1 where one is missed."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    missed = 0
    for path in sorted((folder / "reports").glob("*.ncu-rep")):
        bare = statistics.median(walk(path) for _ in range(ROUNDS))
        ours = median(lambda path=path: read_reports(path))  # type: ignore[misc]
        allowed = 1.5 * bare + 0.4
        missed += ours > allowed
        print(f"{path.name}: walk {bare:.2f} s, read {ours:.2f} s, allowed {allowed:.2f} s")
    largest = max((folder / "text").iterdir(), key=lambda p: p.stat().st_size)
    text = median(lambda: read_reports(largest))
    missed += text > 0.5
    print(f"{largest.name}: {largest.stat().st_size / 1e3:.0f} KB in {text:.3f} s, allowed 0.5 s")
    biggest = max(
        (r for p in (folder / "reports").glob("*.ncu-rep") for r in read_reports(p)),
        key=lambda r: len(r.metrics) + len(r.instructions),
    )
    times = sorted(clock(lambda: ablate(biggest, "strict")) for _ in range(100))
    print(f"ablation of the largest report: 95th percentile {times[95] * 1e3:.1f} ms")
    print(f"rendering it: {clock(lambda: render(biggest)) * 1e3:.1f} ms")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
