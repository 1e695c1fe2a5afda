"""What leads a client to the issuer: protected-resource metadata (RFC 9728), and the challenge that names it."""

from __future__ import annotations

import re
from urllib.parse import quote

from fastapi import FastAPI, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from vicw_shared.errors import FieldProblem, ForbiddenError, InvalidInputError, MissingRecordError
from vicw_shared.model.keys import Right
from vicw_shared.settings import OidcSettings
from vicw_shared.wire.host_names import Host

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_MCP = re.compile(r"/mcp(/.*)?", re.DOTALL)
_PATH_CHARS = "/:@!$&'()*+,;=~"
_SCOPE_CLAIMS = ("scope", "scp")
"""Claims with what a client can ask its issuer for; roles and groups are given, not asked for."""
_OF_AGENTS = (Right.RETRIEVE, Right.INGEST)


def add_metadata(app: FastAPI, settings: OidcSettings) -> None:
    """Add the routes of the metadata: of the whole API, of ``/mcp``, and of ``/mcp/CONTEXT``."""

    async def get_metadata(request: Request) -> JSONResponse:
        path = request.scope["path"].removeprefix(WELL_KNOWN)
        if path and not _MCP.fullmatch(path):
            raise MissingRecordError(f"There is metadata of this server, and at {WELL_KNOWN}/mcp of its MCP server")
        base = _base(request, settings)
        if base is None:
            raise InvalidInputError(FieldProblem("Host", "is no name of a server", "Correct the header"))
        scopes = _scopes(settings, tuple(Right))
        return JSONResponse(
            {
                "resource": base + quote(path, safe=_PATH_CHARS),
                "resource_name": "VICW",
                "authorization_servers": [settings.issuer],
                "bearer_methods_supported": ["header"],
                **({"scopes_supported": scopes} if scopes else {}),
            }
        )

    for path in (WELL_KNOWN, WELL_KNOWN + "/{resource:path}"):
        app.router.routes.append(Route(path, get_metadata, methods=["GET"], include_in_schema=False))


def challenge(request: Request, settings: OidcSettings, error: Exception, right: Right | None) -> str:
    """Return the header ``WWW-Authenticate`` of a refusal, which names the metadata (RFC 6750, RFC 9728).

    Its scopes are those of the ``right`` that was missing, else those that an agent needs.
    """
    path = request.scope["path"] if _MCP.fullmatch(request.scope["path"]) else ""
    base = _base(request, settings)
    scopes, problem = _scopes(settings, _OF_AGENTS), ""
    if isinstance(error, ForbiddenError):
        problem, scopes = "insufficient_scope", _scopes(settings, (right,)) if right is not None else scopes
    elif "authorization" in request.headers:
        problem = "invalid_token"
    values = {
        "error": problem,
        "scope": " ".join(scopes),
        "resource_metadata": f"{base}{WELL_KNOWN}{quote(path, safe=_PATH_CHARS)}" if base else "",
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in values.items() if value)


def _scopes(settings: OidcSettings, rights: tuple[Right, ...]) -> list[str]:
    if settings.scope_claim not in _SCOPE_CLAIMS:
        return []
    return list(dict.fromkeys(scope for scope, right in settings.rights if right in rights))


def _base(request: Request, settings: OidcSettings) -> str | None:
    """Return the address by which clients call this server; None if a request calls it by no name."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    try:
        return f"{request.url.scheme}://{Host.parse(request.headers.get('host', ''))}"
    except ValueError:
        return None
