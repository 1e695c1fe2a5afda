"""What an operation is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from vicw_shared.progress import Progress, silent
from vicw_shared.wire.base import Message

if TYPE_CHECKING:  # every command imports this module
    from vicw_core.changes import ChangeKind


class Opening(Enum):
    """What a command opens for an operation when no server has the memory open."""

    STORES = auto()
    """``Stores``: no embedding model is started, and nothing is changed by opening them."""
    NEW = auto()
    """As ``STORES``; a data directory without a store gets an empty one."""
    MEMORY = auto()
    """``Memory``: what is queued for the index is indexed before it is closed."""
    HALF = auto()
    """``Memory``, even if an import into it was interrupted; a server never serves such a store."""


class NoItem(Message):
    """The items of an operation that reports none."""


def ignore(item: object) -> None:
    """Ignore an item."""


@dataclass(frozen=True, slots=True)
class Report[I: Message]:
    """Where an operation reports its progress, and its items in order, while it runs, and who has it run.

    Both calls return at once; progress may be dropped, items are not. ``key``: the id of the caller's key, if it has
    one.
    """

    progress: Progress = silent
    item: Callable[[I], None] = ignore
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation[M, Q: Message, R: Message, I: Message]:
    """An operation on a memory, the same beside a running server and without one.

    ``run`` gets ``Stores`` or a ``Memory``, or what a feature's port asks of them in addition. ``name`` is its address
    under ``/admin``. ``run`` is the use case: it raises VicwErrors, and may be stopped at any await, since each of its
    steps leaves the stores whole. ``owner_only``: on a server, only who owns the data directory may call it, and no
    key: it makes keys, reads or writes files that the caller names, or shows what is stored. ``needs_owner`` returns
    whether a request is one of these, where not all are.

    ``of_tenant``: the request has a ``tenant`` (None: all), and its items show what is stored. A key that has the right
    ``retrieve``, too, may run it for its own tenant, and for no other. Whatever is not of a tenant is of all of them: a
    key that runs it is of the operator's tenant.

    ``change`` returns what the record of changes says of a request, under the caller's tenant; None: the request only
    reads, or ``run`` records it itself. A server records it when it begins, unless the owner calls.
    """

    name: str
    summary: str
    request: type[Q]
    result: type[R]
    run: Callable[[M, Q, Report[I]], Awaitable[R]]
    item: type[I]
    opening: Opening = Opening.MEMORY
    owner_only: bool = False
    needs_owner: Callable[[Q], bool] = lambda request: False
    of_tenant: bool = False
    change: Callable[[Q], ChangeKind | None] = lambda request: None


type AnyOperation = Operation[Any, Any, Any, Any]
