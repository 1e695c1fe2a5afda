"""Reranker over any server with the ``POST /rerank`` API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from vicw_runtime.model_servers.openai_connection import OpenAIConnection, Peer
from vicw_shared.errors import BrokenError, SettingsError
from vicw_shared.telemetry.engines import measured

if TYPE_CHECKING:
    from vicw_shared.settings import RerankSettings


class RerankRequest(BaseModel):
    """A question and the texts to score. ``top_n`` is the number of best texts to return."""

    query: str
    documents: list[str]
    model: str | None = None
    top_n: int


class RerankRow(BaseModel):
    """The score of the text at ``index`` of the request, counted from 0."""

    model_config = ConfigDict(extra="ignore")

    index: Annotated[int, Field(ge=0)]
    relevance_score: FiniteFloat


class RerankResponse(BaseModel):
    """Scores, best first."""

    model_config = ConfigDict(extra="ignore")

    results: list[RerankRow]


PEER = Peer("rerank", "the re-ranking server", "VICW_RERANK_")


@measured("rerank")
class HttpReranker:
    """Client of the server at ``base_url`` (``…/v1``)."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = 10.0,
    ) -> None:
        # No retries: each would delay the question.
        self._connection = OpenAIConnection(
            base_url=base_url, uds=None, api_key=api_key, timeout_seconds=timeout_seconds, retry_seconds=0.0, peer=PEER
        )
        self._model = model

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text; see the port."""
        if not texts:
            return []
        request = RerankRequest(query=query, documents=list(texts), model=self._model, top_n=len(texts))
        answer = await self._connection.send("POST", "/rerank", body=request.model_dump(exclude_none=True))
        try:
            rows = RerankResponse.model_validate(answer.json()).results
        except (ValueError, ValidationError) as error:
            raise BrokenError(PEER.dependency, "the answer is not a list of scores") from error
        scores = {row.index: row.relevance_score for row in rows}
        if len(rows) != len(texts) or scores.keys() != set(range(len(texts))):
            raise BrokenError(PEER.dependency, f"{len(rows)} scores came for {len(texts)} texts, or not one for each")
        return [scores[at] for at in range(len(texts))]

    async def close(self) -> None:
        """Close connections. Safe to call twice."""
        await self._connection.close()


def open_reranker(settings: RerankSettings) -> HttpReranker:
    """Return the reranker at VICW_RERANK_URL. Raises SettingsError if there is no URL."""
    if settings.url is None:
        raise SettingsError(
            f"VICW_RERANK_MODEL is {settings.model}, and VICW_RERANK_URL is not set. Set VICW_RERANK_URL to a server "
            "that has this model and answers POST …/rerank"
        )
    return HttpReranker(
        base_url=settings.url.strip(),
        model=settings.model,
        api_key=settings.api_key.get_secret_value() if settings.api_key is not None else None,
        timeout_seconds=settings.timeout_seconds,
    )
