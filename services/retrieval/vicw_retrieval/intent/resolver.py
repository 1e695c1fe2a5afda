"""Intent of one request, from its question and its best hits, and the settings that follow from it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vicw_retrieval.intent.analysis import QuestionAnalysis, analyse_question
from vicw_retrieval.intent.contents import share_of_code, share_of_long
from vicw_retrieval.intent.profiles import apply_profiles
from vicw_shared.errors import RetryableError
from vicw_shared.ports import VectorHit, VectorStore
from vicw_shared.settings import RetrievalSettings

_JUDGED = 8
"""Hits of a channel whose content is read."""


@dataclass(slots=True)
class IntentResolver:
    """Intent of one question: ``settings`` are the service's until it is read, then the question's own.

    ``code`` and ``long`` are the shares of code and of long passages among its best hits, in [0, 1]; ``question`` stays
    None if intent is off.
    """

    service: RetrievalSettings
    settings: RetrievalSettings
    question: QuestionAnalysis | None = None
    code: float = 0.0
    long: float = 0.0

    def analyse(self, query: str) -> None:
        """Analyse the question by its words."""
        if self.service.intent:
            self.question = analyse_question(query)
            self._apply_profiles()

    async def judge(self, ranked: Mapping[str, Sequence[VectorHit]], vectors: VectorStore, seconds: float) -> bool:
        """Judge the content of the vector channels' best hits.

        Returns False, and changes nothing, if they cannot be read within ``seconds``.
        """
        best = dict.fromkeys(hit.id for name in ("dense", "bm25") for hit in ranked.get(name, ())[:_JUDGED])
        if self.service.profiles == "off" or not best:
            return True
        with contextlib.suppress(RetryableError, TimeoutError):
            async with asyncio.timeout(seconds):
                payloads = await vectors.payloads(list(best))
            texts = [str(payload.get("text", "")) for payload in payloads.values()]
            self.code, self.long = share_of_code(texts), share_of_long(texts)
            self._apply_profiles()
            return True
        return False

    def _apply_profiles(self) -> None:
        self.settings = apply_profiles(self.service, self.question or QuestionAnalysis(), self.code, self.long)
