"""What a summary says in fewer words, what it must not lose, and who notices if it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.generators.consolidation_events import said
from vicw_shared.model import Node
from vicw_shared.model.core5 import MACRO, SYSTEM_VERSION
from vicw_sleep.consolidation.extractive_summary import sentences_of, summarise
from vicw_sleep.consolidation.facts import Fact, FactKind, facts_of
from vicw_sleep.consolidation.model import SourceEvent
from vicw_sleep.consolidation.summary_check import missing, unrepresented
from vicw_sleep.consolidation.summary_format import cut_lines, title_of

TURNS = [
    said(0, "Haha, thanks! We did not ship on 14 March because 3 tests failed."),
    said(1, "Ben flew to Porto with Ms Okafor last week.", speaker="Ben"),
    said(2, "Okay. It was a lovely evening with a lot of music and the sea was calm and we walked for a while."),
]


def short(sources: Sequence[SourceEvent], most: int) -> str:
    return summarise(sources, sentences_of(sources), max_chars=most)


def lost_of(sources: Sequence[SourceEvent], summary: str) -> list[Fact]:
    return missing(sources, sentences_of(sources), summary)


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        (
            "It cost 3.50 on 2025-03-14, 20% less.",
            {(FactKind.NUMBER, "3.50"), (FactKind.NUMBER, "2025"), (FactKind.NUMBER, "20%")},
        ),
        ("We meet on Friday, March 14, 2025.", {(FactKind.DATE, "friday"), (FactKind.DATE, "march 14, 2025")}),
        ("I told Ms Okafor about the NASA trip.", {(FactKind.NAME, "ms okafor"), (FactKind.NAME, "nasa")}),
        ("He never eats fish.", {(FactKind.NEGATION, "eat fish")}),
        ("I don't like it.", {(FactKind.NEGATION, "like it")}),
        ("Nothing special here", {(FactKind.NEGATION, "special here")}),
        ("He has no allergies.", {(FactKind.NEGATION, "allergi")}),
        ("i dont eat fish", {(FactKind.NEGATION, "eat fish")}),
        ("No sugar for me.", {(FactKind.NEGATION, "sugar for me")}),
        ("She hardly ever drinks.", {(FactKind.NEGATION, "drink")}),
    ],
)
def test_facts_are_read_off_a_sentence(sentence: str, facts: set[tuple[FactKind, str]]) -> None:
    assert {Fact(*fact) for fact in facts} <= facts_of(sentence)


@pytest.mark.parametrize("sentence", ["He paid no heed to her.", "No, we met.", "Long time no see!", "No doubt."])
def test_what_denies_nothing_that_matters_is_no_fact(sentence: str) -> None:
    assert facts_of(sentence) == set()


def test_names_that_the_graph_knows_are_facts_in_any_casing() -> None:
    assert facts_of("we use redis for that", ["Redis", "red"]) == {Fact(FactKind.NAME, "redis")}


def test_causes_are_facts_by_a_cue_or_since_the_graph_says_so() -> None:
    assert {fact.kind for fact in facts_of("It broke because of the cache.")} == {FactKind.CAUSE}
    assert facts_of("It broke.") == set()
    assert {fact.kind for fact in facts_of("It broke.", caused=["It broke."])} == {FactKind.CAUSE}


def test_what_tells_nothing_goes_first_and_every_fact_stays() -> None:
    summary = short(TURNS, most=170)
    assert len(summary) <= 170
    assert lost_of(TURNS, summary) == []
    assert "Haha" not in summary
    assert "lovely evening" not in summary
    assert summary.split("\n")[1].startswith("Ben: Ben flew to Porto")


def test_with_room_enough_all_is_said_that_says_anything() -> None:
    summary = short(TURNS, most=1200)
    assert "lovely evening" in summary
    assert "Haha" not in summary
    assert summary.count("\n") == 2


@pytest.mark.parametrize(
    "answer", ["Yes, I did.", "Thanks, I'm pregnant.", "Sure, take my car.", "Wow, he died.", "No."]
)
def test_what_answers_or_tells_is_no_pleasantry(answer: str) -> None:
    assert answer in short([said(0, "Did you sign?"), said(1, f"{answer} The sea was calm.", speaker="Ben")], most=1200)
    assert (
        short([said(0, "Hey there! Thanks so much. Wow, cool!"), said(1, "It rains.")], most=1200) == "Ana: It rains."
    )


def test_a_line_begins_with_who_says_it_whatever_its_chat_is_called() -> None:
    turns = [
        said(0, "May I eat nuts?", speaker="user", title="Trip to Rome"),
        said(1, "You may.", speaker="assistant", title="Trip to Rome"),
        said(2, "We left.", speaker=None, title="Diary"),
    ]
    assert short(turns, most=1200) == "user (Trip to Rome): May I eat nuts?\nassistant: You may.\nDiary: We left."
    assert title_of(turns) == "user, assistant, Diary: May I eat nuts?"


def test_of_a_long_line_each_passage_tells_who_says_it_and_ends_with_a_sentence() -> None:
    line = f"Ana (Rome): {' '.join(f'We did not go to place {n}.' for n in range(20))}"
    first, *rest = cut_lines(f"Ben: Where?\n{line}", 200, ["Ben", "Ana"])
    assert first == "Ben: Where?"
    assert [part[:10] for part in rest] == ["Ana (Rome)", *["Ana: We di"] * (len(rest) - 1)]
    assert all(part.endswith(".") and len(part) <= 200 for part in rest)


def test_names_that_find_no_room_are_listed() -> None:
    long = "Then after a very long walk along the river we finally met with Zenobia Quill and 17 of her many friends."
    summary = short([said(0, long), said(1, "We did not go.")], most=80)
    assert "[" in summary and "zenobia quill" in summary and "17" in summary
    assert lost_of([said(0, long)], summary) == []


def test_what_is_denied_of_one_thing_does_not_tell_what_is_denied_of_it_otherwise() -> None:
    turns = [said(0, "We did not sell the red boat, by the way."), said(1, "We did not paint the boat.")]
    assert lost_of(turns, "Ana: We did not paint the boat.") == [Fact(FactKind.NEGATION, "sell the red")]
    assert lost_of(turns, "Ana: We never sell boats. We did not paint the boat.") == []


def test_what_no_list_can_tell_is_missed_by_the_check() -> None:
    long = "We never again want to rent that flat near the harbour with its broken lift and its noisy neighbours."
    lost = lost_of([said(0, long)], short([said(0, long)], most=60))
    assert [fact.kind for fact in lost] == [FactKind.NEGATION]


@pytest.mark.parametrize(
    ("summary", "kind"),
    [
        ("", None),
        ("We did not ship on 14 March because three tests failed. Ben flew with Ms Okafor last week.", FactKind.NAME),
        (
            "We shipped on 14 March because 3 tests failed. Ben flew to Porto with Ms Okafor last week.",
            FactKind.NEGATION,
        ),
        (
            "We did not ship on 15 March because 3 tests failed. Ben flew to Porto with Ms Okafor last week.",
            FactKind.DATE,
        ),
        ("We did not ship on 14 March. 3 of them. Ben flew to Porto with Ms Okafor last week.", FactKind.CAUSE),
        ("On 14 March we did not ship because 3 tests failed. Ben and Ms Okafor flew to Porto last week.", False),
    ],
)
def test_a_summary_in_other_words_is_read_as_by_a_stranger(summary: str, kind: FactKind | bool | None) -> None:
    """Empty, contradictory, incomplete ones are found out; a faithful one is not."""
    lost = {fact.kind for fact in lost_of(TURNS, summary)}
    assert lost == set() if kind is False else (len(lost) >= 4 if kind is None else kind in lost)


@given(st.lists(st.text(max_size=300), min_size=1, max_size=5), st.integers(60, 400))
def test_no_summary_is_longer_than_it_may_be(texts: list[str], most: int) -> None:
    summary = short([said(n, text) for n, text in enumerate(texts)], most=most)
    listed = sum(len(line[line.rfind("[") :]) for line in summary.split("\n") if line.endswith("]"))
    assert len(summary) - listed <= most


@given(st.text(max_size=400), st.integers(5, 80))
def test_cut_lines_lose_nothing_but_white_space(text: str, size: int) -> None:
    parts = list(cut_lines(text, size))
    assert all(len(part) <= size for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_macro_event_is_called_by_who_says_it_and_how_it_begins() -> None:
    assert title_of(TURNS[1:]) == "Ben, Ana: Ben flew to Porto with Ms Okafor last week."
    assert len(title_of([said(0, "word " * 99)])) == 60
    assert title_of([said(0, "Once upon a time", speaker=None)]) == "Once upon a time"


SUMMARY = "Ana: We did not ship because 3 tests failed.\nBen: I flew to Porto. The sea was calm."


def consolidated(number: int, summary: str) -> SourceEvent:
    """Return the material of a Macro-Event, its proof among its passages."""
    macro = said(number, summary, speaker=None, subtype=MACRO, version=SYSTEM_VERSION)
    proof = said(900 + number, "We really did not ship, because 3 of the tests failed.").passages
    return SourceEvent(macro.event, (*proof, *macro.passages))


def test_of_a_macro_event_its_summary_is_told_and_each_line_keeps_who_says_it() -> None:
    sources = [
        consolidated(0, SUMMARY),
        consolidated(1, "Cleo: It rains."),
        consolidated(2, "Ana: Ben never came to Lima."),
    ]
    assert sources[0].text == SUMMARY, "without its proof"
    whole = f"{SUMMARY}\nCleo: It rains.\nAna: Ben never came to Lima."
    assert short(sources, 400) == whole
    summary = short(sources, len(whole) + 10)
    assert summary == whole.replace("Cleo: It rains.\n", "")
    assert lost_of(sources, summary) == []


def test_what_a_macro_event_tells_of_causes_without_saying_so_must_not_be_lost() -> None:
    macro = replace(consolidated(0, "Ben: It broke.\nAna: We waited."), caused=("It broke.",))
    assert {fact.kind for fact in lost_of([macro], "Ana: We waited.")} == {FactKind.CAUSE}


def test_a_macro_event_of_macro_events_is_called_as_the_first_of_them() -> None:
    first = replace(
        consolidated(0, SUMMARY), event=replace(consolidated(0, SUMMARY).event, name="Ana, Ben: We did not ship")
    )
    assert title_of([first, consolidated(1, SUMMARY)]) == "Ana, Ben: We did not ship"


def unit(*values: float) -> NDArray[np.float32]:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


def test_passages_that_the_summary_is_nothing_like_are_told_the_worst_first() -> None:
    sources = [said(0, "a"), said(1, "b"), said(2, "c"), said(3, "d")]
    uids = [source.passages[0].uid for source in sources]
    known = {uids[0]: unit(1, 0, 0), uids[1]: unit(0.4, 1, 0), uids[2]: unit(0, 0, 1)}
    assert unrepresented(sources, np.stack([unit(1, 0.2, 0)]), known) == [uids[2]], "the fourth has no vector"
    assert unrepresented(sources, np.stack([unit(0, 0.2, 1)]), known) == [uids[0], uids[1]]
    assert unrepresented(sources, np.stack([unit(1, 0.2, 0), unit(0, 0, 1)]), known) == [], (
        "one of its passages is enough"
    )


def test_a_passage_is_judged_by_what_it_says_sentence_by_sentence() -> None:
    source = said(0, "One. Two.")
    statements = tuple(_statement(source, text) for text in ("One.", "Two.", "Three."))
    source = SourceEvent(source.event, source.passages, statements)
    known = {source.passages[0].uid: unit(1, 1, 0)}
    known |= {
        node.uid: vector for node, vector in zip(statements, (unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1)), strict=True)
    }
    assert unrepresented([source], np.stack([unit(1, 1, 0)]), known) == []
    assert unrepresented([source], np.stack([unit(0, 0, 1)]), known) == [source.passages[0].uid]


def _statement(source: SourceEvent, text: str) -> Node:
    return said(hash(text) % 1000, text).passages[0]


def test_what_no_list_can_tell_finds_room_before_names_do() -> None:
    names = "We saw Zoe, Ada and Lin, who met Kim, Bob, Max and Tom at the market in the rain."
    turns = [said(0, names), said(1, "We never rented the flat with the broken lift and its neighbours.")]
    summary = short(turns, most=140)
    assert "never rented the flat" in summary and "[zoe, ada, lin, kim, bob, max, tom]" in summary
    assert lost_of(turns, summary) == []


def test_what_is_denied_already_takes_no_room() -> None:
    long = "So we did not sell it to anybody at all, whatever they said about it, and that is the very end of it."
    cat = "The cat is called Mia, as you may know by now from us."
    turns = [said(0, "We did not sell the boat."), said(1, long), said(2, cat)]
    summary = short(turns, most=177)
    assert "We did not sell the boat." in summary and long not in summary and cat in summary
    assert lost_of(turns, summary) == []
