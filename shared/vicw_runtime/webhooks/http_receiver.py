"""HttpWebhookReceiver: one request to a receiver."""

from __future__ import annotations

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor

import httpx

from vicw_runtime.webhooks.address import parse_url, refused, resolve
from vicw_runtime.webhooks.signature import signed_headers
from vicw_shared.clock import now
from vicw_shared.errors import InvalidInputError
from vicw_shared.model.webhooks import Webhook, WebhookMessage
from vicw_shared.settings import WebhookSettings

_THREADS = 16


class HttpWebhookReceiver:
    """WebhookReceiver over HTTP.

    It follows no redirect and asks no proxy of the environment, which would lead past the check of the address.
    """

    def __init__(self, settings: WebhookSettings) -> None:
        self._settings = settings
        # Their own: name servers that do not answer must not keep the stores' reads waiting.
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="webhook-names")
        self._lookups: dict[str, asyncio.Future[list[str]]] = {}
        self._opened: httpx.AsyncClient | None = None

    @property
    def _http(self) -> httpx.AsyncClient:
        if self._opened is None:
            # No connection is kept: its address would be known under the name of another receiver.
            limits = httpx.Limits(max_keepalive_connections=0)
            authorities = ssl.create_default_context()  # the system's, an organisation's own among them
            self._opened = httpx.AsyncClient(
                trust_env=False,
                follow_redirects=False,
                timeout=None,  # noqa: S113 - whoever sends has a limit for all of it
                limits=limits,
                verify=authorities,
            )
        return self._opened

    async def check(self, url: str) -> None:
        """Raise InvalidInputError for an address that nothing is sent to, or whose name is not resolved in time."""
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                await self._resolve(parse_url(url))
        except TimeoutError:
            raise refused("has a host that is not resolved in time") from None

    async def _resolve(self, url: httpx.URL) -> list[str]:
        """Resolve a name. A look-up outlives who waits for it, so all who want a name at a time share one."""
        work = self._lookups.get(url.host)
        if work is None:
            resolving = resolve(url, allow_private=self._settings.allow_private, threads=self._threads)
            work = self._lookups[url.host] = asyncio.ensure_future(resolving)
            work.add_done_callback(lambda done: self._resolved(url.host, done))
        return await asyncio.shield(work)

    def _resolved(self, host: str, done: asyncio.Future[list[str]]) -> None:
        del self._lookups[host]
        if not done.cancelled():
            done.exception()  # whoever waited has it, and nobody may have waited so long

    async def send(self, hook: Webhook, message: WebhookMessage) -> str:
        """Return an empty text if the receiver took the message, else why not. Nothing of a receiver raises."""
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                return await self._send(hook, message)
        except TimeoutError:
            return f"no answer within {self._settings.timeout_seconds:g} seconds"
        except InvalidInputError as error:
            return error.detail
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            return f"no answer: {type(error).__name__}"

    async def _send(self, hook: Webhook, message: WebhookMessage) -> str:
        url = parse_url(hook.url)
        addresses = await self._resolve(url)
        body, at = message.body.encode(), now()
        headers = {
            **signed_headers(hook.secrets(at), message.id, int(at.timestamp()), body),
            "content-type": "application/json",
            "user-agent": "vicw-webhooks",
            "host": url.netloc.decode("ascii"),
        }
        for last, address in ((one == addresses[-1], one) for one in addresses):
            request = self._http.build_request(
                "POST",
                url.copy_with(host=address),
                headers=headers,
                content=body,
                extensions={"sni_hostname": url.raw_host.decode("ascii")},
            )
            try:
                answer = await self._http.send(request, stream=True)
            except httpx.ConnectError:
                if last:
                    raise
                continue
            await answer.aclose()  # unread, however long
            return "" if answer.is_success else f"answered {answer.status_code}"
        return "has no address"

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._opened is not None:
            await self._opened.aclose()
