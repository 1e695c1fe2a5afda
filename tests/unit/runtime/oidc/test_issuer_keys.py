"""How an issuer's keys are fetched, kept, and done without while it is away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from support.fakes.token_issuer import AUDIENCE, TokenIssuer
from vicw_runtime.oidc.issuer_keys import IssuerLimits
from vicw_runtime.oidc.model import BadTokenError
from vicw_runtime.oidc.token_verifier import TokenVerifier
from vicw_shared.errors import UnavailableError
from vicw_shared.settings import OidcSettings

KEYS, METADATA = "/keys", "/.well-known/openid-configuration"


@asynccontextmanager
async def verifier_of(
    served: TokenIssuer, limits: IssuerLimits | None = None, **settings: Any
) -> AsyncIterator[TokenVerifier]:
    chosen = OidcSettings(issuer=served.url, audience=AUDIENCE).model_copy(update=settings)
    verifier = TokenVerifier(chosen, "home", limits)
    try:
        yield verifier
    finally:
        await verifier.close()


async def test_keys_are_fetched_once_for_all_who_wait(issuer: TokenIssuer) -> None:
    issuer.delay = 0.1
    async with verifier_of(issuer) as verifier:
        await asyncio.gather(*(verifier.caller(issuer.token()) for _ in range(20)))
        await verifier.caller(issuer.token())
    assert issuer.asked == [METADATA, KEYS]


async def test_a_new_key_is_fetched_when_a_token_names_it(issuer: TokenIssuer) -> None:
    async with verifier_of(issuer, IssuerLimits(again_seconds=0)) as verifier:
        await verifier.caller(issuer.token("k1"))
        issuer.publish(issuer.make_key("k2"))
        await verifier.caller(issuer.token("k2"))
        with pytest.raises(BadTokenError, match="does not have"):
            await verifier.caller(issuer.token("k1"))


async def test_made_up_keys_cause_no_more_fetches_than_one_in_a_while(issuer: TokenIssuer) -> None:
    async with verifier_of(issuer) as verifier:
        for number in range(50):
            with pytest.raises(BadTokenError, match="does not have"):
                await verifier.caller(issuer.token("k1", headers={"kid": f"made up {number}"}))
    assert issuer.asked.count(KEYS) == 1


async def test_a_key_that_the_issuer_has_withdrawn_is_refused_once_the_keys_are_fetched_again(
    issuer: TokenIssuer,
) -> None:
    other = issuer.make_key("k2")
    async with verifier_of(issuer, IssuerLimits(again_seconds=0), keys_seconds=0.5) as verifier:
        token = issuer.token("k1")
        await verifier.caller(token)
        issuer.publish(other)
        await verifier.caller(token)
        await asyncio.sleep(0.55)
        with pytest.raises(BadTokenError, match="does not have"):
            await verifier.caller(token)


async def test_while_the_issuer_is_away_known_keys_are_used_for_a_while_and_nobody_waits(issuer: TokenIssuer) -> None:
    limits = IssuerLimits(again_seconds=0.05, timeout_seconds=0.3)
    async with verifier_of(issuer, limits, keys_seconds=0.1, outage_seconds=1.5) as verifier:
        await verifier.caller(issuer.token())
        issuer.delay = 0.6
        await asyncio.sleep(0.15)
        await verifier.caller(issuer.token())  # the first waits for the issuer
        for _ in range(5):
            async with asyncio.timeout(0.2):
                await verifier.caller(issuer.token())
            await asyncio.sleep(0.06)
        with pytest.raises(UnavailableError) as error:  # it may be a new key
            await verifier.caller(issuer.token("k1", headers={"kid": "k2"}))
        assert error.value.retry_after_seconds == 1
        await asyncio.sleep(1.2)
        with pytest.raises(UnavailableError, match="issuer: does not answer"):
            await verifier.caller(issuer.token())
        issuer.delay = 0
        await asyncio.sleep(0.4)
        assert (await verifier.caller(issuer.token())).tenant == "home", "it answers again"


async def test_the_keys_may_be_named_by_their_address_alone(issuer: TokenIssuer) -> None:
    del issuer.answers[METADATA]
    async with verifier_of(issuer, jwks_url=f"{issuer.url}/keys") as verifier:
        await verifier.caller(issuer.token())
    assert issuer.asked == [KEYS]


async def test_an_issuer_of_oauth_alone_is_found_too(issuer: TokenIssuer) -> None:
    metadata = json.loads(issuer.answers.pop(METADATA)) | {"issuer": f"{issuer.url}/realm"}
    issuer.answers["/.well-known/oauth-authorization-server/realm"] = json.dumps(metadata).encode()
    async with verifier_of(issuer, issuer=f"{issuer.url}/realm") as verifier:
        await verifier.caller(issuer.token(iss=f"{issuer.url}/realm"))


@pytest.mark.parametrize(
    ("path", "answer", "says"),
    [
        (METADATA, b"{}", "another issuer"),
        (METADATA, b'{"issuer": "https://evil.example.org"}', "another issuer"),
        (METADATA, b"[]", "no JSON object"),
        (KEYS, b"{", "Expecting"),
        (KEYS, b'{"keys": "none"}', "no key"),
        (KEYS, b'{"keys": []}', "no key"),
        (KEYS, b'{"keys": [' + b"1," * 200_000 + b"1]}", "more than 262144 bytes"),
        (KEYS, b"[" * 100_000, "issuer: "),
    ],
)
async def test_an_issuer_that_answers_nonsense_is_unavailable(
    issuer: TokenIssuer, path: str, answer: bytes, says: str
) -> None:
    issuer.answers[path] = answer
    async with verifier_of(issuer) as verifier:
        with pytest.raises(UnavailableError, match="does not answer"):
            await verifier.caller(issuer.token())
        with pytest.raises(UnavailableError, match=says):
            await verifier.probe()


@pytest.mark.parametrize("jwks_uri", ["http://keys.example.org/keys", "file:///etc/passwd", "gopher://x", ""])
async def test_keys_are_fetched_over_https_alone(issuer: TokenIssuer, jwks_uri: str) -> None:
    metadata = {"issuer": issuer.url, "jwks_uri": jwks_uri}
    issuer.answers[METADATA] = json.dumps(metadata).encode()
    async with verifier_of(issuer) as verifier:
        with pytest.raises(UnavailableError):
            await verifier.caller(issuer.token())
        with pytest.raises(UnavailableError, match="https"):
            await verifier.probe()


async def test_an_issuer_that_answers_again_is_ready_without_a_token(issuer: TokenIssuer) -> None:
    async with verifier_of(issuer, IssuerLimits(again_seconds=0), keys_seconds=0.2) as verifier:
        await verifier.caller(issuer.token())
        issuer.status = 500
        await asyncio.sleep(0.3)
        await verifier.caller(issuer.token())  # by the keys that are known
        with pytest.raises(UnavailableError, match="status 500"):
            await verifier.probe()
        issuer.status = 200
        await verifier.probe()


async def test_an_issuer_that_fails_is_named_with_the_reason(issuer: TokenIssuer) -> None:
    issuer.status = 302
    async with verifier_of(issuer) as verifier:
        with pytest.raises(UnavailableError, match="status 302"):
            await verifier.probe()
    issuer.status = 200
    async with verifier_of(issuer) as verifier:
        await verifier.probe()
