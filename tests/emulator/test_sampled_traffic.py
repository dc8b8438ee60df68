"""Sampled waves lie apart: what one of them fetched is not there when the next one runs."""

import pytest

from sparktrace_tui.backends.emulated import EmulatedBackend
from sparktrace_tui.backends.protocol import Options
from sparktrace_tui.store.paths import kernels_dir

pytest.importorskip("cuda.bindings.nvrtc", reason="the extra `compile` is not installed")


@pytest.mark.parametrize(
    ("family", "variants"), [("stride_copy", ("original", "quads")), ("clamp_smem", ("registers",))]
)
def test_a_sampled_count_models_the_time_of_a_whole_one(family: str, variants: tuple[str, ...]) -> None:
    folder = kernels_dir() / family
    backend = EmulatedBackend("gb10")

    def times(sampling: bool) -> list[float]:
        options = Options(sampling=sampling)
        return [t.median_ms for t in backend.time(folder, variants, options, lambda text: None)]

    assert times(True) == pytest.approx(times(False), rel=0.02)
