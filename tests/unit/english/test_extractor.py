"""What the rules read in a text."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from vicw_english.extractor import EnglishExtractor
from vicw_shared.model.extraction import ITEM, PREVIOUS, SPEAKER, ExtractedEvent, SourceText, TextExtraction

AT = datetime(2026, 1, 20, 10, tzinfo=UTC)  # a Tuesday


@pytest.fixture(scope="module")
def rules() -> EnglishExtractor:
    return EnglishExtractor()


def extract_text(rules: EnglishExtractor, text: str, speaker: str | None = "Lena") -> TextExtraction:
    (reading,) = rules.extract([SourceText(text, AT, speaker)])
    return reading


def links(reading: TextExtraction, *types: str) -> set[tuple[str, ...]]:
    """Return links by what their ends say: names of things, texts of happenings."""
    said: dict[str, str] = {thing.key: thing.name for thing in reading.entities}
    said |= {happening.key: happening.text for happening in reading.events}
    return {
        (said.get(link.source, link.source), link.type, said.get(link.target, link.target))
        for link in reading.relations
        if link.type in types
    }


def statements(reading: TextExtraction) -> list[ExtractedEvent]:
    return [happening for happening in reading.events if happening.is_statement]


def test_sentences_become_statements_that_mention_names(rules: EnglishExtractor) -> None:
    reading = extract_text(rules, "Ana moved to Porto with Ben Carter. The house in `config.yaml` is hers.")
    assert [said.text for said in statements(reading)] == [
        "Ana moved to Porto with Ben Carter.",
        "The house in `config.yaml` is hers.",
    ]
    mentioned = {name for _, _, name in links(reading, "MENTIONS")}
    assert {"Ana", "Porto", "Ben Carter", "config.yaml"} <= mentioned
    assert {thing.kind for thing in reading.entities if thing.name == "config.yaml"} == {"file"}


def test_a_path_is_one_file_however_it_is_written(rules: EnglishExtractor) -> None:
    text = (
        r"It broke in ./src/main.py:42 first. Ben says that src/main.py is fine, and D:\app\x.py and D:/app/x.py too."
    )
    files = [thing.name for thing in extract_text(rules, text).entities if thing.kind == "file"]
    assert files == ["src/main.py", "D:/app/x.py"]


def test_pleasantries_are_no_statements(rules: EnglishExtractor) -> None:
    reading = extract_text(rules, "Thanks! Great. Ok, Ana!")
    assert statements(reading) == []
    assert links(reading, "MENTIONS") == {(ITEM, "MENTIONS", "Ana")}


def test_event_spans_point_at_their_text_in_the_source(rules: EnglishExtractor) -> None:
    text = "  # Notes\n\nMara took the amulet because the vault was open.\n\n* Edran rode north."
    for happening in extract_text(rules, text).events:
        assert text[happening.span.start : happening.span.end] == happening.text


def test_agents_of_active_and_passive_sentences_are_linked(rules: EnglishExtractor) -> None:
    reading = extract_text(rules, "Mara took the amulet. The vault was opened by Edran.")
    assert links(reading, "INITIATED") == {
        ("Mara", "INITIATED", "Mara took the amulet."),
        ("Edran", "INITIATED", "The vault was opened by Edran."),
    }


@pytest.mark.parametrize(
    "text",
    [
        "Ana did not break the build.",
        "Ana would break the build.",
        "Ana is tall.",
        "The build was broken.",
        "Ana wanted to deploy the app.",
        "I hope to see the sea.",
        "Ana or Ben deployed the app.",
    ],
)
def test_negated_hypothetical_or_agentless_sentences_have_no_agent(rules: EnglishExtractor, text: str) -> None:
    assert links(extract_text(rules, text), "INITIATED") == set()


@pytest.mark.parametrize(
    "who",
    [
        "Ana and Ben",
        "Mara and Edran",
        "Ana, Eva and Ben",
        "Ana, Eva, and Ben",
        "Ana, Eva, Max and Ben",
        "Ana Souza, Eva Lin and Ben",
    ],
)
def test_all_agents_of_a_list_are_linked(rules: EnglishExtractor, who: str) -> None:
    text = f"{who} deployed the app."
    everybody = re.split(r",? and |, ", who)
    assert links(extract_text(rules, text), "INITIATED") == {(name, "INITIATED", text) for name in everybody}


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("In Porto, Ana, Eva and Ben met Tom.", {"Ana", "Eva", "Ben"}),
        ("Ana, Eva or Ben deployed the app.", set()),
    ],
)
def test_only_names_in_the_list_are_agents(rules: EnglishExtractor, text: str, who: set[str]) -> None:
    assert {name for name, _, _ in links(extract_text(rules, text), "INITIATED")} == who


def test_i_is_linked_to_the_speaker_and_you_to_none(rules: EnglishExtractor) -> None:
    assert links(extract_text(rules, "I broke the build."), "INITIATED") == {
        (SPEAKER, "INITIATED", "I broke the build.")
    }
    assert links(extract_text(rules, "You fixed the build."), "INITIATED") == set()


def test_a_cause_and_its_effect_are_events_with_their_agents(rules: EnglishExtractor) -> None:
    reading = extract_text(rules, "The build broke because Ana bumped libfoo without pinning it.")
    cause, effect = "Ana bumped libfoo without pinning it", "The build broke"
    assert links(reading, "CAUSED") == {(cause, "CAUSED", effect)}
    assert ("Ana", "INITIATED", cause) in links(reading, "INITIATED")
    (caused,) = (link for link in reading.relations if link.type == "CAUSED")
    assert caused.rule == "rules:because"
    assert caused.certainty is not None
    assert caused.certainty >= 0.9


def test_a_root_cause_can_explain_an_earlier_sentence_than_the_last(rules: EnglishExtractor) -> None:
    text = (
        "The disk filled up on Friday. The host is now called forge-1. The root cause was a missing logrotate config."
    )
    found = ("a missing logrotate config", "CAUSED", "The disk filled up on Friday.")
    assert links(extract_text(rules, text), "CAUSED") == {found}


def test_thats_why_refers_to_the_previous_sentence_or_turn(rules: EnglishExtractor) -> None:
    assert links(extract_text(rules, "That's why the release slipped."), "CAUSED") == {
        (PREVIOUS, "CAUSED", "the release slipped")
    }
    said = links(extract_text(rules, "The disk was full. That's why the release slipped."), "CAUSED")
    assert said == {("The disk was full.", "CAUSED", "the release slipped")}


def test_therefore_links_the_unchanged_previous_sentence_as_cause(rules: EnglishExtractor) -> None:
    reading = extract_text(rules, "The disk was full. Therefore, the database stopped.")
    assert links(reading, "CAUSED") == {("The disk was full.", "CAUSED", "the database stopped")}


def test_a_statement_gets_the_time_that_its_sentence_names(rules: EnglishExtractor) -> None:
    first, second = statements(extract_text(rules, "We deployed the server last Friday. The server is fine."))
    assert first.at == datetime(2026, 1, 16, tzinfo=UTC)
    assert second.at is None


def test_a_stated_time_has_its_length(rules: EnglishExtractor) -> None:
    texts = "We deployed the server last Friday. The shop was sold in December 2025."
    day, month = statements(extract_text(rules, texts))
    assert (day.at, day.until) == (datetime(2026, 1, 16, tzinfo=UTC), datetime(2026, 1, 17, tzinfo=UTC))
    assert (month.at, month.until) == (datetime(2025, 12, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))


def test_what_was_moved_to_a_day_is_still_to_come(rules: EnglishExtractor) -> None:
    moved, was = statements(extract_text(rules, "The rollout was moved to Thursday. The rollout was on Thursday."))
    assert moved.at is not None
    assert was.at is not None
    assert (moved.at - was.at).days == 7


def test_german_text_yields_names_and_statements(rules: EnglishExtractor) -> None:
    reading = extract_text(rules, "Gestern hat Frau Müller in Hamburg die Datei /etc/hosts geändert.")
    assert len(statements(reading)) == 1
    assert {"/etc/hosts"} <= {thing.name for thing in reading.entities}


def test_a_name_that_begins_inside_a_word_does_not_fail_the_extraction(rules: EnglishExtractor) -> None:
    text = r"$ 200 million due Nov. 16, 1994, with a 4 1\/2% coupon at par via Yamaichi International Europe Ltd."
    assert "Yamaichi International Europe Ltd." in {thing.name for thing in extract_text(rules, text).entities}


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("Ana laughed at the joke.", "person"),
        ("Ana moved to Porto.", "person"),
        ("Captain Voss rode north.", "person"),
        ("We know that Compose reads the settings.", "name"),
        ("All of Neo4j said nothing, and Neo4j thinks.", "name"),
        ("Here Markdown is written by hand.", "name"),
        ("Later we saw that the Vosses left.", "name"),
        ("My cat is called Xanti.", "name"),
    ],
)
def test_entities_are_classified_as_persons_or_plain_names(rules: EnglishExtractor, text: str, guess: str) -> None:
    guesses = {thing.guess for thing in extract_text(rules, text).entities if thing.name != "Porto"}
    assert guesses == {guess}


@pytest.mark.parametrize(
    "text",
    [
        "Dentist yesterday.",
        "Gestern habe ich den Zaun gestrichen.",
        "Hier, j'ai repeint la clôture.",
        "Ayer pinté la cerca.",
        "Ieri ho dipinto la staccionata.",
        "Ontem pintei a cerca.",
        "昨天我刷了篱笆。",
        "昨日、柵を塗った。",
    ],
)
def test_a_sentence_with_a_time_is_a_statement_in_every_language_of_times(rules: EnglishExtractor, text: str) -> None:
    (said,) = statements(extract_text(rules, text))
    assert (said.text, said.at, said.until) == (text, AT.replace(day=19, hour=0), AT.replace(hour=0))


@pytest.mark.parametrize("text", ["Yesterday.", "2026-01-19", "5.1.2026:"])
def test_a_time_alone_is_no_statement(rules: EnglishExtractor, text: str) -> None:
    assert statements(extract_text(rules, text)) == []


def test_a_stated_day_is_one_of_the_zone_of_the_teller(rules: EnglishExtractor) -> None:
    at = datetime.fromisoformat("2026-01-20T07:30:00+09:00")
    (reading,) = rules.extract([SourceText("Yesterday I painted the fence.", at, "Mio")])
    (said,) = statements(reading)
    assert said.at == datetime.fromisoformat("2026-01-19T00:00:00+09:00")
    assert said.at is not None
    assert said.at.tzinfo is UTC
    assert "2026-01-19" in {entity.name for entity in reading.entities}


@pytest.mark.parametrize("year", [1, 9999])
def test_a_day_that_utc_has_not_is_no_time(rules: EnglishExtractor, year: int) -> None:
    zone = "+09:00" if year == 1 else "-09:00"
    day = f"{year:04}-01-01" if year == 1 else f"{year:04}-12-31"
    source = SourceText("Today I painted the fence.", datetime.fromisoformat(f"{day}T12:00:00{zone}"), "Mio")
    (said,) = statements(rules.extract([source])[0])
    assert said.at is None


def test_beside_a_time_every_other_sentence_is_told_at_the_time_of_telling(rules: EnglishExtractor) -> None:
    said = statements(extract_text(rules, "Three days ago I ran far. My left knee! Ouch."))
    assert [one.text for one in said] == ["Three days ago I ran far.", "My left knee!"]
    assert [one.at is None for one in said] == [False, True]
    assert [one.text for one in statements(extract_text(rules, "昨日、柵を塗った。膝が痛い。"))] == [
        "昨日、柵を塗った。",
        "膝が痛い。",
    ]
    assert statements(extract_text(rules, "My left knee! Ouch.")) == []


def test_months_and_years_ago_are_about_that_day(rules: EnglishExtractor) -> None:
    month, year = statements(extract_text(rules, "A month ago I forgot the key. Two years ago we moved here."))
    assert month.at is not None
    assert month.until is not None
    assert abs(month.at + (month.until - month.at) / 2 - datetime(2025, 12, 20, tzinfo=UTC)).days == 0
    assert year.at is not None
    assert year.until is not None
    assert abs(year.at + (year.until - year.at) / 2 - datetime(2024, 1, 20, tzinfo=UTC)).days == 0
    assert {"2025-12", "2024"} <= {
        entity.name for entity in extract_text(rules, "Two years ago we moved. A month ago I was ill.").entities
    }
