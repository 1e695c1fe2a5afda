"""Public keys of an issuer: fetched when a token needs them, and kept for a while."""

from __future__ import annotations

import asyncio
import json
import time
from contextvars import Context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog

from vicw_core.background import in_thread
from vicw_runtime.model_servers.remote_http import RemoteHttp
from vicw_shared.errors import UnavailableError
from vicw_shared.settings import OidcSettings
from vicw_shared.wire.host_names import is_loopback

if TYPE_CHECKING:
    from vicw_runtime.oidc.jwt_signature import IssuerKey, SigningKey

_log = structlog.get_logger()
_OPENID = "/.well-known/openid-configuration"
_OAUTH = "/.well-known/oauth-authorization-server"
_OK, _NOT_FOUND = 200, 404


@dataclass(slots=True)
class IssuerLimits:
    """Bounds of what an issuer is asked, and of what it answers."""

    timeout_seconds: float = 5.0
    """Of all requests that fetch the keys."""
    again_seconds: float = 10.0
    """The keys are not fetched more often, whatever keys tokens name, and while the issuer does not answer."""
    answer_bytes: int = 256 * 1024
    keys: int = 100


class IssuerKeys:
    """The keys of the issuer of ``settings``, which is set.

    They are fetched again once they are older than ``keys_seconds``, and for a token that names a key which is not
    among them. All who wait share one fetch. While the issuer does not answer, nobody waits for it who has keys, and
    these are used for ``outage_seconds`` beyond that.
    """

    def __init__(self, settings: OidcSettings, limits: IssuerLimits | None = None) -> None:
        assert settings.issuer is not None
        self._issuer = settings.issuer
        self._settings = settings
        self._limits = limits or IssuerLimits()
        self._is_local = _is_local(settings.jwks_url or settings.issuer)
        self._http = RemoteHttp("", connect_seconds=self._limits.timeout_seconds, proxies=not self._is_local)
        self._keys: list[IssuerKey] = []
        self._fetched_at = self._tried_at = float("-inf")
        self._failure: str | None = None
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, wanted: SigningKey) -> IssuerKey | None:
        """Return the key that a token names, or None if the issuer has none such.

        Raises UnavailableError if the issuer does not answer, and has not for so long that its keys may be others.
        """
        from vicw_runtime.oidc.jwt_signature import matching_key

        if self._age() >= self._settings.keys_seconds:
            fetching = self._fetch()
            if fetching is not None and (self._failure is None or self._is_too_old()):
                await asyncio.shield(fetching)
        if self._is_too_old():
            raise self._unavailable()
        found = matching_key(self._keys, wanted)
        if found is None and (fetching := self._fetch()) is not None:
            await asyncio.shield(fetching)
            found = matching_key(self._keys, wanted)
        if found is None and self._failure is not None:  # it may be a new one
            raise self._unavailable()
        return found

    async def probe(self) -> None:
        """Raise UnavailableError if the issuer does not answer, with the reason."""
        if (not self._keys or self._failure is not None) and (fetching := self._fetch()) is not None:
            await asyncio.shield(fetching)
        if self._failure is not None:
            raise UnavailableError("issuer", self._failure)

    async def close(self) -> None:
        """End a fetch, and close the connections. Safe to call twice."""
        if self._fetching is not None:
            self._fetching.cancel()
        await self._http.close()

    def _age(self) -> float:
        return time.monotonic() - self._fetched_at

    def _is_too_old(self) -> bool:
        return self._age() >= self._settings.keys_seconds + self._settings.outage_seconds

    def _unavailable(self) -> UnavailableError:
        error = UnavailableError("issuer", "does not answer, so tokens cannot be checked")  # the log has the reason
        error.retry_after_seconds = max(1, round(self._limits.again_seconds))
        return error

    def _fetch(self) -> asyncio.Task[None] | None:
        """Return the fetch that runs, or a new one; None if the last one was a moment ago."""
        if self._fetching is None:
            if time.monotonic() - self._tried_at < self._limits.again_seconds:
                return None
            # In a context of its own: this task belongs to no request.
            self._fetching = asyncio.create_task(self._refresh(), name="issuer", context=Context())
        return self._fetching

    async def _refresh(self) -> None:
        try:
            async with asyncio.timeout(self._limits.timeout_seconds):
                self._keys = await self._load()
        except (OSError, ValueError, RuntimeError) as error:
            failure = str(error) or f"no answer within {self._limits.timeout_seconds:g} s"
            if self._failure is None:
                _log.warning("the issuer's keys cannot be fetched; those known are used on", error=failure)
            self._failure = failure
        else:
            self._failure, self._fetched_at = None, time.monotonic()
        finally:
            self._tried_at, self._fetching = time.monotonic(), None

    async def _load(self) -> list[IssuerKey]:
        """Return the keys. Raises OSError, ValueError or RuntimeError."""

        def read(document: dict[str, Any]) -> list[IssuerKey]:
            from vicw_runtime.oidc.jwt_signature import read_keys

            return read_keys(document, self._limits.keys)

        url = self._settings.jwks_url or await self._discover()
        keys = await in_thread(read, await self._get(url))
        if not keys:
            raise ValueError(f"{url} has no key that may sign tokens")
        return keys

    async def _discover(self) -> str:
        """Return the address of the keys, as the issuer's metadata names it."""
        below = self._issuer.rstrip("/")
        parts = urlsplit(below)
        other = f"{parts.scheme}://{parts.netloc}{_OAUTH}{parts.path}"  # RFC 8414 puts the path last
        found = await self._get(below + _OPENID, other)
        url = found.get("jwks_uri")
        if found.get("issuer") != self._issuer:
            raise ValueError(f"the metadata is of another issuer than {self._issuer}: {str(found.get('issuer'))[:200]}")
        if not isinstance(url, str) or not (url.startswith("https://") or (self._is_local and _is_local(url))):
            raise ValueError("the metadata names no jwks_uri with https")
        return url

    async def _get(self, url: str, other: str | None = None) -> dict[str, Any]:
        """Return the JSON object at ``url``, or if there is nothing at ``other``. No redirect is followed."""
        most = self._limits.answer_bytes
        status, body = await self._http.send("GET", url, {"Accept": "application/json"}, None, most)
        if status == _NOT_FOUND and other is not None:
            return await self._get(other)
        if status != _OK:
            raise ValueError(f"{url} answers with status {status}")
        if len(body) > most:
            raise ValueError(f"{url} answers with more than {most} bytes")
        document = json.loads(body)
        if not isinstance(document, dict):
            raise ValueError(f"{url} answers with no JSON object")
        return document


def _is_local(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")
