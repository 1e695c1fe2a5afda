"""Which context a call is about: what the connection says, and what the model may choose beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from vicw_runtime.mcp.port import MemoryReader
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.text import one_fact
from vicw_shared.wire.items import ContextsQuery

HEADER = "vicw-context"
"""Header with the context of a connection, percent-encoded: headers carry ASCII alone."""
REQUIRED_HEADER = "vicw-context-required"
"""Header of a connection that belongs to a project and knows none: then not all contexts are meant."""
EVERYWHERE = "*"
_LISTED = 20


@dataclass(frozen=True, slots=True)
class ConnectionScope:
    """The context that a connection names; None: none. A ``bound`` connection leads to no other.

    ``required``: a call that names none does not mean all contexts.
    """

    context: str | None = None
    bound: bool = False
    required: bool = False

    @classmethod
    def of(cls, path: str, headers: Mapping[str, str]) -> ConnectionScope:
        """Return the scope of a request to ``/mcp/{path}``, which binds, with these headers, which say a default."""
        if path:
            return cls(path, bound=True)
        context = unquote(headers.get(HEADER, "")) or None
        return cls(context, required=context is None and REQUIRED_HEADER in headers)

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

    Raises InvalidInputError if the model names one that does not exist. That of a connection need not exist yet. If one
    is ``required``, it is the named one or the only one there is, as in ``write_scope``.
    """
    context = scope.chosen(argument)
    if scope.required and argument is None:
        context = await only_context(reader)
        if context is None:
            raise await _missing("this connection belongs to no project, and the call names no context", reader)
        return context
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
    context = await only_context(reader) if argument is None and reader is not None else None
    if context is None:
        raise await _missing(
            "a memory belongs to one context, and neither the call nor the connection names it", reader
        )
    return context


async def only_context(reader: MemoryReader) -> str | None:
    """Return the only context that there is; None: there is none, or several."""
    page = await reader.contexts(ContextsQuery(limit=2))
    return page.contexts[0].context if len(page.contexts) == 1 else None


async def _missing(reason: str, reader: MemoryReader | None) -> InvalidInputError:
    return InvalidInputError(FieldProblem("context", f"is missing: {reason}", await _choice(reader)))


async def _choice(reader: MemoryReader | None) -> str:
    """Return how to choose a context, and which there are."""
    new = "a connection names a new one: by its address /mcp/NAME, or `vicw mcp --context NAME`"
    if reader is None:
        return f"Name it, or {new}"
    page = await reader.contexts(ContextsQuery(limit=_LISTED))
    names = ", ".join(repr(one.context) for one in page.contexts)
    return f"Name one of {names}{', …' if page.next else ''}; {new}" if names else f"There is none yet; {new}"
