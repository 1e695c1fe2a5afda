"""Extractor port: what a plug-in for one language finds in texts, without an LLM.

``ingest`` calls it in its extract stage (``vicw_ingest.extraction.extractor``). ``ModelExtractor`` and
``PendingExtractor`` there belong to the language model, and do not use this port.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from vicw_shared.model.extraction import SourceText, TextExtraction


class Extractor(Protocol):
    """Facts and noun phrases of texts in one language.

    Making one must be cheap: models are loaded at the first call. VICW makes several, and calls each from one thread at
    a time. Calls have no side effects, and need no network. What a call raises is logged, and costs only the extraction
    of the texts that raise it by themselves.
    """

    def extract(self, sources: Sequence[SourceText]) -> list[TextExtraction]:
        """Return the extraction of each text, in order; an empty one for a text without facts.

        A text is prose: code, stack traces and commits in it are blanked out, and spans are offsets in it all the same.
        Keys are unique within an extraction. Each end of a relation is a key of it, or ITEM, SPEAKER or PREVIOUS. The
        ``rule`` of a relation begins with ``rules:``. A text's extraction does not depend on the other texts.
        """
        ...

    def noun_phrases(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the noun phrases of each text, as often as they occur, folded as by ``fold_case``.

        They are candidates for tags: a few words that say what the text is about.
        """
        ...
