"""Endpoints of agents' hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response, Security

from vicw_core.hook_events import OWNER_HEADER, TURNS_HEADER
from vicw_retrieval.agent_hooks.model import Agent, HookEvent, HookOutput, HookQuery, SessionAnswer, SessionEvent
from vicw_retrieval.agent_hooks.port import TurnWriter
from vicw_retrieval.agent_hooks.service import HookPorts, Sender, handle_event, handle_session_event
from vicw_runtime.http import Caller, Gate, bearer_scheme, caller_of, is_of_this_machine, refusals
from vicw_shared.model.keys import Right


def create_hooks_router(ports: HookPorts, writer: Callable[[Caller, str | None], TurnWriter], gate: Gate) -> APIRouter:
    """Return the routes behind ``gate``. ``writer`` gets the caller and the ``Authorization`` header, None without."""
    router = APIRouter(
        prefix="/hooks",
        route_class=gate.route(Right.RETRIEVE),
        tags=["hooks"],
        dependencies=[Security(bearer_scheme)],
        responses=refusals(401, 403, 413, 422, 429, 503),
    )

    def sender(http: Request) -> Sender:
        caller = caller_of(http)

        def open_writer() -> TurnWriter:
            caller.require(Right.INGEST)
            return writer(caller, http.headers.get("authorization"))

        is_local = is_of_this_machine(http)
        is_owner = is_local and gate.is_owners(http.headers.get(OWNER_HEADER, ""), http)
        return Sender(caller.tenant, open_writer, is_local, is_owner)

    @router.post(
        "/claude-code",
        operation_id="hook_claude_code",
        response_model=HookOutput,
        summary="Answer a hook of Claude Code",
    )
    async def post_claude_code(event: HookEvent, http: Request, query: Annotated[HookQuery, Query()]) -> Response:
        return _response(await handle_event(event, Agent.CLAUDE_CODE, query.context, sender(http), ports))

    @router.post("/codex", operation_id="hook_codex", response_model=HookOutput, summary="Answer a hook of Codex")
    async def post_codex(event: HookEvent, http: Request, query: Annotated[HookQuery, Query()]) -> Response:
        return _response(await handle_event(event, Agent.CODEX, query.context, sender(http), ports))

    @router.post("/session", operation_id="hook_session", summary="Answer an event of any agent's session")
    async def post_session(event: SessionEvent, http: Request) -> SessionAnswer:
        return await handle_session_event(event, sender(http), ports)

    return router


def _response(output: HookOutput) -> Response:
    headers = {TURNS_HEADER: "yes"} if output.wants_turns else None
    body = output.model_dump_json(by_alias=True, exclude_none=True)
    return Response(body, media_type="application/json", headers=headers)
