from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from vicw_core.index import sparse
from vicw_core.index.wrapper import wrap
from vicw_shared.clock import from_us, to_ms, to_us
from vicw_shared.domains import canonical
from vicw_shared.text import flaw, fold_case, visible
from vicw_shared.wire.ingest import IngestRequest, Item


def test_domains_are_case_folded_and_have_synonyms() -> None:
    assert {canonical(d) for d in ("Creative", "story", "FICTION", "prose")} == {"creative"}
    assert {canonical(d) for d in ("code", "Coding ", "CODE")} == {"coding"}
    assert canonical("Law  School") == "law school"


def test_the_wrapper_puts_domain_type_and_name_before_the_text() -> None:
    story = wrap("The protagonist realizes the amulet is fake.", domain="Story", subtype="Scene", name="The Betrayal")
    assert story == ("[Domain: Story] [Type: Scene] [Name: The Betrayal] The protagonist realizes the amulet is fake.")
    assert wrap("x", name="n") == "[Name: n] x"
    assert wrap("x") == "x"


@given(st.text())
def test_text_without_nul_has_no_flaw(text: str) -> None:
    assert flaw(text) is None or "\x00" in text


def test_flaws_are_named() -> None:
    assert "NUL" in (flaw("a\x00b") or "")
    assert "U+D800" in (flaw("a\ud800") or "")
    assert not visible("\u200b \t\u2060")
    assert visible("🤷")
    assert fold_case("  ＡＮＡ   Maria ") == "ana maria"


def test_prose_is_normalised_and_identifiers_are_not() -> None:
    decomposed = "cafe\u0301"
    item = Item(text=decomposed, id=decomposed, tags=(decomposed,), metadata={decomposed: [decomposed]})
    assert item.text == unicodedata.normalize("NFC", decomposed)
    assert item.id == item.tags[0] == decomposed
    assert item.metadata == {decomposed: [decomposed]}


@pytest.mark.parametrize(
    "item",
    [
        {"text": ""},
        {"text": " \u200b\n"},
        {"text": "a\x00"},
        {"text": "x", "id": ""},
        {"text": "x", "tags": ["a\ud800"]},
        {"text": "x", "metadata": {"deep": [{"k": "\x00"}]}},
        {"text": "x", "metadata": {"n": float("nan")}},
        {"text": "x", "timestamp": 5},
        {"text": "x", "timestamp": "2024-01-01T00:00:00"},
        {"text": "x", "timestamp": "0001-01-01T00:00:00+14:00"},
        {"text": "x", "importance": float("nan")},
        {"text": "x", "importance": 2},
        {"text": "x", "portable": 1},
        {"text": "x", "flow_step": "3"},
        {"text": "x", "sensitivity": "secret"},
        {"text": "x", "unknown": 1},
    ],
)
def test_bad_items_are_refused(item: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        IngestRequest.model_validate({"context": "c", "items": [item]})


@given(st.integers(0, 8 * 10**15))
def test_no_microsecond_of_an_instant_is_lost(microseconds: int) -> None:
    assert to_us(from_us(microseconds)) == microseconds


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2024-02-29T12:00:00+05:30"])
def test_instants_survive_as_integers(text: str) -> None:
    instant = datetime.fromisoformat(text).astimezone(UTC)
    assert from_us(to_us(instant)) == instant
    assert float(to_ms(instant)) == to_ms(instant)


def test_bm25_weights_are_the_formula() -> None:
    vector = sparse.encode_document("cat cat dog")
    length = 1 - sparse.B + sparse.B * 3 / sparse.AVERAGE_TERMS
    expected = [n * (sparse.K1 + 1) / (n + sparse.K1 * length) for n in (2, 1)]
    assert list(vector.values) == pytest.approx(expected)
    assert sparse.encode_query("where is the cat, are the CATS").values == (1.0,) * 4, "stemmed, folded, distinct"
    assert sparse.encode_query("cat CATS Dog").values == (1.0, 1.0, sparse.FORM_WEIGHT), "it may be no English"


def test_code_words_are_kept_whole_and_split() -> None:
    whole = set(sparse.encode_query("parseHTTPResponse").indices)
    assert set(sparse.encode_query("parse http response").indices) < whole
    assert set(sparse.encode_query("snake_case_name").indices) > set(sparse.encode_query("snake case name").indices)


def test_words_match_with_and_without_accents() -> None:
    for written, typed in (("Aschenbrödel Łódź", "aschenbrodel lodz"), ("Æsir Straße", "aesir strasse")):
        assert sparse.encode_document(written) == sparse.encode_document(typed), "and nothing is cut at an accent"
    assert sparse.encode_query("йогурт").indices != sparse.encode_query("иогурт").indices, "there a mark is a letter"


def test_question_words_give_no_terms_and_every_script_gives_some() -> None:
    assert sparse.question_terms("What? Who, how and why") == sparse.question_terms("and")
    assert sparse.encode_query("who what").indices == ()
    for text in ("東京タワー", "Привет", "naïve", "42", "한국어"):
        assert sparse.encode_query(text).indices
    assert set(sparse.encode_query("京タ").indices) <= set(sparse.encode_query("東京タワー").indices)


def test_words_of_scripts_with_vowel_signs_stay_whole() -> None:
    for words in ("हिन्दी भाषा", "বাংলা ভাষা", "עִבְרִית שָׂפָה"):
        one, two = words.split()
        assert len(sparse.question_terms(words)) == 2
        assert sparse.encode_query(one).indices != sparse.encode_query(two).indices
