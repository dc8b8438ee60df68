"""A cache of compiled kernels on disk: written by rename, checked by hash, never trusted further than that."""

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path

from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.store.files import write_atomic

_DIGEST = 64  # hexadecimal characters of a SHA-256


def cache_key(source: str, options: Iterable[str], compiler: str) -> str:
    """What decides a compiled kernel: its source, the options in order, and the compiler's name and version."""
    digest = hashlib.sha256()
    for part in (source, compiler, *options):
        content = part.encode()
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


class CompileCache:
    """Cubins by key in a folder. An entry that is torn or was changed is deleted and counts as missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """The cubin kept under `key`, or None."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, cubin = content[:_DIGEST], content[_DIGEST + 1 :]
        if cubin and hashlib.sha256(cubin).hexdigest().encode() == digest:
            return cubin
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def put(self, key: str, cubin: bytes) -> bool:
        """Keep a cubin; False where the folder cannot be written, which costs time and nothing else."""
        digest = hashlib.sha256(cubin).hexdigest().encode()
        try:
            write_atomic(self._path(key), digest + b"\n" + cubin)
        except CannotReadOrWrite:
            return False
        return True

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.cubin"
