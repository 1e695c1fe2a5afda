"""A first or last name means the only person of a text who has it in a longer name."""

import pytest

from vicw_ingest.plan.linking.name_match import full_names
from vicw_shared.model import Label
from vicw_shared.model.extraction import ExtractedEntity
from vicw_shared.text import Span


def entity(name: str, guess: str = "person", kind: str | None = None) -> ExtractedEntity:
    return ExtractedEntity(name, name, Label.ENTITY, kind, guess, Span(0, len(name)))


def full_names_of(*things: ExtractedEntity) -> dict[str, str]:
    return {key: full.name for key, full in full_names(things).items()}


@pytest.mark.parametrize("part", ["Marit", "marit", "Holm"])
def test_a_first_or_last_name_refers_to_the_fully_named_person(part: str) -> None:
    full = entity("Marit Ann Holm")
    assert full_names_of(entity(part, "name"), full) == full_names_of(full, entity(part)) == {part: "Marit Ann Holm"}
    assert full_names_of(full, entity("Ann", "name")) == {}, "a middle name"


def test_a_first_name_shared_by_two_people_refers_to_neither() -> None:
    people = [entity("Erik Aas"), entity("Erik Dahl")]
    assert full_names_of(*people, entity("Erik"), entity("Aas")) == {"Aas": "Erik Aas"}


def test_a_title_alone_does_not_refer_to_a_person() -> None:
    assert full_names_of(entity("Captain Voss"), entity("Captain"), entity("Voss")) == {"Voss": "Captain Voss"}


def test_partial_names_are_resolved_for_people_only() -> None:
    assert full_names_of(entity("New York", "name"), entity("York", "name")) == {}
    assert full_names_of(entity("Marit Holm"), entity("Marit", kind="symbol")) == {}
