"""The command line as a user meets it: words in, one document out, an exit status, one or two clear lines."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sparktrace_tui.store.paths import kernels_dir
from tests.conftest import REPOSITORY, CommandLine

WITHOUT_TEXTUAL = """
import sys
from sparktrace_tui.cli.main import run
status = run(sys.argv[1:])
loaded = sorted(m for m in sys.modules if m.split(".")[0] in ("textual", "openai", "anthropic", "polars"))
sys.exit(f"loaded {loaded[:3]}" if loaded else status)
"""


def one_or_two_lines(text: str) -> bool:
    lines = [line for line in text.splitlines() if not line.startswith("captures:")]
    return 1 <= len(lines) <= 2 and "Traceback" not in text


def test_families_gives_one_document_on_stdout_and_names_the_set_on_stderr(sparktrace: CommandLine) -> None:
    done = sparktrace("families", "--captures", "gb10-published", "--json")
    document = json.loads(done.stdout)
    (row,) = document["families"]
    assert (row["family"], row["winner"], row["kept"], row["provenance"]) == (
        "clamp_smem", "registers", True, "published",
    )  # fmt: skip
    assert round(row["ratio"], 3) == round(0.98 / 0.621, 3)
    assert "gb10-published" in done.stderr
    assert done.returncode == 0


def test_options_work_before_and_after_the_command(sparktrace: CommandLine) -> None:
    before = sparktrace("--captures", "gb10-published", "--json", "families")
    after = sparktrace("families", "--captures", "gb10-published", "--json")
    assert before.stdout == after.stdout != ""


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("verify", "no_such_family"), 2, "no family 'no_such_family'"),
        (("play", "no_such_family", "--player", "baseline:always-a"), 2, "no family 'no_such_family'"),
        (("families", "--captures", "nowhere"), 2, "no capture set 'nowhere'"),
        (("familes",), 2, "invalid choice"),
        (("families", "--cap", "gb10-published"), 2, "unrecognized arguments"),
        (("play", "--player", "baseline:always-a"), 2, "name families to play, or --all"),
        (("play", "clamp_smem", "--player", "replay:nobody"), 2, "no replay 'nobody'"),
        (("play", "clamp_smem", "--player", "oracle"), 2, "oracle"),
        ((), 2, "needs a terminal"),
        (("quiz",), 2, "needs a terminal"),
        (("families", "--kernels", "no/such/folder"), 1, "no families in no/such/folder"),
    ],
)
def test_bad_words_are_one_or_two_lines(
    sparktrace: CommandLine, words: tuple[str, ...], status: int, says: str
) -> None:
    done = sparktrace(*words)
    assert done.returncode == status
    assert says in done.stderr
    assert one_or_two_lines(done.stderr)
    assert done.stdout == ""


def test_a_malformed_family_is_named_with_key_and_line(sparktrace: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "kernels" / "clamp_smem"
    shutil.copytree(kernels_dir() / "clamp_smem", folder)
    text = (folder / "family.toml").read_text().replace('role = "out"', 'role = "output"')
    (folder / "family.toml").write_text(text)
    line = text.splitlines().index('role = "output"') + 1
    done = sparktrace("verify", "clamp_smem", "--kernels", str(tmp_path / "kernels"))
    assert done.returncode == 1
    assert f"family.toml:{line}: arrays.out.role is 'output'" in done.stderr
    assert one_or_two_lines(done.stderr)


def test_an_output_that_cannot_be_written_exits_4_and_leaves_nothing(sparktrace: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for target in ("file", "file/out"):
        done = sparktrace("--batch", str(tmp_path / target), "--captures", "gb10-published")
        assert done.returncode == 4
        assert one_or_two_lines(done.stderr)
    assert (tmp_path / "file").read_text() == "mine"


def test_batch_never_touches_a_folder_that_is_not_an_export(sparktrace: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    done = sparktrace("--batch", str(tmp_path), "--captures", "gb10-published")
    assert done.returncode == 4
    assert "notes.txt" in done.stderr


def test_batch_gives_the_same_bytes_twice_and_hashes_every_file(sparktrace: CommandLine, tmp_path: Path) -> None:
    import hashlib

    for name in ("one", "two", "two"):
        assert sparktrace("--batch", str(tmp_path / name), "--captures", "gb10-published").returncode == 0
    one, two = tmp_path / "one", tmp_path / "two"
    files = sorted(str(p.relative_to(one)) for p in one.rglob("*") if p.is_file())
    assert files == sorted(str(p.relative_to(two)) for p in two.rglob("*") if p.is_file())
    assert all((one / f).read_bytes() == (two / f).read_bytes() for f in files)
    hashes = json.loads((one / "manifest.json").read_text())["files"]
    assert sorted(hashes) == [f for f in files if f != "manifest.json"]
    assert all(hashlib.sha256((one / f).read_bytes()).hexdigest() == h for f, h in hashes.items())


def test_the_published_replay_holds_what_the_report_named(sparktrace: CommandLine) -> None:
    for evidence, variant, time in (("full", "padded", 0.98), ("source", "registers", 0.621)):
        done = sparktrace("play", "clamp_smem", "--player", "replay:gpt-5.4-nano", "--evidence", evidence, "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        (game,) = document["games"]
        assert document["set"] == "gb10-published"
        assert [pick["variant"] for pick in game["picks"]] == [variant, variant]
        assert (game["reveal"]["variant"], game["reveal"]["time_ms"]) == (variant, time)
        assert game["reveal"]["provenance"] == "published"


def test_a_replay_is_bound_to_its_own_set(sparktrace: CommandLine) -> None:
    done = sparktrace("play", "clamp_smem", "--player", "replay:gpt-5.4-nano", "--captures", "gb10-emulated", "--json")
    assert done.returncode == 2
    assert "recorded on gb10-published" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--batch", "OUT", "--captures", "gb10-published"),
        ("play", "clamp_smem", "--player", "replay:gpt-5.4-nano"),
        ("families",),
    ],
)
def test_headless_commands_load_no_textual_and_no_sdk(words: tuple[str, ...], tmp_path: Path) -> None:
    words = tuple(str(tmp_path / "out") if word == "OUT" else word for word in words)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TEXTUAL, *words], capture_output=True, text=True, cwd=REPOSITORY, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_closed_stdout_ends_quietly() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "sparktrace_tui", "families", "--captures", "gb10-published"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    os.close(write)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
