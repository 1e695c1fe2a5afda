"""Words are cut as the treebank cuts them, and what programs write stays whole."""

import pytest

from vicw_english.tagging.tokens import tokenise


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't panic!", "Do|n't|panic|!"),
        ("Ana’s well-known bug", "Ana|’s|well|-|known|bug"),
        ("I've said they'll come", "I|'ve|said|they|'ll|come"),
        ("see src/app/db.py, /etc/hosts and ./run", "see|src/app/db.py|,|/etc/hosts|and|./run"),
        ("https://example.org/a?b=c.", "https://example.org/a?b=c|."),
        ("call os.path.join() or std::sort", "call|os.path.join()|or|std::sort"),
        ("v1.2.3 costs $1,200.50 at 10:30", "v1.2.3|costs|$|1,200.50|at|10:30"),
        ("Dr. Who of the U.S. Army", "Dr.|Who|of|the|U.S.|Army"),
        ("mail ana.b@example.org #tag @ben", "mail|ana.b@example.org|#tag|@ben"),
        ("parse_config(x) -> None", "parse_config|(|x|)|-|>|None"),
        ("naïve Müller 東京", "naïve|Müller|東京"),
    ],
)
def test_tokenise_splits_words_and_keeps_paths_and_urls_whole(text: str, words: str) -> None:
    assert [token.text for token in tokenise(text)] == words.split("|")


def test_token_offsets_match_the_text() -> None:
    text = "  Don't   touch src/a.py…"
    assert all(text[start:end] == word for word, start, end in tokenise(text))


def test_tokenise_handles_very_long_runs() -> None:
    assert len(tokenise("a/" * 50_000 + "." * 50_000 + "x." * 50_000)) > 0
