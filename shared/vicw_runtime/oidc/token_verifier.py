"""Callers by their tokens: the tenant that a token is for, and the rights that its scopes give."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from vicw_core.background import in_thread
from vicw_runtime.http import Caller
from vicw_runtime.oidc.issuer_keys import IssuerKeys, IssuerLimits
from vicw_runtime.oidc.model import BadTokenError
from vicw_shared.errors import ForbiddenError
from vicw_shared.model.keys import Right, tenant_flaw
from vicw_shared.settings import OidcSettings
from vicw_shared.text import flaw

_MOST_CHARS = 16_384
_SHOWN = 200
_SUBJECT_CHARS = 255
"""The limit of OpenID Connect Core 1.0, section 2."""


class TokenVerifier:
    """Admits tokens of the issuer of ``settings``, which is set. Without a claim for it, their tenant is ``tenant``."""

    def __init__(self, settings: OidcSettings, tenant: str, limits: IssuerLimits | None = None) -> None:
        assert settings.issuer is not None
        self.settings = settings
        self._issuer = settings.issuer
        self._tenant = tenant
        self._keys = IssuerKeys(settings, limits)
        self._is_loaded = False

    @classmethod
    def of(cls, settings: OidcSettings, tenant: str) -> TokenVerifier | None:
        """Return the verifier; None without an issuer."""
        return cls(settings, tenant) if settings.issuer is not None else None

    async def caller(self, token: str) -> Caller:
        """Return who sends a token. ``key`` is ``oidc:`` and the subject.

        Raises BadTokenError, UnavailableError if the issuer is down, and ForbiddenError for a valid token that leads to
        no tenant here, or to no right.
        """
        if len(token) > _MOST_CHARS:
            raise BadTokenError(f"The token has more than {_MOST_CHARS} characters")
        if not self._is_loaded:  # in a thread: it takes a while
            await in_thread(import_module, "vicw_runtime.oidc.jwt_signature")
            self._is_loaded = True
        from vicw_runtime.oidc.jwt_signature import signing_key, verified_claims

        wanted = signing_key(token)
        key = await self._keys.find(wanted)
        if key is None:
            raise BadTokenError("The token is signed with a key that the issuer does not have")
        claims = verified_claims(
            token,
            key,
            issuer=self._issuer,
            audiences=self.settings.audiences,
            leeway=self.settings.leeway_seconds,
        )
        subject = claims["sub"]
        if not subject or len(subject) > _SUBJECT_CHARS or flaw(subject):
            raise BadTokenError("The token's `sub` is empty, too long, or no text")
        return Caller(self._tenant_of(claims), self._rights_of(claims), key=f"oidc:{subject}", by_token=True)

    async def probe(self) -> None:
        """Raise UnavailableError if the issuer did not answer when it was last asked."""
        await self._keys.probe()

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._keys.close()

    def _tenant_of(self, claims: Mapping[str, Any]) -> str:
        name = self.settings.tenant_claim
        if name is None:
            return self._tenant
        value = _claim(claims, name)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, str) or not value:
            raise ForbiddenError(f"The token names no tenant: its claim `{name}` (VICW_OIDC_TENANT_CLAIM) has no name")
        known = self.settings.tenant_names
        tenant = known.get(value) if known else value
        if tenant is None:
            problem = "is not among VICW_OIDC_TENANTS"
        elif problem := tenant_flaw(tenant) or "":
            problem = f"{problem}, so it is no tenant"
        if problem:
            raise ForbiddenError(f"The token's claim `{name}` is {value[:_SHOWN]!r}, which {problem}")
        assert tenant is not None
        return tenant

    def _rights_of(self, claims: Mapping[str, Any]) -> tuple[Right, ...]:
        name = self.settings.scope_claim
        value = _claim(claims, name)
        granted = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
        rights = {right for scope, right in self.settings.rights if scope in granted}
        if not rights:
            wanted = ", ".join(dict.fromkeys(scope for scope, _ in self.settings.rights))
            raise ForbiddenError(f"The token's claim `{name}` has none of the scopes that give a right here: {wanted}")
        return tuple(right for right in Right if right in rights)


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return the claim of that name, or what its dots lead to; None if there is none."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found
