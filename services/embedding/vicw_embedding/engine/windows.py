"""Cut token ids into windows that a model can read, and join the windows' vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vicw_shared.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The special tokens that a model was trained to see before and after every text."""

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]

    def around(self, body: Sequence[int]) -> list[int]:
        """Return prefix, body, suffix."""
        return [*self.prefix, *body, *self.suffix]

    @property
    def length(self) -> int:
        """Number of special tokens."""
        return len(self.prefix) + len(self.suffix)


def find_frame(body: Sequence[int], whole: Sequence[int]) -> SpecialTokens:
    """Return the special tokens that a tokenizer put around ``body`` to get ``whole``. Raises SettingsError if it does
    not.
    """
    for start in range(len(whole) - len(body) + 1):
        if [*whole[start : start + len(body)]] == [*body]:
            return SpecialTokens(tuple(whole[:start]), tuple(whole[start + len(body) :]))
    raise SettingsError("the model's tokenizer does not wrap a text in fixed special tokens: choose another model")


def cut(body: Sequence[int], frame: SpecialTokens, max_tokens: int) -> list[list[int]]:
    """Return the windows of a text: at least one, none over ``max_tokens``, each with its whole frame.

    Windows differ by one token at most, since they weigh the same in the mean: a remainder of three tokens must not
    count as much as five hundred. No token is lost or read twice.
    """
    room = max_tokens - frame.length
    if room < 1:
        raise ValueError(f"{max_tokens} tokens leave no room beside {frame.length} special tokens")
    count = max(1, math.ceil(len(body) / room))
    edges = [len(body) * number // count for number in range(count + 1)]
    return [frame.around(body[edges[n] : edges[n + 1]]) for n in range(count)]


def normalise(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows scaled to L2 norm 1. A row of zeros becomes the first axis, so that it stays a unit."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    units = (rows / np.where(norms > 0, norms, 1)).astype(np.float32)
    units[norms[:, 0] == 0, 0] = 1
    return units


def join(windows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return one vector, shape (size,), norm 1: the mean of the windows' directions, equally weighted."""
    mean: NDArray[np.float32] = normalise(windows).mean(axis=0, keepdims=True)
    joined: NDArray[np.float32] = normalise(mean)[0]
    return joined


def shorten(rows: NDArray[np.float32], size: int | None) -> NDArray[np.float32]:
    """Return the rows cut to their first ``size`` dimensions and normalised again; None: the rows as they are."""
    if size is None or size == rows.shape[1]:
        return rows
    return normalise(rows[:, :size])
