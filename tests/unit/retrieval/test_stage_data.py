"""What the stages of a question hand on: frozen values with few fields, no object that all of them share."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from vicw_retrieval.channels.dense import ChannelHits, QueryVector
from vicw_retrieval.intent.domain import DomainDecision
from vicw_retrieval.intent.profiles import QuestionIntent
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.ranking.fusion import Candidate, Wave
from vicw_retrieval.refine.pipeline import RefinedItems
from vicw_retrieval.search.first_wave import FoundItems
from vicw_retrieval.search.item_search import ItemQuery, SearchResult, SearchState
from vicw_retrieval.synthesis.expansion import Expanded
from vicw_retrieval.temporal.time_ranker import ResolvedTime

_HANDED_ON = (
    *(ChannelHits, QueryVector, DomainDecision, QuestionIntent, Neighbourhood, Candidate, Wave, ResolvedTime),
    *(FoundItems, RefinedItems, Expanded, ItemQuery, SearchResult, SearchState),
)


@pytest.mark.parametrize("kind", _HANDED_ON, ids=lambda kind: kind.__name__)
def test_what_a_stage_hands_on_cannot_be_changed_by_the_next(kind: Any) -> None:
    assert kind.__dataclass_params__.frozen


@pytest.mark.parametrize("result", [FoundItems, RefinedItems, Expanded, SearchResult])
def test_the_result_of_a_stage_is_no_blackboard(result: Any) -> None:
    fields = {field.name: str(field.type) for field in dataclasses.fields(result)}
    assert len(fields) <= 7
    shared = ("RetrieveRequest", "RetrievalPorts", "Scope", "StageRun")
    assert not [name for name, kind in fields.items() if kind in shared], "they are handed to each stage by themselves"
