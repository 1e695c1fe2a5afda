"""Training of linear models over hashed features by stochastic gradients with AdaGrad (Duchi et al., 2011)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


class Table:
    """Weights that learn. ``values`` has shape (rows,) or (rows, classes)."""

    def __init__(self, *shape: int, rate: float = 0.1) -> None:
        self.values: Floats = np.zeros(shape, dtype=np.float32)
        self._squares: Floats = np.full(shape, 1e-6, dtype=np.float32)
        self._rate = np.float32(rate)

    def step(self, rows: npt.NDArray[np.uint32], gradients: Floats) -> None:
        """Go one step down. ``rows`` (n,) may repeat; ``gradients`` (n,) or (n, classes)."""
        np.add.at(self._squares, rows, gradients * gradients)
        np.subtract.at(self.values, rows, self._rate * gradients / np.sqrt(self._squares[rows]))


def fit_classes(
    rows: npt.NDArray[np.uint32], classes: npt.NDArray[np.int64], shape: tuple[int, int], *, epochs: int, seed: int = 0
) -> Floats:
    """Return the weights of a softmax over ``shape[1]`` classes. ``rows`` has shape (examples, features)."""
    table = Table(*shape)
    order = np.random.default_rng(seed)
    for _ in range(epochs):
        shuffled = order.permutation(len(classes))
        for start in range(0, len(shuffled), 64):
            chosen = shuffled[start : start + 64]
            seen = rows[chosen]
            wrong = softmax(table.values[seen].sum(axis=1))
            wrong[np.arange(len(chosen)), classes[chosen]] -= 1
            table.step(seen.reshape(-1), np.repeat(wrong, seen.shape[1], axis=0))
    return table.values


def softmax(scores: Floats) -> Floats:
    """Return probabilities along the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=np.float32)
