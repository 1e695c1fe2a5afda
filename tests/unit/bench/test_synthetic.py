from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import settings_for
from vicw_bench.filling import read_marker
from vicw_bench.speed.retrieve import fill_synthetic
from vicw_bench.speed.seeded import SeededEmbedder
from vicw_bench.speed.synthetic import TURNS_OF_A_FLOW, Chat
from vicw_bench.targets import open_local
from vicw_shared.ports import Lane
from vicw_shared.wire.retrieve import RetrieveRequest


def test_synthetic_chats_have_realistic_lengths_flows_and_word_frequencies() -> None:
    items = [item for request in Chat().requests(2000) for item in request.items]
    lengths = [len(item.text.split()) for item in items]
    assert len({item.text for item in items}) == len({item.id for item in items}) == 2000
    assert 20 <= median(lengths) <= 30
    assert set(Counter(item.flow_id for item in items).values()) == {TURNS_OF_A_FLOW}
    assert all(a.timestamp < b.timestamp for a, b in pairwise(items) if a.timestamp and b.timestamp)
    words = Counter(word for item in items for word in item.text.lower().split())
    assert words["the"] > 20 * median(words.values())


def test_the_same_seed_gives_the_same_chats_and_distinct_questions() -> None:
    assert list(Chat().requests(300)) == list(Chat().requests(300))
    assert list(Chat(1).requests(100)) != list(Chat(2).requests(100))
    assert len(set(Chat().questions(500))) == 500


async def test_a_synthetic_store_opens_with_the_model_of_its_identity(tmp_path: Path) -> None:
    identity = await HashEmbedder().identity()
    seeded = SeededEmbedder(identity)
    rows = await seeded.embed(["a", "b", "a"], Lane.BULK)
    assert rows.shape == (3, identity.size)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(rows[0], rows[2])

    settings, steps = settings_for(tmp_path / "unused"), []
    filled = await fill_synthetic(settings, tmp_path / "store", identity, 250, lambda *step: steps.append(step))
    assert steps[-1] == ("250: remembering", 250, 250)
    assert read_marker(tmp_path / "store") == filled
    async with open_local(settings, tmp_path / "store", HashEmbedder()) as target:
        answer = await target.ask(RetrieveRequest(query=Chat().questions(1)[0]))
    assert len(answer.results) == 10
