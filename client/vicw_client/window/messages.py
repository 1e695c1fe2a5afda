"""Validation of messages in OpenAI's form, and their conversion into turns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from vicw_client._problems import refusal
from vicw_client.window.turns import Turn
from vicw_shared.errors import FieldProblem

ROLES = frozenset({"user", "assistant", "tool", "system", "developer"})


def read_message(message: Mapping[str, Any], number: int, timestamp: datetime, name: str | None = None) -> Turn:
    """Return the turn of a message in OpenAI's form. Raises BadRequestError naming the fields that are wrong."""
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls") or ()
    call_id, name = message.get("tool_call_id"), name or message.get("name")
    if role == "assistant" and content is None and not calls:
        content = ""  # an empty reply of the model
    wrong = []
    if role not in ROLES:
        wrong.append(FieldProblem("role", f"is {role!r}", f"Give one of {', '.join(sorted(ROLES))}"))
    if not isinstance(content, str) and not (content is None and calls):
        wrong.append(FieldProblem("content", f"is a {type(content).__name__}", "Give the text as a string"))
    if not isinstance(name, str | None):
        wrong.append(FieldProblem("name", f"is a {type(name).__name__}", "Give the name as a string"))
    if calls and role != "assistant":
        wrong.append(FieldProblem("tool_calls", f"are in a message of role {role!r}", "Only the assistant calls tools"))
    if not all(isinstance(call, Mapping) and isinstance(call.get("id"), str) for call in calls):
        wrong.append(FieldProblem("tool_calls", "contain a call without an id", "Give them as in the model's JSON"))
    if (role == "tool") != isinstance(call_id, str):
        wrong.append(FieldProblem("tool_call_id", f"is {call_id!r}", "Give it in a tool's answer, and only there"))
    if timestamp.tzinfo is None:
        wrong.append(FieldProblem("timestamp", "has no time zone", "Give one, such as datetime.now(UTC)"))
    if wrong:
        raise refusal(*wrong)
    return Turn(number, str(role), content, timestamp, name, tuple(calls), call_id)
