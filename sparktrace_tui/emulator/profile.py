"""Device profiles: every constant of the timing model, with its unit and its source, read from a data file."""

import random
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite, UsageError

FOLDER = Path(__file__).parent / "profiles"

# The keys a profile must hold, by section. `limits` are exact integers that CUDA states; the rest are physical
# constants, and those are what the stability draws scale.
KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "limits": (
            "sms", "schedulers", "threads", "warps", "blocks", "registers", "register_unit",
            "registers_per_thread", "shared", "shared_static", "shared_optin", "shared_reserved", "shared_unit",
        ),
        "clock": ("sm",),
        "rate": (
            "fma", "imad", "alu", "xu", "fp64", "half", "uniform", "lsu", "shared", "l1", "l1_fill", "shuffle",
            "vote", "reduce", "barrier", "branch",
        ),
        "latency": (
            "alu", "fma", "imad", "xu", "fp64", "shuffle", "uniform", "shared", "atomic_shared", "l1", "l2", "dram",
            "barrier", "branch", "block_start",
        ),
        "cache": ("l1", "l2", "l2_bandwidth"),
        "dram": ("bandwidth", "peak", "burst"),
        "atomic": ("same_address", "spread"),
        "launch": ("kernel", "blocks"),
        "model": ("overlap",),
    }
)  # fmt: skip
# Exact by specification, so never scaled in a draw: the limits, a burst's size, the theoretical peak.
EXACT = frozenset({"dram.burst", "dram.peak"})


@dataclass(frozen=True)
class Constant:
    """One constant: its value, its unit, and where it comes from."""

    value: float
    unit: str
    source: str


@dataclass(frozen=True)
class DeviceProfile:
    """A device as the model sees it. Constants are looked up by `section.key`, as in `profile["clock.sm"]`.

    Units: limits in the unit named, clock in GHz, pipe rates in lanes (or warp instructions, wavefronts, sectors,
    bytes) a clock and SM, latencies in clocks, bandwidths in GB/s (1e9), launch cost in microseconds.
    """

    id: str
    name: str
    compute_capability: str
    arch: str
    constants: Mapping[str, Constant]

    def __getitem__(self, key: str) -> float:
        return self._values[key]

    @cached_property
    def _values(self) -> dict[str, float]:
        return {key: constant.value for key, constant in self.constants.items()}

    def limit(self, key: str) -> int:
        """An exact limit of `[limits]`, as the integer it is."""
        return int(self._values[f"limits.{key}"])

    @property
    def has_dram_counters(self) -> bool:
        """Whether Nsight has `dram__*` metrics here: GB10 (compute capability 12.1) has none."""
        return self.compute_capability != "12.1"

    def scaled(self, draw: random.Random, low: float = 0.8, high: float = 1.25) -> "DeviceProfile":
        """This device with every inexact constant multiplied by a factor of its own, log-uniform in [low, high]."""
        constants = {
            key: constant
            if key.startswith("limits.") or key in EXACT
            else Constant(constant.value * low * (high / low) ** draw.random(), constant.unit, constant.source)
            for key, constant in self.constants.items()
        }
        return DeviceProfile(self.id, self.name, self.compute_capability, self.arch, constants)


def available() -> tuple[str, ...]:
    """The names of the bundled profiles, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load(name_or_path: str | Path) -> DeviceProfile:
    """The bundled profile of that name, or the file at that path.

    UsageError names an unknown profile; CannotReadOrWrite an unreadable file; BadInput the file and the key at fault.
    """
    text = str(name_or_path)
    bundled = FOLDER / f"{text}.toml"
    if "/" not in text and "\\" not in text and bundled.is_file():
        path = bundled
    elif text.endswith(".toml"):
        path = Path(name_or_path)
    else:
        raise UsageError(
            f"there is no device profile {text!r}",
            hint=f"use one of {', '.join(available())}, or the path of a .toml file of your own",
        )
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CannotReadOrWrite(f"cannot read the device profile {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not a TOML file: {error}") from error
    return _profile(path, document)


def _profile(path: Path, document: dict[str, object]) -> DeviceProfile:
    def wrong(key: str, what: str) -> BadInput:
        return BadInput(f"{path}: {key}: {what}", hint="compare with a bundled profile, such as gb10.toml")

    words = []
    for key in ("id", "name", "compute_capability", "arch"):
        word = document.get(key)
        if not isinstance(word, str) or not word:
            raise wrong(key, "a word is needed here")
        words.append(word)
    unknown = set(document) - set(KEYS) - {"id", "name", "compute_capability", "arch"}
    if unknown:
        raise wrong(min(unknown), "no such key")
    constants: dict[str, Constant] = {}
    for section, keys in KEYS.items():
        table = document.get(section)
        if not isinstance(table, dict):
            raise wrong(section, "this section is missing")
        for key in sorted(set(table) - set(keys)):
            raise wrong(f"{section}.{key}", "no such key")
        for key in keys:
            name = f"{section}.{key}"
            constants[name] = _constant(table.get(key), partial(wrong, name))
    return DeviceProfile(words[0], words[1], words[2], words[3], MappingProxyType(constants))


def _constant(entry: object, wrong: Callable[[str], BadInput]) -> Constant:
    if not isinstance(entry, dict):
        raise wrong("a table with value, unit and source is needed here")
    value, unit, source = entry.get("value"), entry.get("unit"), entry.get("source")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise wrong(f"value must be a positive number, not {value!r}")
    if not isinstance(unit, str) or not unit:
        raise wrong("unit is missing")
    if not isinstance(source, str) or not source:
        raise wrong("source is missing: say where the figure comes from")
    return Constant(float(value), unit, source)
