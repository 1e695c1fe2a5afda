from __future__ import annotations

import pytest

from support.data.intent_questions import NOW, TASKS
from vicw_retrieval.intent.analysis import analyse_question, asks_for_now, task_of
from vicw_shared.wire.retrieve import Task


@pytest.mark.parametrize(("query", "task"), TASKS)
def test_the_task_of_a_question_is_inferred_from_its_words(query: str, task: Task | None) -> None:
    found = task_of(query)
    assert found.task is task
    assert (found.confidence > 0) is (task is not None)
    assert found.confidence < 1


@pytest.mark.parametrize(("query", "now"), NOW)
def test_asks_for_now_recognises_questions_about_the_present(query: str, now: bool) -> None:
    assert asks_for_now(query) is now


def test_question_analysis_reads_only_the_head_and_accepts_no_words() -> None:
    assert analyse_question("x " * 50_000 + "why did the build break?").task is None
    blank = analyse_question("?")
    assert (blank.task, blank.confidence, blank.now) == (None, 0.0, False)
