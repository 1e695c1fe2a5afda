"""What a text is found by: every kind of word, whole and in parts, however it is written."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.index import sparse
from vicw_core.index.full_text import head_words, index_word, query_words, text_words
from vicw_core.index.words.analyser import analyse
from vicw_core.index.words.languages import detect


def finds(query: str, text: str) -> bool:
    """Return whether every word of the query, stemmed or not, is a term of the text."""
    wanted = analyse(query)
    has = set(sparse.document_terms(text))
    assert wanted.stems or wanted.wholes, query
    return has.issuperset([*wanted.stems, *wanted.wholes])


def shares_whole(query: str, text: str) -> bool:
    """Return whether a term that is more than a word is in both."""
    return bool(set(analyse(query).wholes) & set(sparse.document_terms(text)))


@pytest.mark.parametrize(
    ("text", "wholes", "parts"),
    [
        ("Write to <Ana.Souza@mail.example.com>.", ["ana.souza@mail.example.com"], ["ana", "souza", "example"]),
        ("It is in docs/Year-End_report.pdf!", ["docs/year-end_report.pdf", "year-end_report.pdf"], ["report", "pdf"]),
        (r"See C:\Users\ana\notes.txt now", ["notes.txt"], ["users", "notes"]),
        (
            "Read https://www.example.com/a/guide.html?lang=en.",
            ["example.com", "http://example.com/a/guide.html?lang=en", "guide.html"],
            ["guide", "example"],
        ),
        ("It needs v3.12.4-rc1 or later", ["v3.12.4-rc1", "3.12.4", "3.12"], ["3", "12"]),
        ("call std::vector and os.path.join", ["std::vector", "os.path.join"], ["vector", "join"]),
        ("a parseHTTPResponse, a snake_case_name", ["parseHTTPResponse", "SNAKE_CASE_NAME"], ["http", "snake", "name"]),
        ("ticket ADR-0007 of 2024-05-17 at 10:30", ["adr-0007", "2024-05-17", "10:30"], ["adr", "2024", "30"]),
        ("a run of 5 km and 12.5kg, 1,200 people", ["5km", "5 km", "12.5 kg"], ["5", "km", "1200"]),
        ("it was $1,200.50 or 20 %", ["1200.50 $", "$1200.50", "20%"], ["20"]),
        ("we write C++, C# and .NET", ["C++", "c#", ".NET"], ["net"]),
        ("a party 🎉 with 👩‍👩‍👧", ["🎉", "👩‍👩‍👧"], ["party"]),
    ],
)
def test_what_is_more_than_its_words_is_found_whole_and_in_parts(
    text: str, wholes: list[str], parts: list[str]
) -> None:
    for whole in wholes:
        assert shares_whole(whole, text), whole
    for part in parts:
        assert finds(part, text), part


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Die Straße in Łódź", ["strasse", "STRASSE", "lodz", "Łódź"]),
        ("Tiếng Việt ở Đà Nẵng", ["tieng viet", "da nang", "Tiê\u0301ng Việt"]),
        ("ＡＢＣ １２３ ｶﾀｶﾅ", ["abc", "123", "カタカナ"]),
        ("the ﬁrst ﬂag", ["first", "flag"]),
        ("x̂ and Ụ̀", ["x", "u"]),
        ("Ελληνικά νησιά", ["ελληνικα", "ΕΛΛΗΝΙΚΆ"]),
        ("кот сидит за́мок", ["замок"]),
        ("مَدرسة كبيرة", ["مدرسة"]),
        ("עִבְרִית", ["עברית"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("an exam\u00adple", ["example"]),
        ("東京タワーへ行く", ["東京", "タワー", "京タ"]),
        ("ภาษาไทยไม่มีช่องว่าง", ["ภาษา", "ไทย", "ช่องว่าง"]),
        ("학교에서 공부했다", ["학교", "공부"]),
        ("京タワーabc123", ["タワー", "abc"]),
        ("İstanbul'da ılık", ["istanbul", "ilik"]),
    ],
)
def test_a_word_is_found_however_it_is_written(text: str, queries: list[str]) -> None:
    for query in queries:
        assert finds(query, text), query


@pytest.mark.parametrize(
    ("language", "text", "query"),
    [
        ("german", "Die Häuser sind nicht weit von hier und alt", "welche Häusern sind das"),
        ("french", "Les chevaux mangeaient dans la cour avec nous", "est-ce que les chevaux mangent dans le pré"),
        ("spanish", "Los niños cantaban en la calle con sus padres", "qué canta el niño en su casa"),
        ("italian", "Le ragazze mangiavano nella cucina con gli zii", "che cosa mangia la ragazza nella casa"),
        ("portuguese", "As crianças cantavam na rua com os seus pais", "o que é que a criança canta com você"),
        ("dutch", "De katten sliepen niet in het huis van de buren", "waar is het huis van de katten"),
        ("swedish", "Husen är inte stora och det var en båt som sjönk", "vad är det för båtar som inte"),
        ("polish", "Koty nie są w domu, ale już na ulicy przed sklepem", "gdzie są koty, czy już nie"),
        ("turkish", "Evler çok büyük değil ama daha güzel bir bahçe için", "bu ev için ne kadar ve çok mu"),
        ("finnish", "Talot ovat vanhoja mutta se ei ole totta koska hän", "mikä talo se on ja miksi hän ei"),
    ],
)
def test_words_are_stemmed_by_the_language_of_their_text(language: str, text: str, query: str) -> None:
    assert detect(text) == (language, True)
    assert detect(query) == (language, True)
    assert set(analyse(query).stems) & set(analyse(text).stems)


def test_words_in_other_letters_are_stemmed_by_their_script() -> None:
    assert finds("книга", "He said: книги") is finds("книги", "книга")
    assert set(analyse("читали книги").stems) & set(analyse("книгами").stems)


def test_few_words_are_found_by_their_form_whatever_their_language() -> None:
    text = "Las casas blancas de los pueblos son baratas y también están en la costa"
    query, document = sparse.encode_query("casas blancas baratas"), sparse.document_terms(text)
    assert detect("casas blancas baratas") == ("english", False)
    weights = dict(zip(query.indices, query.values, strict=True))
    assert sum(weights[term] for term in weights.keys() & set(document)) >= 3 * sparse.FORM_WEIGHT


def test_an_english_question_weighs_each_word_once() -> None:
    query = sparse.encode_query("where did the otters of this river go")
    assert len(query.indices) == len(sparse.question_terms("where did the otters of this river go"))
    assert set(query.values) == {1.0}


def test_forms_and_wholes_make_no_document_longer() -> None:
    one, other = sparse.encode_document("running otters"), sparse.encode_document("run otter")
    assert (
        dict(zip(one.indices, one.values, strict=True)).items()
        >= dict(zip(other.indices, other.values, strict=True)).items()
    )


@pytest.mark.parametrize("part", ["a", "aB", "1.2.", "東", "x@", "\u0301", "a-", "/", "☃"])
def test_a_token_of_ten_thousand_characters_has_terms_of_its_own_length(part: str) -> None:
    token = part * (10_000 // len(part))
    terms = sparse.document_terms(f"before {token} after")
    assert len(terms) <= 4 * 10_000
    assert {*sparse.document_terms("before"), *sparse.document_terms("after")} <= set(terms)


@given(st.text())
def test_the_words_of_any_text_are_hexadecimal_and_found_by_the_text_itself(text: str) -> None:
    words = text_words(text).split()
    assert all(len(word) == 8 and set(word) <= set("0123456789abcdef") for word in words)
    assert set(map(index_word, sparse.question_terms(text))) <= {*words} & {*query_words(text)}
    assert set(sparse.encode_document(text).indices) == set(sparse.document_terms(text))


@given(st.text(alphabet="aäAÄßßłéế\u0301\u0302 "), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_a_text_has_the_same_words_in_every_unicode_form(text: str, form: str) -> None:
    assert text_words(unicodedata.normalize(form, text)) == text_words(unicodedata.normalize("NFC", text))  # type: ignore[arg-type]


def test_a_head_has_the_words_of_each_name_once() -> None:
    assert head_words("notes", "notes", ("sea",), "inbox").split() == [
        *text_words("notes").split(),
        *text_words("sea").split(),
        *text_words("inbox").split(),
    ]
    assert head_words("notes", None, ("inbox",), "inbox") == head_words("notes", None, ("inbox",), None)
    assert head_words("notes", None, (), None) == text_words("notes")
