"""Fenced code is found where it stands, and the text around it keeps its places."""

from hypothesis import given
from hypothesis import strategies as st

from vicw_ingest.extraction.code.fences import blank_out, fences

CHAT = "Try this:\n```python title=app/db.py\ndef f():\n    pass\n```\nand\n  ~~~\n  x ``` y\n  ~~~\nIt works."


def test_code_is_found_between_its_fences() -> None:
    first, second = fences(CHAT)
    assert CHAT[first.code.start : first.code.end] == "def f():\n    pass\n"
    assert (first.info, first.path) == ("python title=app/db.py", "app/db.py")
    assert CHAT[second.code.start : second.code.end] == "  x ``` y\n"
    assert (second.info, second.path) == ("", None)


def test_an_unclosed_code_fence_extends_to_the_end_of_the_text() -> None:
    (block,) = fences("a\n```js\nlet x")
    assert "a\n```js\nlet x"[block.code.start : block.code.end] == "let x"


def test_blanking_out_fenced_code_keeps_the_positions_of_sentences() -> None:
    left = blank_out(CHAT, [block.span for block in fences(CHAT)])
    assert left.split() == ["Try", "this:", "and", "It", "works."]
    assert left.index("It works.") == CHAT.index("It works.")
    assert left.count("\n") == CHAT.count("\n")


@given(st.lists(st.sampled_from(["```", "~~~", "\n", "a", " ", "\r\n", "\x0c", "`", ".py"])).map("".join))
def test_blanking_out_fenced_code_keeps_the_length_of_any_text(text: str) -> None:
    found = list(fences(text))
    assert all(0 <= b.span.start <= b.code.start <= b.code.end <= b.span.end <= len(text) for b in found)
    assert len(blank_out(text, [b.span for b in found])) == len(text)
