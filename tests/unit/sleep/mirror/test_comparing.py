"""How the lines of a page became others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_sleep.mirror import comparing
from vicw_sleep.mirror.comparing import steps_of

_LINES = st.lists(st.sampled_from("abcdefgh"), max_size=12)


@pytest.mark.parametrize("most", [0, 40_000])
@given(lines=_LINES, new=_LINES)
def test_the_steps_make_one_page_the_other(most: int, lines: list[str], new: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "_MOST_PAIRS", most)
        steps = steps_of(lines, new)
    made, done = list[str](), 0
    for i, j, k, end in steps:
        assert i < j or k < end, "each changes something"
        made += [*lines[done:i], *new[k:end]]
        done = j
    assert [*made, *lines[done:]] == new


def test_many_lines_that_come_again_and_again_are_the_same() -> None:
    same = ["head", *["yes", "no"] * 1500, "tail"]
    assert steps_of([*same, "old"], [*same, "new"]) == [(3002, 3003, 3002, 3003)]


@pytest.mark.timeout(5)
def test_a_word_that_is_replaced_in_every_paragraph_is_found_soon() -> None:
    told, new = ([line for n in range(990) for line in (f"{n} {word}", "")] for word in ("more", "less"))
    ((i, j, k, end),) = steps_of(told, new)
    assert (told[i:j], new[k:end]) == (told[:-1], new[:-1])
