"""Texts are cut into sentences and words, which have their parts of speech."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from vicw_english.tagging.analysis import Analyst, Sentence


@pytest.fixture(scope="module")
def analyst() -> Analyst:
    return Analyst()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The new deploy broke the login page.", "DET ADJ NOUN VERB DET NOUN NOUN PUNCT"),
        ("Ana wrote a long letter to her brother.", "PROPN VERB DET ADJ NOUN ADP PRON NOUN PUNCT"),
        ("The build failed because Ben deleted it.", "DET NOUN VERB SCONJ PROPN VERB PRON PUNCT"),
    ],
)
def test_words_get_their_parts_of_speech(analyst: Analyst, text: str, expected: str) -> None:
    ((sentence,),) = analyst.analyse([text])
    assert [word.tag for word in sentence.words] == expected.split()


def test_word_offsets_match_the_text(analyst: Analyst) -> None:
    text = "# Notes\n\nIt works. Don't touch it!\n- 🙂🙂 café at 10:30. Done 🙂. Yes."
    (found,) = analyst.analyse([text])
    assert all(text[word.start : word.end] == word.text for sentence in found for word in sentence.words)


def test_texts_keep_their_order_and_their_own_sentences(analyst: Analyst) -> None:
    texts = ["One. Two.", "", "Three.", "?!", "Four. Five. Six."]
    assert [len(found) for found in analyst.analyse(texts)] == [2, 0, 1, 0, 3]


def test_a_sentence_is_analysed_alike_alone_and_in_a_batch(analyst: Analyst) -> None:
    text = "The old server crashed after the update, so we moved the data."
    others = ["A cat sat.", "We have " + "very " * 300 + "long sentences."] * 5
    alone, among = analyst.analyse([text])[0], analyst.analyse([*others, text, *others])[10]
    assert alone == among


def test_a_very_long_sentence_is_cut_to_at_most_400_words(analyst: Analyst) -> None:
    (found,) = analyst.analyse(["x " * 900 + "."])
    assert max(len(sentence.words) for sentence in found) <= 400


def test_analysis_in_several_threads_gives_the_same_result(analyst: Analyst) -> None:
    texts = [f"Person{i} opened the door{i} of house{i % 7}." for i in range(200)]
    expected = [analyst.analyse([text]) for text in texts]
    fresh = Analyst()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: fresh.analyse([text]), texts)) == expected


@pytest.mark.parametrize("text", ["", "\x00\x01", "🙂" * 50, "東京は雨です。", "مرحبا بالعالم", "a" * 100_000])
def test_the_analyst_accepts_any_text(analyst: Analyst, text: str) -> None:
    analyst.analyse([text])


def tags(sentences: list[Sentence], word: str) -> list[str]:
    return [one.tag for sentence in sentences for one in sentence.words if one.text == word]


def test_a_name_used_elsewhere_is_recognised_at_sentence_start(analyst: Analyst) -> None:
    ((alone,),) = analyst.analyse(["Otto danced with Agnes."])
    assert tags([alone], "Otto") == ["NOUN"], "by itself the tagger does not know it"
    (found,) = analyst.analyse(["His uncle Otto came. Otto danced with Agnes."])
    assert tags(found, "Otto") == ["PROPN", "PROPN"]


def test_a_word_also_written_in_lower_case_is_no_name(analyst: Analyst) -> None:
    (found,) = analyst.analyse(["He said Otto twice. Otto danced. An otto is a perfume."])
    assert tags(found, "Otto")[1] == "NOUN"


@pytest.mark.parametrize("name", ["Ingrid", "Rashid", "Igor", "Bo", "Kenji", "Elias", "Uwe", "Marta"])
def test_a_first_name_at_sentence_start_is_a_proper_noun(analyst: Analyst, name: str) -> None:
    (first, *_) = analyst.analyse([f"{name} moved to Oslo last week."])[0][0].words
    assert first.tag == "PROPN"


@pytest.mark.parametrize("sentence", ["They moved to Oslo.", "Did you move?", "Yes, we moved.", "Nobody moved."])
def test_function_words_at_sentence_start_are_no_proper_nouns(analyst: Analyst, sentence: str) -> None:
    assert analyst.analyse([sentence])[0][0].words[0].tag != "PROPN"
