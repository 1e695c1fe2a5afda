"""Caller's template around the evidence: placeholders in braces, no other syntax, so a template is never code."""

from __future__ import annotations

from collections.abc import Mapping

from vicw_retrieval.synthesis.meter import ELLIPSIS, TextMeter
from vicw_shared.clock import format_minute
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.wire.answer_format import PLACE, Template
from vicw_shared.wire.retrieve import Result

RESULT = "[{rank}] {head}\n{text}"
"""Default format of a result."""


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its placeholders filled in; values are not parsed again.

    >>> fill("{speaker}: {text}", {"speaker": "Ana", "text": "{speaker} is no place here"})
    'Ana: {speaker} is no place here'
    """
    return PLACE.sub(lambda place: values[place[1]], template)


def fill_text(template: Template, results: str) -> str:
    """Return the text with the results in their place."""
    return fill(template.whole, {"results": results})


def require_room(template: Template, meter: TextMeter) -> None:
    """Raise InvalidInputError if the caller's own words leave no room for a result."""
    if meter.size(fill_text(template, "")) < meter.limit:
        return
    problem = FieldProblem("template.whole", "takes all of the budget", "Shorten it, or raise the budget")
    raise InvalidInputError(problem)


def write_result(template: str, result: Result) -> str:
    """Return a result in a template. Unknown values are the empty string."""
    values = {
        "rank": str(result.rank),
        "id": result.id or result.source or result.uid,
        "speaker": result.speaker or "",
        "date": format_minute(result.timestamp),
        "context": result.context,
        "domain": result.domain,
        "flow": result.flow_id or "",
        "kind": result.subtype,
        "name": result.name,
        "text": result.text.strip(),
    }
    return fill(template, values | {"head": _head(result, values)})


def writes_speaker(template: str) -> bool:
    """Return whether a result in this template names its speaker.

    >>> writes_speaker(RESULT), writes_speaker("- {text}")
    (True, False)
    """
    return not {"head", "speaker"}.isdisjoint(PLACE.findall(template))


def _head(result: Result, values: Mapping[str, str]) -> str:
    """Return the known facts of a result in one line, without repeats but a speaker with the context's name."""
    source = result.id or result.source
    # The speaker's name, or the beginning of the text, says nothing.
    says_nothing = result.name == result.speaker or values["text"].startswith(result.name.rstrip(ELLIPSIS))
    place = (values["context"], values["domain"], values["kind"], "" if says_nothing else result.name)
    facts = (*dict.fromkeys(place), values["speaker"], values["date"], f"id {source}" if source else "")
    return " · ".join(fact for fact in facts if fact)
