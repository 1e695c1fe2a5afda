"""Effect of an intent on the read path: weights of the channels, the graph, causes and recency.

A profile holds only its differences from the settings. Profiles with a measured gain are on. The table of tasks is the
seed's and stays off until measurements support it (docs/retrieval.md, "Intent"). A profile is applied in proportion to
its confidence: a question without a known intent is answered by the unchanged settings.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from vicw_retrieval.intent.analysis import QuestionAnalysis, analyse_question
from vicw_shared.errors import RetryableError
from vicw_shared.ports import GraphStore, VectorHit
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Task

_READ_CHARS = 1200


_LONG_FROM, _LONG_AT = 400, 800
"""Characters from which a passage counts as long in part, and from which fully."""


_CODE_LINE = re.compile(
    r"""\s*(?:
        (?:def|class|import|from|return|if|elif|else|for|while|try|except|with|raise|async|await|yield|assert|lambda
          |pass)\b.*(?:[:(=\]]|\bimport\b).*
      | (?:return|pass|break|continue|raise|yield)\b(?:[^.?!]|\.(?=\w))*
      | (?:public|private|protected|static|const|let|var|func|fn|function|struct|interface|enum|type|impl|package|use
          |using|namespace|export)\b.*[{(;=].*
      | [\w.\[\]'"\s,*&>-]+\s*(?:[-+*/|&%]|:|<<|>>)?=[^=].*
      | @[\w.]+(?:\(.*\))?
      | \#\s*(?:include|define|ifdef|ifndef|endif|pragma)\b.*
      | [\w.\->:]+\(.*\)\s*[:;{]?
      | [})\]]+[;,)]*
      | .*[;{]
      | SELECT\b.*|INSERT\ INTO\b.*|CREATE\ TABLE\b.*
    )\s*""",
    re.VERBOSE,
)


_LINE_CHARS = 200
"""Maximum characters of a line of code; it also bounds the cost of a match."""


_MARK = re.compile(r"[()\[\]{}=;:@#]")


_COMMENT = re.compile(r"\s*(?:(?:\#(?!\s*(?:include|define))|//|\*|/\*).*|\"[^\"]*\"|'[^']*')\s*")
"""Lines of comments; a lone string is a docstring."""


_DOCSTRING = re.compile(r"\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)", re.DOTALL)


def is_code(text: str) -> bool:
    r"""Return whether a passage is code: half of its lines at least, without comments and docstrings.

    >>> is_code("def cast(spell):\n    '''Cast it.'''\n    return spell.power * 2")
    True
    >>> is_code('def area(self):\n    "The area."\n    return self.width * self.height')
    True
    >>> is_code("He said: use the function; then we went home.")
    False
    """
    lines = [line for line in _DOCSTRING.sub("", text[:_READ_CHARS]).splitlines() if line.strip()]
    uncommented = [line for line in lines if not _COMMENT.fullmatch(line)]
    code = [line for line in uncommented if len(line) <= _LINE_CHARS and _CODE_LINE.fullmatch(line)]
    # Prose has lone words such as "continue", too.
    return 2 * len(code) >= max(1, len(uncommented)) and any(_MARK.search(line) for line in code)


def share_of_code(texts: Iterable[str]) -> float:
    """Return the share of code among passages, in [0, 1]; 0 without passages."""
    judged = [is_code(text) for text in texts]
    return sum(judged) / len(judged) if judged else 0.0


def share_of_long(texts: Iterable[str]) -> float:
    """Return the share of long texts among passages, in [0, 1]; 0 without passages.

    >>> share_of_long(["x" * 300, "x" * 600, "x" * 900])
    0.5
    """
    shares = [min(1.0, max(0.0, (len(text) - _LONG_FROM) / (_LONG_AT - _LONG_FROM))) for text in texts]
    return sum(shares) / len(shares) if shares else 0.0


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


_JUDGED = 8
"""Hits of a channel whose content is read."""


@dataclass(frozen=True, slots=True)
class QuestionIntent:
    """Intent of one question: ``settings`` are the service's, adapted to the question.

    ``code`` and ``long`` are the shares of code and of long passages among its best hits, in [0, 1]; ``question`` is
    None before its words were analysed, and if intent is off.
    """

    settings: RetrievalSettings
    question: QuestionAnalysis | None = None
    code: float = 0.0
    long: float = 0.0


def read_words(intent: QuestionIntent, service: RetrievalSettings, query: str) -> QuestionIntent:
    """Return the intent with the analysis of the question's words, if the ``service`` has it on."""
    return _adapted(replace(intent, question=analyse_question(query)), service) if service.intent else intent


async def read_hits(
    intent: QuestionIntent,
    service: RetrievalSettings,
    ranked: Mapping[str, Sequence[VectorHit]],
    graph: GraphStore,
    tenant: str,
    seconds: float,
) -> QuestionIntent | None:
    """Return the intent with the kind of content of the vector channels' best hits.

    None if they cannot be read within ``seconds``.
    """
    best = dict.fromkeys(hit.id for name in ("dense", "bm25") for hit in ranked.get(name, ())[:_JUDGED])
    if service.profiles == "off" or not best:
        return intent
    with contextlib.suppress(RetryableError, TimeoutError):
        async with asyncio.timeout(seconds):
            texts = (await graph.texts(tenant, list(best))).values()  # which the next stages read, too
        return _adapted(replace(intent, code=share_of_code(texts), long=share_of_long(texts)), service)
    return None


def _adapted(intent: QuestionIntent, service: RetrievalSettings) -> QuestionIntent:
    question = intent.question or QuestionAnalysis()
    return replace(intent, settings=apply_profiles(service, question, intent.code, intent.long))
