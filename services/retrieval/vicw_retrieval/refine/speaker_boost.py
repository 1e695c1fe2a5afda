"""Boost of the speaker named by the question over other speakers.

The named speaker also decides the domain of a question if that speaker occurs in one domain only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_shared.model.core5 import ROLES
from vicw_shared.model.triggers import phrase_of, phrases_in

SHARE = 0.2
"""Share of the best candidate's strength that is added to the speaker's turns."""


VOTE = 0.5
"""Gain in strength of a named speaker's turns in the domain vote: a factor of about five."""


def prefer_speaker(query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates re-ordered; unchanged if the question names none of their speakers, or several.

    A speaker is named by the whole name or by its first word.
    """
    named = _named_speakers(query, candidates)
    if len(named) != 1:
        return list(candidates)
    bonus = SHARE * max(candidate.strength for candidate in candidates)
    return in_order(one.raised(speaker=bonus) if one.item.speaker in named else one for one in candidates)


@dataclass(frozen=True, slots=True)
class SpeakerVotes:
    """The strengths of passages for a domain vote, and the one domain of the named speakers; None: they decide none."""

    strengths: Mapping[str, float]
    domain: str | None = None


def raise_speaker_votes(query: str, candidates: Sequence[Candidate], strengths: Mapping[str, float]) -> SpeakerVotes:
    """Return the strengths of passages, raised for named speakers' turns if all these turns are of one domain."""
    turns = _turns_at_home(query, candidates)
    raised = {**strengths, **{uid: strengths[uid] + VOTE for one in turns for uid, _ in one.passages}}
    return SpeakerVotes(raised, next((one.item.domain for one in turns), None))


def _turns_at_home(query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the turns of named speakers if all these turns are of one domain, else none.

    The question has to spell the name in the same case: "will" is not Will. Role names are ignored.
    """
    named = {
        speaker
        for speaker in _named_speakers(query, candidates)
        if speaker.casefold() not in ROLES and _as_written(_first(speaker), query)
    }
    turns = [candidate for candidate in candidates if candidate.item.speaker in named]
    return turns if len({candidate.item.domain for candidate in turns}) == 1 else []


def _named_speakers(query: str, candidates: Sequence[Candidate]) -> set[str]:
    phrases = set(phrases_in(query))
    speakers = {candidate.item.speaker for candidate in candidates if candidate.item.speaker}
    names = {speaker: {speaker, _first(speaker)} for speaker in speakers}
    named = {name for name in set().union(*names.values()) if phrase_of(name) in phrases}
    return {speaker for speaker in speakers if named & names[speaker]}


def _first(speaker: str) -> str:
    """Return the first word of a name: more than a letter of "O'Brien", all of a name in a script without spaces."""
    return re.split(r"[\s-]", speaker, maxsplit=1)[0]


def _as_written(name: str, query: str) -> bool:
    """Return whether the question has the name in the same casing, with or without its marks ("J.")."""
    if name.upper() == name.lower():
        return True
    return re.search(rf"\b{r'\W+'.join(re.findall(r'\w+', name))}\b", query) is not None
