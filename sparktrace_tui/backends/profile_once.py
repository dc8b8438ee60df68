"""Runs one variant's plan once and launches nothing else: the program that Nsight Compute profiles.

`python -m sparktrace_tui.backends.profile_once FOLDER VARIANT [--device N] [--seed N] [--checks]`; with `--checks`
the plan runs at every check size instead of the problem size, for compute-sanitizer.
"""

import argparse
import sys
from pathlib import Path

from sparktrace_tui.backends.cache import CompileCache
from sparktrace_tui.backends.gpu_compile import compile_source, find_compiler
from sparktrace_tui.backends.gpu_memory import Arena, free_bytes
from sparktrace_tui.backends.gpu_plan import Gpu, LoadedPlan
from sparktrace_tui.backends.inputs import draw_arrays
from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.domain.kernel.family import Check
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import user_cache_dir


def main(arguments: list[str]) -> int:
    """Run the plan; 0 where it ran, 1 where it could not."""
    parser = argparse.ArgumentParser(prog="profile_once", allow_abbrev=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("variant")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checks", action="store_true")
    chosen = parser.parse_args(arguments)
    try:
        return _run(chosen.folder, chosen.variant, chosen.device, chosen.seed, chosen.checks)
    except SparkTraceError as error:
        print(error, file=sys.stderr)
        return 1


def _run(folder: Path, variant_id: str, device: int, seed: int, checks: bool) -> int:
    family = read_family(folder)
    variant = family.variant(variant_id)
    gpu = Gpu(device)
    cache = CompileCache(user_cache_dir() / "kernels")
    binary = compile_source(find_compiler(), variant.source, variant.source_name, gpu.arch, cache)
    plan = LoadedPlan(gpu, binary.cubin, variant.source_name)
    fault = None
    for check in family.checks if checks else (Check(family.problem),):
        arrays = draw_arrays(family, check.size, check.fills, seed)
        with Arena(gpu.driver, arrays, free_bytes(gpu.driver, gpu.integrated)) as arena:
            fault = plan.run(family.launches(variant_id, check.size), arena)
        if fault is not None:
            break
    if fault is not None:
        print(f"{fault[0]}: {fault[1]}", file=sys.stderr)
        return 1
    del plan
    gpu.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
