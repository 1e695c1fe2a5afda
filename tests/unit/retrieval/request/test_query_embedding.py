from __future__ import annotations

import numpy as np
import pytest

from support.fakes.hash_embedder import HashEmbedder
from vicw_retrieval.channels.dense import QueryVector
from vicw_shared.errors import UnavailableError

WRAPPED, BARE = "q: [Domain: code] sort a list", "q: sort a list"


async def test_a_query_vector_can_lie_midway_between_wrapped_and_bare_query() -> None:
    embedder = HashEmbedder()
    vector = QueryVector(embedder, "q: ", "sort a list")
    await vector.embed("code")
    wrapped, bare = await embedder.embed([WRAPPED, BARE], embedder.seen[0][0])
    assert vector.vector is not None
    assert np.allclose(vector.vector, wrapped)
    await vector.embed("code", bare=True)
    assert vector.vector @ wrapped == pytest.approx(vector.vector @ bare, abs=1e-6)
    assert np.linalg.norm(vector.vector) == pytest.approx(1)


async def test_each_wording_is_embedded_once() -> None:
    embedder = HashEmbedder()
    vector = QueryVector(embedder, "q: ", "sort a list")
    await vector.embed("code", bare=True)
    await vector.embed(None)
    await vector.embed("code")
    assert embedder.questions() == [WRAPPED, BARE]
    assert vector.bare, "it stays between both"


async def test_a_wording_that_could_not_be_embedded_is_not_used() -> None:
    embedder = HashEmbedder()
    vector = QueryVector(embedder, "", "sort a list")
    await vector.embed(None)
    embedder.down = True
    with pytest.raises(UnavailableError):
        await vector.embed("code")
    assert vector.is_for(None)
    assert not vector.is_for("code"), "its hits would be those of another wording"
