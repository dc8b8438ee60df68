"""Draws the pictures of the docs (docs/pictures/*.svg) by driving the explorer; the same input, the same bytes.

python scripts/pictures.py [--set gb10-emulated] [--out docs/pictures]
"""

import argparse
import asyncio
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from textual.worker import WorkerCancelled

from sparktrace_tui.domain.quiz.question import Evidence
from sparktrace_tui.store.captures import read_set, set_folders
from sparktrace_tui.store.files import write_atomic
from sparktrace_tui.ui.app import ExplorerOptions, SparkTraceApp

FAMILY = "clamp_smem"


@dataclass(frozen=True)
class Picture:
    """A screen to draw: its size, where it starts, and the keys pressed; a key `=ID` picks the rewrite of that id."""

    name: str
    size: tuple[int, int]
    start: str
    keys: tuple[str, ...]


PICTURES = (
    Picture("explorer", (150, 44), "browse", ("c", "v", "o", "n", "n")),
    Picture("explorer-light", (150, 44), "browse", ("t", "c", "v", "o", "n", "n")),
    Picture("quiz", (190, 50), "quiz", ("=padded", "enter")),
    Picture("reveal", (120, 44), "quiz", ("=padded", "enter", "=registers", "enter")),
)


async def draw(picture: Picture, set_id: str, data: Path) -> str:
    """The SVG of one picture. A set without a report asks from the source alone."""
    capture = read_set(set_folders()[set_id]).captures.get(FAMILY)
    evidence: Evidence = "full" if capture is not None and capture.report is not None else "source"
    options = ExplorerOptions(
        captures=(set_id,),
        start="quiz" if picture.start == "quiz" else "browse",
        family=FAMILY,
        evidence=evidence,
        data_dir=data,
    )
    app = SparkTraceApp(options)
    async with app.run_test(size=picture.size) as pilot:

        async def settle() -> None:
            for _ in range(2):
                with suppress(WorkerCancelled):
                    await app.workers.wait_for_complete()
                await pilot.pause()

        await settle()
        for key in picture.keys:
            if key.startswith("="):
                key = app.screen.match.question.letter_of(key[1:]).lower()
            await pilot.press(key)
            await settle()
        return app.export_screenshot(title=f"SparkTrace: {picture.name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="gb10-emulated", help="the capture set to draw")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "pictures")
    arguments = parser.parse_args()
    if arguments.set not in set_folders():
        print(f"no capture set {arguments.set!r}; there are {', '.join(set_folders()) or 'none'}", file=sys.stderr)
        return 2
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    os.environ.pop("NO_COLOR", None)
    for picture in PICTURES:
        with tempfile.TemporaryDirectory() as data:
            svg = asyncio.run(draw(picture, arguments.set, Path(data)))
        path = arguments.out / f"{picture.name}.svg"
        write_atomic(path, svg)
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
