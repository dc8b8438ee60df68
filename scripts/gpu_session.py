"""Captures every family on the GPU here against a clock; called by gpu_session.sh, which says what for.

`gpu_session.py OUT WORK SECONDS`; WORK is a folder for what is not to be kept. Three passes, so that what is cut off
is what matters least: verdicts and times of every family, then the original's Nsight report of every family, then
counters of the rewrites. After each family OUT/set.tar is written anew.
"""

import os
import sys
import tarfile
import time
from pathlib import Path

from sparktrace_tui.backends.capture import Plan, add_profile, capture_set
from sparktrace_tui.backends.client import Client
from sparktrace_tui.backends.protocol import Options
from sparktrace_tui.backends.select import default_set_name
from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.kernel.capture import CaptureSet
from sparktrace_tui.domain.kernel.family import ORIGINAL, Family
from sparktrace_tui.domain.kernel.key import decide
from sparktrace_tui.domain.scoring.sets import compare_sets
from sparktrace_tui.store.captures import read_capture, read_set
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import bundled, family_dirs, kernels_dir

LARGEST = 16 * 2**20 - 2**16  # of set.tar: what comes back from a lent machine
REPORT_LIMIT_S = 60.0
LEAST_S = 15.0  # nothing new is begun with less time left


class Session:
    """The clock, the set and its tar."""

    def __init__(self, out: Path, work: Path, seconds: float) -> None:
        self.out, self.work, self.end = out, work, time.monotonic() + seconds
        self.client = Client("pycuda", "0")
        self.into = work / "set"
        self.name = ""

    @property
    def left(self) -> float:
        return self.end - time.monotonic()

    def run(self, families: list[tuple[Path, Family]]) -> int:
        hello = self.client.hello()
        self.name = default_set_name("pycuda", str(hello.device["id"]))
        self.into = self.work / self.name
        say(f"{hello.device['name']}: {dict(hello.facts)}")
        done = [item for item in families if self.first_pass(*item, families)]
        for folder, family in done:
            self.profile(folder, family, ORIGINAL)
        for folder, family in done:
            for rewrite in family.rewrites:
                self.profile(folder, family, rewrite.id)
        return 0 if len(done) == len(families) else 1

    def first_pass(self, folder: Path, family: Family, families: list[tuple[Path, Family]]) -> bool:
        """Verify and time one family; whether it is in the set."""
        if self.left < LEAST_S:
            say(f"{family.id}: no time left")
            return False
        started = time.monotonic()
        # The shard of one family: the set is finished, and its letters drawn, when the last one is in.
        place = [f.id for _, f in families].index(family.id) + 1
        plan = Plan(
            [f for f, _ in families],
            [f for _, f in families],
            self.into,
            Options(report=False),
            (place, len(families)),
        )
        try:
            made = capture_set(self.client, plan, quiet)
        except SparkTraceError as error:
            say(f"{family.id}: {error}")
            return False
        show(made, family, time.monotonic() - started)
        self.pack()
        return True

    def profile(self, folder: Path, family: Family, variant: str) -> None:
        """Add one variant's counters, and the original's report; a rewrite's report file is not kept."""
        if self.left < LEAST_S or read_capture(self.into / f"{family.id}.json").variants[variant].verdict != "correct":
            return
        started = time.monotonic()
        keep = self.into if variant == ORIGINAL else self.work / "rewrites"
        options = Options(keep_reports=str(keep), ncu_limit_s=min(REPORT_LIMIT_S, self.left))
        try:
            capture = add_profile(self.client, folder, family, variant, self.into, options, quiet)
        except SparkTraceError as error:
            say(f"{family.id}/{variant}: no report: {error}")
            return
        counters = capture.variants[variant].counters
        say(f"{family.id}/{variant}: {len(counters)} counters in {time.monotonic() - started:.1f} s")
        self.pack()

    def pack(self) -> None:
        """Write OUT/set.tar anew; reports that would make it too large are left out, the largest first."""
        files = sorted((p for p in self.into.iterdir() if not p.name.startswith(".")), key=lambda p: p.stat().st_size)
        target, temporary = self.out / "set.tar", self.out / ".set.tar"
        left_out = []
        while True:
            with tarfile.open(temporary, "w:xz", preset=1) as tar:
                for path in files:
                    tar.add(path, f"{self.name}/{path.name}", filter=_anonymous)
            reports = [p for p in files if p.suffix == ".ncu-rep"]
            if temporary.stat().st_size <= LARGEST or not reports:
                break
            files.remove(reports[-1])
            left_out.append(reports[-1].name)
        os.replace(temporary, target)
        if left_out:
            say(f"set.tar is full: left out {', '.join(left_out)}")


def _anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


def show(made: CaptureSet, family: Family, seconds: float) -> None:
    """One family's verdicts and times."""
    capture = made.captures.get(family.id)
    if capture is None:
        say(f"{family.id}: not captured")
        return
    decision = decide(capture)
    ratio = "n/a" if decision.ratio is None else f"{decision.ratio:.3f}x"
    verdict = "kept" if decision.kept else decision.reason
    say(f"{family.id}: {decision.winner or 'no winner'} {ratio} {verdict} ({seconds:.1f} s)")
    for name, record in capture.variants.items():
        ms = "n/a" if record.time is None else f"{record.time.median_ms:.5f} ms"
        blocks = " ".join(f"{b:.5f}" for b in record.time.blocks_ms) if record.time else ""
        say(f"    {name:<16} {record.verdict:<10} {ms:>14}   {blocks}")
    for key in ("problems", "host_bound", "throttled_blocks", "clock_mhz"):
        if key in capture.made:
            say(f"    {key}: {capture.made[key]}")


def show_comparison(measured: Path) -> None:
    """The emulated set of the same device beside what was measured, where there is one."""
    device = read_set(measured).device.id
    emulated = bundled("captures") / f"{device}-emulated"
    if not (emulated / "set.toml").is_file():
        say(f"no emulated set of {device} to compare with")
        return
    found = compare_sets(read_set(emulated), read_set(measured))
    same, known = found.same_winners
    say(f"{found.left} | {found.right}: same winner in {same} of {known}; rank correlation {found.rank_correlation}")
    for family in found.families:
        say(
            f"{family.family}: {family.left.winner} | {family.right.winner}; rank correlation {family.rank_correlation}"
        )
        for name, pair in family.times.items():
            say(f"    {name:<16} {pair.left} | {pair.right} ms, ratio {pair.ratio}")
        for name, counters in family.counters.items():
            for counter, pair in counters.items():
                say(f"    {name:<16} {counter}: {pair.left} | {pair.right}, ratio {pair.ratio}")


def say(text: str) -> None:
    print(text, flush=True)


def quiet(what: str, doing: str) -> None:
    """Progress is not logged: the results are."""


def main(out: str, work: str, seconds: str) -> int:
    folders = family_dirs(Path(os.environ.get("SPARKTRACE_KERNELS") or kernels_dir()))
    session = Session(Path(out), Path(work), float(seconds))
    with session.client:
        try:
            status = session.run([(folder, read_family(folder)) for folder in folders])
        except SparkTraceError as error:
            say(f"stopped: {error}")
            return error.exit_status
    show_comparison(session.into)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
