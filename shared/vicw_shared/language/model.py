"""The trained weights, which are part of the package: ``english.npz``, a few megabytes, made by ``training/``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from vicw_shared.language.weights import Weights, stored_arrays

FILE = "english.npz"


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """Weights of the tagger (2 ** 19, 17), the arcs (2 ** 22,) and the relations (2 ** 17, 39)."""

    tags: Weights
    arcs: Weights
    relations: Weights


@lru_cache(maxsize=1)
def load_model() -> LanguageModel:
    """Return the model that comes with the package; it is read once and takes 18 MB."""
    return LanguageModel(**stored_arrays(__package__, FILE))
