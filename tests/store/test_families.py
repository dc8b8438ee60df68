"""Reading family.toml: what is there, and complaints that name key and line."""

import shutil
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.plan import ArrayArg, ScalarArg
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import kernels_dir


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(kernels_dir() / "clamp_smem", tmp_path / "clamp_smem"))


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "family.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_published_family_has_its_size_and_launches() -> None:
    family = read_family(kernels_dir() / "clamp_smem")
    (launch,) = family.launches("original", family.problem)
    assert (launch.grid, launch.block) == ((128, 128, 1), (32, 32, 1))
    assert launch.args[:3] == (ArrayArg("in"), ArrayArg("out"), ScalarArg("i32", 4096))
    assert [v.id for v in family.variants] == ["original", "padded", "registers", "flat_block", "small_tile"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('title = "Clamp', 'tittle = "Clamp', "tittle is not a key here"),
        ('role = "out"', 'role = "output"', r"arrays\.out\.role is 'output'"),
        ('kernel = "clamp_kernel"', "kernel = 7", r"kernel has the wrong type \(int\)"),
        (
            '"width", "height", "lo", "hi"]',
            '"width", "depth", "lo", "hi"]',
            "'depth' is neither an array, a scalar",
        ),
        (
            "block = [32, 4, 1]",
            "block = [32, 4]",
            r"rewrite\[2\]\.launch\[0\]\.block needs three extents, not 2",
        ),
        ('source = "padded.cu"', 'source = "../padded.cu"', "must be a file name"),
        ('source = "padded.cu"', 'source = "gone.cu"', "names gone.cu, which is not in the folder"),
        ('id = "clamp_smem"', 'id = "other"', "the folder is called 'clamp_smem'"),
    ],
)
def test_a_malformed_file_is_named_with_key_and_line(copy: Path, old: str, new: str, complaint: str) -> None:
    edit(copy, old, new)
    line = next(i for i, text in enumerate((copy / "family.toml").read_text().splitlines(), 1) if new in text)
    with pytest.raises(BadInput, match=complaint) as caught:
        read_family(copy)
    named = int(str(caught.value).split("family.toml:")[1].split(":")[0])
    assert abs(named - line) <= 4, "the line is that of the key or of its table"


def test_broken_toml_says_where(copy: Path) -> None:
    edit(copy, "[contract]", "[contract")
    with pytest.raises(BadInput, match="line"):
        read_family(copy)


def test_a_folder_without_a_family_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no family\.toml"):
        read_family(tmp_path)
