from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from support.stores.memory import Memory
from vicw_retrieval.intent.analysis import QuestionAnalysis
from vicw_retrieval.intent.profiles import (
    CODE,
    LONG,
    NOW,
    TASKS,
    Profile,
    apply_profiles,
    is_code,
    mix,
    share_of_code,
    share_of_long,
)
from vicw_retrieval.refine.recency import recency
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Task

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_settings_move_towards_a_profile_by_its_confidence() -> None:
    settings = RetrievalSettings(alpha=0.6, recency_weight=0.0)
    assert mix(settings, [(CODE, 0.0), (NOW, 0.0)]) is settings, "nothing sure, nothing changed"
    half = mix(settings, [(CODE, 0.5)])
    assert half.alpha == pytest.approx(0.6 + 0.5 * (0.8 - 0.6))
    assert (half.recency_weight, half.graph_weight) == (settings.recency_weight, settings.graph_weight)
    assert mix(settings, [(CODE, 1.0)]).alpha == pytest.approx(0.8)
    both = mix(settings, [(Profile(alpha=0.2), 0.9), (Profile(alpha=0.8), 0.4)])
    assert both.alpha == pytest.approx(0.6 + 0.9 * (0.2 - 0.6)), "of two the surer one"


def test_task_profiles_apply_only_with_the_tasks_setting() -> None:
    bug = QuestionAnalysis(Task.FIX_BUG, 0.5)
    measured = RetrievalSettings()
    assert apply_profiles(measured, bug, 0.0, 0.0) == measured
    tasks = RetrievalSettings(profiles="tasks")
    assert apply_profiles(tasks, bug, 0.0, 0.0).causal_bias == pytest.approx(0.5 + 0.5 * (0.8 - 0.5))
    assert apply_profiles(tasks, QuestionAnalysis(), 0.0, 0.0) == tasks
    off = RetrievalSettings(profiles="off")
    assert apply_profiles(off, QuestionAnalysis(now=True), 1.0, 1.0) is off
    assert set(TASKS) == set(Task)


@pytest.mark.parametrize(
    "text",
    [
        "def cast(spell):\n    return spell.power * 2",
        "const total = items.reduce((a, b) => a + b, 0);\nconsole.log(total);",
        '#include <stdio.h>\nint main(void) {\n    printf("hi");\n}',
        "SELECT name FROM users WHERE id = 3;",
        "retries = 3",
        "fn area(r: f64) -> f64 {\n    r * r\n}",
        'def f():\n    """Of a long text that says\n    what it does in many words.\n    """\n    return g()',
    ],
)
def test_program_text_is_recognised_as_code(text: str) -> None:
    assert is_code(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "continue",
        "He said: use the function; then we went home.",
        "Let the princess return to her class.\nFor a while all was well.",
        "The rate was 1 euro = 166.386 pesetas, following the establishment of the euro in 1999, and so it stayed for "
        "all of the years that came after it, until nobody remembered what a peseta had been worth before that.",
        "Sure, here is how to do it:\n\nFirst open the settings.\nThen choose a name.\n```\nx = 1\n```",
        "# A heading\n\nAnd what it says.",
    ],
)
def test_prose_and_markdown_are_not_recognised_as_code(text: str) -> None:
    assert not is_code(text)


def test_share_of_code_is_the_fraction_of_code_passages() -> None:
    assert share_of_code([]) == 0.0
    assert share_of_code(["x = f(1)", "He went home.", "She stayed.", "return g(x)"]) == 2 / 4


def test_share_of_long_grows_from_400_to_800_characters() -> None:
    assert share_of_long([]) == 0.0
    assert share_of_long(["x" * 50, "x" * 400]) == 0.0
    assert share_of_long(["x" * 500]) == pytest.approx(0.25)
    assert share_of_long(["x" * 800, "x" * 5000, "x", "x"]) == 0.5


def test_long_passages_lower_alpha_unless_they_are_code() -> None:
    measured, asked = RetrievalSettings(), QuestionAnalysis()
    assert LONG.alpha is not None
    assert LONG.alpha < measured.alpha
    assert apply_profiles(measured, asked, 0.0, 1.0).alpha == pytest.approx(LONG.alpha)
    assert apply_profiles(measured, asked, 0.0, 0.5).alpha == pytest.approx((LONG.alpha + measured.alpha) / 2)
    assert apply_profiles(measured, asked, 1.0, 1.0).alpha == pytest.approx(CODE.alpha)
    assert apply_profiles(measured, asked, 0.8, 1.0).alpha > measured.alpha


def test_recency_halves_with_every_half_life_before_the_latest() -> None:
    days = {"now": 0, "month": 30, "quarter": 90}
    worth = recency({uid: AT - timedelta(days=ago) for uid, ago in days.items()}, timedelta(days=30))
    assert worth == pytest.approx({"now": 1.0, "month": 0.5, "quarter": 0.5**3})
    assert recency({}, timedelta(days=30)) == {}
    assert recency({"x": AT, "y": datetime.min.replace(tzinfo=UTC)}, timedelta(seconds=1))["y"] == pytest.approx(0.0)


async def test_the_latest_item_ranks_first_when_a_question_asks_for_now(memory: Memory) -> None:
    said = ["over the harbour hangs fog", "over the harbour hangs rain", "over the harbour hangs smoke"]
    at = [AT, AT - timedelta(days=400), AT - timedelta(days=800)]
    await memory.ingest(
        *({"id": t.split()[-1], "text": t, "timestamp": a.isoformat()} for t, a in zip(said, at, strict=True))
    )
    answer = await memory.retrieve("What hangs over the harbour right now?", explain=True)
    assert answer.intent.now
    assert answer.results[0].id == "fog"
    assert answer.explain is not None
    assert answer.explain.profile.recency_weight == NOW.recency_weight
    boosts = answer.explain.boosts
    gains = {result.id: boosts.get(result.uid, {}).get("recent", 0.0) for result in answer.results}
    assert gains["fog"] > gains["rain"] > gains["smoke"] >= 0
    past = await memory.retrieve("What hung over the harbour in 2024?", explain=True)
    assert past.explain is not None
    assert past.explain.profile.recency_weight == 0.0


async def test_an_unknown_domain_gets_the_profile_of_its_contents(memory: Memory) -> None:
    firmware = [f"void pin_{n}(int level) {{\n    write(PORT_{n}, level);\n}}" for n in range(12)]
    letters = [f"Dear aunt {n}, the pin of my brooch broke and the port was closed." for n in range(12)]
    await memory.ingest(*({"id": f"f{n}", "text": t} for n, t in enumerate(firmware)), context="f", domain="firmware")
    await memory.ingest(*({"id": f"l{n}", "text": t} for n, t in enumerate(letters)), context="l", domain="letters")
    code = await memory.retrieve(
        "Fix the bug: which function is void pin_3(int level) write(PORT_3, level)?", explain=True
    )
    assert code.explain is not None
    assert (code.intent.domain, code.intent.task) == ("firmware", Task.FIX_BUG)
    assert code.explain.profile.code == 1.0
    assert code.explain.profile.alpha == pytest.approx(CODE.alpha)
    assert "dense 0.8" in code.explain.fusion
    prose = await memory.retrieve("who wrote Dear aunt 3, the pin of my brooch broke?", explain=True)
    assert prose.explain is not None
    assert prose.intent.domain == "letters"
    assert prose.explain.profile.code == 0.0
    assert prose.explain.profile.alpha == pytest.approx(RetrievalSettings().alpha)


async def test_contexts_of_long_passages_use_the_long_passage_profile(memory: Memory) -> None:
    told = "Then the ferryman of the lake spoke of the winter and of what it had taken from him. " * 12
    await memory.ingest(*({"id": f"s{n}", "text": f"Tale {n}. {told}"} for n in range(12)), context="s")
    notes = [f"The ferryman of pier {n} is late." for n in range(12)]
    await memory.ingest(*({"id": f"m{n}", "text": note} for n, note in enumerate(notes)), context="m")
    tale = await memory.retrieve("what did the ferryman speak of?", context="s", explain=True)
    assert tale.explain is not None
    assert tale.explain.profile.long == 1.0
    assert tale.explain.profile.alpha == pytest.approx(LONG.alpha)
    assert "dense 0.4" in tale.explain.fusion
    note = await memory.retrieve("which ferryman is late?", context="m", explain=True)
    assert note.explain is not None
    assert note.explain.profile.long == 0.0
    assert note.explain.profile.alpha == pytest.approx(RetrievalSettings().alpha)
