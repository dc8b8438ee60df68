"""One process at a time on a file: an advisory lock that the system drops when its holder dies."""

import os
from pathlib import Path
from types import TracebackType

from sparktrace_tui.domain.errors import CannotReadOrWrite


class FileLock:
    """Held from `with` to its end, on a file `<path>.lock` beside the locked one. CannotReadOrWrite where another holds
    it."""

    def __init__(self, path: Path) -> None:
        self._target = path
        self._path = path.with_name(path.name + ".lock")
        self._handle: int | None = None

    def __enter__(self) -> "FileLock":
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock, without waiting."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise CannotReadOrWrite(f"cannot write {self._path}: {error.strerror or error}") from error
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            raise CannotReadOrWrite(
                f"{self._target} is in use by another process",
                hint="Wait until that run ends, or give this one its own file with --out.",
            ) from None
        self._handle = handle

    def release(self) -> None:
        """Give the lock back; the lock file stays, since removing it could free a lock just taken."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
