"""Whole files or none, and logs that lose at most a torn last record."""

from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.store.files import append_record, read_records, write_atomic
from sparktrace_tui.store.seen import load_seen, mark_seen


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    write_atomic(target, "old")
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotReadOrWrite, match="cannot write"):
        write_atomic(tmp_path / "file" / "b.json", "new")
    assert target.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "file"]


def test_a_torn_last_record_is_counted_and_the_next_one_survives(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    append_record(log, {"n": 1})
    with log.open("a") as file:
        file.write('{"n": 2, "text": "cut o')
    append_record(log, {"n": 3})
    records, torn = read_records(log)
    assert ([r["n"] for r in records], torn) == ([1, 3], 1)


def test_a_family_is_marked_seen_once_with_the_set_that_showed_it(tmp_path: Path) -> None:
    mark_seen("clamp_smem", "first", tmp_path)
    mark_seen("clamp_smem", "second", tmp_path)
    assert load_seen(tmp_path) == {"clamp_smem": "first"}
