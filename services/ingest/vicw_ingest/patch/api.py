"""HTTP endpoints that change stored items."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response

from vicw_ingest.patch.service import patch_by_id, patch_by_uid, versions_of
from vicw_ingest.pipeline import IngestPorts
from vicw_runtime.http import caller_of, refusals, tenant_of
from vicw_shared.wire.examples import story
from vicw_shared.wire.patch import ItemByIdQuery, ItemPatch, PatchedItem

_TAGS: list[str | Enum] = ["items"]
_RESPONSES = {
    **refusals(401, 403, 404, 409, 412, 413, 422, 429, 503, 507),
    202: {"model": PatchedItem, "description": "Durable; found so a little later"},
}
_ETAG = {"ETag": {"schema": {"type": "string"}, "description": "The version, for If-Match"}}
IfMatch = Annotated[
    str | None,
    Header(
        description='The version that the patch is for, such as `"3"`; another one is refused with 412',
        examples=['"1"'],
    ),
]


def add_patch_routes(router: APIRouter, ports: Callable[[], IngestPorts]) -> None:
    """Add the routes that change items. Each request calls ``ports`` anew."""

    @router.patch(
        "/items/{uid}",
        tags=_TAGS,
        responses={200: {"headers": _ETAG}, **_RESPONSES},
        operation_id="patch_item",
        summary="Change fields of an item",
    )
    async def patch_item(
        uid: Annotated[str, Path(examples=[story.BETRAYAL_UID])],
        patch: ItemPatch,
        http: Request,
        response: Response,
        if_match: IfMatch = None,
    ) -> PatchedItem:
        changed = await patch_by_uid(
            uid.lower(), patch, tenant_of(http), ports(), versions_of(if_match), caller_of(http).key
        )
        return _answer(*changed, response)

    @router.patch(
        "/items",
        tags=_TAGS,
        responses={200: {"headers": _ETAG}, **_RESPONSES},
        operation_id="patch_item_by_id",
        summary="Change fields of the item with your id",
    )
    async def patch_item_by_id(
        query: Annotated[ItemByIdQuery, Query()],
        patch: ItemPatch,
        http: Request,
        response: Response,
        if_match: IfMatch = None,
    ) -> PatchedItem:
        changed = await patch_by_id(
            query.context, query.id, patch, tenant_of(http), ports(), versions_of(if_match), caller_of(http).key
        )
        return _answer(*changed, response)


def _answer(item: PatchedItem, is_findable: bool, response: Response) -> PatchedItem:
    response.headers["ETag"] = f'"{item.version}"'
    response.status_code = 200 if is_findable else 202
    return item
