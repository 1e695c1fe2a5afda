from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_embedding.engine.windows import SpecialTokens, cut, join, normalise, shorten

FRAME = SpecialTokens((0,), (2,))


@given(st.lists(st.integers(10, 300), max_size=700), st.integers(3, 40))
def test_windows_hold_every_token_once_in_order_each_inside_its_frame(body: list[int], max_tokens: int) -> None:
    windows = cut(body, FRAME, max_tokens)

    assert [token for window in windows for token in window[1:-1]] == body
    assert all(window[0] == 0 and window[-1] == 2 and len(window) <= max_tokens for window in windows)
    assert max(map(len, windows)) - min(map(len, windows)) <= 1


def test_a_text_that_just_fits_is_one_window_and_one_token_more_makes_two() -> None:
    assert len(cut(range(510), FRAME, 512)) == 1
    assert [len(window) for window in cut(range(511), FRAME, 512)] == [255 + 2, 256 + 2]


def test_a_window_too_small_for_its_frame_is_an_error() -> None:
    with pytest.raises(ValueError, match="no room"):
        cut([1], FRAME, 2)


def test_normalise_gives_units_and_never_divides_by_zero() -> None:
    rows = normalise(np.array([[3, 4], [0, 0]], dtype=np.float32))

    np.testing.assert_allclose(rows, np.array([[3 / 5, 4 / 5], [1, 0]]))
    assert rows.dtype == np.float32


def test_join_weighs_windows_equally_whatever_their_length_was() -> None:
    joined = join(np.array([[10, 0], [0, 0.1]], dtype=np.float32))

    np.testing.assert_allclose(joined, [2**-0.5, 2**-0.5], rtol=1e-6)


def test_shorten_cuts_and_normalises_again() -> None:
    rows = np.array([[0.6, 0.0, 0.8]], dtype=np.float32)

    np.testing.assert_allclose(shorten(rows, 2), [[1, 0]])
    assert shorten(rows, None) is rows
    assert shorten(np.empty((0, 3), dtype=np.float32), 2).shape == (0, 2)
