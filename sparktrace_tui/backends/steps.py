"""What was done of a family that is not finished: a log beside its set, so that a kill loses one request at most."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sparktrace_tui.backends.protocol import (
    Profile,
    Timing,
    Verification,
    profile_from_json,
    timing_from_json,
    to_json,
    verification_from_json,
)
from sparktrace_tui.store.files import append_record, read_records


class Steps:
    """Finished requests of one family by name. `path` None keeps nothing.

    A log that was made under other `made` facts (another compiler, changed sources) is deleted, not used.
    """

    def __init__(self, path: Path | None, made: Mapping[str, str]) -> None:
        self._path = path
        self._done: dict[str, Any] = {}
        if path is None:
            return
        records, _ = read_records(path)
        key = {name: value for name, value in made.items() if name != "date"}
        if records and records[0].get("made") == key:
            self._done = {record["step"]: record["result"] for record in records[1:] if "step" in record}
            return
        path.unlink(missing_ok=True)
        append_record(path, {"made": key})

    @property
    def done(self) -> tuple[str, ...]:
        """What a former run had finished, such as `verify padded`."""
        return tuple(self._done)

    def verification(self, variant: str, make: Callable[[str], Verification]) -> Verification:
        return verification_from_json(self._once(f"verify {variant}", lambda: to_json(make(variant))))

    def timings(
        self, variants: tuple[str, ...], make: Callable[[tuple[str, ...]], Mapping[str, Timing]]
    ) -> dict[str, Timing]:
        """Timings of these variants against each other, by id."""
        values = self._once(f"time {' '.join(variants)}", lambda: [to_json(t) for t in make(variants).values()])
        return {value["variant"]: timing_from_json(value) for value in values}

    def profile(self, variant: str, make: Callable[[str], Profile]) -> Profile:
        return profile_from_json(self._once(f"profile {variant}", lambda: to_json(make(variant))))

    def remove(self) -> None:
        """Forget everything: the family's capture is on disk."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._done:
            # As it will be read back: a result that is not JSON must fail now and not after a kill.
            self._done[name] = json.loads(json.dumps(make()))
            if self._path is not None:
                append_record(self._path, {"step": name, "result": self._done[name]})
        return self._done[name]
