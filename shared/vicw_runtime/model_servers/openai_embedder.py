"""Embedder over any server with the OpenAI embeddings API, such as VICW's own."""

from __future__ import annotations

import base64
import contextlib
import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from vicw_core.index.wrapper import WRAPPER_VERSION
from vicw_runtime.model_servers.openai_connection import MAX_BYTES, OpenAIConnection
from vicw_shared.errors import LimitExceededError, OverloadedError, SettingsError, UnavailableError
from vicw_shared.ports.embedder import Lane, ModelIdentity
from vicw_shared.telemetry.engines import measured
from vicw_shared.wire.embeddings import LANE_HEADER, EmbeddingsResponse, ModelRow, ModelsResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_TEXTS_PER_REQUEST = 64
_CHARS_PER_REQUEST = 200_000
_MAX_DIMENSIONS = 16_384
"""Vector size assumed for a server that does not report it."""
_BYTES_PER_NUMBER = 40
"""Maximum length of a number as text, in any layout."""


def _ignore(_: str) -> None:
    """Do nothing."""


@measured("embedding")
class OpenAIEmbedder:
    """Client of the server at ``base_url`` (``…/v1``), or on the unix domain socket ``uds``; see ``OpenAIConnection``.

    It uses ``model``, or without one the only model of the server. A server that answers as another model than
    ``expected``, or than in its first answer, counts as down.

    ``on_failure`` is called with the ``base_url``, in the event loop, when a try or a call fails for another reason
    than a limit of the server, or is cancelled; it may ``switch_to`` another server.

    Embedding has no side effects, so a call may be repeated; a restart of the server costs its callers time, but no
    texts. ``dimensions`` requests vectors cut to that size. ``tokens_read`` counts, over its lifetime, the tokens that
    the server reports as read.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        uds: Path | None = None,
        model: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout_seconds: float = 120.0,
        retry_seconds: float = 20.0,
        expected: ModelIdentity | None = None,
        on_failure: Callable[[str], None] = _ignore,
    ) -> None:
        self._connection = OpenAIConnection(
            base_url=base_url,
            uds=uds,
            api_key=api_key,
            timeout_seconds=timeout_seconds,
            retry_seconds=retry_seconds,
            on_loss=on_failure,
        )
        self._on_failure = on_failure
        self._model = model
        self._served_model: str | None = None
        self._identity = expected
        self._dimensions = dimensions
        self.tokens_read = 0
        self._size = expected.size if expected is not None else None

    @property
    def base_url(self) -> str:
        """The server in use."""
        return self._connection.base_url

    def switch_to(self, base_url: str) -> None:
        """Switch to another server with the same model, also for retries under way."""
        self._connection.base_url = base_url

    async def identity(self) -> ModelIdentity:
        """Return name, size and digest as the server reports them.

        If the server reports no size or digest, the size is that of a test vector, and the digest the SHA-256 of the
        model's name. Raises UnavailableError, OverloadedError, SettingsError; the last also if no model is set and the
        server has several.
        """
        with self._reporting_failures():
            row = await self._model_row()
            self._served_model = self._served_model or row.id
            reported_size = row.size and (self._dimensions or row.size)
            size = reported_size or (await self._embed(["size"], Lane.QUERY)).shape[1]
            identity = ModelIdentity(row.id, size, row.digest or _name_digest(row.id), WRAPPER_VERSION)
            # The first identity counts: a server that changes its model must not fill one store with two models.
            if self._identity is None:
                self._identity, self._size = identity, size
            elif identity != self._identity:
                raise _model_changed(str(identity), str(self._identity))
            return identity

    async def listed(self) -> list[str]:
        """Return the names of the models that the server lists; [] if it has no such list. Raises UnavailableError."""
        try:
            return [row.id for row in await self._rows()]
        except SettingsError:
            return []

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        """Return unit vectors of shape (len(texts), size), float32, in order; see the port.

        Raises UnavailableError when the server cannot be reached or its answer is invalid, OverloadedError when its
        queue is full, LimitExceededError and InvalidInputError when it refuses the texts, SettingsError when the
        address, the key or the model is wrong.
        """
        with self._reporting_failures():
            if self._size is None and not texts:
                await self.identity()
            parts = [await self._embed(part, lane) for part in _requests(texts)]
            rows = np.concatenate(parts) if parts else np.empty((0, self._size or 0), dtype=np.float32)
            if self._size is None:
                self._size = rows.shape[1]
            if rows.shape[1] != self._size:
                raise _invalid_answer(f"vectors of {rows.shape[1]} dimensions where they had {self._size}")
            return rows

    async def close(self) -> None:
        """Close connections. Safe to call twice."""
        await self._connection.close()

    @contextlib.contextmanager
    def _reporting_failures(self) -> Iterator[None]:
        base_url = self.base_url
        try:
            yield
        except (OverloadedError, LimitExceededError):
            raise  # the server is up
        except BaseException:  # cancellation, too: a hanging server fails in no other way
            self._on_failure(base_url)
            raise

    async def _rows(self) -> list[ModelRow]:
        response = await self._connection.send("GET", "/models")
        try:
            return ModelsResponse.model_validate(response.json()).data
        except (ValueError, ValidationError) as error:
            raise _invalid_answer("no list of models") from error

    async def _model_row(self) -> ModelRow:
        try:
            rows = await self._rows()
        except SettingsError:
            if self._model is None:
                raise
            return ModelRow(id=self._model)  # a server without this page
        if self._model is not None:
            return next((row for row in rows if row.id == self._model), ModelRow(id=self._model))
        if len(rows) > 1:
            names = ", ".join(row.id for row in rows[:20])
            raise SettingsError(f"the embedding server has several models; set VICW_EMBEDDING_MODEL to one of {names}")
        if not rows:
            raise _invalid_answer("an empty list of models")
        return rows[0]

    async def _embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        body: dict[str, Any] = {"input": list(texts), "encoding_format": "base64"}
        if model := self._model or self._served_model:
            body["model"] = model  # most servers require it, even those with a single model
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        max_bytes = MAX_BYTES + len(texts) * (self._size or _MAX_DIMENSIONS) * _BYTES_PER_NUMBER
        headers = {LANE_HEADER: lane.value}
        response = await self._connection.send("POST", "/embeddings", body=body, headers=headers, max_bytes=max_bytes)
        try:
            answer = EmbeddingsResponse.model_validate(response.json())
            rows = _rows(answer, len(texts))
        except (ValueError, ValidationError) as error:
            raise _invalid_answer("something that is not a vector for each text") from error
        if self._identity is not None and _reports_digest(self._identity) and answer.model != self._identity.name:
            raise _model_changed(answer.model, self._identity.name)
        self.tokens_read += answer.usage.total_tokens
        return rows


def _requests(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start, chars = 0, 0
    for at, text in enumerate(texts):
        if at > start and (at - start == _TEXTS_PER_REQUEST or chars + len(text) > _CHARS_PER_REQUEST):
            yield texts[start:at]
            start, chars = at, 0
        chars += len(text)
    if start < len(texts):
        yield texts[start:]


def _rows(response: EmbeddingsResponse, count: int) -> NDArray[np.float32]:
    """Return the vectors in index order, of norm 1. Raises ValueError unless there is a valid one for each text."""
    if sorted(row.index for row in response.data) != list(range(count)):
        raise ValueError("the indexes are not those of the texts")
    ordered = sorted(response.data, key=lambda row: row.index)
    rows = np.stack([_vector(row.embedding) for row in ordered])
    with np.errstate(all="ignore"):  # the next line detects overflows
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise ValueError("a vector has no direction")
    unit: NDArray[np.float32] = (rows / norms).astype(np.float32)
    return unit


def _vector(embedding: list[float] | str) -> NDArray[np.float64]:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)
    return np.asarray(embedding, dtype=np.float64)


def _name_digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _reports_digest(model: ModelIdentity) -> bool:
    """Return whether the server reported its file's digest: the answers of such a server name their model."""
    return model.digest != _name_digest(model.name)


def _model_changed(current: str, expected: str) -> UnavailableError:
    return UnavailableError("embedding", f"the server has {current} now, not {expected}")


def _invalid_answer(content: str) -> UnavailableError:
    return UnavailableError("embedding", f"the server answered with {content}")
