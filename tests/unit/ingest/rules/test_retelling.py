"""An event that a text tells of twice, in other words, is one: else none."""

from __future__ import annotations

import pytest

from unit.ingest.rules.test_reader import links, read
from vicw_ingest.extraction.rules.reader import RulesReader

BECAUSE = "The checkout failed because the certificate expired."


@pytest.fixture(scope="module")
def rules() -> RulesReader:
    return RulesReader()


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (f"The payment certificate had expired. {BECAUSE}", "The payment certificate had expired."),
        (
            f"The payment certificate expired on Sunday. We saw it. {BECAUSE}",
            "The payment certificate expired on Sunday.",
        ),
        (f"The root certificate expired. The payment certificate had expired. {BECAUSE}", None),  # either
        (f"The payment certificate had not expired. {BECAUSE}", None),
        (f"A payment certificate may have expired. {BECAUSE}", None),
        (f"The certificate monitor expired. {BECAUSE}", None),
        ("The payment certificate expired. The checkout failed because the root certificate expired.", None),
        ("The certificate expired. The checkout failed because another certificate expired.", None),
        ("The certificate expired on Monday. It broke because the certificate expired on Friday.", None),
    ],
)
def test_a_cause_that_was_told_before_is_what_was_told(rules: RulesReader, text: str, cause: str | None) -> None:
    told = {source for source, _, _ in links(read(rules, text), "CAUSED")}
    statements = {one for one in told if one.endswith(".")}
    assert statements == ({cause} if cause is not None else set())


def test_causes_in_other_words_join_in_a_chain(rules: RulesReader) -> None:
    text = f"{BECAUSE.replace('the certificate', 'the payment certificate')} The certificate expired because Ben slept."
    assert links(read(rules, text), "CAUSED") == {
        ("the payment certificate expired", "CAUSED", "The checkout failed"),
        ("Ben slept", "CAUSED", "the payment certificate expired"),
    }
