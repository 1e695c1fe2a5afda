"""Shell completion of names that the server knows. Whatever goes wrong, nothing is offered and nothing is printed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress

import typer

_MOST = 50
_SECONDS = 2.0
_SPECIAL = re.compile(r"([^\w./@%+=,-])")


class _Quoted(str):
    """A word for bash, which inserts completions as they are; other shells quote them. What begins it is compared by
    the server, by its own characters.
    """

    __slots__ = ()

    def startswith(self, *_: object) -> bool:
        return True


def contexts(command: typer.Context, incomplete: str) -> Sequence[str]:
    """Return the names of the server's contexts that begin so."""
    names: list[str] = []
    with suppress(Exception):  # a shell waits: a failure is shown when the command itself is run
        names = [name for name in _ask(command.params.get("url"), incomplete) if name.isprintable()]
    if os.environ.get("_VICW_COMPLETE", "").endswith("bash"):
        return [_Quoted(_SPECIAL.sub(r"\\\1", name)) for name in names]
    return names


def _ask(url: str | None, prefix: str) -> list[str]:
    """Return the names of contexts of a server. Its address and key are found as the client finds them."""
    import http.client  # only a shell that waits for names needs these
    import json
    from urllib.parse import urlencode, urlsplit

    from vicw_runtime.terminal.recorded_address import recorded_address

    named = url or os.environ.get("VICW_RETRIEVE_URL") or os.environ.get("VICW_URL") or recorded_address()
    base = urlsplit(named or "http://127.0.0.1:8080")
    kind = http.client.HTTPSConnection if base.scheme == "https" else http.client.HTTPConnection
    connection = kind(base.hostname or "", base.port, timeout=_SECONDS)
    key = os.environ.get("VICW_API_KEY", "").strip()
    query = urlencode({"limit": _MOST} | ({"prefix": prefix} if prefix else {}))
    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        connection.request("GET", f"{base.path.rstrip('/')}/contexts?{query}", headers=headers)
        return [one["context"] for one in json.load(connection.getresponse())["contexts"]]
    finally:
        connection.close()
