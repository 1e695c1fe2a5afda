from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.archive.manifest import RECORDS
from vicw_shared.errors import ForbiddenEdgeError, SettingsError, UnknownTypeError
from vicw_shared.model import Category, CollectionRegistry, EdgeRegistry, EdgeType, Label, NodeCollection
from vicw_shared.uids import edge_id, item_uid, make_uid, named_uid

REGISTRY = EdgeRegistry.with_core_types()
DESIGN = {
    Category.CAUSAL: {"CAUSED", "ENABLED"},
    Category.TEMPORAL: {"NEXT", "HAPPENED_AFTER", "SUPERSEDES"},
    Category.CONFLICT: {"CONTRADICTS"},
    Category.SUPPORT: {"SUPPORTS"},
    Category.LINEAGE: {"DERIVED_FROM"},
    Category.IDENTITY: {"IS_PERSON", "MERGED_INTO", "DISTINCT_FROM", "HAS_RELATIONSHIP", "ALIAS_OF"},
    Category.DEPENDENCY: {"DEPENDS_ON"},
    Category.SEMANTIC: {"RELATED_TO", "REFERENCES"},
    Category.BRIDGE: {"DESCRIBES", "IMPLEMENTS", "GOVERNS"},
}


def test_every_type_of_the_taxonomy_is_registered_in_its_category() -> None:
    for category, names in DESIGN.items():
        assert {t.name for t in REGISTRY if t.category is category} == names
    agency = {t.name for t in REGISTRY if t.category in {Category.AGENCY, Category.ABOUTNESS}}
    assert agency == {"INITIATED", "STATED_BY", "ABOUT", "MENTIONS", "TAGGED", "AUTO_TAGGED"}
    structural = {t.name for t in REGISTRY if t.category is Category.STRUCTURAL}
    assert structural == {"BELONGS_TO", "CONTAINS", "LINKS_TO", "HAS_ENTRYPOINT", "HAS_INDEX", "EVIDENCED_BY"}
    assert all(0 < t.weight <= 1 and t.pairs for t in REGISTRY)


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("CAUSED", Label.EVENT, Label.ENTITY),
        ("INITIATED", Label.ENTITY, Label.EVENT),
        ("BELONGS_TO", Label.CHUNK, Label.CONTEXT),
        ("EVIDENCED_BY", Label.CONCEPT, Label.CHUNK),
        ("TAGGED", Label.ENTITY, Label.CONCEPT),
    ],
)
def test_allowed_label_pairs_pass_the_edge_check(name: str, source: Label, target: Label) -> None:
    assert REGISTRY.check(name, source, target).name == name


def test_a_forbidden_pair_names_the_type_and_both_labels() -> None:
    with pytest.raises(ForbiddenEdgeError, match="NEXT may not join Entity → Event"):
        REGISTRY.check("NEXT", Label.ENTITY, Label.EVENT)


def test_an_unknown_edge_type_is_named_with_the_registered_ones() -> None:
    with pytest.raises(UnknownTypeError, match=r"'HATES' is not registered.*RELATED_TO"):
        REGISTRY.get("HATES")


def test_registering_an_edge_type_again_needs_the_same_meaning() -> None:
    registry = EdgeRegistry.with_core_types()
    owned = EdgeType("TODO_OWNED_BY", Category.AGENCY, frozenset({(Label.ENTITY, Label.ENTITY)}), 0.5)
    registry.register(owned)
    registry.register(owned)
    assert registry.check("TODO_OWNED_BY", Label.ENTITY, Label.ENTITY) is owned
    with pytest.raises(SettingsError, match="another meaning"):
        registry.register(EdgeType("TODO_OWNED_BY", Category.CAUSAL, owned.pairs, 0.5))
    for bad in ("lower", "A-B", "A` DELETE", ""):
        with pytest.raises(SettingsError):
            registry.register(EdgeType(bad, Category.CAUSAL, owned.pairs, 0.5))


def test_collections_find_the_most_specific_kind() -> None:
    collections = CollectionRegistry()
    collections.register(NodeCollection("todos", Label.ENTITY, "todo"))
    assert collections.of(Label.ENTITY, "todo").name == "todos"
    assert collections.of(Label.ENTITY, "anything").name == "entities"
    assert collections.get("people").subtype == "person"
    with pytest.raises(SettingsError):
        collections.register(NodeCollection("tasks", Label.ENTITY, "todo"))
    with pytest.raises(UnknownTypeError, match="'nope'"):
        collections.get("nope")


@pytest.mark.parametrize("file", RECORDS)
def test_a_collection_may_not_take_the_name_of_an_export_file(file: str) -> None:
    name = file.removesuffix(".jsonl")
    with pytest.raises(SettingsError, match=f"'{name}': an export has a file {file} of its own. Use another name"):
        CollectionRegistry().register(NodeCollection(name, Label.ENTITY, "door"))
    with pytest.raises(SettingsError, match="use small letters"):
        CollectionRegistry().register(NodeCollection(name.title(), Label.ENTITY, "door"))


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.lists(st.text(max_size=5), min_size=1, max_size=4))
def test_different_keys_never_share_a_uid(a: list[str], b: list[str]) -> None:
    assert (make_uid(*a) == make_uid(*b)) == (a == b)


def test_uids_are_stable_across_releases() -> None:
    assert item_uid("default", "ctx", "a", 1) == "7e568ad7-ef3c-58cf-bbb7-a371224b71cc", "stored graphs depend on it"
    assert named_uid("t", "c", "Person", "  ANA  maria") == named_uid("t", "c", "person", "Ana Maria")
    assert named_uid("t", "c", "class", "Wizard") != named_uid("t", "c", "person", "Wizard")
    assert named_uid("t", "c", "person", "Ana") != named_uid("u", "c", "person", "Ana")
    assert edge_id("NEXT", "a", "b") != edge_id("NEXT", "b", "a")
