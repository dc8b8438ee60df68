"""Every kernel compiles without a warning, and the compiler leaves in what its family is about."""

import re
from functools import cache
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import MissingTool
from sparktrace_tui.domain.kernel.family import FAMILY_IDS
from sparktrace_tui.emulator.toolchain import Compiled, compile_cuda, compiler_version, disassemble
from sparktrace_tui.store.families import read_family

KERNELS = Path(__file__).parents[2] / "kernels"

try:
    compiler_version()
except MissingTool as missing:
    pytest.skip(str(missing), allow_module_level=True)


@cache
def compiled(family: str, variant: str, arch: str = "sm_121") -> Compiled:
    found = read_family(KERNELS / family).variant(variant)
    return compile_cuda(found.source, found.source_name, arch)


@cache
def machine_code(family: str, variant: str, arch: str = "sm_121") -> str:
    return disassemble(compiled(family, variant, arch).cubin)


def count(text: str, pattern: str) -> int:
    return len(re.findall(pattern, text))


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_every_kernel_compiles_without_warnings_and_holds_the_kernels_its_plan_launches(name: str) -> None:
    family = read_family(KERNELS / name)
    for variant in family.variants:
        result = compiled(name, variant.id)
        assert result.warnings == (), f"{name}/{variant.source_name}"
        assert {launch.kernel for launch in variant.launches} == set(result.kernels), variant.source_name
        assert all(kernel.local_bytes == 0 for kernel in result.kernels.values()), "spills to local memory"


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_every_original_compiles_for_older_devices_too(arch: str) -> None:
    for name in FAMILY_IDS:
        assert compiled(name, "original", arch).warnings == (), name


# Without these the question would be another one: loops that the compiler could have deleted or promoted.
@pytest.mark.parametrize(
    ("family", "variant", "instruction", "times"),
    [
        ("clamp_smem", "original", r"\bLDS\b", 32),
        ("clamp_smem", "original", r"\bSTS\b", 33),
        ("clamp_smem", "padded", r"\bLDS\b", 32),
        ("stride_smem", "original", r"\bLDS\b", 24),
        ("stride_smem", "pitched", r"\bSTS\b", 24),
        ("stride_smem", "row_store", r"\bBAR\.SYNC", 48),
        ("launch_chain", "in_memory", r"\bSTG\b", 16),
        ("launch_chain", "in_memory", r"\bLDG\b", 16),
        ("launch_chain", "in_register", r"\bSTG\b", 1),
        ("register_reuse", "original", r"\bSTG\b", 65),
        ("register_reuse", "held_input", r"\bSTG\b", 65),
        ("register_reuse", "term_pairs", r"\bSTG\b", 33),
        ("register_reuse", "held_sum", r"\bSTG\b", 1),
        ("warp_reduce", "reduce_add", r"\bREDUX\.SUM", 64),
    ],
)
def test_the_compiler_keeps_the_accesses_a_family_is_about(
    family: str, variant: str, instruction: str, times: int
) -> None:
    assert count(machine_code(family, variant), instruction) == times


@pytest.mark.parametrize("arch", ["sm_90", "sm_121"])
def test_atomics_take_the_form_that_the_calculations_assume(arch: str) -> None:
    """Float additions stay one a lane; a shared one is a compare-and-swap loop; shared counting is aggregated."""
    assert count(machine_code("atomic_reduce", "original", arch), r"RED\w*\.E\.ADD\.F32") == 1
    assert count(machine_code("atomic_reduce", "block_cell", arch), r"ATOMS\.CAST\.SPIN") == 1
    assert count(machine_code("histogram", "block_bins", arch), r"ATOMS\.POPC\.INC") == 1


@pytest.mark.parametrize("arch", ["sm_90", "sm_121"])
def test_the_assembler_merges_the_unpadded_loads_of_the_matrix_multiply_and_not_the_padded_ones(
    arch: str,
) -> None:
    assert count(machine_code("matmul_tiled", "original", arch), r"\bLDS\.128\b") == 16
    assert count(machine_code("matmul_tiled", "original", arch), r"\bLDS R") == 0
    assert count(machine_code("matmul_tiled", "padded", arch), r"\bLDS\.128\b") == 8
    assert count(machine_code("matmul_tiled", "padded", arch), r"\bLDS R") == 32
