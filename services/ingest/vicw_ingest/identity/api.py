"""HTTP endpoints of entity resolution (``/entities``)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from vicw_core.changes import ChangeKind, record_change_now
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.identity.changes import merge, rename, split
from vicw_ingest.identity.entities import ComparisonScope, candidates, entity_by_uid, list_entities
from vicw_ingest.identity.user_persons import identify
from vicw_ingest.pipeline import IngestPorts
from vicw_ingest.secrets.request_scan import require_no_secret
from vicw_runtime.http import caller_of, refusals, tenant_of
from vicw_shared.clock import now
from vicw_shared.wire.entities import (
    Entity,
    EntityPage,
    EntityQuery,
    IdentifyRequest,
    IdentityChange,
    MergeCandidatePage,
    MergeCandidateQuery,
    MergeRequest,
    RenameRequest,
    SplitRequest,
)
from vicw_shared.wire.examples import story

_TAGS: list[str | Enum] = ["entities"]
_Uid = Annotated[str, Path(examples=[story.RAVEN])]
_CHANGES = refusals(401, 403, 409, 413, 422, 503, 507)


def add_entity_routes(router: APIRouter, ports: Callable[[], IngestPorts]) -> None:
    """Add the routes of ``/entities``. Each request calls ``ports`` anew."""

    @router.get(
        "/entities",
        tags=_TAGS,
        responses=refusals(401, 403, 422, 503),
        summary="List a context's entities",
        operation_id="list_entities",
    )
    async def get_entities(http: Request, query: Annotated[EntityQuery, Query()]) -> EntityPage:
        return await list_entities(
            ports().graph,
            tenant_of(http),
            query.context,
            subtype=query.subtype,
            prefix=query.prefix or "",
            after=query.after.lower() if query.after is not None else None,
            limit=query.limit,
        )

    @router.get(
        "/entities/candidates",
        tags=_TAGS,
        responses=refusals(401, 403, 422, 503),
        summary="List merge candidates",
        operation_id="list_merge_candidates",
    )
    async def get_candidates(http: Request, query: Annotated[MergeCandidateQuery, Query()]) -> MergeCandidatePage:
        settings = ports().settings
        threshold = query.threshold if query.threshold is not None else settings.candidate_threshold
        compared = ComparisonScope(tuple(query.context), query.subtype, threshold, settings.candidate_names)
        return await candidates(ports().graph, tenant_of(http), compared, query.limit)

    @router.get(
        "/entities/{uid}",
        tags=_TAGS,
        responses=refusals(401, 403, 404, 422, 503),
        summary="Get an entity",
        operation_id="get_entity",
    )
    async def get_entity(uid: _Uid, http: Request) -> Entity:
        return await entity_by_uid(ports().graph, tenant_of(http), uid.lower())

    @router.post(
        "/entities/merge", tags=_TAGS, responses=_CHANGES, summary="Merge two entities", operation_id="merge_entities"
    )
    async def post_merge(request: MergeRequest, http: Request) -> IdentityChange:
        tenant, entity = tenant_of(http), request.entity.lower()
        decision = MergeDecision(tenant, now(), ports().registry)
        changed = await merge(ports().graph, decision, entity, request.into.lower())
        await _record(http, ports(), ChangeKind.MERGE, changed=changed)
        return IdentityChange(entity=await entity_by_uid(ports().graph, tenant, entity), changed=changed)

    @router.post(
        "/entities/split", tags=_TAGS, responses=_CHANGES, summary="Split two entities", operation_id="split_entities"
    )
    async def post_split(request: SplitRequest, http: Request) -> IdentityChange:
        tenant, entity = tenant_of(http), request.entity.lower()
        other = request.apart_from.lower() if request.apart_from is not None else None
        changed = await split(ports().graph, MergeDecision(tenant, now(), ports().registry), entity, other)
        await _record(http, ports(), ChangeKind.SPLIT, changed=changed)
        return IdentityChange(entity=await entity_by_uid(ports().graph, tenant, entity), changed=changed)

    @router.post(
        "/entities/identify",
        tags=_TAGS,
        responses=_CHANGES,
        summary="Link a user to a person",
        operation_id="identify_user",
    )
    async def post_identify(request: IdentifyRequest, http: Request) -> IdentityChange:
        tenant, user = tenant_of(http), request.user.lower()
        decision = MergeDecision(tenant, now(), ports().registry)
        changed = await identify(ports().graph, decision, user, request.person.lower(), holds=request.holds)
        await _record(http, ports(), ChangeKind.IDENTIFY, changed=changed)
        return IdentityChange(entity=await entity_by_uid(ports().graph, tenant, user), changed=changed)

    @router.post(
        "/entities/{uid}/rename",
        tags=_TAGS,
        responses=_CHANGES | refusals(404),
        summary="Rename an entity",
        operation_id="rename_entity",
    )
    async def post_rename(uid: _Uid, request: RenameRequest, http: Request) -> IdentityChange:
        tenant, entity = tenant_of(http), uid.lower()
        require_no_secret("name", request.name, ports().settings.secrets)
        changed = await rename(ports().graph, tenant, entity, request.name, most_chars=ports().limits.name_chars)
        await _record(http, ports(), ChangeKind.RENAME, changed=changed)
        return IdentityChange(entity=await entity_by_uid(ports().graph, tenant, entity), changed=changed)


async def _record(http: Request, ports: IngestPorts, kind: ChangeKind, *, changed: bool) -> None:
    """Record a change of one entity."""
    if changed:
        caller = caller_of(http)
        await record_change_now(ports.graph, caller.tenant, kind, key=caller.key)
