"""A first or last name means the only person of a text who has it in a longer name."""

import pytest

from vicw_ingest.extraction.linking.name_match import full_names
from vicw_ingest.extraction.model import ExtractedEntity
from vicw_shared.language.tokens import Span
from vicw_shared.model import Label


def entity(name: str, guess: str = "person", kind: str | None = None) -> ExtractedEntity:
    return ExtractedEntity(name, name, Label.ENTITY, kind, guess, Span(0, len(name)))


def meant(*things: ExtractedEntity) -> dict[str, str]:
    return {key: full.name for key, full in full_names(things).items()}


@pytest.mark.parametrize("part", ["Marit", "marit", "Holm"])
def test_a_part_of_a_name_means_the_person_wherever_the_full_name_stands(part: str) -> None:
    full = entity("Marit Ann Holm")
    assert meant(entity(part, "name"), full) == meant(full, entity(part)) == {part: "Marit Ann Holm"}
    assert meant(full, entity("Ann", "name")) == {}, "a middle name"


def test_a_part_of_two_names_means_neither() -> None:
    people = [entity("Erik Aas"), entity("Erik Dahl")]
    assert meant(*people, entity("Erik"), entity("Aas")) == {"Aas": "Erik Aas"}


def test_a_title_is_no_part_of_a_name() -> None:
    assert meant(entity("Captain Voss"), entity("Captain"), entity("Voss")) == {"Voss": "Captain Voss"}


def test_only_people_are_called_by_a_part_of_their_names() -> None:
    assert meant(entity("New York", "name"), entity("York", "name")) == {}
    assert meant(entity("Marit Holm"), entity("Marit", kind="symbol")) == {}
