"""Requests of the sleep cycle to a language model. No job waits for an unavailable model or depends on one.

An answer is a proposal about untrusted texts: the caller has to validate it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import structlog
from pydantic import BaseModel, ValidationError

from vicw_core.text.untrusted_text import quote_untrusted
from vicw_shared.errors import InvalidInputError, LimitExceededError, VicwError
from vicw_shared.ports import Completion, Finish, LanguageModel, Prompt, Role
from vicw_shared.settings import LlmSettings

_log = structlog.get_logger()
UNAVAILABLE_SECONDS = 600.0
"""Time for which a failed model is not called again: a slow model costs a run one answer, not one per text."""


class LlmRequester:
    """Asks ``model`` for ``at_once`` concurrent answers of at most ``max_tokens``. Belongs to one event loop."""

    def __init__(self, model: LanguageModel, *, max_tokens: int, at_once: int) -> None:
        self._model = model
        self._max_tokens = max_tokens
        self._at_once = at_once
        self._slots = asyncio.Semaphore(at_once)
        self._unavailable_until = float("-inf")

    @property
    def at_once(self) -> int:
        """Maximum concurrent answers: 0 while the model is unavailable."""
        return 0 if time.monotonic() < self._unavailable_until else self._at_once

    async def ask(
        self, instruction: str, material: Mapping[str, object], schema: Mapping[str, object], *, tokens: int
    ) -> Completion | None:
        """Return the answer to ``instruction``, of about ``tokens``; None: the model is unavailable or refuses.

        ``material`` is quoted as untrusted text. ``schema`` is the JSON schema of the answer, which the model may
        ignore.
        """
        messages = [Prompt(Role.SYSTEM, instruction), Prompt(Role.USER, quote_untrusted(material))]
        async with self._slots:
            if time.monotonic() < self._unavailable_until:
                return None
            try:
                return await self._model.complete(messages, schema, max_tokens=min(self._max_tokens, tokens))
            except (InvalidInputError, LimitExceededError) as error:
                _log.info("the language model refuses a request", error=error.detail)
                return None
            except VicwError as error:
                self._unavailable_until = time.monotonic() + UNAVAILABLE_SECONDS
                _log.warning(
                    "the language model is unavailable; the sleep cycle continues without it", error=error.detail
                )
                return None


def parsed[M: BaseModel](answer: Completion, form: type[M]) -> M | None:
    """Return the JSON object in an answer, ignoring text around it; None: it is malformed or cut off."""
    start, end = answer.text.find("{"), answer.text.rfind("}")
    try:
        answer_fields = form.model_validate_json(answer.text[start : end + 1])
    except (ValidationError, ValueError, RecursionError):
        return None
    return answer_fields if answer.finish is Finish.STOP else None


def llm_requester(model: LanguageModel | None, settings: LlmSettings) -> LlmRequester | None:
    """Return a requester for the model; None without one."""
    return LlmRequester(model, max_tokens=settings.max_tokens, at_once=settings.at_once) if model is not None else None
