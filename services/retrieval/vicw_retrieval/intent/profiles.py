"""Effect of an intent on the read path: weights of the channels, the graph, causes and recency.

A profile holds only its differences from the settings. Profiles with a measured gain are on. The table of tasks is the
seed's and stays off until measurements support it (docs/retrieval.md, "Intent"). A profile is applied in proportion to
its confidence: a question without a known intent is answered by the unchanged settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from vicw_retrieval.intent.analysis import QuestionAnalysis
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Task


@dataclass(frozen=True, slots=True)
class Profile:
    """Weights in [0, 1] and the half-life of recency in days that replace the settings' values; None keeps a value."""

    alpha: float | None = None
    graph_weight: float | None = None
    causal_bias: float | None = None
    recency_weight: float | None = None
    recency_days: float | None = None


CODE = Profile(alpha=0.8)
"""Passages of code: questions use words where code uses names."""
LONG = Profile(alpha=0.4)
"""Long passages of prose: one vector has to represent the whole text, its words are kept unchanged."""
NOW = Profile(recency_weight=0.2, recency_days=30.0)
"""Questions about the current state: the highest weight of recency."""
TASKS: Mapping[Task, Profile] = {
    Task.UNDERSTAND: Profile(0.55 / 0.70, 0.20, 0.3, 0.10),
    Task.FIND_SPEC: Profile(0.50 / 0.65, 0.25, 0.7, 0.10),
    Task.FIX_BUG: Profile(0.35 / 0.70, 0.10, 0.8, 0.20),
    Task.FIND_DECISION: Profile(0.40 / 0.60, 0.30, 0.9, 0.10),
    Task.ADD_FEATURE: Profile(0.40 / 0.65, 0.20, 0.5, 0.15),
    Task.REFACTOR: Profile(0.45 / 0.70, 0.20, 0.4, 0.10),
}
"""Weights by task; alpha is the share of the dense channel in fusion, in [0, 1]."""


def apply_profiles(
    settings: RetrievalSettings, question: QuestionAnalysis, code: float, long: float
) -> RetrievalSettings:
    """Return the settings for a question; ``code`` and ``long`` are the shares of such content among its best hits."""
    if settings.profiles == "off":
        return settings
    profiles = [(CODE, code), (LONG, (1 - code) * long), (NOW, float(question.now))]
    if settings.profiles == "tasks" and question.task is not None:
        profiles.append((TASKS[question.task], question.confidence))
    return mix(settings, profiles)


def mix(settings: RetrievalSettings, profiles: Sequence[tuple[Profile, float]]) -> RetrievalSettings:
    """Return the settings moved towards each profile by its share in [0, 1]; the larger share wins a conflict.

    Values set explicitly are moved, too; the setting ``profiles`` can forbid this. Without any share nothing changes.
    """
    moved: dict[str, float] = {}
    for profile, share in sorted(profiles, key=lambda entry: entry[1]):
        for name, target in _values_of(profile).items():
            default = getattr(settings, name)
            moved[name] = default + share * (target - default)
    changed = {name: value for name, value in moved.items() if value != getattr(settings, name)}
    return settings.model_copy(update=changed) if changed else settings


def _values_of(profile: Profile) -> Mapping[str, float]:
    values = {field.name: getattr(profile, field.name) for field in fields(profile)}
    return {name: value for name, value in values.items() if value is not None}
