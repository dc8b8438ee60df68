"""What the GPU tests share: the stub driver, where PyCUDA was built, and families small enough for it."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sparktrace_tui.store.paths import kernels_dir

HERE = Path(__file__).parent
SIZE = "{ width = 96, height = 64 }"


def build(folder: Path) -> Path:
    """Compile the stub driver, host kernels (right, and writing past the end too) and, in a folder apart, the clock."""
    gcc = shutil.which("gcc")
    if gcc is None or platform.system() != "Linux":
        pytest.skip("the stub driver needs gcc on Linux")
    (folder / "nvml").mkdir()
    stub, host = str(HERE / "stub_cuda.c"), str(HERE / "host_clamp.c")
    for arguments in (
        [stub, "-Wl,-soname,libcuda.so.1", "-ldl", "-o", str(folder / "libcuda.so.1")],
        [host, "-o", str(folder / "host_clamp.so")],
        [str(HERE / "stub_nvml.c"), "-Wl,-soname,libnvidia-ml.so.1", "-o", str(folder / "nvml" / "libnvidia-ml.so.1")],
        [host, "-DPAST_THE_END", "-o", str(folder / "host_past_the_end.so")],
    ):
        subprocess.run([gcc, "-shared", "-fPIC", "-O1", *arguments], check=True)
    return folder


def pycuda_site() -> Path | None:
    """Where scripts/build_pycuda.sh put PyCUDA for this Python, or None."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sparktrace" / "pycuda-wheel"
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}"
    found = sorted(cache.glob(f"pycuda-*-{python}/pycuda/_driver*.so"))
    return found[-1].parents[1] if found else None


class Stub:
    """The stub driver's knobs and its log."""

    def __init__(self, folder: Path, log_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.log_file, self._patch = folder, log_file, monkeypatch

    def fault(self, kind: str, block: str | None = None) -> None:
        """Make the driver fail in that way; for launches, those of one block shape only."""
        self._patch.setenv("STUB_CUDA_FAULT", kind)
        if block is not None:
            self._patch.setenv("STUB_CUDA_BLOCK", block)

    def clock(self, mhz: int, reasons: int = 0) -> None:
        """Let the device's clock be read, at this value and held back for these reasons (NVML's bits)."""
        self._patch.setenv("LD_LIBRARY_PATH", f"{self.folder}{os.pathsep}{self.folder / 'nvml'}")
        self._patch.setenv("STUB_NVML_MHZ", str(mhz))
        self._patch.setenv("STUB_NVML_REASONS", str(reasons))

    def host_kernels(self, name: str | None) -> None:
        """What launches compute: the library of that name, or nothing."""
        if name is None:
            self._patch.delenv("STUB_CUDA_HOST", raising=False)
        else:
            self._patch.setenv("STUB_CUDA_HOST", str(self.folder / f"{name}.so"))

    def log(self, word: str) -> list[str]:
        """The lines of the driver's log that begin with a word."""
        if not self.log_file.is_file():
            return []
        return [line for line in self.log_file.read_text().splitlines() if line.startswith(word)]


class FamilyMaker:
    """Small copies of clamp_smem in a folder of families."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(self, name: str = "clamp_smem", **sources: str) -> Path:
        """A copy under another id with a small problem; `sources` replaces sources by variant, such as `padded`."""
        folder = self.root / name
        shutil.copytree(kernels_dir() / "clamp_smem", folder, ignore=shutil.ignore_patterns("__pycache__", "README.md"))
        text = (folder / "family.toml").read_text().replace('id = "clamp_smem"', f'id = "{name}"', 1)
        text, count = re.subn(r"^problem = .*$", f"problem = {SIZE}", text, flags=re.MULTILINE)
        assert count == 1
        (folder / "family.toml").write_text(text)
        for variant, source in sources.items():
            (folder / f"{variant}.cu").write_text(source)
        return folder

    def many(self, names: Sequence[str]) -> list[Path]:
        return [self(name) for name in names]
