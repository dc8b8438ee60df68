"""Listings with their source lines, and where a warp's shared accesses fall: by hand for the patterns of the field."""

from pathlib import Path

import numpy as np
import pytest

from sparktrace_tui.backends.client import Client
from sparktrace_tui.domain.errors import MissingTool
from sparktrace_tui.domain.kernel.machine_code import SharedAccess
from sparktrace_tui.emulator.access import bank_wavefronts
from sparktrace_tui.emulator.bankmap import shared_accesses
from sparktrace_tui.emulator.listing import listings, ptx_lines
from sparktrace_tui.emulator.memory import DeviceMemory
from tests.emulator.estimate_support import CLAMP, launch, prepared


def accesses(source: str, block: tuple[int, int, int]) -> tuple[SharedAccess, ...]:
    memory = DeviceMemory({"out": np.zeros(1 << 14, np.float32)}, checked=False)
    found = shared_accesses(prepared(source), (launch("k", (1, 1, 1), block, "out"),), memory)
    for access in found:
        lanes = np.array([[0 if a is None else a for a in access.addresses]], np.int64)
        active = np.array([[a is not None for a in access.addresses]])
        wavefronts, groups = bank_wavefronts(lanes, active, access.width)
        assert (access.wavefronts, len(access.groups)) == (int(wavefronts[0]), int(groups[0]))
    return found


def column_tile(columns: int) -> str:
    return f"""extern "C" __global__ void k(float *out) {{
    __shared__ float tile[32][{columns}];
    tile[threadIdx.x][threadIdx.y] = out[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}}"""


def test_a_column_of_a_tile_of_32_lies_in_one_bank() -> None:
    store, load = accesses(column_tile(32), (32, 32, 1))
    assert (store.operation, store.line, store.width) == ("store", 3, 4)
    assert (load.operation, load.line) == ("load", 5)
    for access in (store, load):
        # Lane x of warp 0 (y = 0) is at tile[x][0]: 32 words, 128 bytes apart, all in bank 0.
        assert access.addresses == tuple(128 * lane for lane in range(32))
        assert access.words == (32,) + (0,) * 31
        assert (access.wavefronts, access.conflicts) == (32, 31)
        assert (access.requests, access.all_wavefronts, access.all_conflicts) == (32, 1024, 992)


def test_one_more_column_spreads_it_over_all_banks() -> None:
    for access in accesses(column_tile(33), (32, 32, 1)):
        assert access.addresses == tuple(132 * lane for lane in range(32))
        assert access.words == (1,) * 32
        assert (access.wavefronts, access.conflicts, access.all_conflicts) == (1, 0, 0)


def test_a_float4_a_lane_takes_four_groups_without_a_conflict() -> None:
    source = """extern "C" __global__ void k(float *out) {
    __shared__ float4 tile[64];
    tile[threadIdx.x] = ((float4 *)out)[threadIdx.x];
    __syncthreads();
    ((float4 *)out)[threadIdx.x] = tile[63 - threadIdx.x];
}"""
    store, load = accesses(source, (64, 1, 1))
    assert store.width == 16
    assert store.addresses == tuple(16 * lane for lane in range(32))
    assert [len(group) for group in store.groups] == [8, 8, 8, 8]
    assert store.words == (4,) * 32
    assert store.worst == (1,) * 32
    assert (store.wavefronts, store.conflicts) == (4, 0)
    assert load.addresses[0] == 63 * 16


def test_a_word_that_all_lanes_read_is_one_word() -> None:
    source = """extern "C" __global__ void k(float *out) {
    __shared__ float tile[40];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 5) out[threadIdx.x] = tile[3];
}"""
    load = accesses(source, (40, 1, 1))[-1]
    assert load.addresses == (12,) * 5 + (None,) * 27
    assert load.words[3] == 1
    assert (load.wavefronts, load.conflicts) == (1, 0)
    assert load.groups == ((0, 1, 2, 3, 4),)


def test_every_line_of_a_listing_knows_its_source_line() -> None:
    source = CLAMP.joinpath("original.cu").read_text()
    try:
        ptx, sass = listings(source, "original.cu", "sm_121")
    except MissingTool as missing:
        pytest.skip(missing.message)
    rows = source.splitlines()
    for listing, load, store in ((ptx, "ld.shared", "st.shared"), (sass, "LDS", "STS")):
        assert {rows[x.line - 1].strip() for x in listing.lines if load in x.text and x.line} == {"v = tile[tx][ty];"}
        assert {rows[x.line - 1].strip() for x in listing.lines if store in x.text and x.line} == {"tile[tx][ty] = v;"}
    assert not any(".loc" in x.text or ".section" in x.text or x.text.startswith("//") for x in ptx.lines)
    assert [x.address for x in sass.lines if x.address is not None][:3] == [0, 16, 32]


def test_inlined_code_has_the_line_that_calls_it() -> None:
    text = (
        ".version 9.0\n.visible .entry k()\n{\n\t.loc 1 9 3\n\tmov.u32 %r1, 1;\n"
        "\t.loc 2 40 5, function_name $L__info_string0, inlined_at 1 12 7\n\tadd.s32 %r2, %r1, 1;\n\tret;\n}\n"
        '\t.file 1 "/some/where/own.cu"\n\t.file 2 "/usr/include/header.h"\n\t.section .debug_str\n{\n.b8 1\n}\n'
    )
    assert [(x.text.strip(), x.line) for x in ptx_lines(text, "own.cu")] == [
        (".version 9.0", None), (".visible .entry k()", None), ("{", None), ("mov.u32 %r1, 1;", 9),
        ("add.s32 %r2, %r1, 1;", 12), ("ret;", 12), ("}", None),
    ]  # fmt: skip


def test_the_worker_gives_both_as_values() -> None:
    with Client("emulated", "gb10") as client:
        try:
            found = client.request("banks", {"folder": str(CLAMP), "variant": "padded"}, 120)
        except MissingTool as missing:
            pytest.skip(missing.message)
        assert {access["all_conflicts"] for access in found} == {0}
        source = Path(CLAMP / "padded.cu").read_text()
        ptx, sass = client.request("listing", {"source": source, "name": "padded.cu"}, 120)
        assert (ptx["form"], sass["form"]) == ("ptx", "sass")
