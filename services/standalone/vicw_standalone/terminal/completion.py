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
        from vicw_client import Retry, VicwClient
        from vicw_standalone.terminal.recorded_address import recorded_address

        url = command.params.get("url") or recorded_address()
        with VicwClient(url, timeout_seconds=_SECONDS, retry=Retry(attempts=1)) as client:
            found = client.contexts(prefix=incomplete or None, limit=_MOST).contexts
            names = [one.context for one in found if one.context.isprintable()]
    if os.environ.get("_VICW_COMPLETE", "").endswith("bash"):
        return [_Quoted(_SPECIAL.sub(r"\\\1", name)) for name in names]
    return names
