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


@given(st.text(alphabet=st.sampled_from("ab .\n \t-#`|1।，。\u0301\u200d🇦👍"), max_size=900), st.booleans())
@settings(deadline=None)
def test_no_passage_is_blank_or_over_its_size(text: str, code: bool) -> None:
    passages = split_passages(text, size=100, code=code)
    assert "".join(passages) == text
    assert all(len(passage.strip()) <= 100 for passage in passages)
    assert all(passage.strip() for passage in passages) or not text.strip()


def test_prose_is_cut_at_paragraphs_then_sentences() -> None:
    text = "One. " * 15 + "\n\n" + "Two. " * 15 + "\n\n" + "A long sentence that goes on. " * 8
    passages = split_passages(text, size=120, code=False)
    assert passages[0].strip() == ("One. " * 15).strip()
    assert passages[1].strip() == ("Two. " * 15).strip()
    assert all(p.strip().endswith(".") for p in passages)


def test_a_sentence_over_several_lines_stays_whole() -> None:
    text = "The keeper wrote down what\nthe tide had brought. " * 9
    passages = split_passages(text, size=120, code=False)
    assert all(p.startswith("The keeper") and p.strip().endswith("brought.") for p in passages)


def test_code_is_cut_at_definitions() -> None:
    bodies = [f"def f{n}():\n    x = {n}\n\n    return x\n\n\n" for n in range(8)]
    passages = split_passages("".join(bodies), size=100, code=True)
    assert all(p.startswith("def ") for p in passages)
    assert max(map(len, passages)) <= 100


def test_a_definition_stays_with_its_decorator_and_comment() -> None:
    body = "# Says {n}.\n@cached\ndef f{n}():\n    return {n}\n\n\n"
    passages = split_passages("".join(body.format(n=n) for n in range(8)), size=130, code=True)
    assert all(p.startswith("# Says") for p in passages)


def test_a_long_function_is_cut_at_its_outermost_statements() -> None:
    steps = "".join(f"    if ready({n}):\n        go({n})\n        rest({n})\n" for n in range(20))
    first, *others = split_passages(f"def f():\n{steps}", size=300, code=True)
    assert first.startswith("def f():\n    if ready(0)")
    assert all(p.startswith("    if ready(") for p in others)


_LIST = "".join(
    f"- harbour {n}\n  - pier {n}\n    - berth {n}, where the boats lie\n\n      and wait\n" for n in range(12)
)


def test_a_nested_list_is_cut_at_its_outermost_items() -> None:
    passages = split_passages(_LIST, size=200, code=False)
    assert len(passages) > 3
    assert all(p.startswith("- harbour") for p in passages)


_MANY_BERTHS = "- harbour\n  - pier\n" + "".join(f"    - berth {n} for boats\n" for n in range(40))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (_LIST, False),
        (_MANY_BERTHS, False),
        (_MANY_BERTHS.replace("    ", "\t\t"), False),
        (f"Like this:\n\n```\n{_MANY_BERTHS}```\n", False),
        ("class A:\n" + "".join(f"        x{n} = {n}\n\n" for n in range(60)), True),
    ],
    ids=["list", "inside a list", "tabs", "fence", "code"],
)
def test_passages_keep_the_indentation_of_their_first_line(text: str, code: bool) -> None:
    passages = split_passages(text, size=200, code=code)
    assert len(passages) > 2
    assert [line for p in passages for line in p.splitlines()] == text.splitlines(), "no line is cut"


def test_a_fence_that_fits_is_not_cut() -> None:
    fence = "```\n" + "x = 1\n\n" * 12 + "```\n"
    text = "\n".join(f"This is how it is done. {n}\n\n{fence}" for n in range(6))
    assert all(p.count("```") % 2 == 0 for p in split_passages(text, size=250, code=False))


def test_a_heading_stays_with_what_follows_and_a_table_with_its_head() -> None:
    part = "## Part {n}\n\nAbout this part there is much to say, and more.\n\n| a | b |\n|---|---|\n| {n} | x |\n\n"
    passages = split_passages("".join(part.format(n=n) for n in range(9)), size=170, code=False)
    assert all(p.startswith("## Part") for p in passages)
    assert all("| a | b |\n|---" in p for p in passages if "|---" in p)


_WORDS = ("x", " x", "def ", "Done. ", "a,b;", "日本語。", "\u0301", "🇦")
_LINES = (" ", "\n", "x\n", "\t\n x", "- ", "-", "```\n", "\n@")


@pytest.mark.parametrize("code", [False, True])
@pytest.mark.parametrize("part", [*_WORDS, *_LINES])
def test_the_time_grows_with_the_length(part: str, code: bool) -> None:
    def seconds(chars: int) -> float:
        text = "a" + part * (chars // len(part)) + "z"
        started = time.thread_time()
        assert "".join(split_passages(text, size=1200, code=code)) == text
        return time.thread_time() - started

    assert min(seconds(400_000), seconds(400_000)) < 6 * min(seconds(100_000), seconds(100_000)) + 0.2
