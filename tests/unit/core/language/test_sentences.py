"""A text is cut into sentences; headings, list items and fences are their own."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.language.sentences import sentences


def cut(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It broke. We fixed it!", ["It broke.", "We fixed it!"]),
        ("Dr. Ito met J. K. Rowling. Then he left.", ["Dr. Ito met J. K. Rowling.", "Then he left."]),
        ("It is in ./src/a.py. Run ../b.sh now.", ["It is in ./src/a.py.", "Run ../b.sh now."]),
        ("# Title\nThe text\ngoes on.", ["# Title", "The text\ngoes on."]),
        ("Reasons:\n- one is slow\n- two fails", ["Reasons:", "- one is slow", "- two fails"]),
        ("| a | b |\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("One paragraph\n\nanother one", ["One paragraph", "another one"]),
        ("...\n\n---\n", []),
        ("", []),
    ],
)
def test_text_is_cut_into_sentences_headings_and_list_items(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_a_text_without_sentence_ends_is_cut_at_a_maximum_length() -> None:
    assert max(map(len, cut("word " * 2_000))) <= 2_000


@given(st.text(max_size=300))
def test_sentence_spans_lie_in_the_text_in_order(text: str) -> None:
    spans = sentences(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(left.end <= right.start for left, right in pairwise(spans))
