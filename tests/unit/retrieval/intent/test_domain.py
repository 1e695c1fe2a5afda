from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from support.stores.memory import Memory
from vicw_retrieval.intent.domain import WordEvidence, domain_cues, infer, vote
from vicw_retrieval.ranking.fusion import Candidate
from vicw_shared.model import Label
from vicw_shared.ports import ItemRef
from vicw_shared.settings import RetrievalSettings

SILENT = WordEvidence("general", 0.0)


def candidates(*domains: str) -> list[Candidate]:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    items = [
        ItemRef(uid=str(n), label=Label.EVENT, context="c", domain=domain, created_at=at)
        for n, domain in enumerate(domains)
    ]
    return [Candidate(item, 0.0, [(item.uid, 0.0)]) for item in items]


def strengths(*values: float) -> dict[str, float]:
    return {str(n): value for n, value in enumerate(values)}


def test_domain_votes_are_softmax_over_a_power_of_domain_size() -> None:
    shares = vote(candidates("a", "b"), strengths(2.0, 1.4), {"a": 900, "b": 100})
    a = 1 / 0.91**0.7
    b = math.exp(-0.6 / 0.3) / 0.11**0.7
    assert shares == pytest.approx({"a": a / (a + b), "b": b / (a + b)})
    assert vote([], {}, {"a": 1}) == {}


def test_a_confident_domain_vote_filters_and_an_unsure_one_does_not() -> None:
    sizes = {"coding": 500, "creative": 500}
    settings = RetrievalSettings()
    sure = infer(candidates("coding", "creative"), strengths(3.0, 0.0), sizes, SILENT, settings)
    assert (sure.domains, sure.intent.domain, sure.intent.domain_source) == (("coding",), "coding", "hits")
    assert sure.intent.confidence > 0.99
    open_vote = infer(candidates("coding", "creative"), strengths(3.0, 2.95), sizes, SILENT, settings)
    assert open_vote.domains is None
    assert not open_vote.intent.filtered
    settled = infer(
        candidates("coding", "creative"), strengths(3.0, 2.95), sizes, domain_cues("a castle story"), settings
    )
    assert (settled.domains, settled.intent.domain_source) == (("creative",), "query")
    off = settings.model_copy(update={"infer_domain": False})
    assert infer(candidates("coding", "creative"), strengths(3.0, 0.0), sizes, SILENT, off).domains is None


def test_general_is_a_domain_as_any_other() -> None:
    sizes = {"coding": 500, "general": 500}
    mixed = infer(candidates("coding", "general"), strengths(3.0, 2.9), sizes, SILENT, RetrievalSettings())
    assert mixed.domains is None
    assert list(mixed.intent.domains) == ["coding", "general"]
    alone = infer(candidates("coding", "general"), strengths(3.0, 1.5), sizes, SILENT, RetrievalSettings())
    assert alone.domains == ("coding",), "a share of .007 is too small"


@pytest.mark.parametrize(
    ("query", "domain"),
    [
        ("why does parse_url() return None?", "coding"),
        ("python function to sort a list", "coding"),
        ("what did the princess do in the castle?", "creative"),
        ("what did we eat on Friday?", "general"),
    ],
)
def test_query_words_point_to_a_domain_or_to_general(query: str, domain: str) -> None:
    assert domain_cues(query).domain == domain
    assert 0.0 <= domain_cues(query).confidence < 1.0


async def test_domains_are_never_mixed_when_the_hits_are_clear(memory: Memory) -> None:
    stories = [f"the wizard number {n} walked through the dark forest to the tower" for n in range(30)]
    code = [f"class Wizard{n}: def cast(self): return spell number {n}" for n in range(30)]
    await memory.ingest(*({"id": f"s{n}", "text": t} for n, t in enumerate(stories)), context="s", domain="story")
    await memory.ingest(*({"id": f"c{n}", "text": t} for n, t in enumerate(code)), context="c", domain="code")
    answer = await memory.retrieve("the wizard walked through the dark forest", explain=True)
    assert {r.domain for r in answer.results} == {"creative"}
    assert len(answer.results) == 10
    assert (answer.intent.domain, answer.intent.filtered) == ("creative", True)
    assert answer.explain is not None
    assert answer.explain.wrapped_query.startswith("[Domain: creative] ")
    assert {r.domain for r in (await memory.retrieve("class Wizard7 def cast self")).results} == {"coding"}


async def test_an_inferred_domain_gives_the_same_results_as_a_given_one(
    memory: Memory,
) -> None:
    await memory.ingest(*({"id": f"s{n}", "text": f"the dark forest, part {n}"} for n in range(150)), domain="story")
    await memory.ingest({"id": "c", "text": "def cast(): pass"}, context="code", domain="code")
    memory.embedder.seen.clear()

    inferred = await memory.retrieve("the dark forest, part 7")
    given = await memory.retrieve("the dark forest, part 7", domain="story")

    assert inferred.intent.filtered
    assert memory.embedder.questions() == [
        "the dark forest, part 7",
        "[Domain: creative] the dark forest, part 7",
        "[Domain: creative] the dark forest, part 7",
    ], "a question is embedded as it stands and as its documents are, each once"
    assert [(r.id, r.score) for r in inferred.results] == [(r.id, r.score) for r in given.results]


async def remember_wizards(memory: Memory) -> None:
    stories = [f"The wizard {name} cast the spell of the lantern." for name in ("Orm", "Tilde", "Brand", "Isa")]
    code = [f"class {name}Wizard: cast the spell of the lantern" for name in ("Setup", "Import", "Print", "Backup")]
    await memory.ingest(*({"id": f"s{n}", "text": t} for n, t in enumerate(stories)), context="s", domain="story")
    await memory.ingest(*({"id": f"c{n}", "text": t} for n, t in enumerate(code)), context="c", domain="code")


async def test_a_question_that_fits_two_domains_gets_the_results_of_each_by_themselves(memory: Memory) -> None:
    await remember_wizards(memory)
    answer = await memory.retrieve("cast the spell of the lantern", limit=6)
    assert answer.intent.ambiguous
    assert set(answer.intent.domains) == {"coding", "creative"}
    first, second = answer.intent.domains
    assert answer.intent.domain == first
    domains = [result.domain for result in answer.results]
    assert domains == sorted(domains, key=[first, second].index)
    assert set(domains) == {first, second}
    lines = answer.text.splitlines()
    assert lines[0] == f"The question fits several domains ({first}, {second}): the results of each stand apart."
    heads = [line for line in lines if line.startswith(("In ", "["))]
    assert [line for line in heads if line.startswith("In ")] == [f"In {first}:", f"In {second}:"]
    between = heads[heads.index(f"In {first}:") + 1 : heads.index(f"In {second}:")]
    assert len(between) == domains.count(first)
    assert all(f" · {first} · " in line for line in between)


async def test_the_text_of_an_ambiguous_answer_is_no_new_memory(memory: Memory) -> None:
    await remember_wizards(memory)
    answer = await memory.retrieve("cast the spell of the lantern", limit=6)
    written = await memory.ingest({"text": answer.text, "speaker": "assistant"}, context="chat", domain="general")
    assert answer.intent.ambiguous and written.items[0].status == "linked"
    assert {source.uid for source in written.items[0].sources} == {result.uid for result in answer.results}


async def test_a_question_that_names_what_it_asks_for_gets_that_domain_alone(memory: Memory) -> None:
    await remember_wizards(memory)
    asked = await memory.retrieve("Which function casts the spell of a wizard?")
    assert (asked.intent.domain, asked.intent.ambiguous) == ("coding", False)
    assert {result.domain for result in asked.results} == {"coding"}
    told = await memory.retrieve("Who casts the spell of the lantern in the story?")
    assert {result.domain for result in told.results} == {"creative"}
    assert "fits several" not in told.text


async def test_headings_and_the_line_stay_inside_the_budget(memory: Memory) -> None:
    await remember_wizards(memory)
    for chars in (90, 150, 300, 600):
        answer = await memory.retrieve("cast the spell of the lantern", limit=6, budget={"chars": chars})
        assert len(answer.text) <= chars


async def test_a_store_of_one_domain_is_never_ambiguous(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "The wizard cast a spell."}, domain="story")
    answer = await memory.retrieve("the wizard's spell")
    assert (answer.intent.ambiguous, answer.intent.domains) == (False, {})


@pytest.mark.parametrize(
    ("query", "asked_for"),
    [
        ("Which function casts the spell of a wizard?", "coding"),
        ("What helper function opens the shell?", "coding"),
        ("Where is the thread joined in our code?", "coding"),
        ("Which chapter tells of the python?", "creative"),
        ("Who finds the root in the fairy tale?", "creative"),
        ("What function does the staff serve?", None),
        ("Which class did Ana take?", None),
        ("Which script in the story unlocks the tale?", None),
        ("Where did she get the thread?", None),
    ],
)
def test_forms_name_what_a_question_asks_for(query: str, asked_for: str | None) -> None:
    cues = domain_cues(query)
    assert (cues.domain if cues.asked_for else None) == asked_for
