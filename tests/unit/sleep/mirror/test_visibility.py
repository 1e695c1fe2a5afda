"""What a mirror shows is what an answer would: the rule of the read path, for a viewer without a context."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from vicw_retrieval.access.scope import may_see
from vicw_shared.model import Label, Node, Sensitivity
from vicw_shared.ports import Audience, Scope
from vicw_shared.text import fold_case
from vicw_sleep.mirror.atoms import Atom
from vicw_sleep.mirror.visibility import EVERYTHING, MirrorVisibility

AT = datetime(2026, 1, 1, tzinfo=UTC)
INSTANTS = st.sampled_from([None, AT - timedelta(days=1), AT, AT + timedelta(days=1)])


@given(
    st.sampled_from(["", "Ana", "ANA", "Bob", EVERYTHING]),
    st.sampled_from(list(Sensitivity)),
    st.booleans(),
    st.lists(st.sampled_from(["Ana", "Bob"])),
    INSTANTS,
    INSTANTS,
    INSTANTS,
)
def test_mirror_visibility_equals_the_visibility_of_answers(
    viewer: str,
    sensitivity: Sensitivity,
    portable: bool,
    about: list[str],
    expires_at: datetime | None,
    valid_to: datetime | None,
    superseded_at: datetime | None,
) -> None:
    item = Node(
        uid="u",
        label=Label.EVENT,
        tenant="t",
        context="c",
        name="n",
        subtype="turn",
        domain="general",
        created_at=AT - timedelta(days=9),
        content_hash="h",
        sensitivity=sensitivity,
        portable=portable,
        expires_at=expires_at,
        valid_to=valid_to,
        superseded_at=superseded_at,
    )
    whom = frozenset(map(fold_case, about))
    audience = None if viewer == EVERYTHING else Audience(identities=(fold_case(viewer),) if viewer else ())
    expected = may_see(Scope(tenant="t", now=AT, audience=audience), item, whom)
    assert MirrorVisibility(viewer).sees(Atom(item, "text", (), (), whom, ()), AT) == expected
