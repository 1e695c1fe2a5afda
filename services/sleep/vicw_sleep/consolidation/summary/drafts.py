"""Drafts of batches: a checked summary, and the passages that keep their vector.

A language model's text is used where there is one and its text passes the check; otherwise sentences of the sources.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vicw_core.consolidation.consolidate import ConsolidatedBatch
from vicw_core.index.points import wrapped
from vicw_runtime.indexes import Indexes
from vicw_shared.ports import Lane, PendingKind, PendingPoint
from vicw_shared.progress import Yield, yield_to_event_loop
from vicw_sleep.consolidation.model import SourceEvent
from vicw_sleep.consolidation.summary.abstractive import AbstractiveSummarizer
from vicw_sleep.consolidation.summary.check import missing, unrepresented
from vicw_sleep.consolidation.summary.extractive import SummarySentence, sentences_of, summarise
from vicw_sleep.consolidation.summary.format import cut_lines, title_of

_LISTED_FACTS = 5
_LENGTHS = (3 / 4, 1, 7 / 6, 4 / 3)
"""Allowed lengths of a summary, relative to the requested one: the shortest that loses no fact is used."""


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """A batch with its summary. ``refusal`` is why the summary must not replace its sources, if it must not.

    ``rows`` are the vectors of its passages in the index in use, shape (passages, size); None: there are none.
    ``by_model``: a language model wrote it.
    """

    sources: Sequence[SourceEvent]
    batch: ConsolidatedBatch
    refusal: str = ""
    rows: NDArray[np.float32] | None = None
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class SummaryDrafter:
    """Creates drafts. A summary takes ``share`` of the vectors of its sources' passages, including those that keep
    theirs, or a third more where it would lose a fact, and is cut at ``chunk_chars``. ``yield_to_foreground`` is
    awaited between CPU-bound steps.
    """

    indexes: Indexes
    chunk_chars: int
    share: float
    author: AbstractiveSummarizer | None = None
    yield_to_foreground: Yield = yield_to_event_loop

    async def drafts(self, batches: Sequence[Sequence[SourceEvent]]) -> list[SummaryDraft]:
        """Return a checked draft of each batch. Raises what the engines raise; a failing model raises nothing."""
        written = await asyncio.gather(*map(self._abstractive, batches))
        pairs = zip(written, batches, strict=True)
        drafts = await self._checked([draft or await self._extractive(batch) for draft, batch in pairs])
        rejected = [position for position, draft in enumerate(drafts) if draft.by_model and draft.refusal]
        replacements = await self._checked([await self._extractive(drafts[position].sources) for position in rejected])
        for position, draft in zip(rejected, replacements, strict=True):
            drafts[position] = draft
        return drafts

    async def _extractive(self, sources: Sequence[SourceEvent]) -> SummaryDraft:
        """Draft from sentences of the sources alone: the shortest summary that loses no fact."""
        await self.yield_to_foreground()
        sentences, vectors = sentences_of(sources), _vectors(sources)
        for parts in sorted({max(1, int(length * self.share * vectors)) for length in _LENGTHS}):
            await self.yield_to_foreground()
            draft = self._draft(sources, sentences, summarise(sources, sentences, max_chars=parts * self.chunk_chars))
            if not draft.refusal:
                break
        return draft

    async def _abstractive(self, sources: Sequence[SourceEvent]) -> SummaryDraft | None:
        """Draft from the language model's lines, plus sentences for the facts they lose; None: the model wrote none."""
        max_chars = self._chars(sources)
        lines = await self.author.lines(sources, max_chars=max_chars) if self.author is not None else None
        if lines is None:
            return None
        await self.yield_to_foreground()
        sentences = sentences_of(sources)
        lost_facts = missing(sources, sentences, "\n".join(lines))
        summary = summarise(sources, sentences, max_chars=max_chars, model_lines=lines, lost_facts=lost_facts)
        return replace(self._draft(sources, sentences, summary), by_model=True)

    def _chars(self, sources: Sequence[SourceEvent]) -> int:
        return max(1, int(self.share * _vectors(sources))) * self.chunk_chars

    def _draft(
        self, sources: Sequence[SourceEvent], sentences: Sequence[SummarySentence], summary: str
    ) -> SummaryDraft:
        batch = ConsolidatedBatch(
            tuple(one.event for one in sources),
            tuple(passage for one in sources for passage in one.passages),
            tuple(cut_lines(summary, self.chunk_chars, {one.head for one in sources})),
            title_of(sources),
        )
        facts = missing(sources, sentences, summary)
        more = f" and {len(facts) - _LISTED_FACTS} more" if len(facts) > _LISTED_FACTS else ""
        lost = f"the summary lacks {', '.join(f'{f.kind} {f.key!r}' for f in facts[:_LISTED_FACTS])}{more}"
        return SummaryDraft(sources, batch, lost if facts or not batch.texts else "")

    async def _checked(self, drafts: Sequence[SummaryDraft]) -> list[SummaryDraft]:
        """Return the drafts with the passages that keep their vector. A draft that represents too few passages is
        refused.
        """
        index = await self.indexes.write_index()
        accepted = [draft for draft in drafts if not draft.refusal]
        if not index.model.has_vectors or not accepted:
            return list(drafts)
        rows = await index.embedder.embed([text for draft in accepted for text in texts_of(draft.batch)], Lane.BULK)
        checked, start = {}, 0
        for draft in accepted:
            end = start + len(draft.batch.texts)
            uids = [n.uid for one in draft.sources for n in (*one.passages, *one.statements)]
            unlike = unrepresented(draft.sources, rows[start:end], await index.vectors.dense(uids))
            checked[id(draft)] = self._with_heavy(replace(draft, rows=rows[start:end]), unlike)
            start = end
        return [checked.get(id(draft), draft) for draft in drafts]

    def _with_heavy(self, draft: SummaryDraft, unlike: Sequence[str]) -> SummaryDraft:
        """Return a draft whose summary does not represent ``unlike``: as many of these as allowed keep their vector."""
        vectors = _vectors(draft.sources)
        room = max(0, int(self.share * vectors) - len(draft.batch.texts))
        refusal = f"the summary represents only {vectors - len(unlike)} of {vectors} passages"
        batch = replace(draft.batch, heavy=tuple(unlike[:room]))
        return replace(draft, batch=batch, refusal=refusal if 2 * len(unlike) > vectors else "")


def pending_of(batch: ConsolidatedBatch) -> list[PendingPoint]:
    """Return the passages of a summary as an indexer would claim them."""
    return [PendingPoint(0, one.uid, PendingKind.UPSERT, one, batch.macro) for one in batch.summary]


def texts_of(batch: ConsolidatedBatch) -> list[str]:
    """Return the texts of a summary to be embedded."""
    return [wrapped(pending) for pending in pending_of(batch)]


def _vectors(sources: Sequence[SourceEvent]) -> int:
    """Return the number of passages with a vector of their own."""
    return sum(not passage.is_light for one in sources for passage in one.passages)
