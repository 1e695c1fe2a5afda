"""Names, code, paths and amounts are found where they stand, whole."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_english.names import names_in
from vicw_english.tagging.analysis import Analyst


@pytest.fixture(scope="module")
def analyst() -> Analyst:
    return Analyst()


def found(analyst: Analyst, text: str) -> dict[str, str]:
    return {name.text: name.kind.value for sentence in analyst.analyse([text])[0] for name in names_in(sentence)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ana's sister Lena moved to São Paulo last Friday.", "Ana|Lena|São Paulo"),
        ("The Bank of England is in London.", "Bank of England|London"),
        ("Jean-Luc Picard met Dr. Beverly Crusher.", "Jean-Luc Picard|Dr. Beverly Crusher"),
        ("I love New York!", "New York"),
        ("She lives in the United Kingdom now.", "United Kingdom"),
        ("We met on Monday in July 2011.", ""),
        ("The weather was fine.", ""),
        ("Whoa, Gonna see Rome with Olga! Kudos!", "Rome|Olga"),
        ("We moved everything to PostgreSQL yesterday.", "PostgreSQL"),
        ("Captain Voss met Mara O'Neill.", "Captain Voss|Mara O'Neill"),
        ("We asked GPT-4 about it.", "GPT-4"),
        ("Besides, POST and GET work.", ""),
        ("Nor did Ana come.", "Ana"),
    ],
)
def test_proper_names_are_found_whole_in_sentences(analyst: Analyst, text: str, names: str) -> None:
    assert found(analyst, text) == dict.fromkeys(filter(None, names.split("|")), "name")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parse_config() fails in src/app/db.py", {"parse_config()": "symbol", "src/app/db.py": "path"}),
        ("It failed in ./src/main.py:42 today.", {"./src/main.py": "path"}),
        ("../lib/a.ts:3:7 broke", {"../lib/a.ts": "path"}),
        (r"Open C:\Users\bob\my-app\x.txt now.", {r"C:\Users\bob\my-app\x.txt": "path"}),
        (r"It is in `D:\a_b\c.d`, not in E:/work/b.py:12.", {r"D:\a_b\c.d": "path", "E:/work/b.py": "path"}),
        (r"\\server\share\doc.txt was lost", {r"\\server\share\doc.txt": "path"}),
        ("either/or, 3/4 of it at 10:42", {}),
        ("see README.md and `foo` first", {"README.md": "path", "foo": "symbol"}),
        ("os.path.join and httpClient", {"os.path.join": "symbol", "httpClient": "symbol"}),
        ("read https://example.org/a?b=1.", {"https://example.org/a?b=1": "url"}),
        ("ask ana@example.org or @ben in #ops", {"ana@example.org": "mail", "@ben": "handle", "#ops": "handle"}),
        ("it costs $1.2 million, or 0.5 % of it", {"$1.2 million": "amount", "0.5 %": "amount"}),
        ("it costs $3,000.", {"$3,000": "amount"}),
        ("give it 4 GB and 20ms", {"4 GB": "amount", "20ms": "amount"}),
    ],
)
def test_code_paths_urls_handles_and_amounts_are_found(analyst: Analyst, text: str, expected: dict[str, str]) -> None:
    assert found(analyst, text) == expected


def test_name_spans_point_at_their_text_in_the_source(analyst: Analyst) -> None:
    text = "Hello.  Ana Maria paid $20 to Ben in src/pay.py."
    for sentence in analyst.analyse([text])[0]:
        for name in names_in(sentence):
            assert text[name.span.start : name.span.end] == name.text


@given(st.text(alphabet=st.sampled_from("Aa b_.()/$5%`'-&of \n@#"), max_size=60))
def test_names_in_any_text_are_found_without_an_error(analyst: Analyst, text: str) -> None:
    found(analyst, text)


@pytest.mark.parametrize("letters", ["x", "x_", "xY", "a.", "/a"])
def test_the_time_for_a_word_grows_with_its_length(analyst: Analyst, letters: str) -> None:
    def seconds(chars: int) -> float:
        sentences = analyst.analyse([letters * (chars // len(letters))])[0]
        started = time.thread_time()
        for _ in range(20):
            for sentence in sentences:
                list(names_in(sentence))
        return time.thread_time() - started

    assert min(seconds(1600), seconds(1600)) < 8 * min(seconds(200), seconds(200)) + 0.05


def test_a_long_url_is_a_name_and_another_long_word_is_none(analyst: Analyst) -> None:
    url = "https://example.com/" + "a" * 500
    assert found(analyst, f"See {url} for more.") == {url: "url"}
    assert found(analyst, f"See {'a_b' * 200} for more.") == {}
