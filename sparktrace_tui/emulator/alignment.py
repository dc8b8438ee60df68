"""The alignment of a kernel's PTX and machine code, as a value: what runs with what, and how often."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator.counters import AccessForm
from sparktrace_tui.emulator.sass import SassFunction


@dataclass(frozen=True)
class Place:
    """A straight run of machine instructions and what it runs with.

    The run is executed as often as `anchor`, the start of a PTX unit with an access, barrier or shuffle that the run
    does without a guard; where there is none, as often as the most executed of `pcs`; times its share of a copied
    loop. `ratio`: how many PTX trips one execution covers; copies of one PTX unit (`group`) share its trips, largest
    ratio first. `entry`: a pc that runs once each time the loop is entered. `serialised`: the pc of an atomic that
    this run's loop retries.
    """

    start: int
    end: int
    pcs: tuple[int, ...]
    ratio: float = 1.0
    group: int | None = None
    entry: int | None = None
    serialised: int | None = None
    anchor: int | None = None

    def pc(self, totals: npt.NDArray[np.float64]) -> int:
        """The PTX instruction whose executions are the place's own, by the launch's totals."""
        return self.anchor if self.anchor is not None else max(self.pcs, key=lambda pc: float(totals[pc]))


@dataclass(frozen=True)
class Alignment:
    """A kernel's PTX and machine code, side by side.

    forms: how each PTX access is performed, by pc. places: every run of machine instructions. branches: pcs of the
    PTX branches that are branches in the machine code too. cas_loops: shared atomics that are compare-and-swap
    loops. popc_atomics: shared increments that the hardware merges within a warp. mismatches: what could not be
    reconciled, in words.
    """

    function: SassFunction
    forms: Mapping[int, AccessForm]
    places: tuple[Place, ...]
    branches: frozenset[int]
    cas_loops: frozenset[int]
    popc_atomics: frozenset[int]
    mismatches: tuple[str, ...]
    pipe_matrix: npt.NDArray[np.float64] = field(repr=False, default_factory=lambda: np.zeros((0, 0)))

    def place_executions(
        self, executions: npt.NDArray[np.float64], serialised: Mapping[int, float] | None = None
    ) -> npt.NDArray[np.float64]:
        """Warp executions of each place, from those of the PTX instructions (shape (..., pcs) to (..., places)).

        `serialised` gives an atomic's retries, in executions, by pc, for the whole of `executions`.
        """
        totals = executions.reshape(-1, executions.shape[-1]).sum(axis=0)
        shares = self._shares(totals)
        result = np.zeros((*executions.shape[:-1], len(self.places)))
        for number, place in enumerate(self.places):
            if place.pcs:
                result[..., number] = executions[..., place.pc(totals)] * shares[number]
                if place.serialised is not None and serialised and totals[place.serialised]:
                    result[..., number] *= serialised.get(place.serialised, 0.0) / totals[place.serialised]
        return result

    def _shares(self, totals: npt.NDArray[np.float64]) -> list[float]:
        shares = [1.0 / place.ratio for place in self.places]
        groups: dict[int, list[int]] = defaultdict(list)
        for number, place in enumerate(self.places):
            if place.group is not None:
                groups[place.group].append(number)
        for members in groups.values():
            trips_total = float(totals[self.places[members[0]].pc(totals)])
            entry = self.places[members[0]].entry
            entries = float(totals[entry]) if entry is not None else 1.0
            trips = left = trips_total / entries if entries else 0.0
            ratios = sorted({self.places[number].ratio for number in members}, reverse=True)
            for ratio in ratios:
                last = ratio == ratios[-1]
                runs = left / ratio if last else float(np.floor(left / ratio + 1e-9))
                left -= runs * ratio
                for number in members:
                    if self.places[number].ratio == ratio:
                        shares[number] = runs / trips if trips else 0.0
        return shares

    def instruction_executions(
        self, executions: npt.NDArray[np.float64], serialised: Mapping[int, float] | None = None
    ) -> npt.NDArray[np.float64]:
        """Warp executions of each machine instruction, from those of the PTX (shape (pcs,))."""
        result = np.zeros(len(self.function.instructions))
        for place, runs in zip(self.places, self.place_executions(executions, serialised), strict=True):
            result[place.start : place.end] = runs
        return result
