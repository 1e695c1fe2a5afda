"""An index that is not open yet."""

from __future__ import annotations

from typing import Any, cast

from vicw_shared.errors import UnavailableError
from vicw_shared.ports import VectorStore


class _ClosedVectors:
    """A VectorStore whose operations all raise UnavailableError."""

    def __getattr__(self, operation: str) -> Any:
        async def refuse(*_: object, **__: object) -> None:
            raise UnavailableError("vectors", "the index is being opened")

        return refuse


CLOSED_VECTORS = cast("VectorStore", _ClosedVectors())
