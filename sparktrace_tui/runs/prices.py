"""What tokens cost, from the user's own `prices.toml`; where it says nothing, a cost is not known."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite
from sparktrace_tui.players.protocol import Usage
from sparktrace_tui.store.paths import user_data_dir

PRICES_FILE = "prices.toml"
_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """Money a million tokens, in the user's own currency; output includes reasoning."""

    input: float
    output: float

    def of(self, usage: Usage) -> float | None:
        """The cost of a reply; None where the provider did not count its tokens."""
        if usage.input is None or usage.output is None:
            return None
        return (usage.input * self.input + usage.output * self.output) / _MILLION


def read_prices(path: Path | None = None) -> Mapping[str, Price]:
    """Player -> price, from entries such as `["openai:gpt-5.4-nano"]` with `input` and `output`; {} without a file.

    Raises BadInput for a file that is not that.
    """
    path = path or user_data_dir() / PRICES_FILE
    if not path.is_file():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        prices = {str(name): Price(float(entry["input"]), float(entry["output"])) for name, entry in values.items()}
    except OSError as error:
        raise CannotReadOrWrite(f"cannot read {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"{path} is no list of prices ({error})",
            hint='Each entry is ["openai:MODEL"] with input and output: money a million tokens.',
        ) from error
    for name, price in prices.items():
        if not (0 <= price.input < float("inf") and 0 <= price.output < float("inf")):
            raise BadInput(f"{path}: the price of {name} is negative or no number")
    return prices
