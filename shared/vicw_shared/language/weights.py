"""Tables of weights: a row for every hashed feature, and the sums of rows that are a model's whole arithmetic.

Floats while they are learnt, 8-bit steps in the package: only the order of scores counts, so a step has no size.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vicw_shared.language.hashing import Hashes, rows

Weights = npt.NDArray[np.int8 | np.float32]
Scores = npt.NDArray[np.int32 | np.float32]
_BLOCK = 512
"""Examples at a time, so that what is summed stays in the processor's cache."""

_STEPS = 15


def class_scores(seen: Hashes, weights: Weights) -> Scores:
    """Return scores (examples, classes) of features (examples, features). ``weights``: (2 ** bits, classes)."""
    bits = bits_of(weights)
    blocks = (seen[start : start + _BLOCK] for start in range(0, len(seen), _BLOCK))
    return np.concatenate([weights[rows(block, bits)].sum(axis=1, dtype=_sum_type(weights)) for block in blocks])


def quantised(weights: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], float]:
    """Return ``weights`` in 31 steps and the size of one: half of what 255 take in the package, and no worse.

    The few largest are clipped, which loses less than coarser steps would.
    """
    step = float(np.quantile(np.abs(weights[weights != 0]), 0.9995)) / _STEPS
    steps: npt.NDArray[np.int8] = np.clip(np.round(weights / step), -_STEPS, _STEPS).astype(np.int8)
    return steps, step


def bits_of(weights: Weights) -> int:
    """Return the number of bits that a row of this table is found by."""
    return len(weights).bit_length() - 1


def _sum_type(weights: Weights) -> type[np.int32 | np.float32]:
    return np.int32 if weights.dtype == np.int8 else np.float32
