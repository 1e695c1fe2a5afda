"""The vectors of an index that a running server has open."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vicw_shared.errors import StateConflictError
from vicw_shared.ports import ModelIdentity
from vicw_standalone.reindex.remote import Remote


class RemoteVectors:
    """Vectors of a model, fetched from a server."""

    def __init__(self, remote: Remote, model: ModelIdentity) -> None:
        self._remote = remote
        self._model = model

    async def dense(self, ids: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the vectors of at most 1000 points, by id; points without one are omitted.

        Raises StateConflictError if the server has changed its model, UnavailableError, FatalError on a refusal.
        """
        answer = await asyncio.to_thread(self._remote.vectors, ids)
        if answer.model != self._model.key:
            raise StateConflictError("The server's model has changed meanwhile: run the export again")
        return {uid: np.frombuffer(base64.b64decode(row), "<f4") for uid, row in answer.vectors.items()}
