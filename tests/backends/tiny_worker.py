"""A worker with a backend of NumPy: the real protocol and judge, a host computation in a kernel's place.

Every request is written to TINY_LOG as it is finished. A `measured` set of a `tiny` device comes out, for tests only.
"""

import os
import sys
import time
from pathlib import Path
from typing import TypeVar

import numpy as np

from sparktrace_tui.backends import worker
from sparktrace_tui.backends.inputs import AnyArray
from sparktrace_tui.backends.protocol import Hello, Options, Profile, Progress, Timing, Verification
from sparktrace_tui.backends.timing import Clock, Shot, time_plans
from sparktrace_tui.backends.verification import Ran, verify_variant
from sparktrace_tui.domain.kernel.plan import ResolvedLaunch, ScalarArg
from sparktrace_tui.store.families import read_family

T = TypeVar("T")

MS = {"original": 50.0, "padded": 30.0, "registers": 20.0, "flat_block": 45.0, "small_tile": 40.0}


class TinyBackend:
    """Verifies for real; its device takes the times of MS."""

    def hello(self) -> Hello:
        device = {"id": "tiny", "name": "Tiny", "compute_capability": "0.0"}
        return Hello("tiny", "measured", device, {"compiler": os.environ.get("TINY_COMPILER", "1")})

    def verify(self, folder: Path, variant: str, options: Options, progress: Progress) -> Verification:
        def clamp(launches: tuple[ResolvedLaunch, ...], arrays: dict[str, AnyArray]) -> Ran:
            low, high = (a.value for a in launches[0].args[4:] if isinstance(a, ScalarArg))
            v = arrays["in"]
            arrays["out"] = np.where(v < low, np.float32(low), np.where(v > high, np.float32(high), v))
            return Ran(arrays)

        found = verify_variant(read_family(folder), folder, variant, options.seed, clamp)
        return self._done(f"verify {folder.name} {variant}", found)

    def time(self, folder: Path, variants: tuple[str, ...], options: Options, progress: Progress) -> tuple[Timing, ...]:
        timings = time_plans(self, variants, options.seed, label=folder.name)
        return self._done(f"time {folder.name}", timings)

    def profile(self, folder: Path, variant: str, options: Options, progress: Progress) -> Profile:
        return self._done(f"profile {folder.name} {variant}", Profile(variant, {}, {}, None))

    def shoot(self, variant: str, repeats: int, flushes: int) -> Shot:
        return Shot((MS[variant],), 0.01, 0.1)

    def clock(self) -> Clock:
        return Clock(1000.0, ())

    def _done(self, what: str, result: T) -> T:
        time.sleep(float(os.environ.get("TINY_SLEEP", "0")))
        with open(os.environ["TINY_LOG"], "a", encoding="utf-8") as log:
            log.write(what + "\n")
        return result


if __name__ == "__main__":
    worker.make_backend = lambda kind, device: TinyBackend()
    sys.exit(worker.main(sys.argv[1:]))
