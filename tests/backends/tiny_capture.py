"""`tiny_capture.py KERNELS SET [I/N]`: captures every family of a folder with the tiny worker."""

import sys
from pathlib import Path

from sparktrace_tui.backends.capture import Plan, capture_set
from sparktrace_tui.backends.client import Client
from sparktrace_tui.backends.protocol import Options
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import family_dirs

WORKER = (sys.executable, str(Path(__file__).parent / "tiny_worker.py"))


def main(kernels: str, into: str, shard: str = "1/1", again: bool = False) -> None:
    folders = family_dirs(Path(kernels))
    index, _, count = shard.partition("/")
    plan = Plan(
        folders, [read_family(f) for f in folders], Path(into), Options(seed=4), (int(index), int(count)), again
    )
    with Client("tiny", "0", worker=WORKER) as client:
        capture_set(client, plan, lambda what, doing: print(what, doing, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
