"""Request extractions from a language model, one part of the text at a time; ask again after a malformed answer.

``llm_queue/service.py`` (``PendingExtractor``) calls it with stored items. It is no ``Extractor``: that is the port of
the rules for prose.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from prometheus_client import Counter

from vicw_core.text.untrusted_text import quote_untrusted
from vicw_ingest.extraction.llm.mapper import MAX_PARTS, AnswerMapper
from vicw_ingest.extraction.llm.prompts import prompt
from vicw_ingest.extraction.llm.schema import (
    ParsedAnswer,
    answer_problems,
    describe_types,
    extractable_types,
    parse,
    schema_of,
)
from vicw_shared.errors import BrokenError, FixableError, TooSlowError
from vicw_shared.model import EdgeRegistry
from vicw_shared.model.extraction import SPEAKER, SourceText, TextExtraction
from vicw_shared.ports import Completion, Finish, LanguageModel, Prompt, Role
from vicw_shared.settings import LlmSettings
from vicw_shared.telemetry.stages import Stages

_RETURNED_CHARS = 4000
_REDUCED_PARTS = 20
llm_stages = Stages("llm", "Time of language model calls: call is one answer, check its validation")
CALLS = Counter("vicw_llm_calls_total", "Answers of the language model, by how they ended", ["finish"])
TOKENS = Counter("vicw_llm_tokens_total", "Tokens read and written, as the language model reports", ["direction"])
REPAIRS = Counter("vicw_llm_repairs_total", "Answers sent back for correction")
FAILURES = Counter("vicw_llm_failures_total", "Parts of texts that the language model failed at", ["reason"])
DROPPED = Counter("vicw_llm_dropped_total", "Parts of answers left out, by reason", ["reason"])


class ExtractionError(Exception):
    """The model is reachable but fails on this text. ``reason`` is a one-word code."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class ModelExtraction:
    """A model's extraction of a text; ``by`` names the model, ``missing`` counts the parts that failed."""

    extraction: TextExtraction
    by: str
    missing: int = 0


class ModelExtractor:
    """Extract from texts with a language model."""

    def __init__(self, model: LanguageModel, registry: EdgeRegistry, settings: LlmSettings, max_parts: int) -> None:
        """``max_parts`` limits the nodes and relations taken from one text."""
        self._model = model
        self._settings = settings
        self._max_parts = max_parts
        types = extractable_types(registry)
        self._types = tuple(kind.name for kind in types)
        self._schema = schema_of(types, MAX_PARTS)
        self._prompt = prompt("spo")
        self._type_list = describe_types(types)

    async def extract(self, source: SourceText, passages: Sequence[str], *, in_part: bool = False) -> ModelExtraction:
        """Return the model's extraction of a text; ``passages`` joined are the text.

        Raises ExtractionError if a part fails (with ``in_part``: only if all parts fail), and the errors that the
        model port raises when the model is unreachable.
        """
        extraction, by, failed, done = TextExtraction(), "", None, 0
        mapper: AnswerMapper | None = None
        parts = list(islice(_group_passages(passages, self._settings.text_chars), self._settings.parts))
        for number, (start, end) in enumerate(parts):
            try:
                answer, completion = await self._request_answer(self._prompts(source, source.text[start:end]))
            except ExtractionError as error:
                FAILURES.labels(error.reason).inc()
                if not in_part:
                    raise
                failed = error
                continue
            if mapper is None:
                by = f"llm:{completion.model}"
                mapper = AnswerMapper(source, self._types, by, self._max_parts)
                extraction.by = by
            with llm_stages("check"):
                part = await asyncio.to_thread(mapper.map, answer, start=start, end=end, part=number)
            extraction.add(part)
            done += 1
        if mapper is None:
            raise failed or ExtractionError("empty", "there is nothing to read")
        for reason, count in mapper.dropped.items():
            DROPPED.labels(reason).inc(count)
        return ModelExtraction(extraction, by, len(parts) - done)

    def _prompts(self, source: SourceText, text: str) -> list[Prompt]:
        speaker = f', "{SPEAKER}" whoever wrote it' if source.speaker is not None else ""
        claimant = f' or "{SPEAKER}"' if source.speaker is not None else ""
        payload = {"speaker": source.speaker, "at": source.at.isoformat(), "title": source.name, "text": text}
        return [
            Prompt(Role.SYSTEM, self._prompt.format(speaker=speaker, claimant=claimant, types=self._type_list)),
            Prompt(Role.USER, quote_untrusted(payload)),
        ]

    async def _request_answer(self, prompts: list[Prompt]) -> tuple[ParsedAnswer, Completion]:
        """Return the first well-formed answer, else the well-formed parts of the last one."""
        messages = prompts
        for repairs_left in range(self._settings.repairs, -1, -1):
            completion = await self._call(messages)
            if completion.finish is Finish.REFUSED:
                raise ExtractionError("refused", completion.text[:200] or "the model refuses to answer")
            with llm_stages("check"):
                answer = await asyncio.to_thread(parse, completion.text)
            cut_off = completion.finish is Finish.LENGTH
            if not cut_off and not answer.problems:
                return answer, completion
            if not repairs_left:
                break
            REPAIRS.inc()
            messages = [*prompts, *_repair_prompts(completion.text, answer, cut_off)]
        if cut_off:
            raise ExtractionError("cut_off", "its answer is longer than VICW_LLM_MAX_TOKENS")
        if answer.is_useless:
            raise ExtractionError("nonsense", answer.problems[0])
        return answer, completion

    async def _call(self, messages: Sequence[Prompt]) -> Completion:
        try:
            with llm_stages("call"):
                completion = await self._model.complete(messages, self._schema, max_tokens=self._settings.max_tokens)
        except FixableError as error:
            raise ExtractionError("rejected", error.detail) from error
        except TooSlowError as error:
            raise ExtractionError("too_slow", error.detail) from error
        except BrokenError as error:
            raise ExtractionError("broken", error.detail) from error
        CALLS.labels(completion.finish.value).inc()
        TOKENS.labels("in").inc(completion.tokens_in)
        TOKENS.labels("out").inc(completion.tokens_out)
        return completion


def _repair_prompts(text: str, answer: ParsedAnswer, cut_off: bool) -> list[Prompt]:
    if cut_off:
        return [Prompt(Role.USER, prompt("shorter").format(most=_REDUCED_PARTS))]
    instruction = prompt("repair").format(problems=answer_problems(answer))
    return [Prompt(Role.ASSISTANT, text[:_RETURNED_CHARS] or "{}"), Prompt(Role.USER, instruction)]


def _group_passages(passages: Sequence[str], size: int) -> list[tuple[int, int]]:
    """Group whole passages into parts of at most ``size`` characters; a longer passage is a part of its own."""
    parts: list[tuple[int, int]] = []
    start = end = 0
    for passage in passages:
        if end > start and end + len(passage) - start > size:
            parts.append((start, end))
            start = end
        end += len(passage)
    return [*parts, (start, end)] if end > start else parts
