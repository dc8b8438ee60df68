"""verify, capture, emulate and new, through the real compiler and the real worker process."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sparktrace_tui.store.captures import read_set
from sparktrace_tui.store.paths import kernels_dir
from tests.conftest import CommandLine

pytest.importorskip("cuda.bindings.nvrtc", reason="the extra `compile` is not installed")

LOAD = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
STORE = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
# 4096 x 4096 elements are 524,288 warps; a 32-way access has 31 conflicts; 32 loads and 33 stores a thread.
LOAD_CONFLICTS = 524_288 * 32 * 31
STORE_CONFLICTS = 524_288 * 33 * 31
PUBLISHED_MS = {"original": 10.465, "padded": 0.98, "registers": 0.621, "flat_block": 10.2}


def captured(sparktrace: CommandLine, folder: Path, *words: str) -> dict[str, Any]:
    done = sparktrace(
        "capture", "clamp_smem", "--backend", "emulated", "--device", "gb10", "--into", str(folder), "--json", *words
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_published_conflicts_are_counted_exactly_with_and_without_sampling(
    sparktrace: CommandLine, tmp_path: Path
) -> None:
    assert (LOAD_CONFLICTS, STORE_CONFLICTS) == (520_093_696, 536_346_624)
    every = captured(sparktrace, tmp_path, "--set", "every", "--no-sampling")["captures"]["clamp_smem"]["variants"]
    sampled = captured(sparktrace, tmp_path, "--set", "sampled")["captures"]["clamp_smem"]["variants"]
    for variants in (every, sampled):
        assert variants["original"]["counters"][LOAD] == LOAD_CONFLICTS
        assert variants["original"]["counters"][STORE] == STORE_CONFLICTS
        assert variants["padded"]["counters"][LOAD] == variants["padded"]["counters"][STORE] == 0
    exact = ("smsp__inst_executed.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
    for name, variant in every.items():
        assert {k: variant["counters"][k] for k in exact} == {k: sampled[name]["counters"][k] for k in exact}


def test_the_emulated_set_says_what_the_write_up_says_within_15_percent(
    sparktrace: CommandLine, tmp_path: Path
) -> None:
    document = captured(sparktrace, tmp_path)
    assert (document["set"], document["provenance"]) == ("gb10-emulated", "emulated")
    capture = read_set(tmp_path / "gb10-emulated").captures["clamp_smem"]
    times = {name: record.time.median_ms for name, record in capture.variants.items() if record.time}
    for name, published in PUBLISHED_MS.items():
        assert times[name] == pytest.approx(published, rel=0.15)
    assert times["registers"] < times["padded"] < min(times["original"], times["flat_block"])
    assert capture.variants["original"].resources.blocks_per_sm == 1
    assert all(record.time is None or record.time.blocks_ms == () for record in capture.variants.values())
    assert capture.report is not None
    assert capture.report.origin.provenance == "emulated"
    figures = {m.name: m.value for m in capture.report.metrics}
    sm = figures["sm__throughput.avg.pct_of_peak_sustained_elapsed"]
    memory = figures["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"]
    assert isinstance(sm, float)
    assert isinstance(memory, float)
    assert 5 <= sm <= 7
    assert 92 <= memory <= 96


BREAKS = {
    "wrong index": ("registers.cu", "out[i] =", "out[i ^ 1] =", "registers.cu:13"),
    "swapped clamp": ("padded.cu", "v > hi ? hi : v", "v > hi ? lo : v", "out[0, "),
    "missing element": ("registers.cu", "out[i] =", "if (i != 5)\n        out[i] =", "out[0, 5] was not written"),
    "write past the end": (
        "registers.cu",
        "out[i] =",
        "if (i == (size_t)width * height - 1)\n        out[i + 1] = v;\n    out[i] =",
        "registers.cu:14",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_copy_of_a_rewrite_is_named_with_array_index_and_values(
    sparktrace: CommandLine, tmp_path: Path, name: str
) -> None:
    file, old, new, says = BREAKS[name]
    folder = tmp_path / "kernels" / "clamp_smem"
    shutil.copytree(kernels_dir() / "clamp_smem", folder)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    done = sparktrace("verify", "clamp_smem", "--kernels", str(tmp_path / "kernels"), "--json")
    assert done.returncode == 1
    results = {r["variant"]: r for r in json.loads(done.stdout)["results"]}
    broken = file.removesuffix(".cu")
    assert [v for v, r in results.items() if r["verdict"] != "correct"] == [broken]
    assert says in results[broken]["message"], results[broken]["message"]
    if says.startswith("out["):
        assert "expected" in results[broken]["message"]


def test_a_kernel_that_does_not_compile_gives_the_compilers_message_and_line(
    sparktrace: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "kernels" / "clamp_smem"
    shutil.copytree(kernels_dir() / "clamp_smem", folder)
    path = folder / "padded.cu"
    lines = path.read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "out[i] = v" in text)
    path.write_text(path.read_text().replace("out[i] = v", "out[i] = w"))
    done = sparktrace("verify", "clamp_smem", "--kernels", str(tmp_path / "kernels"))
    assert done.returncode == 1
    assert f"padded.cu:{line}" in done.stderr
    assert 'identifier "w" is undefined' in done.stderr
    assert "Traceback" not in done.stderr


def test_without_nvrtc_the_install_line_is_shown_and_nothing_is_written(
    sparktrace: CommandLine, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    (blocked / "cuda").mkdir(parents=True)
    (blocked / "cuda" / "__init__.py").write_text("raise ImportError('not here')\n")
    done = sparktrace("capture", "clamp_smem", "--into", str(tmp_path / "out"), PYTHONPATH=str(blocked))
    assert done.returncode == 3
    assert "sparktrace-tui[compile]" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_new_family_verifies_as_it_stands(sparktrace: CommandLine, tmp_path: Path) -> None:
    assert sparktrace("new", "mine", "--kernels", str(tmp_path)).returncode == 0
    done = sparktrace("verify", "mine", "--kernels", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["correct"] == 5
    assert sparktrace("new", "mine", "--kernels", str(tmp_path)).returncode == 4
    assert sparktrace("new", "../mine", "--kernels", str(tmp_path)).returncode == 2


PLAN = """
[size]
n = 4096

[arrays.data]
dtype = "f32"
shape = ["n"]
role = "inout"
fill = { kind = "uniform" }

[[launch]]
kernel = "stride"
grid = [1, 1, 1]
block = [128, 1, 1]
args = ["data"]
"""
STRIDE = """extern "C" __global__ void stride(float *data)
{
    __shared__ float tile[128 * 32];
    tile[threadIdx.x * 32] = data[threadIdx.x * STEP];
    __syncthreads();
    data[threadIdx.x] = tile[threadIdx.x * 32];
}
"""


def test_a_kernel_of_the_users_own_is_counted_line_by_line(sparktrace: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "mine.cu").write_text(STRIDE.replace("STEP", "8"))
    words = ("emulate", str(tmp_path / "mine.cu"), "--plan", str(tmp_path / "plan.toml"))
    document = json.loads(sparktrace(*words, "--json").stdout)
    # Four warps, one 32-way load and one 32-way store each; a stride of eight floats touches 32 sectors a request.
    assert document["counters"][LOAD] == document["counters"][STORE] == 4 * 31
    assert document["counters"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 4 * 32
    assert document["provenance"] == "emulated"
    text = sparktrace(*words, "--lines").stdout
    line = next(row for row in text.splitlines() if "STEP" in row or "* 8];" in row)
    assert line.split()[:4] == ["4", str(int(line.split()[1].replace(",", ""))), "124", "128"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("* STEP]", "* 64]", "out_of_bounds: mine.cu:4"),
        ("    __syncthreads();\n    data[threadIdx.x] = tile[threadIdx.x * 32]",
         "    data[threadIdx.x] = tile[(threadIdx.x ^ 32) * 32]", "race: mine.cu:5"),
        ("threadIdx.x * STEP", "nothing", "mine.cu:4: error: identifier"),
        ("void stride(float *data)", "void stride(float *data, int n)", "takes 2 parameters, the plan gives 1"),
        ("extern", "#include <cstdio>\nextern", "cstdio"),
    ],
)  # fmt: skip
def test_faults_and_misfits_are_named(sparktrace: CommandLine, tmp_path: Path, old: str, new: str, says: str) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "mine.cu").write_text(STRIDE.replace(old, new).replace("STEP", "8"))
    done = sparktrace("emulate", str(tmp_path / "mine.cu"), "--plan", str(tmp_path / "plan.toml"))
    assert done.returncode == 1
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
