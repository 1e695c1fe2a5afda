"""API keys: who may do what, and for which tenant. Only a digest of a key is kept."""

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
    """What a key allows. ``admin`` is for operators: figures of the whole store; it includes no other right."""

    INGEST = "ingest"
    RETRIEVE = "retrieve"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is stored. ``id`` is public and names it; ``digest`` is the SHA-256 of its secret, in hex.

    The secret has 256 random bits, so that a plain digest cannot be searched for it. ``rights`` are in order.
    """

    id: str
    tenant: str
    rights: tuple[Right, ...]
    digest: str
    created_at: datetime
    note: str = ""
    revoked_at: datetime | None = None

    def matches(self, secret: str) -> bool:
        """Tell, in constant time, whether ``secret`` is this key's and the key still holds."""
        return hmac.compare_digest(self.digest, _digest(secret)) and self.revoked_at is None


def tenant_flaw(name: str) -> str | None:
    """Say what makes ``name`` none for a tenant: nothing visible in it, or a character that nobody sees or can type."""
    if not visible(name):
        return "is empty"
    if problem := flaw(name):
        return problem
    control = next((ch for ch in name if unicodedata.category(ch) == "Cc"), None)
    return f"contains a control character (U+{ord(control):04X})" if control is not None else None


def mint(tenant: str, rights: tuple[Right, ...], now: datetime, note: str = "") -> tuple[ApiKey, str]:
    """Return a new key and the token that its owner sends, which cannot be had again.

    Raises InvalidInputError for a name that no tenant can have.
    """
    if problem := tenant_flaw(tenant):
        raise InvalidInputError(FieldProblem("tenant", problem, "Name it in visible characters"))
    key_id, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    ordered = tuple(right for right in Right if right in rights)
    key = ApiKey(id=key_id, tenant=tenant, rights=ordered, digest=_digest(secret), created_at=now, note=note)
    return key, f"{_PREFIX}_{key_id}_{secret}"


def split_token(token: str) -> tuple[str, str] | None:
    """Return a token's key id and secret, or None if it has not the form of one."""
    prefix, _, rest = token.partition("_")
    key_id, _, secret = rest.partition("_")
    well_formed = prefix == _PREFIX and len(key_id) == 2 * _ID_BYTES and secret and token.isascii()
    return (key_id, secret) if well_formed else None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
