"""Endpoints of the OpenAI embeddings protocol."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Header, Request, Response, Security

from vicw_embedding import metrics
from vicw_embedding.process.serving import CLIENT_DISCONNECTED, cancel_on_disconnect
from vicw_runtime.http import PROBES, Gate, bearer_scheme, refusals
from vicw_shared.errors import OverloadedError
from vicw_shared.ports.embedder import Lane
from vicw_shared.telemetry.spans import span
from vicw_shared.wire.embeddings import (
    LANE_HEADER,
    EmbeddingRow,
    EmbeddingsRequest,
    EmbeddingsResponse,
    ModelRow,
    ModelsResponse,
    Usage,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vicw_embedding.wiring import ServedModel


def create_router(gate: Gate) -> APIRouter:
    """Return the routes; ``gate`` checks the key."""
    router = APIRouter(
        prefix="/v1", route_class=gate.route(None), tags=["embeddings"], dependencies=[Security(bearer_scheme)]
    )
    router.add_api_route(
        "/embeddings",
        embeddings,
        methods=["POST"],
        summary="Embed texts as unit vectors",
        response_model=EmbeddingsResponse,
        responses=refusals(401, 413, 422, 429, 503),
    )
    router.add_api_route(
        "/models",
        models,
        summary="Get the served model, its size and its file's SHA-256",
        responses=refusals(401),
        tags=[PROBES],
    )
    return router


async def embeddings(
    body: EmbeddingsRequest,
    request: Request,
    lane: Annotated[Lane, Header(alias=LANE_HEADER, description="Which queue to join")] = Lane.BULK,
) -> Response:
    """Answer in the order of the input. ``model`` is ignored: there is only one."""
    served: ServedModel = request.app.state.served
    texts = [body.input] if isinstance(body.input, str) else body.input
    try:
        with span(f"embed.{lane}"), metrics.SECONDS.labels(lane.value).time():
            embedded = await cancel_on_disconnect(request, served.batcher.embed(texts, lane, body.dimensions))
    except OverloadedError:
        metrics.REJECTED.labels(lane.value).inc()
        raise
    if embedded is None:
        return Response(status_code=CLIENT_DISCONNECTED)
    metrics.TEXTS.labels(lane.value).inc(len(texts))
    packed = body.encoding_format == "base64"
    answer = EmbeddingsResponse(
        data=[EmbeddingRow(index=index, embedding=_encoded(row, packed)) for index, row in enumerate(embedded.rows)],
        model=served.file.card.name,
        usage=Usage(prompt_tokens=embedded.tokens, total_tokens=embedded.tokens),
    )
    return Response(answer.model_dump_json(), media_type="application/json")


async def models(request: Request) -> ModelsResponse:
    """Return the served model."""
    served: ServedModel = request.app.state.served
    row = ModelRow(id=served.file.card.name, size=served.batcher.size, digest=served.file.digest)
    return ModelsResponse(data=[row])


def _encoded(row: NDArray[np.float32], packed: bool) -> str | list[float]:
    if packed:
        return base64.b64encode(row.astype("<f4", copy=False).tobytes()).decode("ascii")
    values: list[float] = row.tolist()
    return values
