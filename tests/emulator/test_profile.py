"""Device profiles: what is bundled, a user's own, and what a malformed one says."""

import random
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite, UsageError
from sparktrace_tui.emulator import profile


def test_the_three_bundled_profiles_load_and_every_constant_has_a_source() -> None:
    assert profile.available() == ("gb10", "h200", "rtx4090")
    for name in profile.available():
        loaded = profile.load(name)
        assert loaded.id == name
        assert all(len(constant.source) > 10 for constant in loaded.constants.values())


def test_the_limits_are_those_that_cuda_states() -> None:
    gb10, h200 = profile.load("gb10"), profile.load("h200")
    assert (gb10.limit("sms"), gb10.limit("warps"), gb10.limit("blocks"), gb10.limit("shared")) == (48, 48, 24, 102400)
    assert (h200.limit("sms"), h200.limit("warps"), h200.limit("blocks")) == (132, 64, 32)
    assert h200.limit("shared") == 228 * 1024


def test_a_profile_of_the_users_own_loads_by_path(tmp_path: Path) -> None:
    text = (profile.FOLDER / "gb10.toml").read_text().replace('id = "gb10"', 'id = "mine"')
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("value = 2.418,", "value = 2.0,"))
    mine = profile.load(path)
    assert (mine.id, mine["clock.sm"]) == ("mine", 2.0)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("[clock]\nsm = {", "[clock]\nspeed = {", "clock.speed"),
        ("sms = { value = 48,", 'sms = { value = "many",', "limits.sms"),
        ("value = 2.418,", "value = -1.0,", "clock.sm"),
        ("[atomic]", "[atoms]", "atoms"),
        ('id = "gb10"', "", "id"),
    ],
)
def test_a_malformed_profile_names_its_file_and_the_key(tmp_path: Path, old: str, new: str, key: str) -> None:
    text = (profile.FOLDER / "gb10.toml").read_text()
    assert old in text
    path = tmp_path / "broken.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput) as caught:
        profile.load(path)
    assert "broken.toml" in caught.value.message
    assert key in caught.value.message


def test_a_constant_without_a_source_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "silent.toml"
    text = (profile.FOLDER / "gb10.toml").read_text()
    line = next(row for row in text.splitlines() if row.startswith("burst"))
    path.write_text(text.replace(line, 'burst = { value = 64, unit = "bytes", source = "" }'))
    with pytest.raises(BadInput, match=r"dram\.burst: source is missing"):
        profile.load(path)


def test_an_unknown_name_is_a_usage_error_and_a_missing_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no device profile 'gb11'"):
        profile.load("gb11")
    with pytest.raises(CannotReadOrWrite, match="nowhere"):
        profile.load(tmp_path / "nowhere.toml")


def test_a_draw_scales_physical_constants_within_bounds_and_leaves_exact_ones() -> None:
    original = profile.load("gb10")
    drawn = original.scaled(random.Random(7))
    again = original.scaled(random.Random(7))
    for key, constant in original.constants.items():
        ratio = drawn[key] / constant.value
        assert drawn[key] == again[key]
        if key.startswith("limits.") or key in profile.EXACT:
            assert ratio == 1
        else:
            assert 0.8 <= ratio <= 1.25
    assert drawn["clock.sm"] != original["clock.sm"]
