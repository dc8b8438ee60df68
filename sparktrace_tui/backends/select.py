"""Which backend a command uses when it is not told, and what its set is called."""

from datetime import date

DEFAULT_PROFILE = "gb10"


def choose_backend(backend: str | None, device: str | None) -> tuple[str, str]:
    """(backend, device): a named profile means the emulator; otherwise the emulator of the default profile."""
    if backend == "pycuda":
        return "pycuda", device or "0"
    return "emulated", device or DEFAULT_PROFILE


def default_set_name(backend: str, device: str) -> str:
    """`gb10-emulated`, or the device and the day for a measured set."""
    if backend == "emulated":
        return f"{device.removesuffix('.toml').rsplit('/', 1)[-1]}-emulated"
    return f"{device}-{date.today().isoformat()}"
