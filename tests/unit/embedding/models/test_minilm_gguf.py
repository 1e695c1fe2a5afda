from __future__ import annotations

from pathlib import Path

import gguf
import pytest

from support.models import minilm_gguf as conversion
from support.models.reference_bert import ReferenceBert
from vicw_embedding.engine.engine import Engine
from vicw_embedding.models.cards import read_gguf_card
from vicw_embedding.models.digests import sha256
from vicw_embedding.models.model_files import ModelFile, read_card
from vicw_shared.ports.embedder import Lane

TEXTS = [
    "The build broke because the token validator rejected an expired key.",
    "[Domain: coding] [Type: method] [Name: AuthLogin] Handles JWT token validation.",
    "Où est la bibliothèque? Ça dépend — naïve façade, Ærø, Łódź, İstanbul.",
    "def add(a, b):\n\treturn a + b  # x<=y && !z || `q` ~ 100% $5 ^_^",
    "数据库连接失败,因为密码错误。",
    "東京タワーはきれいです",
    "Привет, мир! Ёлка й",
    "x",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "emoji \U0001f600 and a zero width\u200bspace",
    " ".join(f"word{number}" for number in range(60)),
]


@pytest.fixture(scope="module")
def reference() -> ReferenceBert:
    return ReferenceBert(conversion.source_dir())


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_the_converted_model_agrees_with_the_published_weights(
    minilm: Engine, reference: ReferenceBert, text: str
) -> None:
    row = minilm.submit([text], Lane.QUERY).result().rows[0]

    assert float(row @ reference.embed(text)) >= 0.998  # eight bits a weight


def test_minilm_vectors_of_similar_meaning_are_closer(minilm: Engine) -> None:
    texts = ["The cat sleeps on the sofa.", "A kitten naps on the couch.", "The stock market fell today."]
    rows = minilm.submit(texts, Lane.BULK).result().rows

    assert rows[0] @ rows[1] > 0.5 > rows[0] @ rows[2]


def test_the_converted_file_carries_its_model_card(minilm_file: ModelFile) -> None:
    card = read_gguf_card(minilm_file.path)

    assert (card.size, card.pooling, card.max_tokens) == (minilm_file.card.size, minilm_file.card.pooling, 512)
    assert card.licence == "apache-2.0"


def test_a_file_of_this_name_has_the_card_of_the_stores_that_it_filled(minilm_file: ModelFile) -> None:
    card = read_card(minilm_file.path)
    assert (card.name, card.max_tokens) == ("all-MiniLM-L6-v2", 256), "not those that the file names"


def test_minilm_conversion_is_reproducible_and_leaves_no_other_file(tmp_path: Path, minilm_file: ModelFile) -> None:
    path = conversion.ensure(tmp_path / "new")

    assert sha256(path) == minilm_file.digest
    assert list(path.parent.iterdir()) == [path]


def test_a_conversion_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf.GGUFWriter, "add_token_list", lambda *_: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        conversion.ensure(tmp_path)
    assert list(tmp_path.iterdir()) == []
