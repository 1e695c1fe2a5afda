from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vicw_ingest.plan.chunking import split_passages


@given(
    st.lists(
        st.sampled_from(["word ", "Done. ", "\n\n", "👩‍👩‍👧‍👦", "e\u0301", "\ndef f():\n", "\t", "日本"]), max_size=120
    ),
    st.booleans(),
)
@settings(deadline=None)
def test_passages_partition_the_text(parts: list[str], code: bool) -> None:
    text = "".join(parts)
    passages = split_passages(text, size=100, code=code)
    assert "".join(passages) == text
    assert all(not passage.isspace() for passage in passages) or text.isspace()
    for passage in passages:
        assert not passage.startswith(("\u0301", "\u200d")), "cut inside a grapheme"


@given(st.text(max_size=600), st.booleans())
@settings(deadline=None)
def test_passages_of_any_text_join_to_the_whole_text(text: str, code: bool) -> None:
    assert "".join(split_passages(text, size=100, code=code)) == text


def test_prose_is_cut_at_paragraphs_then_sentences() -> None:
    text = "One. " * 15 + "\n\n" + "Two. " * 15 + "\n\n" + "A long sentence that goes on. " * 8
    passages = split_passages(text, size=120, code=False)
    assert passages[0].strip() == ("One. " * 15).strip()
    assert passages[1].strip() == ("Two. " * 15).strip()
    assert all(p.strip().endswith(".") for p in passages)


def test_code_is_cut_at_definitions() -> None:
    bodies = [f"def f{n}():\n    x = {n}\n\n    return x\n\n\n" for n in range(8)]
    passages = split_passages("".join(bodies), size=100, code=True)
    assert all(p.startswith("def ") for p in passages)
    assert max(map(len, passages)) <= 100


@pytest.mark.parametrize("text", ["x" * 300_000, "é" * 300_000, "\u0301" * 100_000])
def test_text_without_boundaries_is_split_in_bounded_time(text: str) -> None:
    started = time.thread_time()
    assert "".join(split_passages(text, size=1200, code=False)) == text
    assert time.thread_time() - started < 20
