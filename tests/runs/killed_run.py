"""A run in a process of its own, to be killed: python killed_run.py LOG COUNT."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from sparktrace_tui.runs.engine import run
from sparktrace_tui.runs.log import RunLog
from tests.runs.runs_support import faulty_player, make_header, make_items


def main() -> None:
    path, count = Path(sys.argv[1]), int(sys.argv[2])
    items = make_items(count)
    with RunLog.open(path, make_header(items)) as log:
        print("began", flush=True)
        asyncio.run(run(items, faulty_player(0.05, wait_s=0.001), log))


if __name__ == "__main__":
    main()
