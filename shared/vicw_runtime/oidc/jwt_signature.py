"""Signatures of tokens, on PyJWT, which is slow to import: only the first token does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.types import Options

from vicw_runtime.oidc.model import BadTokenError

_OF_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_OF_CURVE = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA"}
ALGORITHMS = _OF_RSA | frozenset(_OF_CURVE.values())
"""What may sign a token: nothing with a shared secret, which a public key could be taken for, and not ``none``."""
_MIN_RSA_BITS = 2048
_OPTIONS: Options = {"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True}
_UNREADABLE = (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, ArithmeticError, RecursionError)
"""What the library raises for tokens and keys that are none: ``Infinity`` as a time, brackets without end, …"""


@dataclass(frozen=True, slots=True)
class IssuerKey:
    """A public key of an issuer. ``id`` is its ``kid``, and ``algorithms`` are those that it signs with."""

    id: str | None
    algorithms: frozenset[str]
    key: Any


@dataclass(frozen=True, slots=True)
class SigningKey:
    """What a token says of the key that has signed it: nothing of it is trusted."""

    id: str | None
    algorithm: str


def read_keys(document: Mapping[str, Any], most: int) -> list[IssuerKey]:
    """Return the keys of a JWKS that may sign tokens, of its first ``most``; others are passed over."""
    listed = document.get("keys")
    found = (_read_key(one) for one in (listed if isinstance(listed, list) else [])[:most])
    return [key for key in found if key is not None]


def _read_key(found: Any) -> IssuerKey | None:
    """Return a public key that signs; None for any other: a private one that is published is nobody's any more."""
    if not isinstance(found, dict) or found.get("use", "sig") != "sig" or "d" in found:
        return None
    kind, curve, own, key_id = (found.get(name) for name in ("kty", "crv", "alg", "kid"))
    algorithms = _OF_RSA if kind == "RSA" else frozenset({_OF_CURVE.get(curve, "")} if isinstance(curve, str) else ())
    if own is not None:
        algorithms &= frozenset({own} if isinstance(own, str) else ())
    if kind not in ("RSA", "EC", "OKP") or not algorithms & ALGORITHMS:
        return None
    try:
        key = jwt.PyJWK(found, min(algorithms)).key
    except _UNREADABLE:
        return None
    if isinstance(key, RSAPublicKey) and key.key_size < _MIN_RSA_BITS:
        return None
    return IssuerKey(key_id if isinstance(key_id, str) else None, algorithms & ALGORITHMS, key)


def signing_key(token: str) -> SigningKey:
    """Return what a token says of its key. Raises BadTokenError, also for an algorithm that is not allowed."""
    try:
        header = jwt.get_unverified_header(token)
    except _UNREADABLE as error:
        raise BadTokenError("This is no VICW key and no JWT") from error
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise BadTokenError("The token is signed with an algorithm that is not allowed")
    return SigningKey(key_id if isinstance(key_id, str) else None, algorithm)


def matching_key(keys: Iterable[IssuerKey], wanted: SigningKey) -> IssuerKey | None:
    """Return the one key that may have signed; a token that names none may have been by the only one there is."""
    found = [one for one in keys if wanted.algorithm in one.algorithms and wanted.id in (None, one.id)]
    return found[0] if len(found) == 1 else None


def verified_claims(
    token: str, key: IssuerKey, *, issuer: str, audiences: Sequence[str], leeway: float
) -> dict[str, Any]:
    """Return the claims of a token that the key has signed for one of the audiences, and that is valid now.

    Raises BadTokenError.
    """
    try:
        return jwt.decode(
            token,
            key.key,
            algorithms=sorted(key.algorithms),
            audience=audiences,
            issuer=issuer,
            leeway=leeway,
            options=_OPTIONS,
        )
    except jwt.ExpiredSignatureError as error:
        raise BadTokenError("The token has expired") from error
    except (jwt.ImmatureSignatureError, jwt.InvalidIssuedAtError) as error:
        raise BadTokenError("The token is not valid yet") from error
    except jwt.InvalidAudienceError as error:
        raise BadTokenError("The token is for another service: its `aud` is not this one's") from error
    except jwt.InvalidIssuerError as error:
        raise BadTokenError("The token is of another issuer") from error
    except jwt.MissingRequiredClaimError as error:
        raise BadTokenError(f"The token has no `{error.claim}`") from error
    except _UNREADABLE as error:
        raise BadTokenError("The token's signature or content is not valid") from error
