"""Secrets of webhooks, and the headers by which a receiver knows a sender (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

_PREFIX = "whsec_"
_BYTES = 32


def new_secret() -> str:
    """Return a secret of 256 random bits."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def signed_headers(signed_by: Sequence[str], message_id: str, at: int, body: bytes) -> dict[str, str]:
    """Return the headers of a message that is sent ``at`` seconds since 1970, with a signature by each secret."""
    signed = f"{message_id}.{at}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{_signature(secret, signed)}" for secret in signed_by),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
