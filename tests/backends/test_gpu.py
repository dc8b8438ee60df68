"""What only a GPU can show: results, faults, times and counters of real kernels. Skipped elsewhere, with the reason."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sparktrace_tui.backends import ncu
from sparktrace_tui.backends.capture import verify_variant
from sparktrace_tui.backends.client import Client, WorkerHung
from sparktrace_tui.backends.doctor import examine
from sparktrace_tui.backends.protocol import Options, Verification
from sparktrace_tui.backends.select import why_no_gpu
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import kernels_dir
from tests.backends.gpu_stub import FamilyMaker

pytestmark = pytest.mark.gpu

LOADS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
SIGNATURE = (
    'extern "C" __global__ void clamp_kernel(const float *__restrict__ in, float *__restrict__ out,\n'
    "                                        int width, int height, float lo, float hi)\n"
)


@pytest.fixture(scope="module")
def gpu_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A worker on the first GPU, with one cache for all of these tests."""
    missing = why_no_gpu()
    if missing is not None:
        pytest.skip(f"{missing.reason}: {missing.hint}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARKTRACE_DATA", str(tmp_path_factory.mktemp("data")))
        with Client("pycuda", "0") as client:
            client.hello()
            yield client


def check(client: Client, folder: Path, variant: str) -> Verification:
    return verify_variant(client, folder, variant, Options(), lambda *_: None)


def test_the_device_tells_its_limits(gpu_client: Client) -> None:
    device = gpu_client.hello().device
    assert tuple(map(int, device["compute_capability"].split("."))) >= (7, 5)
    assert device["sms"] >= 1
    assert device["l2_mb"] > 0


@pytest.mark.parametrize("name", ["clamp_smem", "launch_chain", "histogram"])
def test_every_variant_of_three_different_families_is_correct(gpu_client: Client, name: str) -> None:
    folder = kernels_dir() / name
    found = {v.id: check(gpu_client, folder, v.id) for v in read_family(folder).variants}
    assert {variant: result.message for variant, result in found.items() if result.verdict != "correct"} == {}


def test_a_wrong_kernel_is_wrong(gpu_client: Client, family: FamilyMaker) -> None:
    source = SIGNATURE + (
        "{\n    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n"
        "    if (x < width && y < height)\n"
        "        out[y * width + x] = fminf(fmaxf(in[y * width + x], lo), 0.5f * hi);\n}\n"
    )
    found = check(gpu_client, family(padded=source), "padded")
    assert found.verdict == "wrong"
    assert "expected" in found.message


def test_a_write_past_the_end_is_found(gpu_client: Client, family: FamilyMaker) -> None:
    source = (kernels_dir() / "clamp_smem" / "registers.cu").read_text()
    changed = source.rstrip().removesuffix("}") + "    if (x == 0 && y == 0)\n        out[width * height] = 1.0f;\n}\n"
    found = check(gpu_client, family(registers=changed), "registers")
    assert found.verdict == "out_of_bounds"


def test_an_illegal_address_is_a_crash_and_the_next_variant_goes_on(gpu_client: Client, family: FamilyMaker) -> None:
    folder = family(padded=SIGNATURE + "{\n    *(float *)(8ull << 40) = lo;\n}\n")
    found = check(gpu_client, folder, "padded")
    assert found.verdict == "crash"
    assert "illegal memory access" in found.message
    assert check(gpu_client, folder, "registers").verdict == "correct"


def test_a_kernel_that_does_not_end_is_a_hang_and_the_next_variant_goes_on(
    gpu_client: Client, family: FamilyMaker
) -> None:
    # Half a minute of waiting, not for ever: nothing is left behind should the end of the process not end it.
    source = SIGNATURE + (
        "{\n    unsigned long long begin, now;\n"
        '    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));\n'
        '    do\n        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));\n'
        "    while (now - begin < 30000000000ull);\n}\n"
    )
    folder = family(padded=source)
    check(gpu_client, folder, "registers")  # compiled and running before the limit counts
    gpu_client.limit_s = 8.0
    try:
        with pytest.raises(WorkerHung):
            gpu_client.verify(folder, "padded", Options())
    finally:
        gpu_client.limit_s = None
    assert check(gpu_client, folder, "registers").verdict == "correct"


def test_thirty_two_trips_through_a_conflicting_tile_take_longer_than_none(gpu_client: Client) -> None:
    timings = gpu_client.time(kernels_dir() / "clamp_smem", ("original", "registers"), Options())
    assert all(t.wrong == "" for t in timings.values())
    assert all(r > 1.5 for r in map(_ratio, timings["original"].blocks_ms, timings["registers"].blocks_ms))
    assert not any(t.raw["host_bound"] for t in timings.values())


def _ratio(slow: float, fast: float) -> float:
    return slow / fast


def test_nsight_counts_the_conflicts_that_the_access_pattern_has(
    gpu_client: Client, family: FamilyMaker, tmp_path: Path
) -> None:
    permission = {f.name: f for f in examine({})}["profiling permission"]
    if ncu.find_ncu() is None or permission.state == "warning":
        pytest.skip(f"no counters here: {permission.found}")
    folder = family()
    text = (folder / "family.toml").read_text()
    (folder / "family.toml").write_text(text.replace("width = 96, height = 64", "width = 512, height = 512"))
    found = gpu_client.profile(folder, "original", Options(keep_reports=str(tmp_path)))
    assert (tmp_path / "clamp_smem.ncu-rep").is_file(), found.notes
    # 8,192 warps x 32 loads x 31 conflicts; arbitration can add to what the pattern has.
    assert found.counters[LOADS] >= 8192 * 32 * 31
    assert found.counters[LOADS] <= 1.05 * 8192 * 32 * 31
