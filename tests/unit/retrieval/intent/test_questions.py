from __future__ import annotations

import pytest

from support.data.intent_questions import NOW, TASKS
from vicw_retrieval.intent.analysis import analyse_question, asks_for_now, task_of
from vicw_shared.wire.retrieve import Task


@pytest.mark.parametrize(("query", "task"), TASKS)
def test_words_tell_the_task_of_a_question_or_none(query: str, task: Task | None) -> None:
    found = task_of(query)
    assert found.task is task
    assert (found.confidence > 0) is (task is not None)
    assert found.confidence < 1


@pytest.mark.parametrize(("query", "now"), NOW)
def test_only_the_present_asks_for_the_last_word(query: str, now: bool) -> None:
    assert asks_for_now(query) is now


def test_a_question_over_its_limit_is_read_by_its_head_and_nothing_is_understood_of_nothing() -> None:
    assert analyse_question("x " * 50_000 + "why did the build break?").task is None
    blank = analyse_question("?")
    assert (blank.task, blank.confidence, blank.now) == (None, 0.0, False)
