"""Constants of relevance, fitted for each embedding model by ``vicw bench relevance`` (docs/retrieval.md, "Relevance").

Cosines of one model say nothing of another's. So each model has constants of its own, found by its identity: those of
a file that the settings name, else those of this package. A model without constants is judged by words alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from vicw_shared.errors import SettingsError
from vicw_shared.ports import ModelIdentity

_PACKAGED = "constants.json"
ANSWER_SIGNALS = ("cosine", "lexical", "small", "distance", "covered", "lead")
RESULT_SIGNALS = ("place", "behind", "words")
"""Names of the signals (``signals.py``) of an answer, and of a result."""


class _Constants(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Formula(_Constants):
    """A logistic regression on signals (``signals.py``), by name."""

    bias: float
    weights: dict[str, float]

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return 1 ÷ (1 + e^−(bias + Σ weight × signal)), in [0, 1].

        >>> Formula(bias=-1.0, weights={"cosine": 2.0}).probability({"cosine": 0.5, "lexical": 0.3})
        0.5
        """
        logit = self.bias + sum(weight * signals[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


class Calibration(_Constants):
    """Constants of one embedding model: of the answer, and of a result's share in it.

    An answer is ``likely`` evidence from ``likely`` on, and nothing below ``nothing``; 0: that is never said.
    ``english``: fitted on English questions with a model of English, so nothing is said of other questions.
    """

    answer: Formula
    result: Formula
    likely: float = Field(0.5, ge=0, le=1)
    nothing: float = Field(0.0, ge=0, le=1)
    english: bool = True

    @model_validator(mode="after")
    def _require_signals(self) -> Self:
        for formula, signals in ((self.answer, ANSWER_SIGNALS), (self.result, RESULT_SIGNALS)):
            if unknown := sorted(formula.weights.keys() - set(signals)):
                raise ValueError(f"it has a weight of {unknown[0]!r}, which is no signal of this version")
        return self


class ModelCalibration(_Constants):
    """The calibration of a model, of whatever file: ``names`` are its names, vectors have ``size`` dimensions."""

    names: tuple[str, ...]
    size: int
    wrapper_version: int
    calibration: Calibration

    def is_of(self, model: ModelIdentity) -> bool:
        """Return whether these are the constants of a store's model."""
        return (model.size, model.wrapper_version) == (self.size, self.wrapper_version) and model.name in self.names


class Calibrations(_Constants):
    """The calibrations of models, and that of ``words``: for other models, and where there are no vectors."""

    models: tuple[ModelCalibration, ...] = ()
    words: Calibration

    def of(self, model: ModelIdentity) -> Calibration:
        """Return the calibration of a model, or that of words."""
        return next((one.calibration for one in self.models if one.is_of(model)), self.words)


@cache
def load_calibrations(file: Path | None = None) -> Calibrations:
    """Return the calibrations of the package, after those of a ``file``. Raises SettingsError for the file."""
    packaged = Calibrations.model_validate_json(files(__package__).joinpath(_PACKAGED).read_bytes())
    if file is None:
        return packaged
    return packaged.model_copy(update={"models": (*read_calibrations(file).models, *packaged.models)})


def read_calibrations(file: Path) -> Calibrations:
    """Return the calibrations of a file alone. Raises SettingsError."""
    try:
        return Calibrations.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        problem = str(error) if isinstance(error, OSError) else error.errors(include_url=False)[0]["msg"]
        raise SettingsError(
            f"VICW_RETRIEVAL_RELEVANCE_FILE: {file} has no constants of relevance ({problem}); "
            "`vicw bench relevance --fit FILE` writes them"
        ) from error
