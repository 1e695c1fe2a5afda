"""Change of one stored item: the use case behind ``PATCH /items``. It is an ingest of the item with ``merge``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vicw_ingest.patch.merge import named_items
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_ingest.versions.item_lookup import items_by_uid
from vicw_shared.errors import FieldProblem, InvalidInputError, MissingRecordError
from vicw_shared.model import Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import context_uid
from vicw_shared.wire.ingest import IngestRequest, Item
from vicw_shared.wire.patch import ItemPatch, PatchedItem

_OF_ITEM = "items[0]."
_VERSION = re.compile(r'"([0-9]{1,9})"')


def versions_of(if_match: str | None) -> tuple[int, ...] | None:
    """Return the versions that an If-Match header allows; None: any. Raises InvalidInputError for another header."""
    if if_match is None or if_match.strip() == "*":
        return None
    versions = [_VERSION.fullmatch(tag.strip()) for tag in if_match.split(",")]
    if not all(versions):
        raise InvalidInputError(
            FieldProblem("If-Match", "is no version of an item", 'Send the ETag of an answer, such as "3", or *')
        )
    return tuple(int(version[1]) for version in versions if version is not None)


async def patch_by_uid(
    uid: str,
    patch: ItemPatch,
    tenant: str,
    ports: IngestPorts,
    expected: Sequence[int] | None = None,
    key: str | None = None,
) -> tuple[PatchedItem, bool]:
    """Change the item with a uid, that of any version; as ``patch_by_id``. An item without an id gets its uid as id."""
    found = (await items_by_uid(lambda uids: ports.graph.nodes(tenant, uids), [uid])).get(uid)
    if found is None:
        raise MissingRecordError(f"There is no item {uid!r}")
    return await patch_by_id(found.context, found.source_id or uid, patch, tenant, ports, expected, key)


async def patch_by_id(
    context: str,
    item_id: str,
    patch: ItemPatch,
    tenant: str,
    ports: IngestPorts,
    expected: Sequence[int] | None = None,
    key: str | None = None,
) -> tuple[PatchedItem, bool]:
    """Change the live item with a caller's id. Return it, and whether /retrieve already finds it so.

    Raises MissingRecordError for an item that is not stored, or retracted; VersionMismatchError if its version is
    not ``expected``; else the errors of ``ingest``. Nothing is changed then.
    """
    node = await _stored(context, item_id, tenant, ports)
    fields = patch.model_dump(exclude_unset=True)
    try:
        item = Item.model_validate({**fields, "id": item_id, "merge": True})
        request = IngestRequest(context=context, domain=node.domain, items=(item,))
        answer, is_findable = await ingest(request, tenant, ports, expected=expected, key=key)
    except InvalidInputError as error:
        raise InvalidInputError(*map(_of_patch, error.problems)) from error
    (outcome,) = answer.items
    version = outcome.version
    assert version is not None
    masked = (one.model_copy(update={"field": one.field.removeprefix(_OF_ITEM)}) for one in outcome.masked)
    outcome = outcome.model_copy(update={"masked": tuple(masked)})
    return PatchedItem(context=context, version=version, job=answer.job, item=outcome), is_findable


async def _stored(context: str, item_id: str, tenant: str, ports: IngestPorts) -> Node:
    node: Node | None = None
    if await ports.graph.nodes(tenant, [context_uid(tenant, context)]):

        async def read(transaction: GraphTransaction) -> Node | None:
            return (await named_items(transaction, context, [item_id])).get(item_id)

        node = await ports.graph.write(tenant, context, read)
    if node is None or node.retired_at is not None:
        raise MissingRecordError(f"There is no live item {item_id!r} in context {context!r}")
    return node


def _of_patch(problem: FieldProblem) -> FieldProblem:
    return FieldProblem(problem.field.removeprefix(_OF_ITEM), problem.problem, problem.fix)
