"""The compiler's side: PTX without paths, resources from its log, and complaints that name file and line."""

import builtins
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import BadInput, MissingTool
from sparktrace_tui.emulator import toolchain
from tests.emulator.engine_support import compiled

SOURCE = """
__global__ void k(float* out) {
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x; __syncthreads(); out[threadIdx.x] = s[255 - threadIdx.x];
}"""


@pytest.fixture(autouse=True)
def _compiler() -> None:
    compiled("__global__ void k() {}")


def test_a_source_compiles_to_ptx_cubin_and_resources() -> None:
    result = toolchain.compile_cuda(SOURCE, "/some/folder/kernel.cu", "sm_90")
    (resources,) = result.kernels.values()
    assert result.compiler.startswith("NVRTC 13.")
    assert result.arch == "sm_90"
    assert resources.static_shared_bytes == 1024
    assert 1 <= resources.registers <= 255
    assert resources.local_bytes == 0
    assert result.cubin[:4] == b"\x7fELF"
    assert "some/folder" not in result.ptx
    assert str(Path.cwd()) not in result.ptx
    assert '"kernel.cu"' in result.ptx


def test_a_cubin_disassembles_with_source_lines_and_no_paths() -> None:
    text = toolchain.disassemble(toolchain.compile_cuda(SOURCE, "kernel.cu").cubin)
    assert 'File "kernel.cu", line 4' in text
    assert "BAR.SYNC" in text
    assert str(Path.cwd()) not in text


def test_a_source_that_does_not_compile_gives_the_compiler_s_words_and_line() -> None:
    with pytest.raises(BadInput, match=r"^bad\.cu:3: error: .*undefined") as complaint:
        toolchain.compile_cuda("\n__global__ void k(float* p) {\n  p[0] = nowhere;\n}", "folder/bad.cu")
    assert "\n" not in str(complaint.value)


@pytest.mark.parametrize("name", ["cstdio", "my_header.h", "vector"])
def test_an_include_that_cannot_be_supplied_is_named_in_one_line(name: str) -> None:
    opening, closing = ("<", ">") if "." not in name else ('"', '"')
    with pytest.raises(BadInput, match=rf"^k\.cu:2: the include {name} cannot be supplied") as complaint:
        toolchain.compile_cuda(f"\n#include {opening}{name}{closing}\n__global__ void k() {{}}", "k.cu")
    assert "\n" not in str(complaint.value)


def test_headers_of_the_toolkit_and_of_a_given_folder_are_found(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("#define SCALE 3\n")
    source = (
        '#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n#include "mine.h"\n'
        "__global__ void k(__half* p, cuda::std::int32_t n) { p[n] = __float2half(SCALE); }"
    )
    assert toolchain.compile_cuda(source, "k.cu", include_dirs=[tmp_path]).kernels


def test_warnings_are_kept_and_are_no_error() -> None:
    result = toolchain.compile_cuda("__global__ void k(int* p) { int unused; *p = 1; }", "k.cu")
    assert any("never referenced" in warning for warning in result.warnings)


def test_a_target_that_the_compiler_lacks_is_named() -> None:
    with pytest.raises(BadInput, match="sm_60"):
        toolchain.compile_cuda(SOURCE, "k.cu", "sm_60")


def test_local_memory_and_spills_are_read_from_the_log() -> None:
    log = (
        "ptxas info    : Compiling entry function 'a' for 'sm_90'\n"
        "ptxas info    : Function properties for a\n"
        "    64 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 35 registers, used 1 barriers, 64 bytes cumulative stack size, 528 bytes smem\n"
        "ptxas info    : Compiling entry function 'b' for 'sm_90'\n"
        "ptxas info    : Function properties for b\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 8 registers\n"
    )
    found = toolchain.parse_resources(log)
    assert found["a"] == toolchain.KernelResources(35, 528, 64, 1, 8, 12)
    assert found["b"] == toolchain.KernelResources(8, 0, 0)


def test_no_compiler_is_said_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name.startswith("cuda"):
            raise ImportError(name)
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingTool, match="NVRTC") as missing:
        toolchain.compile_cuda(SOURCE, "k.cu")
    assert "pip install 'sparktrace-tui[compile]'" in str(missing.value)
    assert missing.value.exit_status == 3


def test_no_disassembler_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "_package_roots", tuple)
    with pytest.raises(MissingTool, match="nvdisasm"):
        toolchain.disassemble(b"")


def test_bytes_that_are_no_cubin_are_refused() -> None:
    with pytest.raises(BadInput, match="nvdisasm"):
        toolchain.disassemble(b"not a cubin")
