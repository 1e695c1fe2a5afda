from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.index.wrapper import WRAPPER_VERSION
from vicw_retrieval.relevance.calibration import Formula, load_calibrations
from vicw_shared.embedding_models import DEFAULT_MODEL, MODELS
from vicw_shared.errors import SettingsError
from vicw_shared.ports import NO_MODEL, ModelIdentity

MINILM = ModelIdentity(DEFAULT_MODEL, MODELS[DEFAULT_MODEL].size, "any file", WRAPPER_VERSION)
OTHER = ModelIdentity("other", 384, "d", WRAPPER_VERSION)


def test_the_formula_is_a_logistic_regression() -> None:
    formula = Formula(bias=-1.0, weights={"a": 2.0, "b": -3.0})
    assert formula.probability({"a": 0.5, "b": 0.1, "c": 9.0}) == pytest.approx(1 / (1 + math.exp(0.3)))


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_a_probability_is_one_whatever_the_signal(weight: float, signal: float) -> None:
    assert 0 <= Formula(bias=0.0, weights={"a": weight}).probability({"a": signal}) <= 1


def test_the_default_model_has_constants_of_its_own() -> None:
    calibrations = load_calibrations()
    minilm = calibrations.of(MINILM)
    assert minilm is not calibrations.words
    assert 0 < minilm.nothing < minilm.likely
    assert minilm.answer.weights["cosine"] > 0


@pytest.mark.parametrize("model", [OTHER, NO_MODEL, ModelIdentity(DEFAULT_MODEL, 256, "d", WRAPPER_VERSION)])
def test_another_model_is_judged_by_words_alone_and_never_says_nothing(model: ModelIdentity) -> None:
    calibrations = load_calibrations()
    words = calibrations.of(model)
    assert words is calibrations.words
    assert set(words.answer.weights) == {"lexical"}
    assert words.nothing == 0


def test_a_file_adds_a_model_and_keeps_the_installed_ones(tmp_path: Path) -> None:
    installed = load_calibrations()
    fitted = installed.models[0].model_copy(update={"names": ("other",)})
    file = tmp_path / "constants.json"
    file.write_text(json.dumps(installed.model_copy(update={"models": (fitted,)}).model_dump(mode="json")))
    calibrations = load_calibrations(file)
    assert calibrations.of(OTHER) == fitted.calibration
    assert calibrations.of(MINILM) == installed.of(MINILM)


@pytest.mark.parametrize("text", ["", "{}", '{"words": 1}', '{"words": {"answer": {"bias": NaN, "weights": {}}}}'])
def test_a_broken_file_is_a_wrong_setting(tmp_path: Path, text: str) -> None:
    file = tmp_path / "constants.json"
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"VICW_RETRIEVAL_RELEVANCE_FILE: .*vicw bench relevance --fit"):
        load_calibrations(file)
    with pytest.raises(SettingsError, match="no constants of relevance"):
        load_calibrations(tmp_path / "missing.json")


def test_a_file_of_a_version_with_other_signals_is_a_wrong_setting(tmp_path: Path) -> None:
    installed = load_calibrations().model_dump(mode="json")
    installed["words"]["answer"]["weights"]["loudness"] = 1.0
    file = tmp_path / "constants.json"
    file.write_text(json.dumps(installed))
    with pytest.raises(SettingsError, match=r"weight of 'loudness', which is no signal .*bench relevance --fit"):
        load_calibrations(file)
