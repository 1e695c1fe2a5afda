"""HTTP to a server anywhere, with TLS and the proxies of the environment."""

from __future__ import annotations

import functools
import ssl
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # slow to import: the first request does it
    from collections.abc import Mapping

    import httpx


class RemoteHttp:
    """A client with the methods of ``LocalHttp``. ``proxies``: whether the environment's proxies are used."""

    def __init__(self, base_url: str, *, connect_seconds: float, proxies: bool) -> None:
        self._base_url = base_url
        self._connect_seconds = connect_seconds
        self._proxies = proxies
        self._client: httpx.AsyncClient | None = None

    async def send(
        self, method: str, path: str, headers: Mapping[str, str], content: bytes | None, most_bytes: int
    ) -> tuple[int, bytes]:
        """Return status and body of the answer to one request; of a body longer than ``most_bytes`` only its beginning.

        Raises OSError when the server cannot be reached or goes away, ValueError for an address, a header or a proxy
        that cannot be used, RuntimeError once closed, and for an answer that cannot be read.
        """
        import httpx

        try:
            async with self._open().stream(method, self._base_url + path, content=content, headers=headers) as response:
                body = bytearray()
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > most_bytes:
                        break
                return response.status_code, bytes(body)
        except (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL, ImportError) as error:
            raise ValueError(str(error)) from error  # a key with a line break, an address that is none, a SOCKS proxy
        except httpx.TransportError as error:
            raise ConnectionError(str(error) or type(error).__name__) from error
        except httpx.HTTPError as error:
            raise RuntimeError(str(error) or type(error).__name__) from error

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        if self._client is not None:
            await self._client.aclose()

    def _open(self) -> httpx.AsyncClient:
        # Opened by the first call: a client belongs to the event loop in which it is used.
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(
                verify=_authorities(),
                timeout=httpx.Timeout(None, connect=self._connect_seconds),
                trust_env=self._proxies,
            )
        return self._client


@functools.cache
def _authorities() -> ssl.SSLContext:
    """Return the system's authorities, an organisation's own among them; reading them takes 20 ms."""
    return ssl.create_default_context()
