"""API keys: rights and tenant of a caller. Only a digest of a key is stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.text import flaw, visible

_SECRET_BYTES = 32
_ID_BYTES = 6
_PREFIX = "vicw"


class Right(StrEnum):
    """A right. ``erase`` is to erase from the key's own tenant for good, ``audit`` to read its record of changes.

    ``admin`` is for operators: metrics, and operations that show nothing of what is stored. None includes another. Over
    ``/keys`` a key hands on only what it has.
    """

    INGEST = "ingest"
    RETRIEVE = "retrieve"
    ERASE = "erase"
    AUDIT = "audit"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A stored key. ``id`` is public and identifies it; ``digest`` is the SHA-256 of its secret, in hex.

    The secret has 256 random bits, so a plain digest is safe against brute force. ``rights`` are in order.
    """

    id: str
    tenant: str
    rights: tuple[Right, ...]
    digest: str
    created_at: datetime
    note: str = ""
    revoked_at: datetime | None = None

    def matches(self, secret: str) -> bool:
        """Return, in constant time, whether ``secret`` is this key's and the key is not revoked."""
        return hmac.compare_digest(self.digest, _digest(secret)) and self.revoked_at is None


def tenant_flaw(name: str) -> str | None:
    """Return why ``name`` is no valid tenant name (empty, or an invalid character), or None if it is valid."""
    if not visible(name):
        return "is empty"
    if problem := flaw(name):
        return problem
    control = next((ch for ch in name if unicodedata.category(ch) == "Cc"), None)
    return f"contains a control character (U+{ord(control):04X})" if control is not None else None


def mint(tenant: str, rights: tuple[Right, ...], now: datetime, note: str = "") -> tuple[ApiKey, str]:
    """Return a new key and its token, which cannot be recovered later.

    Raises InvalidInputError for an invalid tenant name.
    """
    if problem := tenant_flaw(tenant):
        raise InvalidInputError(FieldProblem("tenant", problem, "Name it in visible characters"))
    key_id, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    ordered = tuple(right for right in Right if right in rights)
    key = ApiKey(id=key_id, tenant=tenant, rights=ordered, digest=_digest(secret), created_at=now, note=note)
    return key, f"{_PREFIX}_{key_id}_{secret}"


def split_token(token: str) -> tuple[str, str] | None:
    """Return a token's key id and secret, or None if it is malformed."""
    prefix, _, rest = token.partition("_")
    key_id, _, secret = rest.partition("_")
    well_formed = prefix == _PREFIX and len(key_id) == 2 * _ID_BYTES and secret and token.isascii()
    return (key_id, secret) if well_formed else None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
