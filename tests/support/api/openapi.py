"""What the OpenAPI of a server says, the server does: asked what fits it and what does not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import positive_data_acceptance, unsupported_method

from support.generators.example_count import TIMES

RIGHTS = ("--right", "ingest", "--right", "retrieve", "--right", "erase", "--right", "audit", "--right", "admin")
_EXAMPLES = 60 * TIMES


def check_conformance(url: str, key: str) -> Counter[int]:
    """Ask every endpoint what its schema allows and what it forbids; return how often each status was answered.

    ``key`` has every right, and is said to be needed.

    Fails for a server error, a status, a media type or a body that the document does not tell of, and for wrong
    requests that are taken. Right ones may be refused: that a text needs a visible character, or that a relation
    names what there is, no schema can say.
    """
    document = httpx.get(f"{url}/openapi.json", trust_env=False).raise_for_status().json()
    schema = schemathesis.openapi.from_dict(document)
    seen: Counter[int] = Counter()
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        modes = [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if _can_be_wrong(operation) else [])]
        cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in modes))

        @settings(max_examples=_EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=cases)
        def one(case: schemathesis.Case[Any]) -> None:
            _ask_only(case)
            answer = case.call_and_validate(
                base_url=url,
                headers={"Authorization": f"Bearer {key}"},
                excluded_checks=[positive_data_acceptance, unsupported_method],
                timeout=60,
            )
            seen[answer.status_code] += 1

        one()
    return seen


def _can_be_wrong(operation: APIOperation[Any, Any, Any, Any]) -> bool:
    # Not by its query: what is made up for a wrong one may be nothing when it is sent, as an empty list is, or right,
    # as a number is where a word may stand. So where a body has a query beside it that may be left out, what is made up
    # as wrong may be that query alone.
    may_lack_query = bool(operation.query) and not any(one.is_required for one in operation.query)
    has_body = bool(operation.body) and not may_lack_query
    return bool(has_body or operation.path_parameters or (operation.headers and not operation.query))


def _ask_only(case: schemathesis.Case[Any]) -> None:
    """Have a request to erase erase nothing, since the others ask about what is stored, and a stream end."""
    body = case.body
    if case.path == "/forget" and isinstance(body, dict) and isinstance(body.get("dry_run", True), bool):
        body["dry_run"] = True
    if case.path == "/import":  # a process reads each upload: one of a thousand would be too many
        case.query = {**(case.query or {}), "format": "none of them"}
    if case.path == "/events":
        case.query = {**(case.query or {}), "follow": "false"}
