"""CUDA source to PTX, cubin and resources by NVRTC, and cubin to disassembly: the only place that needs a compiler."""

import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata, util
from pathlib import Path, PurePath
from typing import Any

from sparktrace_tui.domain.errors import BadInput, MissingTool

INSTALL_HINT = "Install it with: pip install 'sparktrace-tui[compile]'"
_DISASSEMBLY_SECONDS = 120


@dataclass(frozen=True)
class KernelResources:
    """What the assembler gave one kernel: registers a thread, bytes of static shared and of local memory."""

    registers: int
    static_shared_bytes: int
    local_bytes: int
    barriers: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0


@dataclass(frozen=True)
class Compiled:
    """One source file through the compiler. `ptx` holds no absolute path; `kernels` is by (mangled) name."""

    ptx: str
    cubin: bytes
    log: str
    warnings: tuple[str, ...]
    kernels: Mapping[str, KernelResources]
    compiler: str
    arch: str


def compile_cuda(source: str, name: str, arch: str = "sm_121", include_dirs: Iterable[Path | str] = ()) -> Compiled:
    """PTX, cubin and resources of `source`, called `name` in messages, for `arch` such as `sm_121`.

    Raises MissingTool where NVRTC is not installed, and BadInput with the compiler's message and line, or with the
    include that cannot be supplied.
    """
    nvrtc = _nvrtc()
    base = PurePath(name).name or "kernel.cu"
    paths = [*(str(path) for path in include_dirs), *_include_dirs()]
    options = [f"--gpu-architecture={arch}", "-lineinfo", "--ptxas-options=-v", "--std=c++17"]
    options += [f"--include-path={path}" for path in paths]
    status, program = nvrtc.nvrtcCreateProgram(source.encode(), base.encode(), 0, [], [])
    _check(nvrtc, status, f"cannot start compiling {base}")
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        log = _text(nvrtc, program, "ProgramLog")
        if int(status) != 0:
            raise _complaint(base, log, arch, nvrtc.nvrtcGetErrorString(status)[1].decode())
        ptx = _text(nvrtc, program, "PTX")
        cubin = _bytes(nvrtc, program, "CUBIN")
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return Compiled(
        ptx=_without_paths(ptx),
        cubin=cubin,
        log=log,
        warnings=tuple(line for line in log.splitlines() if re.search(r"\bwarning\b", line)),
        kernels=parse_resources(log),
        compiler=compiler_version(),
        arch=arch,
    )


def compiler_version() -> str:
    """Such as `NVRTC 13.0.88`; MissingTool where there is none."""
    nvrtc = _nvrtc()
    try:
        return f"NVRTC {metadata.version('nvidia-cuda-nvrtc')}"
    except metadata.PackageNotFoundError:
        _, major, minor = nvrtc.nvrtcVersion()
        return f"NVRTC {major}.{minor}"


def disassemble(cubin: bytes) -> str:
    """The text of `nvdisasm -g -c` of a cubin, with source lines; paths are cut to file names."""
    tool = _disassembler()
    with tempfile.TemporaryDirectory(prefix="sparktrace-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        try:
            done = subprocess.run(
                [str(tool), "-g", "-c", str(path)],
                capture_output=True,
                text=True,
                timeout=_DISASSEMBLY_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MissingTool(f"cannot run nvdisasm: {error}", hint=INSTALL_HINT) from error
    if done.returncode != 0:
        raise BadInput(f"nvdisasm rejects the cubin: {done.stderr.strip() or done.returncode}")
    return re.sub(r'File "[^"]*/([^"/]+)"', r'File "\1"', done.stdout)


def parse_resources(log: str) -> dict[str, KernelResources]:
    """Resources by kernel from the lines that `--ptxas-options=-v` adds to the log."""
    found: dict[str, KernelResources] = {}
    entry = properties = None
    stacks: dict[str, tuple[int, int, int]] = {}
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            entry = match[1]
        elif match := re.search(r"Function properties for (\S+)", line):
            properties = match[1]
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            if properties:
                stacks[properties] = (int(match[1]), int(match[2]), int(match[3]))
        elif (match := re.search(r"Used (\d+) registers", line)) and entry:
            stack, stores, loads = stacks.get(entry, (0, 0, 0))
            found[entry] = KernelResources(
                registers=int(match[1]),
                static_shared_bytes=_number(r"(\d+) bytes smem", line),
                local_bytes=max(stack, _number(r"(\d+) bytes cumulative stack size", line)),
                barriers=_number(r"used (\d+) barriers", line),
                spill_store_bytes=stores,
                spill_load_bytes=loads,
            )
            entry = None
    return found


def _number(pattern: str, line: str) -> int:
    match = re.search(pattern, line)
    return int(match[1]) if match else 0


def _nvrtc() -> Any:
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError) as error:
        raise MissingTool("NVRTC, the CUDA compiler library, is not installed here", hint=INSTALL_HINT) from error
    return nvrtc


@cache
def _package_roots() -> tuple[Path, ...]:
    spec = util.find_spec("nvidia")
    if spec is None or spec.submodule_search_locations is None:
        return ()
    return tuple(child for place in spec.submodule_search_locations for child in sorted(Path(place).glob("*")))


def _include_dirs() -> list[str]:
    """The headers of the nvidia packages: the CUDA ones, and cuda/std beneath `cccl`."""
    places = [root / "include" for root in _package_roots() if (root / "include").is_dir()]
    places += [place / "cccl" for place in places if (place / "cccl").is_dir()]
    return [str(place) for place in places]


def _disassembler() -> Path:
    for root in _package_roots():
        for name in ("nvdisasm", "nvdisasm.exe"):
            if (root / "bin" / name).is_file():
                return root / "bin" / name
    raise MissingTool("nvdisasm, the CUDA disassembler, is not installed here", hint=INSTALL_HINT)


def _check(nvrtc: Any, status: Any, what: str) -> None:
    if int(status) != 0:
        raise BadInput(f"{what}: {nvrtc.nvrtcGetErrorString(status)[1].decode()}")


def _bytes(nvrtc: Any, program: Any, what: str) -> bytes:
    status, size = getattr(nvrtc, f"nvrtcGet{what}Size")(program)
    _check(nvrtc, status, f"cannot read the {what}")
    buffer = bytes(size)
    (status,) = getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    _check(nvrtc, status, f"cannot read the {what}")
    return buffer


def _text(nvrtc: Any, program: Any, what: str) -> str:
    return _bytes(nvrtc, program, what).split(b"\0")[0].decode("utf-8", "replace")


def _without_paths(ptx: str) -> str:
    return re.sub(r'^(\s*\.file\s+\d+\s+)"[^"]*[/\\]([^"/\\]+)"', r'\1"\2"', ptx, flags=re.MULTILINE)


def _complaint(base: str, log: str, arch: str, status: str) -> BadInput:
    missing = re.search(r"(\S+)\((\d+)\): [^\n]*cannot open source file \"([^\"]+)\"", log)
    if missing:
        return BadInput(
            f"{PurePath(missing[1]).name}:{missing[2]}: the include {missing[3]} cannot be supplied here "
            "(the CUDA headers and cuda/std are; the host's C and C++ headers are not)"
        )
    if "gpu-architecture" in log or "invalid value" in log:
        return BadInput(f"the compiler has no target {arch}: {log.strip().splitlines()[0] if log.strip() else status}")
    first = re.search(r"^(\S+?)\((\d+)\): ((?:catastrophic )?error[^\n]*)", log, flags=re.MULTILINE)
    if first:
        return BadInput(f"{PurePath(first[1]).name}:{first[2]}: {first[3]}")
    lines = [line for line in log.splitlines() if line.strip()]
    return BadInput(f"{base} does not compile: {lines[0] if lines else status}")
