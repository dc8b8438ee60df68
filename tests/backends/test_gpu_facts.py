"""What is read of devices, drivers and memory, from texts as they are found on real machines."""

import os
from pathlib import Path

import pytest

from sparktrace_tui.backends.cache import CompileCache, cache_key
from sparktrace_tui.backends.gpu_compile import Compiler, compile_source
from sparktrace_tui.backends.gpu_facts import bandwidth_gb_s, device_limits, device_slug, driver_version
from sparktrace_tui.backends.gpu_memory import free_bytes
from sparktrace_tui.backends.gpu_plan import fault_of, pack_value
from sparktrace_tui.backends.sanitizer import first_finding, sanitize
from sparktrace_tui.backends.select import choose_backend, default_set_name, why_no_gpu
from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.plan import ScalarArg
from sparktrace_tui.emulator.occupancy import occupancy
from sparktrace_tui.emulator.profile import load

KERNEL = 'extern "C" __global__ void k(float *a)\n{\n    a[threadIdx.x] = 2.0f;\n}\n'


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA GB10", "gb10"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("Tesla T4", "t4"),
        ("../evil/\x1b[31m", "evil31m"),
    ],
)
def test_a_device_id_is_short_and_safe_as_a_folder_name(name: str, slug: str) -> None:
    assert device_slug(name) == slug


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n", "535.183.01"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build\n", "580.95.05"),
        ("something else\n", None),
    ],
)
def test_the_drivers_version_is_read_from_the_kernel_module(tmp_path: Path, text: str, version: str | None) -> None:
    (tmp_path / "version").write_text(text)
    assert driver_version(tmp_path / "version") == version
    assert driver_version(tmp_path / "missing") is None


class Driver:
    """mem_get_info as a unified part's driver gives it: the page cache counts as used."""

    @staticmethod
    def mem_get_info() -> tuple[int, int]:
        return 2 * 2**30, 119 * 2**30


def test_free_memory_on_a_unified_part_is_what_the_system_can_give(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal: {119 * 2**20} kB\nMemFree: 900 kB\nMemAvailable: {80 * 2**20} kB\n")
    assert free_bytes(Driver, True, meminfo) == 80 * 2**30
    assert free_bytes(Driver, False, meminfo) == 2 * 2**30
    assert free_bytes(Driver, True, tmp_path / "missing") == 2 * 2**30


def test_bandwidth_is_clock_times_width_twice_and_not_known_where_either_is_not() -> None:
    # H200: 3,201 MHz, 6,144 bits: 3.201e9 x 768 bytes x 2 = 4,916.7 GB/s.
    assert bandwidth_gb_s({"MEMORY_CLOCK_RATE": 3_201_000, "GLOBAL_MEMORY_BUS_WIDTH": 6144}.__getitem__) == 4916.7
    assert bandwidth_gb_s({"MEMORY_CLOCK_RATE": 0, "GLOBAL_MEMORY_BUS_WIDTH": 128}.__getitem__) is None


def test_occupancy_by_a_devices_own_limits_is_that_of_its_profile() -> None:
    profile = load("gb10")
    attributes = {
        "MULTIPROCESSOR_COUNT": 48, "MAX_THREADS_PER_MULTIPROCESSOR": 1536, "WARP_SIZE": 32,
        "MAX_BLOCKS_PER_MULTIPROCESSOR": 24, "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 102400, "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 101376, "RESERVED_SHARED_MEMORY_PER_BLOCK": 1024,
    }  # fmt: skip
    limits = device_limits(attributes.__getitem__, "NVIDIA GB10", (12, 1))
    for shape in ((1024, 16, 4096), (128, 40, 4224), (256, 255, 0), (64, 32, 48000)):
        assert occupancy(limits, *shape) == occupancy(profile, *shape)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        ("cuCtxSynchronize failed: an illegal memory access was encountered", "crash"),
        ("cuCtxSynchronize failed: misaligned address", "crash"),
        ("cuCtxSynchronize failed: the launch timed out and was terminated", "hang"),
        ("cuLaunchKernel failed: too many resources requested for launch", "not_launched"),
        ("cuLaunchKernel failed: invalid argument", "not_launched"),
        ("cuLaunchKernel failed: an illegal memory access was encountered", "crash"),
    ],
)
def test_a_drivers_complaint_becomes_a_verdict(error: str, verdict: str) -> None:
    assert fault_of("k", error)[0] == verdict


def test_scalars_are_packed_by_their_type() -> None:
    assert pack_value(ScalarArg("f16", 1.5)) == 0x3E00
    assert pack_value(ScalarArg("bf16", 1.5)) == 0x3FC0
    assert pack_value(ScalarArg("i32", 7.0)) == 7
    assert pack_value(ScalarArg("f32", 2)) == 2.0


def test_a_cache_gives_back_what_it_kept_and_nothing_that_was_torn(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "kernels")
    key = cache_key("source", ("-a", "b"), "nvcc 1")
    assert cache.get(key) is None
    assert cache.put(key, b"\x7fELF" * 100)
    assert cache.get(key) == b"\x7fELF" * 100
    path = tmp_path / "kernels" / f"{key}.cubin"
    for damaged in (path.read_bytes()[:-1], b"", path.read_bytes().replace(b"ELF", b"ELG", 1)):
        path.write_bytes(damaged)
        assert cache.get(key) is None
        assert not path.exists()
        cache.put(key, b"\x7fELF" * 100)


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "kernels").write_text("a file where the folder should be")
    assert not CompileCache(tmp_path / "kernels").put("key", b"cubin")


def test_the_key_changes_with_the_source_each_option_and_the_compiler() -> None:
    keys = {
        cache_key(*parts)
        for parts in (
            ("s", ("a", "b"), "c"),
            ("t", ("a", "b"), "c"),
            ("s", ("b", "a"), "c"),
            ("s", ("ab",), "c"),
            ("s", ("a", "b"), "d"),
        )
    }
    assert len(keys) == 5


def test_without_nvcc_nvrtc_compiles_and_an_error_names_the_source_and_its_line(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings")
    compiler, cache = Compiler("NVRTC here", None), CompileCache(tmp_path)
    made = compile_source(compiler, KERNEL, "k.cu", "sm_90", cache)
    assert made.cubin[:4] == b"\x7fELF"
    assert (made.cached, compile_source(compiler, KERNEL, "k.cu", "sm_90", cache).cached) == (False, True)
    with pytest.raises(BadInput, match=r'^k\.cu:3: error: .*"nowhere"'):
        compile_source(compiler, KERNEL.replace("2.0f", "nowhere"), "k.cu", "sm_90", cache)


def test_the_first_thing_that_the_sanitizer_found_is_told() -> None:
    output = (
        "========= COMPUTE-SANITIZER\n"
        "========= Invalid __global__ write of size 4 bytes\n"
        "=========     at clamp_kernel+0x80 in original.cu:24\n"
        "========= ERROR SUMMARY: 1 error\n"
    )
    assert first_finding(output) == "Invalid __global__ write of size 4 bytes"
    assert first_finding("Error: device not supported\n") == "Error: device not supported"


@pytest.mark.parametrize(
    ("script", "verdict", "note"),
    [
        ("exit 0", "correct", "memcheck found nothing in 0 checks"),
        (
            '[ "$2" = racecheck ] || exit 0; echo "========= Error: Race reported"; exit 86',
            "race",
            "racecheck: Error: Race",
        ),
        ('echo "========= Invalid __global__ write"; exit 86', "out_of_bounds", "memcheck: Invalid __global__ write"),
        ('echo "device not supported"; exit 1', "correct", "memcheck could not be done: device not supported"),
    ],
)
def test_what_the_sanitizer_finds_becomes_the_verdict_and_what_it_cannot_do_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, verdict: str, note: str
) -> None:
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(f"#!/bin/bash\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found, notes = sanitize(tmp_path, "padded", "0", 1, ())
    assert found == verdict
    assert notes[0].startswith(note)


def test_what_is_asked_for_decides_the_backend() -> None:
    assert choose_backend("emulated", None) == ("emulated", "gb10")
    assert choose_backend(None, "h200") == ("emulated", "h200")
    assert choose_backend("pycuda", None) == ("pycuda", "0")
    assert choose_backend(None, "1") == ("pycuda", "1")


def test_without_a_driver_the_reason_and_a_way_are_told(tmp_path: Path) -> None:
    found = why_no_gpu(places=(str(tmp_path / "no-driver"),))
    assert found is not None
    assert found.reason == "there is no NVIDIA driver here"
    assert found.hint


def test_a_set_is_called_after_its_device() -> None:
    assert default_set_name("emulated", "h200") == "h200-emulated"
    assert default_set_name("pycuda", "h200").startswith("h200-20")
