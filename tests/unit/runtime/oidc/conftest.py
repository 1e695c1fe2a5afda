from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.fakes.token_issuer import TokenIssuer, token_issuer


@pytest.fixture
def issuer() -> Iterator[TokenIssuer]:
    with token_issuer() as served:
        yield served
