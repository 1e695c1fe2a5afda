"""Plain sentences are analysed as a reader would: who does what to what."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from vicw_shared.language.analysis import Analyst, Sentence


@pytest.fixture(scope="module")
def analyst() -> Analyst:
    return Analyst()


def words_in(sentence: Sentence, relation: str) -> list[str]:
    return [word.text for word in sentence.words if word.relation == relation]


@pytest.mark.parametrize(
    ("text", "subject", "verb", "thing"),
    [
        ("The new deploy broke the login page.", "deploy", "broke", "page"),
        ("Ana wrote a long letter to her brother.", "Ana", "wrote", "letter"),
        ("My sister bought an old house in Lisbon.", "sister", "bought", "house"),
        ("Yesterday the committee rejected our proposal.", "committee", "rejected", "proposal"),
        ("Our customers asked many questions.", "customers", "asked", "questions"),
    ],
)
def test_who_does_what(analyst: Analyst, text: str, subject: str, verb: str, thing: str) -> None:
    ((sentence,),) = analyst.analyse([text])
    found = [words_in(sentence, relation) for relation in ("nsubj", "root", "obj")]
    assert found == [[subject], [verb], [thing]]


def test_a_reason_hangs_on_what_it_explains(analyst: Analyst) -> None:
    ((sentence,),) = analyst.analyse(["The build failed because Ben deleted the table."])
    deleted = next(word for word in sentence.words if word.text == "deleted")
    assert (deleted.relation, sentence.words[deleted.head].text) == ("advcl", "failed")


def test_places_are_those_of_the_text(analyst: Analyst) -> None:
    text = "# Notes\n\nIt works. Don't touch it!\n- 🙂🙂 café at 10:30. Done 🙂. Yes."
    (found,) = analyst.analyse([text])
    assert all(text[word.start : word.end] == word.text for sentence in found for word in sentence.words)


def test_texts_keep_their_order_and_their_own_sentences(analyst: Analyst) -> None:
    texts = ["One. Two.", "", "Three.", "?!", "Four. Five. Six."]
    assert [len(found) for found in analyst.analyse(texts)] == [2, 0, 1, 0, 3]


def test_a_sentence_is_analysed_alike_in_any_company(analyst: Analyst) -> None:
    text = "The old server crashed after the update, so we moved the data."
    others = ["A cat sat.", "We have " + "very " * 300 + "long sentences."] * 5
    alone, among = analyst.analyse([text])[0], analyst.analyse([*others, text, *others])[10]
    assert alone == among


def test_a_sentence_of_thousands_of_words_is_cut(analyst: Analyst) -> None:
    (found,) = analyst.analyse(["x " * 900 + "."])
    assert max(len(sentence.words) for sentence in found) <= 400


def test_several_threads_may_ask_at_once(analyst: Analyst) -> None:
    texts = [f"Person{i} opened the door{i} of house{i % 7}." for i in range(200)]
    expected = [analyst.analyse([text]) for text in texts]
    fresh = Analyst()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: fresh.analyse([text]), texts)) == expected


@pytest.mark.parametrize("text", ["", "\x00\x01", "🙂" * 50, "東京は雨です。", "مرحبا بالعالم", "a" * 100_000])
def test_any_text_is_taken(analyst: Analyst, text: str) -> None:
    analyst.analyse([text])
