"""The real PyCUDA, driven through the worker over a driver without a GPU.

What launches compute is a host function (or nothing): these tests show that plans, arguments, memory, errors and the
protocol are right, and nothing of a GPU's results or times.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from sparktrace_tui.backends.capture import Plan, capture_set, verify_variant
from sparktrace_tui.backends.client import Client, WorkerDied, WorkerHung
from sparktrace_tui.backends.processes import session_members
from sparktrace_tui.backends.protocol import Options, Verification
from sparktrace_tui.domain.errors import BadInput, MissingTool, UsageError
from sparktrace_tui.store.captures import read_set
from sparktrace_tui.store.families import read_family
from tests.backends.gpu_stub import FamilyMaker, Stub

OPTIONS = Options(seed=1)


@pytest.fixture
def client(stub: Stub) -> Iterator[Client]:
    with Client("pycuda", "0") as made:
        yield made


def check(client: Client, folder: Path, variant: str) -> Verification:
    return verify_variant(client, folder, variant, OPTIONS, lambda *_: None)


def pid(client: Client) -> int:
    assert client._process is not None
    return client._process.pid


def test_hello_names_the_device_and_the_tools(client: Client) -> None:
    hello = client.hello()
    assert (hello.backend, hello.provenance) == ("pycuda", "measured")
    assert hello.device["id"] == "stub121"
    assert (hello.device["compute_capability"], hello.device["sms"]) == ("12.1", 48)
    assert hello.facts["cuda"] == "13.0"
    assert hello.facts["compiler"].split()[0] in ("nvcc", "NVRTC")
    assert hello.facts["clocks"] == "not available"


def test_a_right_result_is_correct_and_each_launch_is_the_plans(
    client: Client, family: FamilyMaker, stub: Stub
) -> None:
    folder = family()
    assert check(client, folder, "flat_block").verdict == "correct"
    # 31 x 37 elements in blocks of 32 x 4; two pointers and four 4-byte values are 32 bytes of arguments.
    assert "launch clamp_kernel grid 1x10x1 block 32x4x1 shared 0 arguments 32 bytes" in stub.log("launch")
    assert len(stub.log("launch")) == len(read_family(folder).checks)


def test_a_launch_that_writes_nothing_is_wrong(client: Client, family: FamilyMaker, stub: Stub) -> None:
    stub.host_kernels(None)
    found = check(client, family(), "original")
    assert found.verdict == "wrong"
    assert found.message.startswith("out[0, 0] was not written, expected ")


def test_a_write_past_the_end_is_found_by_its_guard_band(client: Client, family: FamilyMaker, stub: Stub) -> None:
    stub.host_kernels("host_past_the_end")
    found = check(client, family(), "original")
    assert found.verdict == "out_of_bounds"
    assert found.message.startswith("out was written 1 bytes past its end")


def test_all_device_memory_is_given_back(client: Client, family: FamilyMaker, stub: Stub) -> None:
    folder = family()
    check(client, folder, "original")
    client.time(folder, ("original", "padded"), OPTIONS)
    client.close()
    assert stub.log("free")[-1] == "free, 0 live"
    assert stub.log("release") == ["release, 0 allocations live"]


def test_a_source_that_does_not_compile_names_file_and_line(client: Client, family: FamilyMaker) -> None:
    folder = family(padded='extern "C" __global__ void clamp_kernel(float *a)\n{\n    a[0] = nowhere;\n}\n')
    with pytest.raises(BadInput) as caught:
        client.verify(folder, "padded", OPTIONS)
    assert caught.value.message == 'padded.cu:3: error: identifier "nowhere" is undefined'


def test_a_kernel_that_the_source_does_not_define_is_named(client: Client, family: FamilyMaker) -> None:
    folder = family(padded='extern "C" __global__ void other(float *a) {}\n')
    with pytest.raises(BadInput, match=r"launches 'clamp_kernel', which padded\.cu does not define"):
        client.verify(folder, "padded", OPTIONS)


def test_a_compiled_kernel_is_kept_and_a_damaged_one_is_made_again(
    family: FamilyMaker, stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPARKTRACE_DATA", str(tmp_path / "data"))
    folder = family()

    def verify() -> tuple[str, bytes, int]:
        with Client("pycuda", "0") as client:
            verdict = check(client, folder, "registers").verdict
        (kept,) = (tmp_path / "data" / "cache" / "kernels").iterdir()
        return verdict, kept.read_bytes(), kept.stat().st_mtime_ns

    first = verify()
    assert first[0] == "correct"
    assert verify() == first  # not even written again
    (kept,) = (tmp_path / "data" / "cache" / "kernels").iterdir()
    kept.write_bytes(first[1][:-100] + bytes(100))
    again = verify()
    assert (again[0], len(again[1])) == (first[0], len(first[1]))
    assert again[1][-100:] != bytes(100)


def test_no_device_is_said_with_what_to_do(client: Client, stub: Stub) -> None:
    stub.fault("no_device")
    with pytest.raises(MissingTool) as caught:
        client.hello()
    assert "no CUDA-capable device" in caught.value.message
    assert "doctor" in (caught.value.hint or "")


def test_a_device_number_that_does_not_exist_is_a_usage_error(stub: Stub) -> None:
    with Client("pycuda", "7") as client, pytest.raises(UsageError, match="there is no CUDA device 7; there are 1"):
        client.hello()


def test_no_driver_and_no_pycuda_are_told_apart(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    with Client("pycuda", "0") as client, pytest.raises(MissingTool, match=r"libcuda\.so\.1"):
        client.hello()
    monkeypatch.undo()
    with Client("pycuda", "0") as client, pytest.raises(MissingTool, match="PyCUDA is not installed"):
        client.hello()


def test_too_little_memory_is_not_the_variants_fault(client: Client, family: FamilyMaker, stub: Stub) -> None:
    folder = family()
    stub.fault("out_of_memory")
    with pytest.raises(MissingTool, match="the GPU has no room"):
        client.verify(folder, "original", OPTIONS)


def test_a_plan_that_cannot_fit_is_refused_before_anything_is_allocated(
    client: Client, family: FamilyMaker, stub: Stub
) -> None:
    folder = family()
    text = (folder / "family.toml").read_text()
    (folder / "family.toml").write_text(text.replace("width = 96, height = 64", "width = 16384, height = 8192"))
    # Two arrays of 512 MiB; the stub has 1 GiB free.
    with pytest.raises(MissingTool, match=r"needs 1\.0 GiB of GPU memory and 1\.0 GiB are free"):
        client.time(folder, ("original", "padded"), OPTIONS)
    assert stub.log("alloc") == []


def test_a_launch_that_asks_for_too_much_is_a_verdict_and_the_device_goes_on(
    client: Client, family: FamilyMaker, stub: Stub
) -> None:
    stub.fault("too_many_resources", block="32x4x1")
    folder = family()
    found = check(client, folder, "flat_block")
    assert found.verdict == "not_launched"
    assert found.message.startswith("clamp_kernel was not launched: too many resources requested for launch")
    before = pid(client)
    assert check(client, folder, "padded").verdict == "correct"
    assert pid(client) == before


@pytest.mark.parametrize(
    ("fault", "verdict", "message"),
    [
        ("illegal_address", "crash", "clamp_kernel: an illegal memory access was encountered"),
        ("launch_timeout", "hang", "clamp_kernel: the launch timed out and was terminated"),
    ],
)
def test_after_a_fault_the_next_variant_has_a_worker_of_its_own(
    client: Client, family: FamilyMaker, stub: Stub, fault: str, verdict: str, message: str
) -> None:
    stub.fault(fault, block="32x4x1")
    folder = family()
    client.hello()
    before = pid(client)
    found = check(client, folder, "flat_block")
    assert (found.verdict, len(found.checks)) == (verdict, 1)
    assert found.message.startswith(message)
    assert check(client, folder, "padded").verdict == "correct"
    assert pid(client) != before


def test_a_worker_that_dies_is_the_variants_verdict_and_the_next_goes_on(
    client: Client, family: FamilyMaker, stub: Stub
) -> None:
    stub.fault("die", block="32x4x1")
    folder = family()
    with pytest.raises(WorkerDied, match="SIGSEGV"):
        client.verify(folder, "flat_block", OPTIONS)
    assert check(client, folder, "flat_block").verdict == "crash"
    assert check(client, folder, "padded").verdict == "correct"


def test_a_worker_that_hangs_is_killed_with_its_children_and_the_next_goes_on(family: FamilyMaker, stub: Stub) -> None:
    stub.fault("hang", block="32x4x1")
    folder = family()
    with Client("pycuda", "0", limit_s=3.0) as client:
        client.hello()
        hung = pid(client)
        with pytest.raises(WorkerHung, match="limit of 3 s"):
            client.verify(folder, "flat_block", OPTIONS)
        assert session_members(hung) == []
        client.limit_s = None
        assert check(client, folder, "padded").verdict == "correct"


def test_timing_runs_all_variants_alike_and_keeps_what_it_read(client: Client, family: FamilyMaker, stub: Stub) -> None:
    heard: list[str] = []
    timings = client.time(family(), ("original", "padded", "flat_block"), OPTIONS, heard.append)
    assert [heard[0], heard[1], heard[-1]] == ["warm-up", "block 1 of 5", "check the results again"]
    assert all(len(t.blocks_ms) == 5 and t.wrong == "" for t in timings.values())
    session = timings["original"].raw["session"]
    assert (session["seed"], session["clock_mhz"]) == (1, "not available")
    rounds = sum(len(block["orders"]) for block in session["blocks"])
    assert rounds >= 55
    for name, block in (("padded", "32x32x1"), ("flat_block", "32x4x1")):
        turns = rounds * timings[name].raw["repeats"] + 3 + 1  # with three warm-ups and the check afterwards
        launched = sum(f"block {block} " in line for line in stub.log("launch"))
        # The original has the same block as `padded`, so both are in that count.
        others = rounds * timings["original"].raw["repeats"] + 4 if name == "padded" else 0
        assert launched == turns + others


def test_every_repeat_of_a_plan_comes_behind_a_flush_of_twice_the_l2_at_least(
    client: Client, family: FamilyMaker, stub: Stub
) -> None:
    timings = client.time(family(), ("original", "padded"), OPTIONS)
    session = timings["original"].raw["session"]
    rounds = sum(len(block["orders"]) for block in session["blocks"])
    turns = sum(rounds * t.raw["repeats"] * session["flushes"] + 3 for t in timings.values())  # three warm-ups
    readings = 2 * 5 * 8  # two a block, each while eight passes keep the device busy
    assert stub.log("memset") == ["memset 2097152 words"] * (turns + readings)  # 8 MiB: the stub's L2 has 1
    lines = [line.split()[0] for line in stub.log_file.read_text().splitlines()]
    timed = lines[lines.index("memset") : len(lines) - lines[::-1].index("memset")]
    assert all(before == "memset" for before, line in pairwise(timed) if line == "launch")


def test_the_clock_and_what_holds_it_back_are_read_in_every_block(
    client: Client, family: FamilyMaker, stub: Stub
) -> None:
    stub.clock(1410, reasons=0x4 | 0x1 | 0x40)  # a power cap, idleness (which holds nothing back) and heat
    assert client.hello().facts["clocks"] == "NVML"
    session = client.time(family(), ("original", "padded"), OPTIONS)["original"].raw["session"]
    assert session["clock_mhz"] == 1410
    reading = {"sm_mhz": 1410, "held_back": ["software power cap", "hardware thermal slowdown"]}
    assert [block["clocks"] for block in session["blocks"]] == [[reading, reading]] * 5


def test_a_result_that_is_wrong_at_the_problem_size_is_found_after_timing(
    client: Client, family: FamilyMaker, stub: Stub
) -> None:
    stub.host_kernels(None)
    timings = client.time(family(), ("original", "padded"), OPTIONS)
    assert timings["padded"].wrong.startswith("wrong at the problem size: out[0, 0] was not written")


def test_resources_and_occupancy_are_the_drivers_and_the_devices_own(client: Client, family: FamilyMaker) -> None:
    found = client.profile(family(), "padded", Options(report=False))
    # 40 registers x 1,024 threads leave room for one block of 1,024 threads on an SM of 1,536: 32 of 48 warps.
    assert found.resources == {
        "registers": 40, "shared_bytes": 4224, "local_bytes": 8, "blocks_per_sm": 1, "occupancy": 32 / 48,
    }  # fmt: skip
    assert found.report is None


def test_a_captured_family_is_a_set_that_loads_with_a_hang_remembered(family: FamilyMaker, stub: Stub) -> None:
    folder = family()
    stub.fault("launch_timeout", block="16x16x1")
    out = family.root.parent / "set"
    with Client("pycuda", "0") as client:
        made = capture_set(client, Plan([folder], [read_family(folder)], out, OPTIONS), lambda *_: None)
    assert read_set(out) == made
    capture = made.captures["clamp_smem"]
    assert capture.provenance == "measured"
    verdicts = {name: record.verdict for name, record in capture.variants.items()}
    assert verdicts.pop("small_tile") == "hang"
    assert set(verdicts.values()) == {"correct"}
    assert "small_tile: hang: clamp_kernel: the launch timed out" in capture.made["problems"]
    time_of_padded = capture.variants["padded"].time
    assert time_of_padded is not None
    assert len(time_of_padded.blocks_ms) == 5
    assert (out / "clamp_smem.timing.jsonl").read_text().count('"orders"') == 5
    assert not list(out.glob(".*"))


def test_a_worker_ends_by_itself_when_the_program_that_asked_is_killed(
    family: FamilyMaker, stub: Stub, tmp_path: Path, run_python: Callable[..., "subprocess.Popen[str]"]
) -> None:
    stub.fault("hang")
    folder = family()
    program = tmp_path / "ask.py"
    program.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "from sparktrace_tui.backends.client import Client\n"
        "from sparktrace_tui.backends.protocol import Options\n"
        "client = Client('pycuda', '0')\n"
        "client.hello()\n"
        "print(client._process.pid, flush=True)\n"
        f"client.verify(Path({str(folder)!r}), 'original', Options())\n"
    )
    asking = run_python(str(program))
    assert asking.stdout is not None
    worker = int(asking.stdout.readline())
    while not stub.log("launch"):
        time.sleep(0.05)
    os.kill(asking.pid, signal.SIGKILL)
    asking.wait()
    for _ in range(200):
        if not session_members(worker):
            break
        time.sleep(0.05)
    assert session_members(worker) == []
    asking.stdout.close()
