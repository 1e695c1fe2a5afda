"""What the one speaker said whom the question names comes before what others said of it (design section 11)."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_retrieval.candidates import Candidate, in_order
from vicw_shared.model.triggers import phrase_of, phrases_in

SHARE = 0.2
"""Of the best candidate's standing, what is added to that speaker's turns."""


def prefer_speaker(query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates in their new order; as they were where the question names no speaker of them, or several.

    A speaker is named by his whole name or by its first word.
    """
    asked = set(phrases_in(query))
    speakers = {candidate.item.speaker for candidate in candidates if candidate.item.speaker}
    named = {speaker for speaker in speakers if asked & _calls(speaker)}
    if len(named) != 1:
        return list(candidates)
    bonus = SHARE * max(candidate.standing for candidate in candidates)
    for candidate in candidates:
        if candidate.item.speaker in named:
            candidate.boost("speaker", bonus)
    return in_order(candidates)


def _calls(speaker: str) -> set[str]:
    words = phrase_of(speaker)
    return {words, words.partition(" ")[0]} - {""}
