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
from vicw_sleep.consolidation.model import SourceEvent
from vicw_sleep.consolidation.summary.check import missing, unrepresented
from vicw_sleep.consolidation.summary.extractive import sentences_of, summarise
from vicw_sleep.consolidation.summary.facts import Fact, FactKind, facts_of
from vicw_sleep.consolidation.summary.format import cut_lines, title_of

TURNS = [
    said(0, "Haha, thanks! We did not ship on 14 March because 3 tests failed."),
    said(1, "Ben flew to Porto with Ms Okafor last week.", speaker="Ben"),
    said(2, "Okay. It was a lovely evening with a lot of music and the sea was calm and we walked for a while."),
]


def summarise_within(sources: Sequence[SourceEvent], most: int) -> str:
    return summarise(sources, sentences_of(sources), max_chars=most)


def lost_facts(sources: Sequence[SourceEvent], summary: str) -> list[Fact]:
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
def test_facts_are_extracted_from_a_sentence(sentence: str, facts: set[tuple[FactKind, str]]) -> None:
    assert {Fact(*fact) for fact in facts} <= facts_of(sentence)


@pytest.mark.parametrize("sentence", ["He paid no heed to her.", "No, we met.", "Long time no see!", "No doubt."])
def test_idiomatic_negations_yield_no_facts(sentence: str) -> None:
    assert facts_of(sentence) == set()


def test_names_that_the_graph_knows_are_facts_in_any_casing() -> None:
    assert facts_of("we use redis for that", ["Redis", "red"]) == {Fact(FactKind.NAME, "redis")}


def test_causes_are_facts_by_a_cue_word_or_by_the_graph() -> None:
    assert {fact.kind for fact in facts_of("It broke because of the cache.")} == {FactKind.CAUSE}
    assert facts_of("It broke.") == set()
    assert {fact.kind for fact in facts_of("It broke.", caused=["It broke."])} == {FactKind.CAUSE}


def test_a_summary_drops_factless_sentences_first_and_keeps_facts() -> None:
    summary = summarise_within(TURNS, most=170)
    assert len(summary) <= 170
    assert lost_facts(TURNS, summary) == []
    assert "Haha" not in summary
    assert "lovely evening" not in summary
    assert summary.split("\n")[1].startswith("Ben: Ben flew to Porto")


def test_a_summary_with_enough_space_drops_only_pleasantries() -> None:
    summary = summarise_within(TURNS, most=1200)
    assert "lovely evening" in summary
    assert "Haha" not in summary
    assert summary.count("\n") == 2


@pytest.mark.parametrize(
    "answer", ["Yes, I did.", "Thanks, I'm pregnant.", "Sure, take my car.", "Wow, he died.", "No."]
)
def test_answers_and_news_are_not_dropped_as_pleasantries(answer: str) -> None:
    assert answer in summarise_within(
        [said(0, "Did you sign?"), said(1, f"{answer} The sea was calm.", speaker="Ben")], most=1200
    )
    assert (
        summarise_within([said(0, "Hey there! Thanks so much. Wow, cool!"), said(1, "It rains.")], most=1200)
        == "Ana: It rains."
    )


def test_a_summary_line_begins_with_its_speaker_and_chat_title() -> None:
    turns = [
        said(0, "May I eat nuts?", speaker="user", title="Trip to Rome"),
        said(1, "You may.", speaker="assistant", title="Trip to Rome"),
        said(2, "We left.", speaker=None, title="Diary"),
    ]
    assert (
        summarise_within(turns, most=1200)
        == "user (Trip to Rome): May I eat nuts?\nassistant: You may.\nDiary: We left."
    )
    assert title_of(turns) == "user, assistant, Diary: May I eat nuts?"


def test_parts_of_a_cut_line_name_its_speaker_and_end_sentences() -> None:
    line = f"Ana (Rome): {' '.join(f'We did not go to place {n}.' for n in range(20))}"
    first, *rest = cut_lines(f"Ben: Where?\n{line}", 200, ["Ben", "Ana"])
    assert first == "Ben: Where?"
    assert [part[:10] for part in rest] == ["Ana (Rome)", *["Ana: We di"] * (len(rest) - 1)]
    assert all(part.endswith(".") and len(part) <= 200 for part in rest)


def test_facts_that_do_not_fit_a_summary_are_listed_in_brackets() -> None:
    long = "Then after a very long walk along the river we finally met with Zenobia Quill and 17 of her many friends."
    summary = summarise_within([said(0, long), said(1, "We did not go.")], most=80)
    assert "[" in summary and "zenobia quill" in summary and "17" in summary
    assert lost_facts([said(0, long)], summary) == []


def test_negations_of_different_verbs_do_not_cover_each_other() -> None:
    turns = [said(0, "We did not sell the red boat, by the way."), said(1, "We did not paint the boat.")]
    assert lost_facts(turns, "Ana: We did not paint the boat.") == [Fact(FactKind.NEGATION, "sell the red")]
    assert lost_facts(turns, "Ana: We never sell boats. We did not paint the boat.") == []


def test_a_long_negation_that_does_not_fit_is_reported_missing() -> None:
    long = "We never again want to rent that flat near the harbour with its broken lift and its noisy neighbours."
    lost = lost_facts([said(0, long)], summarise_within([said(0, long)], most=60))
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
def test_the_summary_check_finds_facts_lost_in_a_reworded_summary(summary: str, kind: FactKind | bool | None) -> None:
    """Empty, contradictory, incomplete ones are found out; a faithful one is not."""
    lost = {fact.kind for fact in lost_facts(TURNS, summary)}
    assert lost == set() if kind is False else (len(lost) >= 4 if kind is None else kind in lost)


@given(st.lists(st.text(max_size=300), min_size=1, max_size=5), st.integers(60, 400))
def test_a_summary_keeps_its_length_limit_apart_from_listed_facts(texts: list[str], most: int) -> None:
    summary = summarise_within([said(n, text) for n, text in enumerate(texts)], most=most)
    listed = sum(len(line[line.rfind("[") :]) for line in summary.split("\n") if line.endswith("]"))
    assert len(summary) - listed <= most


@given(st.text(max_size=400), st.integers(5, 80))
def test_cut_lines_lose_nothing_but_white_space(text: str, size: int) -> None:
    parts = list(cut_lines(text, size))
    assert all(len(part) <= size for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_macro_event_title_names_speakers_and_the_first_sentence() -> None:
    assert title_of(TURNS[1:]) == "Ben, Ana: Ben flew to Porto with Ms Okafor last week."
    assert len(title_of([said(0, "word " * 99)])) == 60
    assert title_of([said(0, "Once upon a time", speaker=None)]) == "Once upon a time"


SUMMARY = "Ana: We did not ship because 3 tests failed.\nBen: I flew to Porto. The sea was calm."


def macro_event_source(number: int, summary: str) -> SourceEvent:
    """Return the material of a Macro-Event, its proof among its passages."""
    macro = said(number, summary, speaker=None, subtype=MACRO, version=SYSTEM_VERSION)
    proof = said(900 + number, "We really did not ship, because 3 of the tests failed.").passages
    return SourceEvent(macro.event, (*proof, *macro.passages))


def test_a_summary_of_macro_events_keeps_their_lines_and_speakers() -> None:
    sources = [
        macro_event_source(0, SUMMARY),
        macro_event_source(1, "Cleo: It rains."),
        macro_event_source(2, "Ana: Ben never came to Lima."),
    ]
    assert sources[0].text == SUMMARY, "without its proof"
    whole = f"{SUMMARY}\nCleo: It rains.\nAna: Ben never came to Lima."
    assert summarise_within(sources, 400) == whole
    summary = summarise_within(sources, len(whole) + 10)
    assert summary == whole.replace("Cleo: It rains.\n", "")
    assert lost_facts(sources, summary) == []


def test_a_macro_events_cause_from_the_graph_must_not_be_lost() -> None:
    macro = replace(macro_event_source(0, "Ben: It broke.\nAna: We waited."), caused=("It broke.",))
    assert {fact.kind for fact in lost_facts([macro], "Ana: We waited.")} == {FactKind.CAUSE}


def test_a_macro_event_of_macro_events_takes_the_first_title() -> None:
    first = replace(
        macro_event_source(0, SUMMARY),
        event=replace(macro_event_source(0, SUMMARY).event, name="Ana, Ben: We did not ship"),
    )
    assert title_of([first, macro_event_source(1, SUMMARY)]) == "Ana, Ben: We did not ship"


def unit(*values: float) -> NDArray[np.float32]:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


def test_passages_unlike_the_summary_are_listed_worst_first() -> None:
    sources = [said(0, "a"), said(1, "b"), said(2, "c"), said(3, "d")]
    uids = [source.passages[0].uid for source in sources]
    known = {uids[0]: unit(1, 0, 0), uids[1]: unit(0.4, 1, 0), uids[2]: unit(0, 0, 1)}
    assert unrepresented(sources, np.stack([unit(1, 0.2, 0)]), known) == [uids[2]], "the fourth has no vector"
    assert unrepresented(sources, np.stack([unit(0, 0.2, 1)]), known) == [uids[0], uids[1]]
    assert unrepresented(sources, np.stack([unit(1, 0.2, 0), unit(0, 0, 1)]), known) == [], (
        "one of its passages is enough"
    )


def test_a_passage_is_compared_with_the_summary_by_its_statements() -> None:
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


def test_negations_get_space_in_a_summary_before_names() -> None:
    names = "We saw Zoe, Ada and Lin, who met Kim, Bob, Max and Tom at the market in the rain."
    turns = [said(0, names), said(1, "We never rented the flat with the broken lift and its neighbours.")]
    summary = summarise_within(turns, most=140)
    assert "never rented the flat" in summary and "[zoe, ada, lin, kim, bob, max, tom]" in summary
    assert lost_facts(turns, summary) == []


def test_a_negation_already_covered_takes_no_summary_space() -> None:
    long = "So we did not sell it to anybody at all, whatever they said about it, and that is the very end of it."
    cat = "The cat is called Mia, as you may know by now from us."
    turns = [said(0, "We did not sell the boat."), said(1, long), said(2, cat)]
    summary = summarise_within(turns, most=177)
    assert "We did not sell the boat." in summary and long not in summary and cat in summary
    assert lost_facts(turns, summary) == []
