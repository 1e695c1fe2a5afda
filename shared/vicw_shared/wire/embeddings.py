"""Messages of the OpenAI API, ``POST /v1/embeddings`` and ``GET /v1/models``, as far as VICW uses them.

The lane is sent as the header ``X-VICW-Lane``, which other servers ignore.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

LANE_HEADER = "X-VICW-Lane"


class EmbeddingsRequest(BaseModel):
    """A batch of texts. Unknown fields are ignored, as by OpenAI's servers."""

    model: str | None = None
    input: str | Annotated[list[str], Field(min_length=1)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, gt=0)


class EmbeddingRow(BaseModel):
    """One vector: a list of floats, or the base64 of its little-endian float32 bytes."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """Tokens read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsResponse(BaseModel):
    """Vectors in the order of the input."""

    object: Literal["list"] = "list"
    data: list[EmbeddingRow]
    model: str
    usage: Usage


class ModelRow(BaseModel):
    """A served model. ``size`` and ``digest`` are extensions of VICW; other servers lack them."""

    id: str
    object: Literal["model"] = "model"
    owned_by: str = "vicw"
    size: int | None = None
    digest: str | None = None


class ModelsResponse(BaseModel):
    """The served models; VICW's server has one."""

    object: Literal["list"] = "list"
    data: list[ModelRow]
