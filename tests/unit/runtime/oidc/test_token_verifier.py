"""Which tokens are admitted, as whom, and with which rights."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from jwt.warnings import InsecureKeyLengthWarning

from support.fakes.token_issuer import AUDIENCE, TokenIssuer
from vicw_runtime.http import Caller
from vicw_runtime.oidc.model import BadTokenError
from vicw_runtime.oidc.token_verifier import TokenVerifier
from vicw_shared.errors import ForbiddenError
from vicw_shared.model.keys import Right
from vicw_shared.settings import OidcSettings


@asynccontextmanager
async def verifier_of(issuer: TokenIssuer, **settings: Any) -> AsyncIterator[TokenVerifier]:
    verifier = TokenVerifier(OidcSettings(**{"issuer": issuer.url, "audience": AUDIENCE, **settings}), "home")
    try:
        yield verifier
    finally:
        await verifier.close()


async def admitted(issuer: TokenIssuer, token: str, **settings: Any) -> Caller:
    async with verifier_of(issuer, **settings) as verifier:
        return await verifier.caller(token)


async def refusal(issuer: TokenIssuer, token: str, **settings: Any) -> str:
    with pytest.raises(BadTokenError) as error:
        await admitted(issuer, token, **settings)
    return str(error.value)


async def test_a_token_gives_the_rights_of_its_scopes_and_names_its_subject(issuer: TokenIssuer) -> None:
    caller = await admitted(issuer, issuer.token())
    assert caller == Caller("home", (Right.INGEST, Right.RETRIEVE), key="oidc:ana", by_token=True)
    reader = await admitted(issuer, issuer.token(scope="vicw:retrieve"))
    assert reader.rights == (Right.RETRIEVE,)


@pytest.mark.parametrize(("kind", "algorithm"), [("EC", "ES256"), ("OKP", "EdDSA"), ("RSA", "PS384")])
async def test_every_asymmetric_kind_of_key_may_sign(issuer: TokenIssuer, kind: str, algorithm: str) -> None:
    issuer.publish(issuer.make_key("a"), issuer.make_key("b", kind))
    assert (await admitted(issuer, issuer.token("b", algorithm))).tenant == "home"


async def test_admin_is_given_only_if_a_setting_maps_it(issuer: TokenIssuer) -> None:
    token = issuer.token(scope="admin vicw:admin vicw:retrieve")
    assert Right.ADMIN not in (await admitted(issuer, token)).rights
    mapped = await admitted(issuer, token, scopes="vicw:retrieve=retrieve, vicw:admin=admin")
    assert mapped.rights == (Right.RETRIEVE, Right.ADMIN)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"exp": int(time.time()) - 60}, "has expired"),
        ({"exp": None}, "no `exp`"),
        ({"exp": "soon"}, "not valid"),
        ({"nbf": int(time.time()) + 3600}, "not valid yet"),
        ({"aud": "https://other.example.org"}, "another service"),
        ({"aud": None}, "no `aud`"),
        ({"aud": AUDIENCE + "/"}, "another service"),
        ({"iss": "https://evil.example.org"}, "another issuer"),
        ({"iss": None}, "no `iss`"),
        ({"sub": None}, "no `sub`"),
        ({"sub": ""}, "`sub` is empty, too long"),
        ({"sub": "a" * 256}, "too long"),
    ],
)
async def test_a_token_with_a_wrong_claim_is_refused_by_name(
    issuer: TokenIssuer, changed: dict[str, Any], says: str
) -> None:
    assert says in await refusal(issuer, issuer.token(**changed))


async def test_clocks_may_differ_a_little(issuer: TokenIssuer) -> None:
    now = int(time.time())
    late, early = issuer.token(exp=now - 10), issuer.token(nbf=now + 15)
    assert (await admitted(issuer, late)).tenant == "home"
    assert (await admitted(issuer, early)).tenant == "home"
    assert "expired" in await refusal(issuer, late, leeway_seconds=1)
    assert "not valid yet" in await refusal(issuer, early, leeway_seconds=1)


async def test_one_of_several_audiences_is_enough(issuer: TokenIssuer) -> None:
    assert (await admitted(issuer, issuer.token(aud=["x", "memory"]), audience=f"{AUDIENCE}, memory")).tenant == "home"


def _encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


async def test_unsigned_and_symmetric_tokens_are_refused(issuer: TokenIssuer) -> None:
    claims = _encoded(issuer.claims())
    for algorithm in ("none", "None", "", None, ["RS256"], "HS256", "ES256K", "RS1"):
        token = f"{_encoded({'alg': algorithm, 'kid': 'k1'})}.{claims}."
        assert "algorithm" in await refusal(issuer, token) or "no JWT" in await refusal(issuer, token), algorithm
    # The public key, which everybody has, as the secret of an HMAC
    public = issuer.private_keys["k1"].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    signed = f"{_encoded({'alg': 'HS256', 'kid': 'k1'})}.{claims}"
    digest = hmac.new(pem, signed.encode(), hashlib.sha256).digest()
    forged = f"{signed}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
    assert "algorithm" in await refusal(issuer, forged)


async def test_a_shared_secret_among_the_keys_signs_nothing(issuer: TokenIssuer) -> None:
    secret = b"s" * 64
    issuer.publish(
        issuer.make_key("k1"),
        {"kty": "oct", "kid": "s", "k": base64.urlsafe_b64encode(secret).decode()},
    )
    assert "algorithm" in await refusal(issuer, jwt.encode(issuer.claims(), secret, "HS256", headers={"kid": "s"}))


async def test_forged_tokens_are_refused(issuer: TokenIssuer) -> None:
    header, payload, signature = issuer.token().split(".")
    other = _encoded(issuer.claims(sub="mara"))
    assert "signature" in await refusal(issuer, f"{header}.{other}.{signature}")
    assert "signature" in await refusal(issuer, f"{header}.{payload}.{'A' * len(signature)}")
    issuer.make_key("stranger")
    as_k1 = issuer.token("stranger", headers={"kid": "k1"})
    assert "signature" in await refusal(issuer, as_k1)
    assert "does not have" in await refusal(issuer, issuer.token("stranger"))
    embedded = issuer.token("stranger", headers={"jku": "https://evil.example.org", "jwk": {"kty": "RSA"}})
    assert "does not have" in await refusal(issuer, embedded)


async def test_a_key_signs_with_its_own_algorithm_alone(issuer: TokenIssuer) -> None:
    issuer.publish(issuer.make_key("k1", alg="RS256"))
    assert (await admitted(issuer, issuer.token())).tenant == "home"
    assert "does not have" in await refusal(issuer, issuer.token(algorithm="PS256"))


async def test_keys_that_are_weak_private_or_for_encryption_sign_nothing(issuer: TokenIssuer) -> None:
    good = issuer.make_key("good")
    issuer.publish(
        good,
        issuer.make_key("weak", bits=1024),
        issuer.make_key("enc", use="enc"),
        issuer.make_key("leaked", d="AQAB"),
        {"kty": "RSA", "kid": "cut"},
        {"kty": "EC", "crv": ["P-256"], "kid": "odd"},
        {"kty": ["RSA"], "kid": 7},
    )
    with pytest.warns(InsecureKeyLengthWarning):
        tokens = [issuer.token(key_id) for key_id in ("weak", "enc", "leaked")]
    for token in tokens:
        assert "does not have" in await refusal(issuer, token)
    assert (await admitted(issuer, issuer.token("good"))).tenant == "home"


async def test_a_token_without_a_key_id_is_admitted_if_one_key_may_have_signed(issuer: TokenIssuer) -> None:
    token = jwt.encode(issuer.claims(), issuer.private_keys["k1"], "RS256")
    assert (await admitted(issuer, token)).tenant == "home"
    issuer.publish(issuer.make_key("k1"), issuer.make_key("k2"))
    assert "does not have" in await refusal(issuer, token)


async def test_what_is_no_token_is_refused(issuer: TokenIssuer) -> None:
    deep = base64.urlsafe_b64encode(b"[" * 9000).decode()
    for text in ("x", "a.b.c", "..", f"{deep}.e30.", "é.é.é", "x" * 16_385, f"{_encoded({'alg': 'RS256'})}.!.!"):
        assert await refusal(issuer, text)
    assert issuer.asked.count("/keys") <= 1, "nothing is fetched for what is no token"


async def test_a_token_with_an_extension_that_has_to_be_understood_is_refused(issuer: TokenIssuer) -> None:
    _, payload, signature = issuer.token().split(".")
    extensions: list[dict[str, Any]] = [{"crit": ["x"], "x": 1}, {"crit": ["b64"], "b64": False}, {"crit": []}]
    for extension in extensions:
        header = _encoded({"alg": "RS256", "kid": "k1", **extension})
        assert "no JWT" in await refusal(issuer, f"{header}.{payload}.{signature}") or "b64" in extension


@pytest.mark.parametrize(
    ("claims", "settings", "tenant"),
    [
        ({"tenant": "acme"}, {"tenant_claim": "tenant"}, "acme"),
        ({"tenant": ["acme"]}, {"tenant_claim": "tenant"}, "acme"),
        ({"org": {"id": "acme"}}, {"tenant_claim": "org.id"}, "acme"),
        ({"https://x.org/tenant": "acme"}, {"tenant_claim": "https://x.org/tenant"}, "acme"),
        ({"org": "o_17"}, {"tenant_claim": "org", "tenants": "o_17=acme, other"}, "acme"),
        ({"org": "other"}, {"tenant_claim": "org", "tenants": "o_17=acme, other"}, "other"),
        ({"tenant": "acme"}, {}, "home"),
    ],
)
async def test_a_claim_names_the_tenant(
    issuer: TokenIssuer, claims: dict[str, Any], settings: dict[str, str], tenant: str
) -> None:
    assert (await admitted(issuer, issuer.token(**claims), **settings)).tenant == tenant


@pytest.mark.parametrize(
    ("claims", "settings", "says"),
    [
        ({}, {"tenant_claim": "tenant"}, "names no tenant"),
        ({"tenant": ["a", "b"]}, {"tenant_claim": "tenant"}, "names no tenant"),
        ({"tenant": 7}, {"tenant_claim": "tenant"}, "names no tenant"),
        ({"tenant": "o_18"}, {"tenant_claim": "tenant", "tenants": "o_17=acme"}, "'o_18', which is not among"),
        ({"tenant": "acme"}, {"tenant_claim": "tenant", "tenants": "o_17=acme"}, "which is not among"),
        ({"tenant": "a\x1bb"}, {"tenant_claim": "tenant"}, "control character"),
        ({"scope": "openid"}, {}, "none of the scopes that give a right here: vicw:ingest, "),
        ({"scope": None}, {}, "none of the scopes"),
        ({"scope": {"vicw:retrieve": 1}}, {}, "none of the scopes"),
    ],
)
async def test_a_token_without_a_known_tenant_or_scope_is_forbidden(
    issuer: TokenIssuer, claims: dict[str, Any], settings: dict[str, str], says: str
) -> None:
    with pytest.raises(ForbiddenError, match=says):
        await admitted(issuer, issuer.token(**claims), **settings)


async def test_roles_may_give_rights(issuer: TokenIssuer) -> None:
    token = issuer.token(realm_access={"roles": ["staff", {"odd": 1}, "x"]}, scope=None)
    settings = {"scope_claim": "realm_access.roles", "scopes": "staff=retrieve, staff=ingest, x=audit"}
    assert (await admitted(issuer, token, **settings)).rights == (Right.INGEST, Right.RETRIEVE, Right.AUDIT)
