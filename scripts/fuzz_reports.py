"""Mutates reports, by seed, and reads them: nothing may crash, hang or print a traceback.

python scripts/fuzz_reports.py --texts 10000 --reports 200 --seed 1 [FOLDER ...]

Texts and CSVs are read, ablated and rendered in this process; .ncu-rep files go through the worker. A
failure is anything but a report or one of our own errors in one line. The folders default to the small
reports beside the tests and the public ones, where those are here.
"""

import argparse
import faulthandler
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.report.ablation import ablate
from sparktrace_tui.domain.report.serial import report_from_json, report_to_json
from sparktrace_tui.nsight.ablate_text import ablate_bytes
from sparktrace_tui.nsight.read import read_reports
from sparktrace_tui.nsight.text import render

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDERS = (
    REPOSITORY / "tests" / "nsight" / "data",
    REPOSITORY / ".." / "shared" / "data" / "nsight" / "text",
    REPOSITORY / ".." / "shared" / "data" / "nsight" / "reports",
)
PIECES = (
    b'"', b",", b"\n", b"\r\n", b"\0", b"\xff", b"==PROF== x", b"    OPT   ", b"    ----- ----------", b"(!) n/a",
    b"    Section: ", b"    Table Name : ", b'"ID","Process ID",', b"  k (1, 1, 1)x(1, 1, 1), Context 1", b"1.234",
    b"1,5", b"\t", b"bank", b"conflict", b"\xe2\x80\xae", b"-" * 200, b"9" * 400, b"    >     Metric: ", b"\x1b[31m",
)  # fmt: skip
LARGEST = 60_000
REPORT_LIMIT_S = 20.0


def mutated(data: bytes, random_: random.Random) -> bytes:
    """The data with one to eight random changes: bytes, cuts, copies, swaps of lines, pieces that mean
    something.
    """
    out = bytearray(data)
    for _ in range(random_.randint(1, 8)):
        at = random_.randrange(len(out) + 1)
        span = random_.choice((1, 4, 40, 400))
        match random_.randrange(7):
            case 0 if out:
                out[at % len(out)] = random_.randrange(256)
            case 1:
                del out[at : at + span]
            case 2:
                out[at:at] = random_.choice(PIECES)
            case 3:
                out[at:at] = out[at : at + span]
            case 4 if random_.random() < 0.2:
                del out[at:]
            case 5:
                lines = bytes(out).split(b"\n")
                i, j = random_.randrange(len(lines)), random_.randrange(len(lines))
                lines[i], lines[j] = lines[j], lines[i]
                out = bytearray(b"\n".join(lines))
            case _:
                out[at : at + span] = random_.randbytes(min(span, 8))
    return bytes(out)


def exercise(path: Path) -> str:
    """Reads the file and does with it all that the app does; the outcome in a word. Raises only what is a
    bug.
    """
    try:
        reports = read_reports(path, time_limit_s=REPORT_LIMIT_S)
    except SparkTraceError as error:
        if "\n" in error.message or "Traceback" in str(error):
            raise AssertionError(f"not one line: {error.message!r}") from error
        return type(error).__name__
    for report in reports:
        render(report, 80, raw=True, source=True).encode("utf-8")
        if report_from_json(report_to_json(report)) != report:
            raise AssertionError("not the same after storing")
        for level in ("names", "strict"):
            render(ablate(report, level).report)
    if path.suffix != ".ncu-rep":
        for level in ("names", "strict"):
            ablate_bytes(path.read_bytes(), level)
    return "read"


def sources(folders: list[Path], reports: bool) -> list[bytes]:
    """The files to mutate; of a long text only its start, so that a round stays short."""
    found = sorted(p for folder in folders if folder.is_dir() for p in folder.iterdir())
    chosen = [p for p in found if (p.suffix == ".ncu-rep") == reports]
    return [p.read_bytes() if reports else p.read_bytes()[:LARGEST] for p in chosen]


def rounds(folders: list[Path], count: int, seed: int, reports: bool) -> Iterator[tuple[int, str, float]]:
    """Each round's number, outcome and seconds; a failing file is kept beside the message that names it."""
    data = sources(folders, reports)
    if not data or not count:
        return
    suffix = ".ncu-rep" if reports else ".txt"
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            random_ = random.Random(f"{seed} {suffix} {number}")
            path = Path(folder) / f"case{suffix}"
            path.write_bytes(mutated(random_.choice(data), random_))
            started = time.perf_counter()
            faulthandler.dump_traceback_later(120, exit=True)
            try:
                outcome = exercise(path)
            except Exception as error:
                kept = Path(tempfile.gettempdir()) / f"fuzz-{seed}-{number}{suffix}"
                kept.write_bytes(path.read_bytes())
                raise AssertionError(f"round {number} of seed {seed}: {error!r}; the file: {kept}") from error
            finally:
                faulthandler.cancel_dump_traceback_later()
            yield number, outcome, time.perf_counter() - started


def main() -> int:
    """Runs both kinds and prints what came of the rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=list(FOLDERS))
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--reports", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for kind, count in (("texts", chosen.texts), ("reports", chosen.reports)):
        outcomes: Counter[str] = Counter()
        slowest = 0.0
        for _, outcome, seconds in rounds(chosen.folders, count, chosen.seed, kind == "reports"):
            outcomes[outcome] += 1
            slowest = max(slowest, seconds)
        print(f"{kind}: {dict(outcomes)}, slowest {slowest:.2f} s, seed {chosen.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
