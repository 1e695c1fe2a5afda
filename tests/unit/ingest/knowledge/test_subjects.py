from __future__ import annotations

import pytest

from vicw_ingest.knowledge.subjects import is_rule, keys_in, stems, subjects_of, with_word_forms


def test_issue_and_decision_ids_are_found_in_a_text() -> None:
    text = "OPS-142, ADR 0007, adr-9, RFC2119 and Utf-8 on May 19, page 3, v1-2; see ops/OPS-9.md"
    assert keys_in(text) == ["ops-142", "adr-7", "rfc-2119"]


def test_page_subjects_are_the_informative_words_of_its_names() -> None:
    subjects = subjects_of("ADR 7: Exponential backoff", ["The Retry Policy"], ["POL-3"], "docs/adr/0007-x.md", "")
    assert subjects.words == (("backoff", "exponenti"), ("retri",))
    assert set(subjects.keys) == {"pol-3", "adr-7"}
    assert subjects_of("Project overview", [], [], "overview.md", "").words == ()


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("docs/adr/0007-x.md", ("adr-7",)),
        ("decisions/12_y.md", ("adr-12",)),
        ("notes/0007-x.md", ()),
        ("2026-01.md", ()),
    ],
)
def test_the_number_of_a_decision_file_becomes_its_id(path: str, keys: tuple[str, ...]) -> None:
    assert subjects_of("X", [], [], path, "").keys == keys


@pytest.mark.parametrize(
    "sentence",
    [
        "It must be so.",
        "Never do that.",
        "Always ask.",
        "You shall not.",
        "Only admins may deploy.",
        "Don't.",
        "It is required.",
    ],
)
def test_sentences_that_state_rules_are_recognised(sentence: str) -> None:
    assert is_rule(sentence)


@pytest.mark.parametrize("sentence", ["It is so.", "The only one.", "We did not deploy.", "May is warm."])
def test_sentences_that_state_no_rule_are_not_taken_for_rules(sentence: str) -> None:
    assert not is_rule(sentence)


def test_forms_of_a_word_share_a_stem() -> None:
    assert stems("We deployed it") & stems("Deployments") == {"deploy"}
    assert "deployment" in with_word_forms("deployed").split()
