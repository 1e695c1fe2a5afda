"""Re-ranking API of Jina and Cohere, also spoken by llama.cpp's server."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat


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
