"""One seeded mutant of every kernel: `verify` notices it, or `scripts/survivors.toml` says why it changes nothing."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from sparktrace_tui.backends.client import Client
from sparktrace_tui.backends.protocol import Options
from sparktrace_tui.domain.errors import MissingTool
from sparktrace_tui.domain.kernel.family import FAMILY_IDS
from sparktrace_tui.emulator.toolchain import compiler_version
from sparktrace_tui.store.families import read_family

ROOT = Path(__file__).parents[2]
SEED = 0

try:
    compiler_version()
except MissingTool as missing:
    pytest.skip(str(missing), allow_module_level=True)


@pytest.fixture(scope="module")
def mutate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutate", ROOT / "scripts" / "mutate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client("emulated", "gb10", limit_s=120.0) as made:
        yield made


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_verify_notices_a_seeded_mutant_of_every_kernel(name: str, mutate: ModuleType, client: Client) -> None:
    family = read_family(ROOT / "kernels" / name)
    for variant in family.variants:
        (mutant,) = mutate.mutants(family, variant, 1, SEED)
        outcome = mutate.judge(mutant, client, Options(seed=SEED))
        assert not outcome.survived or outcome.reason, str(outcome.mutant)


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_every_kernel_can_be_broken_in_ten_ways(name: str, mutate: ModuleType) -> None:
    family = read_family(ROOT / "kernels" / name)
    for variant in family.variants:
        by_operator = mutate.candidates(family, variant)
        assert sum(map(len, by_operator.values())) >= 10, f"{name}/{variant.id}"
        assert len(by_operator) >= 5, f"{name}/{variant.id}"


def test_an_edit_of_a_mutant_is_one_place_in_a_body(mutate: ModuleType) -> None:
    family = read_family(ROOT / "kernels" / "clamp_smem")
    for group in mutate.candidates(family, family.original).values():
        for mutant in group:
            old, new = family.original.source.splitlines(), mutant.source.splitlines()
            assert len(old) == len(new)
            changed = [n for n, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
            assert changed == [mutant.line]
