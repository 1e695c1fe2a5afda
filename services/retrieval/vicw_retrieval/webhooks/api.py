"""Endpoints of webhooks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response, Security

from vicw_retrieval.webhooks import service
from vicw_retrieval.webhooks.service import WebhookPorts
from vicw_runtime.http import Gate, bearer_scheme, caller_of, refusals, tenant_of
from vicw_shared.clock import now
from vicw_shared.errors import ForbiddenError
from vicw_shared.model.keys import Right
from vicw_shared.model.webhooks import Webhook
from vicw_shared.wire.examples import story
from vicw_shared.wire.webhooks import (
    DeadMessages,
    ListedWebhook,
    MadeWebhook,
    NewSecret,
    NewWebhook,
    Replayed,
    WebhookList,
    WebhookReplay,
)

_Id = Annotated[str, Path(examples=[story.WEBHOOK])]


def create_webhooks_router(ports: Callable[[], WebhookPorts], gate: Gate) -> APIRouter:
    """Return the routes behind ``gate``. ``ports`` is called once per request.

    The right is ``admin``, since requests of the server's are a matter of its operator, and ``retrieve`` for what
    shows or sends events.
    """
    router = APIRouter(
        prefix="/webhooks",
        route_class=gate.route(Right.ADMIN),
        tags=["webhooks"],
        dependencies=[Security(bearer_scheme)],
    )

    @router.get("", responses=refusals(401, 403, 503), summary="List webhooks", operation_id="list_webhooks")
    async def get_webhooks(http: Request) -> WebhookList:
        hooks = await ports().store.of_tenant(tenant_of(http))
        return WebhookList(webhooks=tuple(map(_shown, hooks)))

    @router.post(
        "",
        status_code=201,
        responses=refusals(401, 403, 409, 413, 422, 503, 507),
        summary="Send events to an address",
        operation_id="create_webhook",
    )
    async def post_webhook(request: NewWebhook, http: Request) -> MadeWebhook:
        _require_reader(http)
        hook = await service.make_webhook(ports(), tenant_of(http), request, caller_of(http).key)
        return MadeWebhook(secret=hook.secret, **_shown(hook).model_dump())

    @router.delete(
        "/{webhook}",
        status_code=204,
        responses=refusals(401, 403, 404, 422, 503, 507),
        summary="Remove a webhook",
        operation_id="delete_webhook",
    )
    async def delete_webhook(webhook: _Id, http: Request) -> Response:
        await service.remove_webhook(ports(), tenant_of(http), webhook, caller_of(http).key)
        return Response(status_code=204)

    @router.post(
        "/{webhook}/secret",
        responses=refusals(401, 403, 404, 413, 422, 429, 503, 507),
        summary="Give a webhook a new secret",
        operation_id="rotate_secret",
    )
    async def post_secret(webhook: _Id, request: NewSecret, http: Request) -> MadeWebhook:
        _require_reader(http)
        overlap, caller = timedelta(hours=request.overlap_hours), caller_of(http)
        hook = await service.rotate_secret(ports(), caller.tenant, webhook, overlap, caller.key)
        return MadeWebhook(secret=hook.secret, **_shown(hook).model_dump())

    @router.get(
        "/{webhook}/dead",
        responses=refusals(401, 403, 404, 422, 503),
        summary="List what a receiver did not take",
        operation_id="list_dead_messages",
    )
    async def get_dead(webhook: _Id, http: Request) -> DeadMessages:
        _require_reader(http)
        return DeadMessages(messages=tuple(await service.dead_messages(ports(), tenant_of(http), webhook)))

    @router.post(
        "/{webhook}/replay",
        responses=refusals(401, 403, 404, 413, 422, 429, 503, 507),
        summary="Send again what a receiver did not take",
        operation_id="replay_dead_messages",
    )
    async def post_replay(webhook: _Id, request: WebhookReplay, http: Request) -> Replayed:
        _require_reader(http)
        caller = caller_of(http)
        return Replayed(count=await service.replay(ports(), caller.tenant, webhook, request.messages, caller.key))

    return router


def _require_reader(http: Request) -> None:
    if Right.RETRIEVE not in caller_of(http).rights:
        raise ForbiddenError("Events tell of what is stored: this needs a key with the right retrieve, too")


def _shown(hook: Webhook) -> ListedWebhook:
    waiting = hook.waiting
    return ListedWebhook(
        id=hook.id,
        url=hook.url,
        kinds=hook.kinds,
        created_at=hook.created_at,
        told_until=hook.mark,
        waiting=len(waiting),
        dead=len(hook.dead),
        old_secret_until=hook.old_until if hook.old_until is not None and hook.old_until > now() else None,
        error=next((one.error for one in hook.messages if one.error), ""),
    )
