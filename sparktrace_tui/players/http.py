"""An HTTP client for servers given by URL, which lets no key of a provider out."""

from typing import TYPE_CHECKING

from sparktrace_tui.players.secrets import foreign_secrets

if TYPE_CHECKING:
    import httpx2


def guarded_client(timeout_s: float) -> "httpx2.AsyncClient":
    """A client that takes every header with another key of the environment in it off the request."""
    import httpx2

    others = foreign_secrets()

    async def take_off(request: "httpx2.Request") -> None:
        for name in [n for n, value in request.headers.items() if any(other in value for other in others)]:
            del request.headers[name]

    return httpx2.AsyncClient(timeout=timeout_s, event_hooks={"request": [take_off]}, follow_redirects=False)
