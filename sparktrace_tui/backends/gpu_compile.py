"""CUDA source to a cubin for a real device: by nvcc through PyCUDA, by NVRTC where there is no nvcc."""

import os
import re
import shutil
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path

from sparktrace_tui.backends.cache import CompileCache, cache_key
from sparktrace_tui.domain.errors import BadInput, MissingTool
from sparktrace_tui.emulator import toolchain

_VERSION_SECONDS = 30


@dataclass(frozen=True)
class Compiler:
    """What compiles here: nvcc at a path, or NVRTC (no path); `version` is such as `nvcc 13.0.88`."""

    version: str
    nvcc: str | None


@dataclass(frozen=True)
class Binary:
    """A compiled source: the cubin, what made it, and whether it came from the cache."""

    cubin: bytes
    compiler: str
    options: tuple[str, ...]
    cached: bool


def find_nvcc() -> str | None:
    """nvcc on the PATH, under CUDA_HOME, or where NVIDIA's installer puts it."""
    found = shutil.which("nvcc")
    if found:
        return found
    for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if root and os.access(Path(root) / "bin" / "nvcc", os.X_OK):
            return str(Path(root) / "bin" / "nvcc")
    return None


def nvcc_version(nvcc: str) -> str | None:
    """Such as `13.0.88`; None where it does not run or does not say."""
    try:
        done = subprocess.run(
            [nvcc, "--version"], capture_output=True, text=True, timeout=_VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\bV(\d+\.\d+\.\d+)", done.stdout)
    return found[1] if found else None


def find_compiler() -> Compiler:
    """nvcc where one runs, else NVRTC; MissingTool where there is neither."""
    nvcc = find_nvcc()
    version = nvcc_version(nvcc) if nvcc else None
    if nvcc and version:
        return Compiler(f"nvcc {version}", nvcc)
    try:
        return Compiler(toolchain.compiler_version(), None)
    except MissingTool as error:
        raise MissingTool(
            "there is no CUDA compiler here: neither nvcc nor NVRTC",
            hint="Put nvcc on the PATH (it comes with the CUDA toolkit), or: pip install 'sparktrace-tui[compile]'",
        ) from error


def compile_source(compiler: Compiler, source: str, name: str, arch: str, cache: CompileCache) -> Binary:
    """The cubin of `source` for `arch` (such as `sm_121`), with line information that names the file `name`.

    BadInput holds the compiler's first complaint and its line.
    """
    options = (f"-arch={arch}", "-lineinfo", "-std=c++17")
    # Both compilers work on a temporary or nameless file: this is what a report's source lines then point at.
    text = f'#line 1 "{name}"\n{source}'
    key = cache_key(text, options, compiler.version)
    kept = cache.get(key)
    if kept is not None:
        return Binary(kept, compiler.version, options, True)
    if compiler.nvcc is not None:
        cubin = _by_nvcc(compiler.nvcc, text, name, arch, options)
    else:
        cubin = toolchain.compile_cuda(text, name, arch).cubin
    cache.put(key, cubin)
    return Binary(cubin, compiler.version, options, False)


def _by_nvcc(nvcc: str, text: str, name: str, arch: str, options: tuple[str, ...]) -> bytes:
    from pycuda.compiler import compile_plain
    from pycuda.driver import CompileError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyCUDA warns of whatever nvcc prints
            cubin: bytes = compile_plain(text, list(options), keep=False, nvcc=nvcc, cache_dir=None, target="cubin")
    except CompileError as error:
        raise _complaint(name, arch, str(error.stderr or "") + str(error.stdout or "")) from error
    return cubin


def _complaint(name: str, arch: str, output: str) -> BadInput:
    if "Unsupported gpu architecture" in output or "not supported" in output.partition("\n")[0]:
        return BadInput(
            f"nvcc has no target {arch}",
            hint="This device is newer or older than the CUDA toolkit here: install one that knows it.",
        )
    first = re.search(r"^(\S+)\((\d+)\): ((?:catastrophic )?error[^\n]*)", output, flags=re.MULTILINE)
    if first:
        return BadInput(f"{Path(first[1]).name}:{first[2]}: {first[3]}")
    lines = [line for line in output.splitlines() if line.strip()]
    return BadInput(f"{name} does not compile: {lines[0] if lines else 'nvcc gave no reason'}")
