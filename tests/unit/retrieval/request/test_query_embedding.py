from __future__ import annotations

import numpy as np
import pytest

from support.fakes.hash_embedder import HashEmbedder
from vicw_retrieval.channels.dense import QueryEmbedder
from vicw_shared.errors import UnavailableError

WRAPPED, BARE = "q: [Domain: code] sort a list", "q: sort a list"


async def test_a_query_vector_can_lie_midway_between_wrapped_and_bare_query() -> None:
    embedder = HashEmbedder()
    query = QueryEmbedder(embedder, "q: ", "sort a list")
    first = await query.embed("code")
    wrapped, bare = await embedder.embed([WRAPPED, BARE], embedder.seen[0][0])
    assert first.vector is not None
    assert np.allclose(first.vector, wrapped)
    middle = await query.embed("code", bare=True)
    assert middle.vector is not None
    assert middle.vector @ wrapped == pytest.approx(middle.vector @ bare, abs=1e-6)
    assert np.linalg.norm(middle.vector) == pytest.approx(1)
    assert (middle.wrapped, middle.bare, first.bare) == (WRAPPED, True, False)


async def test_each_wording_is_embedded_once() -> None:
    embedder = HashEmbedder()
    query = QueryEmbedder(embedder, "q: ", "sort a list")
    assert (query.has_answered, query.known("code")) == (False, None)
    await query.embed("code", bare=True)
    await query.embed(None)
    await query.embed("code")
    assert embedder.questions() == [WRAPPED, BARE]
    assert query.has_answered


async def test_a_wording_that_could_not_be_embedded_is_not_known() -> None:
    embedder = HashEmbedder()
    query = QueryEmbedder(embedder, "", "sort a list")
    await query.embed(None)
    embedder.down = True
    with pytest.raises(UnavailableError):
        await query.embed("code")
    assert query.known(None) is not None
    assert query.known("code") is None, "its hits would be those of another wording"
