"""Which context a call is about: what the connection says, and what the model may choose beside it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from vicw_runtime.mcp.port import MemoryReader
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.text import one_fact
from vicw_shared.wire.items import ContextsQuery

HEADER = "vicw-context"
"""Header with the context of a connection, percent-encoded: headers carry ASCII alone."""
EVERYWHERE = "*"
_LISTED = 20


@dataclass(frozen=True, slots=True)
class ConnectionScope:
    """The context that a connection names; None: none. A ``bound`` connection leads to no other."""

    context: str | None = None
    bound: bool = False

    @classmethod
    def of(cls, path: str, header: str | None) -> ConnectionScope:
        """Return the scope of a request to ``/mcp/{path}``, which binds, with this header, which is a default."""
        if path:
            return cls(path, bound=True)
        return cls(unquote(header) or None) if header else cls()

    def chosen(self, argument: str | None) -> str | None:
        """Return the context of a call; None: all. Raises InvalidInputError for one that the connection excludes."""
        if argument is None:
            return self.context
        if self.bound and argument != self.context:
            problem = f"is {argument!r}, and this connection is for {self.context!r} alone"
            raise InvalidInputError(FieldProblem("context", problem, "Leave it out"))
        return None if argument == EVERYWHERE else argument


def scope_name(context: str | None) -> str:
    """Return how an answer names its scope."""
    return "all contexts" if context is None else context


def named(context: str | None) -> str:
    """Return the beginning of an answer, with its scope.

    >>> named("Fantasy Novel"), named(None)
    ('Scope: Fantasy Novel.', 'Scope: all contexts.')
    """
    return f"Scope: {one_fact(scope_name(context))}."


async def read_scope(scope: ConnectionScope, argument: str | None, reader: MemoryReader) -> str | None:
    """Return the context to read; None: all.

    Raises InvalidInputError if the model names one that does not exist. That of a connection need not exist yet.
    """
    context = scope.chosen(argument)
    if context is not None and context != scope.context and not await reader.has_context(context):
        raise InvalidInputError(FieldProblem("context", f"is {context!r}, which does not exist", await _choice(reader)))
    return context


async def write_scope(scope: ConnectionScope, argument: str | None, reader: MemoryReader | None) -> str:
    """Return the context to write to: that of ``read_scope``, or the only one there is.

    Raises InvalidInputError that lists the contexts if none is named: it is never guessed. Without a ``reader``
    nothing is looked up.
    """
    context = scope.chosen(argument) if reader is None else await read_scope(scope, argument, reader)
    if context is not None:
        return context
    if argument is None and reader is not None:
        page = await reader.contexts(ContextsQuery(limit=2))
        if len(page.contexts) == 1:
            return page.contexts[0].context
    problem = "is missing: a memory belongs to one context, and neither the call nor the connection names it"
    raise InvalidInputError(FieldProblem("context", problem, await _choice(reader)))


async def _choice(reader: MemoryReader | None) -> str:
    """Return how to choose a context, and which there are."""
    new = "a connection names a new one: by its address /mcp/NAME, or `vicw mcp --context NAME`"
    if reader is None:
        return f"Name it, or {new}"
    page = await reader.contexts(ContextsQuery(limit=_LISTED))
    names = ", ".join(repr(one.context) for one in page.contexts)
    return f"Name one of {names}{', …' if page.next else ''}; {new}" if names else f"There is none yet; {new}"
