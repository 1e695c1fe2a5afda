"""Weight tables with one row per hashed feature. A score is a sum of rows.

Weights are floats in training and 8-bit steps in the package, without the step size: only the order of scores matters.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vicw_shared.language.hashing import Hashes, rows

Weights = npt.NDArray[np.int8 | np.float32]
Scores = npt.NDArray[np.int32 | np.float32]
_BLOCK = 512
"""Examples per block, so that the summed rows stay in the processor cache."""

_STEPS = 15


def class_scores(hashes: Hashes, weights: Weights) -> Scores:
    """Return scores (examples, classes) of features (examples, features). ``weights``: (2 ** bits, classes)."""
    bits = bits_of(weights)
    blocks = (hashes[start : start + _BLOCK] for start in range(0, len(hashes), _BLOCK))
    return np.concatenate([weights[rows(block, bits)].sum(axis=1, dtype=_sum_type(weights)) for block in blocks])


def quantised(weights: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], float]:
    """Return ``weights`` in 31 steps and the step size: half the package size of 255 steps, with the same quality.

    The few largest weights are clipped, which costs less quality than coarser steps.
    """
    step = float(np.quantile(np.abs(weights[weights != 0]), 0.9995)) / _STEPS
    steps: npt.NDArray[np.int8] = np.clip(np.round(weights / step), -_STEPS, _STEPS).astype(np.int8)
    return steps, step


def bits_of(weights: Weights) -> int:
    """Return the number of bits of a row index of this table."""
    return len(weights).bit_length() - 1


def _sum_type(weights: Weights) -> type[np.int32 | np.float32]:
    return np.int32 if weights.dtype == np.int8 else np.float32
