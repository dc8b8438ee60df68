"""Arithmetic in family files."""

import pytest

from sparktrace_tui.domain.kernel.expressions import evaluate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n", 100),
        ("ceil_div(n, 32)", 4),
        ("-n + 2 * 3", -94),
        ("max(n // 7, 20) % 6", 2),
        ("sqrt(n) / 4", 2.5),
        (7, 7),
    ],
)
def test_it_computes(text: str | int, value: float) -> None:
    assert evaluate(text, {"n": 100}) == value


@pytest.mark.parametrize("text", ["m", "n.real", "__import__('os')", "n if n else 1", "n ** n", "(", "n / 0", "'a'"])
def test_it_refuses_what_is_not_arithmetic_and_says_so(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        evaluate(text, {"n": 100})
