"""One run of ``bench relevance`` over several sets."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import fmean

from vicw_bench.fidelity.measure import ensure_filled
from vicw_bench.relevance.ask import Judged, Kind, ask_elsewhere, ask_foreign, ask_own
from vicw_bench.relevance.fit import auroc, fit
from vicw_bench.relevance.sides import SMALL, evenly, small_contexts, without_evidence
from vicw_bench.sets import FidelitySet
from vicw_bench.targets import open_local, store_key
from vicw_retrieval.relevance.calibration import (
    ANSWER_SIGNALS,
    RESULT_SIGNALS,
    Calibration,
    Calibrations,
    ModelCalibration,
    read_calibrations,
)
from vicw_shared.ports import NO_MODEL, ModelIdentity
from vicw_shared.progress import Progress
from vicw_shared.wire.ingest import Extract
from vicw_shared.wire.retrieve import Answered
from vicw_standalone.settings import StandaloneSettings

QUESTIONS = 400
"""Questions of a set, at most."""
FOREIGN = 60
"""Questions of each other set that a set is asked."""
ANSWER_WORDS = ("lexical",)
RESULT_WORDS = ("place", "words")


@dataclass(frozen=True, slots=True)
class RelevanceScores:
    """Figures of one set, each in [0, 1]; NaN where nothing was asked for it.

    ``foreign`` and ``left_out`` are AUROC of relevance: of questions with their evidence against foreign ones, and
    against those whose evidence was left out. ``likely`` and ``nothing`` are the shares of questions with their
    evidence that are called so, ``nothing_foreign`` of foreign ones; ``lost`` is the evidence in what is called so.
    """

    foreign: float
    left_out: float
    likely: float
    nothing: float
    nothing_foreign: float
    lost: float


FIGURES = tuple(field.name for field in fields(RelevanceScores))


async def ask_sets(
    settings: StandaloneSettings, root: Path, sets: Sequence[FidelitySet], progress: Progress
) -> tuple[list[Judged], ModelIdentity]:
    """Ask each set's questions with their evidence, without it, and those of the other sets; return the model, too."""
    judged, model = list[Judged](), NO_MODEL
    sets = [replace(data, questions=tuple(evenly(data.questions, QUESTIONS))) for data in sets]
    for data in sets:
        others = [other for other in sets if other is not data]
        small = small_contexts(data)
        for part in (data, *without_evidence(data), small):
            store = root / f"{part.name}-{store_key(settings, part.digest, Extract.AUTO)}"
            async with open_local(settings, store) as target:
                await ensure_filled(target, part, store, progress)
                model = await target.model()
                if part is data or part is small:
                    judged += await ask_own(target, part, Kind.OWN, part.name, progress)
                    judged += await ask_foreign(target, part, others, FOREIGN, progress)
                else:
                    judged += await ask_own(target, part, Kind.LEFT_OUT, data.name, progress)
                if part is small:
                    judged += await ask_elsewhere(target, part, progress)
    return judged, model


def score(judged: Sequence[Judged], calibration: Calibration) -> RelevanceScores:
    """Return the figures of one set by these constants."""
    return as_answered([_by(one, calibration) for one in judged])


def _by(one: Judged, calibration: Calibration) -> Judged:
    """Return an answer as these constants judge it."""
    relevance = calibration.answer.probability(one.signals)
    if relevance < calibration.nothing:
        answered = Answered.NOTHING
    else:
        answered = Answered.LIKELY if relevance >= calibration.likely else Answered.UNSURE
    return replace(one, relevance=relevance, answered=answered)


def as_answered(judged: Sequence[Judged]) -> RelevanceScores:
    """Return the figures of one set as the answers had them."""

    def of(kind: Kind) -> list[Judged]:
        return [one for one in judged if one.kind is kind]

    def share(kind: Kind, called: Answered) -> float:
        return fmean(one.answered is called for one in of(kind)) if of(kind) else float("nan")

    def relevance(kind: Kind) -> list[float]:
        return [one.relevance for one in of(kind)]

    nothing = [one.found if one.answered is Answered.NOTHING else 0.0 for one in of(Kind.OWN)]
    return RelevanceScores(
        foreign=auroc(relevance(Kind.OWN), relevance(Kind.FOREIGN)),
        left_out=auroc(relevance(Kind.OWN), relevance(Kind.LEFT_OUT)),
        likely=share(Kind.OWN, Answered.LIKELY),
        nothing=share(Kind.OWN, Answered.NOTHING),
        nothing_foreign=share(Kind.FOREIGN, Answered.NOTHING),
        lost=fmean(nothing) if nothing else 0.0,
    )


def held_out(judged: Sequence[Judged], signals: Sequence[str] = ANSWER_SIGNALS) -> dict[str, RelevanceScores]:
    """Return the figures of each set by constants that were fitted on the others; {} for a single set."""
    names = list(dict.fromkeys(one.data for one in judged))
    scores = {}
    for name in names:
        others = [one for one in judged if _set_of(one.data) != _set_of(name)]
        if not others:
            continue
        constants = fit(others, signals, RESULT_SIGNALS)
        scores[name] = score([one for one in judged if one.data == name], constants)
    return scores


def _set_of(name: str) -> str:
    return name.removesuffix(SMALL)


def by_set(judged: Sequence[Judged]) -> dict[str, RelevanceScores]:
    """Return the figures of each set as its answers had them, by name."""
    names = dict.fromkeys(one.data for one in judged)
    return {name: as_answered([one for one in judged if one.data == name]) for name in names}


def mean(scores: Collection[RelevanceScores]) -> RelevanceScores:
    """Return the means of the figures of sets."""
    return RelevanceScores(**{name: fmean(getattr(one, name) for one in scores) for name in FIGURES})


def write_fitted(file: Path, judged: Sequence[Judged], model: ModelIdentity) -> None:
    """Write the constants that all sets give, in place of those that the file has for the model."""
    by_words = fit(judged, ANSWER_WORDS, RESULT_WORDS).model_copy(update={"nothing": 0.0})
    known = read_calibrations(file).models if file.exists() else ()
    others = tuple(one for one in known if not one.is_of(model))
    fitted = ModelCalibration(
        names=(model.name,),
        size=model.size,
        wrapper_version=model.wrapper_version,
        calibration=fit(judged, ANSWER_SIGNALS, RESULT_SIGNALS),
    )
    written = Calibrations(models=(fitted, *others), words=by_words)
    file.write_text(json.dumps(written.model_dump(mode="json"), indent=1) + "\n", "utf-8")
