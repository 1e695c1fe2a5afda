"""What makes two texts say the same, and what does not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_shared.model.text_keys import is_verbatim, keys_of, plain, text_key

SAID = "Ana said: it's done - at last... Isn't it?"


@pytest.mark.parametrize(
    "text",
    [
        "ANA SAID:\n\tit's   done - at last... isn't it?",
        "“Ana said: it’s done – at last… Isn’t it?”",
        "> Ana said: it's done -\n> at last... Isn't it?",
        "## Ana said: **it's *done*** - at last... `Isn't` it?",
        "* <p>Ana said: <b class='x'>it's</b> done -<br/>at last... __Isn't__ it?</p>",
    ],
)
def test_text_keys_ignore_spaces_case_and_markup(text: str) -> None:
    assert plain(text) == plain(SAID) == SAID.casefold()
    assert text_key(text) == text_key(SAID)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It costs 5 euros", "It costs -5 euros"),
        ("It costs 1.5 euros", "It costs 15 euros"),
        ("Is it done?", "It is done"),
        ("Is it done?", "Is it done!"),
        ("a*b", "ab"),
        ("snake_case_name", "snakecasename"),
        ("x < y > z", "x y z"),
        ("C", "C++"),
        ("Ana saw Ben", "Ben saw Ana"),
    ],
)
def test_text_keys_differ_by_words_numbers_and_punctuation(one: str, other: str) -> None:
    assert text_key(one) != text_key(other)


def test_verbatim_text_keys_keep_case_and_marks_but_not_spaces() -> None:
    assert text_key("def F(x):\n    return x", verbatim=True) == text_key("def F(x): return x", verbatim=True)
    assert text_key("# stop()", verbatim=True) != text_key("stop()", verbatim=True)
    assert text_key("Stop()", verbatim=True) != text_key("stop()", verbatim=True)
    assert text_key("stop", verbatim=True) != text_key("stop")
    assert keys_of("stop") == (text_key("stop"), text_key("stop", verbatim=True))
    assert is_verbatim(None, "Function", "general")
    assert is_verbatim(None, "document", "coding")
    assert not is_verbatim("Ana", "message", "coding")
    assert not is_verbatim(None, "document", "general")


@given(st.text())
def test_every_text_has_a_key_that_ignores_surrounding_white_space(text: str) -> None:
    assert len(text_key(text)) == 32
    assert text_key(text) == text_key(f"  {text}\n")


@pytest.mark.parametrize("mark", ["*", "`", "_", "> ", "<b", "<b>", "<p ", "- ", '"', "** ", "*a ", "\n>", "[", "`a "])
def test_hostile_markup_is_stripped_within_seconds(mark: str) -> None:
    began = time.thread_time()
    plain(mark * (200_000 // len(mark)))
    assert time.thread_time() - began < 2
