"""Operations of ``vicw forget``: ``forget/select`` shows what would go, ``forget`` and ``forget/import`` erase it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from vicw_core.archive.import_marker import mark_abandoned
from vicw_ingest.erasure import examples
from vicw_ingest.erasure.abandoned_import import choose_imported, settle_abandoned
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.proof import FinishedErasure
from vicw_ingest.erasure.selection import (
    ErasureSelection,
    choose_by_filter,
    choose_context,
    choose_items,
    choose_person,
    choose_tenant,
    choose_user,
)
from vicw_ingest.erasure.service import WAIT_SECONDS, Forgetting
from vicw_runtime.operations import Memory, NoItem, Opening, Operation, Report, Stores
from vicw_shared.errors import MissingRecordError, StateConflictError
from vicw_shared.ports import Store
from vicw_shared.progress import Progress
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.base import Message, RawText, StrictBool, StrictInt, example
from vicw_shared.wire.filters import Filter

MAX_FOLDERS = 100
_MAX_IDS = 10_000


class ItemsToForget(Message):
    """Items with all their versions, by id or uid."""

    what: Literal["items"]
    tenant: RawText = "default"
    ids: tuple[RawText, ...] = Field(min_length=1, max_length=_MAX_IDS)
    context: RawText | None = Field(None, description="Only in this context; needed if several have the id")


class FilterToForget(Message):
    """Items of which the latest version passes a filter, with all their versions."""

    what: Literal["filter"]
    tenant: RawText = "default"
    filter: Filter
    context: RawText | None = Field(None, description="Only in this context")
    all: StrictBool = Field(False, description="Needed for a filter that every item passes")


class PersonToForget(Message):
    """What a person said and what is about the person, by name or uid."""

    what: Literal["person"]
    tenant: RawText = "default"
    name: RawText
    context: RawText | None = None
    everywhere: StrictBool = Field(False, description="The name is the same person in every context")
    mentions: StrictBool = Field(False, description="Also items of others that mention the person")


class UserToForget(Message):
    """What a user and the user's person said, and what is about that person, by the caller's id of the user."""

    what: Literal["user"]
    tenant: RawText = "default"
    user: RawText
    context: RawText | None = None
    mentions: StrictBool = Field(False, description="Also items of others that mention the person")


class ContextToForget(Message):
    """A context with everything in it."""

    what: Literal["context"]
    tenant: RawText = "default"
    name: RawText


class TenantToForget(Message):
    """All contexts of a tenant."""

    what: Literal["tenant"]
    name: RawText


class ImportToForget(Message):
    """What an interrupted import has stored."""

    what: Literal["import"]


type Target = Annotated[
    ItemsToForget | FilterToForget | UserToForget | PersonToForget | ContextToForget | TenantToForget,
    Field(discriminator="what"),
]
type AnyTarget = Annotated[
    ItemsToForget | FilterToForget | UserToForget | PersonToForget | ContextToForget | TenantToForget | ImportToForget,
    Field(discriminator="what"),
]
type Copies = Annotated[
    tuple[str, ...],
    Field(max_length=MAX_FOLDERS, description="Folders of exports and backups to search, on the server's machine"),
]


class SelectRequest(Message):
    """Show what would be erased."""

    model_config = example({"target": examples.TARGET})

    target: AnyTarget


class Selected(Message):
    """What would be erased: ``items`` by context, whole ``contexts``, or what was imported into ``partial`` ones.

    ``people`` are names of a person. ``mentioned`` counts items of others that mention the person, and stay.
    """

    tenant: str
    items: dict[str, StrictInt] = Field(default_factory=dict)
    contexts: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    mentioned: StrictInt = 0


class SelectResult(Message):
    """One selection per tenant."""

    model_config = example(examples.SELECTED)

    selected: tuple[Selected, ...]


class ForgetRequest(Message):
    """Erase for good, continue unfinished erasures, and prove that nothing is left."""

    model_config = example({"target": examples.TARGET})

    target: Target | None = Field(None, description="null: only continue unfinished erasures")
    copies: Copies = ()


class ForgetImportRequest(Message):
    """Erase what an interrupted import has stored."""

    model_config = example({})

    copies: Copies = ()


class ErasureResult(Message):
    """What an erasure removed in this run, and what the search for it has found.

    Places ``found`` and ``copies`` still have erased data; ``unreadable`` copies may have it; folders ``missing`` count
    as removed. ``read``: bytes of files searched. ``searched``: copies searched (null: no folder was named). ``empty``:
    nothing was erased. ``waiting`` passages are not indexed yet. ``earlier``: an earlier run began it.
    """

    erasure: str
    earlier: StrictBool
    nodes: dict[str, StrictInt]
    receipts: StrictInt
    steps: StrictInt
    proven: StrictBool
    found: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    searched: StrictInt | None = None
    read: StrictInt = 0
    empty: StrictBool = False
    waiting: StrictInt = 0


class ForgetResult(Message):
    """All erasures that this run has worked on. ``files``: the engines' own files were rewritten and searched."""

    model_config = example(examples.ERASED)

    erasures: tuple[ErasureResult, ...] = ()
    files: StrictBool


async def select(stores: Stores, request: SelectRequest, report: Report[NoItem]) -> SelectResult:
    """Select what would be erased; read-only. Raises MissingRecordError or StateConflictError as ``forget`` does."""
    chosen = await _choose(stores.graph, request.target)
    return SelectResult(selected=tuple(map(_selected, chosen)))


async def forget(memory: Memory, request: ForgetRequest, report: Report[NoItem]) -> ForgetResult:
    """Erase, and prove it.

    Raises MissingRecordError for an unknown target, and a filter that nothing passes; StateConflictError for an
    ambiguous one, and for a person that only items of others mention; InvalidInputError for a folder of copies that
    does not exist. Nothing is erased then.
    """
    chosen = await _choose(memory.graph, request.target) if request.target is not None else []
    for selection in chosen:
        if selection.is_empty:
            raise MissingRecordError("No item passes the filter")
        if selection.is_only_mentioned:
            raise StateConflictError("No item is by or about this person: name ``mentions`` to erase items of others")
    return await _forget(memory, chosen, request.copies, report)


async def forget_import(memory: Memory, request: ForgetImportRequest, report: Report[NoItem]) -> ForgetResult:
    """Give an interrupted import up. Raises MissingRecordError if there is none."""
    chosen = await choose_imported(memory.graph)
    await mark_abandoned(memory.graph)
    result = await _forget(memory, chosen, request.copies, report)
    await settle_abandoned(memory.graph)
    return result


def forgetting_of(memory: Memory, progress: Progress) -> Forgetting:
    """Return what erases from a memory, and proves it."""
    eraser = Eraser(memory.graph, memory.indexes, memory.registry, lambda erased: progress("erasing", erased, 0))
    return Forgetting(
        eraser=eraser,
        index_queued=memory.index_queued,
        files=memory.files,
        mirror=memory.mirror,
        wait_seconds=WAIT_SECONDS,
        progress=progress,
    )


async def _forget(
    memory: Memory, chosen: Sequence[ErasureSelection], copies: Sequence[str], report: Report[NoItem]
) -> ForgetResult:
    forgetting = forgetting_of(memory, report.progress)
    begun, finished = await forgetting.forget(chosen, [Path(folder) for folder in copies])
    return ForgetResult(
        erasures=tuple(_result(one, earlier=one.erasure not in begun) for one in finished),
        files=memory.files is not None,
    )


async def _choose(graph: Store, target: AnyTarget) -> list[ErasureSelection]:
    match target:
        case ItemsToForget(tenant=tenant, ids=ids, context=context):
            chosen = await choose_items(graph, tenant, ids, context)
        case FilterToForget(tenant=tenant, filter=wanted, context=context):
            chosen = await choose_by_filter(graph, tenant, wanted, context, LimitSettings(), everything=target.all)
        case UserToForget(tenant=tenant, user=user, context=context):
            chosen = await choose_user(graph, tenant, user, context, with_mentions=target.mentions)
        case PersonToForget(tenant=tenant, name=name, context=context):
            chosen = await choose_person(
                graph, tenant, name, context, everywhere=target.everywhere, with_mentions=target.mentions
            )
        case ContextToForget(tenant=tenant, name=name):
            chosen = await choose_context(graph, tenant, name)
        case TenantToForget(name=name):
            chosen = await choose_tenant(graph, name)
        case ImportToForget():
            return await choose_imported(graph)
    return [chosen]


def _selected(chosen: ErasureSelection) -> Selected:
    return Selected(
        tenant=chosen.tenant,
        items={context: len(uids) for context, uids in chosen.items.items()},
        contexts=chosen.contexts,
        partial=chosen.partial,
        people=tuple(sorted({person.name for person in chosen.people})),
        mentioned=chosen.mentioned,
    )


def _result(finished: FinishedErasure, *, earlier: bool) -> ErasureResult:
    proof, done = finished.proof, finished.done
    return ErasureResult(
        erasure=finished.erasure,
        earlier=earlier,
        nodes=done.nodes,
        receipts=done.receipts,
        steps=done.steps,
        proven=proof.holds,
        found=tuple(proof.places),
        copies=tuple(map(str, proof.copies)),
        unreadable=tuple(proof.unreadable),
        missing=tuple(map(str, proof.missing)),
        searched=proof.searched,
        read=proof.read,
        empty=proof.empty,
        waiting=proof.waiting,
    )


SELECT = Operation(
    name="forget/select",
    summary="Show what would be erased",
    request=SelectRequest,
    result=SelectResult,
    item=NoItem,
    run=select,
    opening=Opening.STORES,
    owner_only=True,
)
FORGET = Operation(
    name="forget",
    summary="Erase for good, and prove that nothing is left",
    request=ForgetRequest,
    result=ForgetResult,
    item=NoItem,
    run=forget,
    owner_only=True,
)
FORGET_IMPORT = Operation(
    name="forget/import",
    summary="Erase what an interrupted import has stored",
    request=ForgetImportRequest,
    result=ForgetResult,
    item=NoItem,
    run=forget_import,
    opening=Opening.HALF,
    owner_only=True,
)
OPERATIONS = (SELECT, FORGET, FORGET_IMPORT)
