from __future__ import annotations

import numpy as np
import pytest

from doubles import HashEmbedder
from intents import FORMS, NOW, TASKS
from vicw_retrieval.intent.analysis import asks_for_now, task_of, understand
from vicw_retrieval.intent.forms import form_of
from vicw_retrieval.intent.prototypes import PHRASES, Prototypes
from vicw_shared.ports import Lane
from vicw_shared.wire.retrieve import Form, Task


@pytest.mark.parametrize(("query", "task"), TASKS)
def test_words_tell_the_task_of_a_question_or_none(query: str, task: Task | None) -> None:
    found = task_of(query)
    assert found.task is task
    assert (found.confidence > 0) is (task is not None)
    assert found.confidence < 1


@pytest.mark.parametrize(("query", "form"), FORMS)
def test_a_question_has_the_form_of_the_word_that_it_asks_with(query: str, form: Form | None) -> None:
    assert form_of(query) is form


@pytest.mark.parametrize(("query", "now"), NOW)
def test_only_the_present_asks_for_the_last_word(query: str, now: bool) -> None:
    assert asks_for_now(query) is now


def test_likeness_to_phrases_tells_where_no_word_does_and_is_outvoted_where_words_do() -> None:
    quiet = "let people upload a picture of theirs"
    assert task_of(quiet).task is None
    alike = dict.fromkeys((*Task, None), 0.1) | {Task.ADD_FEATURE: 0.6}
    found = task_of(quiet, alike)
    others = (len(Task) - 1) * np.exp(0.1 / 0.1) + 4 * np.exp(0.1 / 0.1)
    assert found.task is Task.ADD_FEATURE
    assert found.confidence == pytest.approx(np.exp(0.6 / 0.1) / (np.exp(0.6 / 0.1) + others))
    everyday = dict.fromkeys((*Task, None), 0.1) | {None: 0.6}
    assert task_of(quiet, everyday).task is None
    leaning = dict.fromkeys((*Task, None), 0.3) | {Task.REFACTOR: 0.4}
    assert task_of("there is a bug in the parser", leaning).task is Task.FIX_BUG


def test_a_question_over_its_limit_is_read_by_its_head_and_nothing_is_understood_of_nothing() -> None:
    assert understand("x " * 50_000 + "why did the build break?", {}).form is None
    blank = understand("?", {})
    assert (blank.task, blank.confidence, blank.form, blank.now) == (None, 0.0, None, False)


async def test_phrases_are_embedded_once_a_model_behind_the_first_question() -> None:
    prototypes, embedder = Prototypes(), HashEmbedder()
    (vector,) = await embedder.embed(["query: how does the authentication flow work?"], Lane.QUERY)
    assert prototypes.similarities(vector, embedder, "query: ") == {}, "the first question does not wait"
    await prototypes.made()
    alike = prototypes.similarities(vector, embedder, "query: ")
    assert set(alike) == {*Task, None}
    assert max(alike, key=lambda task: alike[task]) is Task.UNDERSTAND
    assert alike[Task.UNDERSTAND] == pytest.approx(1.0, abs=1e-5)
    assert len([text for lane, text in embedder.seen if lane is Lane.BULK]) == sum(map(len, PHRASES.values()))
    other = HashEmbedder("other")
    assert prototypes.similarities(vector, other, "") == {}, "another model has other vectors"
    await prototypes.made()
    assert prototypes.similarities(vector, other, "")


async def test_without_an_embedder_rules_are_all_there_is_and_it_is_not_asked_again_at_once() -> None:
    prototypes, embedder = Prototypes(), HashEmbedder()
    vector = np.zeros(64, dtype=np.float32)
    embedder.down = True
    assert prototypes.similarities(vector, embedder, "") == {}
    await prototypes.made()
    embedder.down = False
    assert prototypes.similarities(vector, embedder, "") == {}
    await prototypes.made()
    assert embedder.seen == []
    await prototypes.close()
