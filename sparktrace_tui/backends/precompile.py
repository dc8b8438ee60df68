"""Compiles every variant of a folder of families into the cache, several at a time.

`python -m sparktrace_tui.backends.precompile ARCH KERNELS [JOBS]`: nvcc takes seconds a source and one core each.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sparktrace_tui.backends.cache import CompileCache
from sparktrace_tui.backends.gpu_compile import compile_source, find_compiler
from sparktrace_tui.domain.errors import SparkTraceError
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import family_dirs, user_cache_dir


def main(arch: str, kernels: str, jobs: str = "") -> int:
    """Compile; prints one line for each source that does not, and how many did. 1 where one did not."""
    compiler = find_compiler()
    cache = CompileCache(user_cache_dir() / "kernels")
    sources = {
        (folder.name, variant.source_name): variant.source
        for folder in family_dirs(Path(kernels))
        for variant in read_family(folder).variants
    }

    def make(item: tuple[tuple[str, str], str]) -> str | None:
        (family, name), source = item
        try:
            compile_source(compiler, source, name, arch, cache)
        except SparkTraceError as error:
            return f"{family}/{name}: {error.message}"
        return None

    with ThreadPoolExecutor(int(jobs) if jobs else os.cpu_count() or 1) as pool:
        failed = [text for text in pool.map(make, sources.items()) if text]
    for text in failed:
        print(text)
    print(f"{len(sources) - len(failed)} of {len(sources)} sources compiled for {arch} with {compiler.version}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
