"""The extractor port: English, and the extractor that docs/extraction.md shows how to write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_english.extractor import EnglishExtractor
from vicw_shared.model.extraction import (
    ITEM,
    PREVIOUS,
    SPEAKER,
    ExtractedEntity,
    ExtractedEvent,
    SourceText,
    TextExtraction,
)
from vicw_shared.ports import Extractor
from vicw_shared.text import fold_case

AT = datetime(2026, 1, 20, 10, tzinfo=UTC)
TEXTS = (
    "",
    "Because reads were slow, Ana moved the cache to Lyon last Friday. That led to an outage!",
    "Der Server fiel aus, weil die Platte voll war. Danke.",
    "\x00 🙂🙂 東京は雨です。",
    "- one\n- two\n\n| a | b |\n",
    "word " * 3000,
)


def documented() -> Extractor:
    """Return the extractor of the docs."""
    page = (Path(__file__).parents[3] / "docs/extraction.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, type[Extractor]] = {}
    exec(code, names)
    return names["GermanExtractor"]()


@pytest.fixture(params=[EnglishExtractor, documented], ids=["english", "documented"], scope="module")
def extractor(request: pytest.FixtureRequest) -> Extractor:
    made: Extractor = request.param()
    return made


def extract(extractor: Extractor, texts: Sequence[str]) -> list[TextExtraction]:
    return extractor.extract([SourceText(text, AT, "Lena") for text in texts])


def assert_sound(text: str, extraction: TextExtraction) -> None:
    found: list[ExtractedEntity | ExtractedEvent] = [*extraction.entities, *extraction.events]
    keys = [one.key for one in found]
    assert len(keys) == len(set(keys))
    assert extraction.ends() <= {*keys, ITEM, SPEAKER, PREVIOUS}
    assert all(relation.rule.startswith("rules:") for relation in extraction.relations)
    assert all(0 <= one.span.start < one.span.end <= len(text) for one in found)
    assert all(text[event.span.start : event.span.end] == event.text for event in extraction.events)


def test_each_text_has_its_own_extraction(extractor: Extractor) -> None:
    together = extract(extractor, TEXTS)
    assert together == [one for text in TEXTS for one in extract(extractor, [text])]
    assert together[0] == TextExtraction()
    assert extract(extractor, []) == []
    for text, extraction in zip(TEXTS, together, strict=True):
        assert_sound(text, extraction)


@given(st.text())
def test_any_text_has_a_sound_extraction(extractor: Extractor, text: str) -> None:
    (extraction,) = extract(extractor, [text])
    assert_sound(text, extraction)


def test_noun_phrases_are_folded_and_come_by_text(extractor: Extractor) -> None:
    phrases = extractor.noun_phrases(TEXTS)
    assert len(phrases) == len(TEXTS)
    assert phrases[0] == []
    assert all(phrase == fold_case(phrase) for found in phrases for phrase in found)
    assert any(phrases)


def test_the_documented_extractor_finds_statements_causes_and_phrases() -> None:
    (reading,) = extract(documented(), [TEXTS[2]])
    said = {event.key: event.text for event in reading.events}
    assert "Der Server fiel aus, weil die Platte voll war." in said.values()
    assert [(said[one.source], one.type, said[one.target]) for one in reading.relations] == [
        ("die Platte voll war", "CAUSED", "Der Server fiel aus")
    ]
    assert documented().noun_phrases([TEXTS[2]]) == [["server", "platte"]]
