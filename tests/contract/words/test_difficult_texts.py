"""Texts that engines tend to read in their own way are found by every word, through every index of both stores."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from support.answers.word_queries import WAYS, ask
from support.stores.pairs import Side, asked_for

TEXTS = {
    "marks apart": unicodedata.normalize("NFD", "Cầu Rồng ở Đà Nẵng phun lửa, and the naïve façade glows"),
    "right to left": "הפגישה עם נועה על Falcon‑7 נדחתה ליום שלישי",
    "marks of direction": "\u202bتم تأجيل \u200eDeployment\u200e إلى \u20672026-05-17\u2069 صباحًا\u202c",
    "mixed scripts": "東京のserverでдисковыйエラー, Ώρα 9:30, สัญญาณเตือน",
    "a long token": f"before {'x' * 10_000} quasar {'aB9' * 3_334} after",
    "joined pictures": "Launch 🚀👩\u200d💻 by O\u2019Neill \ufb01nally, Straße \uff21\uff22\uff23",
}
QUESTIONS = [
    ("cầu rồng", "marks apart"),
    (unicodedata.normalize("NFD", "Đà Nẵng"), "marks apart"),
    ("naive facade", "marks apart"),
    ("הפגישה", "right to left"),
    ("הַפְּגִישָׁה", "right to left"),
    ("falcon", "right to left"),
    ("deployment", "marks of direction"),
    ("تأجيل", "marks of direction"),
    ("2026-05-17", "marks of direction"),
    ("server", "mixed scripts"),
    ("дисковый", "mixed scripts"),
    ("エラー", "mixed scripts"),
    ("ωρα", "mixed scripts"),
    ("สัญญาณ", "mixed scripts"),
    ("quasar", "a long token"),
    ("👩\u200d💻", "joined pictures"),
    ("finally strasse abc", "joined pictures"),
]


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with AsyncExitStack() as stack:
        side = await stack.enter_async_context(asked_for(request, store))
        texts = {**TEXTS, **{f"other {number}": f"The ferry of pier {number} was late again" for number in range(9)}}
        items = [{"id": name, "text": text} for name, text in texts.items()]
        await side.ingest({"context": "texts", "items": items}, "t", None)
        await side.indexer.drain()
        yield side


async def test_every_word_of_a_difficult_text_is_found(side: Side) -> None:
    missed = [
        (way, question, found)
        for way in WAYS
        for question, relevant in QUESTIONS
        if (found := await ask(side, question, way))[:1] != [relevant]
    ]
    assert missed == []


async def test_a_question_of_ten_thousand_characters_is_one_of_words(side: Side) -> None:
    for way in WAYS:
        assert (await ask(side, f"quasar {'x' * 9_000}", way))[:1] == ["a long token"]
