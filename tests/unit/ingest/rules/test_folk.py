"""Who is who in prose: one name for each person, who is whose, and whom *she* means."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.ingest.rules.test_reader import links, read, relationships
from vicw_ingest.extraction.reading import SPEAKER, Reading
from vicw_ingest.extraction.rules.reader import RulesReader

FERRY = (Path(__file__).parents[3] / "stories" / "ferry.txt").read_text()
LETTER = """Dear Hanne,

Our cousin Bertil married Agnes Lind last spring. Agnes is the daughter of Pastor Lind. Her parents, Nils and Karin,
gave them a house. His uncle Otto came, too. Otto danced with Agnes.

Bertil had a brother named Sven. Sven and Otto were friends. The sisters Klara and Vera sang.

Greta"""
CHAT = (
    "Priya Nair wrote the report last night. Priya laughed about it. Tomas Berg asked for a copy. His colleague Dmitri "
    "muted the alert. Dmitri's boss, Helen Okafor, called me. Helen was angry."
)


@pytest.fixture(scope="module")
def rules() -> RulesReader:
    return RulesReader()


def people(reading: Reading) -> set[str]:
    return {thing.name for thing in reading.things if thing.guess == "person"}


def agents(reading: Reading) -> dict[str, set[str]]:
    """Return who did what each sentence tells of."""
    found: dict[str, set[str]] = {}
    for who, _, said in links(reading, "INITIATED"):
        found.setdefault(said, set()).add(who)
    return found


def test_a_novel_has_each_of_its_people_once(rules: RulesReader) -> None:
    reading = read(rules, FERRY, None)
    assert people(reading) == {
        *("Marit Holm", "Jonas", "Captain Holm", "Aksel Brekke", "Liv", "Ingrid Brekke", "Ragna", "Tora", "Per"),
        "Holm",  # of the two who are called so, either may be the widow's husband
    }


def test_a_novel_tells_who_is_whose(rules: RulesReader) -> None:
    assert relationships(read(rules, FERRY, None)) == {
        ("Marit Holm", "brother", "Jonas"),
        ("Marit Holm", "father", "Captain Holm"),
        ("Jonas", "father", "Captain Holm"),
        ("Aksel Brekke", "daughter", "Liv"),
        ("Liv", "husband", "Jonas"),
        ("Aksel Brekke", "wife", "Ingrid Brekke"),
        ("Holm", "widow", "Ragna"),
        ("Ragna", "sister", "Tora"),
        ("Ingrid Brekke", "son", "Per"),
    }


def test_a_novel_tells_who_did_what(rules: RulesReader) -> None:
    done = agents(read(rules, FERRY, None))
    assert done["Marit painted the hull in April."] == {"Marit Holm"}
    assert done["She carried warm bread to the ferry."] == {"Liv"}
    assert done["Jonas, Liv's husband, drove to Bergen in June."] == {"Jonas"}
    assert done["He bought a new engine there."] == {"Jonas"}
    assert done["Aksel and his daughter Liv quarrelled that night."] == {"Aksel Brekke", "Liv"}
    assert done["Ingrid sealed it, and Marit took it across the fjord."] == {"Ingrid Brekke", "Marit Holm"}


def test_a_letter_tells_who_is_whose(rules: RulesReader) -> None:
    reading = read(rules, LETTER, "Greta")
    assert relationships(reading) == {
        (SPEAKER, "cousin", "Bertil"),
        ("Pastor Lind", "daughter", "Agnes Lind"),
        ("Agnes Lind", "parent", "Nils"),
        ("Agnes Lind", "parent", "Karin"),
        ("Bertil", "brother", "Sven"),
        ("Sven", "friend", "Otto"),
        ("Klara", "sister", "Vera"),
    }
    assert agents(reading)["Otto danced with Agnes."] == {"Otto"}


def test_a_chat_names_people_by_parts_of_their_names(rules: RulesReader) -> None:
    reading = read(rules, CHAT)
    assert people(reading) == {"Priya Nair", "Tomas Berg", "Dmitri", "Helen Okafor"}
    assert relationships(reading) == {("Tomas Berg", "colleague", "Dmitri"), ("Dmitri", "boss", "Helen Okafor")}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Marit smiled. We met Marit Holm in the hall.", {"Marit Holm"}),  # whichever comes first
        ("Marit Holm smiled. Marit Lund laughed. We saw Marit.", {"Marit Holm", "Marit Lund", "Marit"}),
        ("Captain Voss smiled. The Captain left the room.", {"Captain Voss"}),
        ("Doctor Lund smiled. Mrs Lund wept. Lund left.", {"Doctor Lund", "Mrs Lund", "Lund"}),
        ("Server Alpha failed. The server Beta did not.", {"Alpha", "Beta"}),
        ("Lund University opened. Lund smiled at her.", {"Lund University", "Lund"}),
        ("We walked down the Holm Road. Holm laughed aloud.", {"Holm Road", "Holm"}),
        ("Porto Alegre grew. We love Porto.", {"Porto Alegre", "Porto"}),
        ("They call it Friend Emily here. I met my friend Emily.", {"Friend Emily", "Emily"}),
    ],
)
def test_a_part_of_a_name_is_the_only_person_who_is_called_so(rules: RulesReader, text: str, names: set[str]) -> None:
    assert {thing.name for thing in read(rules, text, None).things} == names


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Marit Holm and her brother Jonas sailed.", {("Marit Holm", "brother", "Jonas")}),
        ("Liv Aas's husband, the tall Jonas, left.", {("Liv Aas", "husband", "Jonas")}),
        ("Jonas, Marit Holm's husband, sailed.", {("Marit Holm", "husband", "Jonas")}),
        ("Jonas, brother of Marit, sailed.", {("Marit", "brother", "Jonas")}),
        ("Vera had been Otto's wife.", {("Otto", "wife", "Vera")}),
        ("Ana and Eva were sisters.", {("Ana", "sister", "Eva")}),
        ("I had a brother, Max, in Oslo.", {(SPEAKER, "brother", "Max")}),
        ("Ana and Ben came. Their son Max slept.", {("Ana", "son", "Max"), ("Ben", "son", "Max")}),
        ("With Jonas, Marit's brother sailed.", set()),  # he may be another
        ("Ana was a friend of Marit's husband.", set()),
        ("Ana told Eva about her brother Max.", set()),  # of either
        ("Vera introduced the Sigma Delta Method with her colleague Otto.", {("Vera", "colleague", "Otto")}),
        ("Ana, Ben and Eva came. Their son Max slept.", set()),
        ("Marit came with her daughter Liv. Their mother Ada slept.", {("Marit", "daughter", "Liv")}),
        ("Ben is the manager of Acme.", set()),
    ],
)
def test_who_is_whose_in_prose(rules: RulesReader, text: str, told: set[tuple[str, str, str]]) -> None:
    assert relationships(read(rules, text)) == told


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("My brother Jonas mended the nets. She laughed at him.", set()),
        ("Ida's brother Jonas met Robin. He left the house.", {"Jonas"}),
        ("Ida mended her coat. Robin sang. She left the house.", set()),  # Robin may be a woman
        ("Mrs Lund wrote to Robin. She left the house.", {"Mrs Lund"}),
        ("Ida met an old woman. She left the house.", set()),
        ("Robin met a woman named Ida. She left the house.", set()),
        ("Ida lost her coat. Robin's mother Eva called. She left the house.", {"Eva"}),
        ("A man named Toni came. He left the house.", {"Toni"}),
        ("With Coursera, he left the house.", set()),
        ("Mara slept. Her mother came. She left the house.", {"thing 0 mother"}),
        ("Josiah woke Mrs Lund, and she left the house.", {"Mrs Lund"}),
    ],
)
def test_whom_a_pronoun_means(rules: RulesReader, text: str, who: set[str]) -> None:
    last = text.rpartition(". ")[2]
    assert agents(read(rules, text, None)).get(last, set()) - {"Josiah"} == who
