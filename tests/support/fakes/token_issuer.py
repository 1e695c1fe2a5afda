"""An OpenID Connect issuer on loopback: its metadata, its keys, and the tokens that these sign."""

from __future__ import annotations

import functools
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "https://memory.example.org"
SCOPES = "openid vicw:retrieve vicw:ingest"


class TokenIssuer:
    """What it answers can be changed meanwhile: ``answers`` by path, ``status`` for all, ``delay`` in seconds."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}
        self.status = 200
        self.delay = 0.0
        self.asked: list[str] = []
        self.private_keys: dict[str, Any] = {}
        self.url = ""

    def publish(self, *jwks: dict[str, Any], jwks_uri: str | None = None) -> None:
        """Publish these keys, and where they are."""
        metadata = {"issuer": self.url, "jwks_uri": jwks_uri or f"{self.url}/keys"}
        self.answers["/.well-known/openid-configuration"] = json.dumps(metadata).encode()
        self.answers["/keys"] = json.dumps({"keys": jwks}).encode()

    def make_key(self, key_id: str, kind: str = "RSA", bits: int = 2048, **members: Any) -> dict[str, Any]:
        """Make a key that ``token`` can sign with; return its public part."""
        private: Any
        if kind == "RSA":
            private = _common_key() if (key_id, bits) == ("k1", 2048) else rsa.generate_private_key(65537, bits)
            public = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
        elif kind == "EC":
            private = ec.generate_private_key(ec.SECP256R1())
            public = ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
        else:
            private = ed25519.Ed25519PrivateKey.generate()
            public = OKPAlgorithm.to_jwk(private.public_key(), as_dict=True)
        self.private_keys[key_id] = private
        return {**{name: value for name, value in public.items() if name != "key_ops"}, "kid": key_id, **members}

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Return the claims of a valid token; None takes one away."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": AUDIENCE, "sub": "ana", "exp": now + 300, "iat": now, "scope": SCOPES}
        return {name: value for name, value in {**claims, **changed}.items() if value is not None}

    def token(
        self, key_id: str = "k1", algorithm: str = "RS256", headers: dict[str, Any] | None = None, **changed: Any
    ) -> str:
        """Return a token that a key has signed."""
        named = {"kid": key_id, **(headers or {})}
        return jwt.encode(self.claims(**changed), self.private_keys[key_id], algorithm, headers=named)


@functools.cache
def _common_key() -> rsa.RSAPrivateKey:
    """Return the key of every issuer: one takes a moment to make."""
    return rsa.generate_private_key(65537, 2048)


@contextmanager
def token_issuer() -> Iterator[TokenIssuer]:
    """Serve an issuer that publishes the RSA key ``k1``."""
    issuer = TokenIssuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.asked.append(self.path)
            time.sleep(issuer.delay)
            body = issuer.answers.get(self.path)
            self.send_response(404 if body is None else issuer.status)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        issuer.publish(issuer.make_key("k1"))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
