from __future__ import annotations

from typing import Any

import pytest

from support.generators.secrets import AWS_KEY, GITHUB_TOKEN, PASSWORD, TOKEN
from vicw_ingest.secrets.request_scan import SECRETS, mask_secrets
from vicw_shared.errors import InvalidInputError
from vicw_shared.wire.ingest import IngestRequest, MaskedSecret


def request(*items: dict[str, Any], **fields: Any) -> IngestRequest:
    return IngestRequest.model_validate(
        {"context": "c", "items": [{"text": "plain", **item} for item in items], **fields}
    )


def fields_and_kinds(secrets: tuple[MaskedSecret, ...]) -> list[tuple[str, str]]:
    return [(secret.field, secret.kind) for secret in secrets]


PLACES: list[tuple[str, dict[str, Any]]] = [
    ("text", {"text": GITHUB_TOKEN}),
    ("name", {"name": GITHUB_TOKEN}),
    ("subtype", {"subtype": GITHUB_TOKEN}),
    ("speaker", {"speaker": GITHUB_TOKEN}),
    ("bucket", {"bucket": GITHUB_TOKEN}),
    ("source", {"source": f"https://x/?t={GITHUB_TOKEN}"}),
    ("tags[1]", {"tags": ["fine", GITHUB_TOKEN]}),
    ("metadata.config.key", {"metadata": {"config": {"key": GITHUB_TOKEN}}}),
    ("metadata.list[1][0]", {"metadata": {"list": [1, [GITHUB_TOKEN]]}}),
    ("extraction.entities[0].name", {"extraction": {"entities": [{"id": "e", "name": GITHUB_TOKEN}]}}),
    ("extraction.entities[0].id", {"extraction": {"entities": [{"id": GITHUB_TOKEN, "name": "e"}]}}),
    ("extraction.concepts[0].description", {"extraction": {"concepts": [{"name": "c", "description": GITHUB_TOKEN}]}}),
    ("extraction.events[0].description", {"extraction": {"events": [{"name": "e", "description": GITHUB_TOKEN}]}}),
    (
        "extraction.relations[0].desc",
        {"extraction": {"relations": [{"source": "$item", "type": "CAUSED", "target": "x", "desc": GITHUB_TOKEN}]}},
    ),
]
NAMES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("context", {}, {"context": GITHUB_TOKEN}),
    ("domain", {}, {"domain": GITHUB_TOKEN}),
    ("flow_id", {}, {"flow_id": GITHUB_TOKEN}),
    ("items[0].id", {"id": GITHUB_TOKEN}, {}),
    ("items[0].flow_id", {"flow_id": GITHUB_TOKEN}, {}),
    ("items[0].about[1]", {"about": ["Ana", GITHUB_TOKEN]}, {}),
    ("items[0].user", {"user": GITHUB_TOKEN}, {}),
    ("items[0].trigger_phrases[0]", {"trigger_phrases": [GITHUB_TOKEN]}, {}),
    ("items[0].metadata", {"metadata": {GITHUB_TOKEN: {"password": PASSWORD}}}, {}),
]


@pytest.mark.parametrize(("place", "item"), PLACES, ids=[place for place, _ in PLACES])
def test_a_secret_is_masked_and_reported_in_any_field(place: str, item: dict[str, Any]) -> None:
    clean, masked = mask_secrets(request({}, item), "mask")
    assert GITHUB_TOKEN not in clean.model_dump_json()
    assert "[secret: github-token]" in clean.model_dump_json()
    assert {index: fields_and_kinds(secrets) for index, secrets in masked.items()} == {
        1: [(f"items[1].{place}", "github-token")]
    }


@pytest.mark.parametrize(("place", "item"), PLACES, ids=[place for place, _ in PLACES])
def test_a_secret_is_refused_by_field_and_kind_and_never_repeated(place: str, item: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        mask_secrets(request({}, item), "refuse")
    assert [problem.field for problem in refusal.value.problems] == [f"items[1].{place}"]
    assert refusal.value.problems[0].problem == "contains a secret (github-token)"
    assert GITHUB_TOKEN not in str(refusal.value)


@pytest.mark.parametrize("what", ["mask", "refuse"])
@pytest.mark.parametrize(("field", "item", "fields"), NAMES, ids=[field for field, *_ in NAMES])
def test_a_secret_in_an_identifier_is_refused_even_when_masking(
    what: Any, field: str, item: dict[str, Any], fields: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        mask_secrets(request(item, **fields), what)
    first = refusal.value.problems[0]
    assert (first.field, first.problem) == (field, "contains a secret (github-token) in a name")
    assert GITHUB_TOKEN not in str(refusal.value)
    assert PASSWORD not in str(refusal.value)


def test_secret_masking_switched_off_changes_nothing() -> None:
    sent = request({"text": GITHUB_TOKEN, "id": GITHUB_TOKEN})
    assert mask_secrets(sent, "off") == (sent, {})


def test_a_request_without_secrets_is_returned_unchanged() -> None:
    sent = request({"metadata": {"a": [{"b": 1}, None, 2.5, "x"]}, "tags": ["t"], "extraction": {"entities": []}})
    assert mask_secrets(sent, "mask") == (sent, {})
    assert mask_secrets(sent, "mask")[0] is sent


def test_a_metadata_key_decides_whether_its_value_is_a_secret() -> None:
    metadata = {
        "db": {"password": "correct horse 1", "user": "ana", "poolSize": 5},
        "apiKeys": [TOKEN],
        "client-secret": TOKEN,
        "next_page_token": TOKEN,
        "passwordPolicy": "8 signs, 1 digit",
        "token": "a word",
    }
    clean, masked = mask_secrets(request({"metadata": metadata}), "mask")
    assert clean.items[0].metadata == {
        **metadata,
        "db": {"password": "[secret: password]", "user": "ana", "poolSize": 5},
        "client-secret": "[secret: secret-key]",
    }
    assert fields_and_kinds(masked[0]) == [
        ("items[0].metadata.db.password", "password"),
        ("items[0].metadata.client-secret", "secret-key"),
    ]


def test_each_masked_field_and_kind_is_reported_once() -> None:
    text = f"{AWS_KEY} {GITHUB_TOKEN} {AWS_KEY}"
    _, masked = mask_secrets(request({"text": text}), "mask")
    assert fields_and_kinds(masked[0]) == [("items[0].text", "aws-access-key"), ("items[0].text", "github-token")]


def test_a_refusal_lists_at_most_twenty_fields_with_secrets() -> None:
    with pytest.raises(InvalidInputError) as refusal:
        mask_secrets(request(*({"text": GITHUB_TOKEN} for _ in range(30))), "refuse")
    assert [problem.field for problem in refusal.value.problems] == [f"items[{n}].text" for n in range(20)]


def test_requests_that_differ_in_their_secrets_alone_become_equal() -> None:
    one, other = (request({"text": f"password: {secret}"}) for secret in (PASSWORD, PASSWORD[::-1]))
    assert mask_secrets(one, "mask") == mask_secrets(other, "mask")


def test_relations_still_match_their_entities_after_masking() -> None:
    extraction = {
        "entities": [{"name": GITHUB_TOKEN}, {"name": "Mara"}],
        "relations": [{"source": "Mara", "type": "RELATED_TO", "target": GITHUB_TOKEN}],
    }
    clean, _ = mask_secrets(request({"extraction": extraction}), "mask")
    assert clean.items[0].extraction is not None
    assert clean.items[0].extraction.relations[0].target == clean.items[0].extraction.entities[0].name


def test_secrets_are_counted_by_kind_and_outcome() -> None:
    def count(outcome: str) -> float:
        return float(SECRETS.labels("aws-access-key", outcome)._value.get())

    before = count("masked"), count("refused")
    sent = request({"text": AWS_KEY}, {"text": AWS_KEY, "name": AWS_KEY})
    mask_secrets(sent, "mask")
    with pytest.raises(InvalidInputError):
        mask_secrets(sent, "refuse")
    assert (count("masked"), count("refused")) == (before[0] + 3, before[1] + 3)
