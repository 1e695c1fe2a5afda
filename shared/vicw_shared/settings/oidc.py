"""Settings of bearer tokens (JWT) of an OpenID Connect issuer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings

from vicw_shared.model.keys import Right, tenant_flaw
from vicw_shared.settings.concerns import config
from vicw_shared.wire.host_names import is_loopback


def secure_url(url: str) -> str:
    """Return an address. Raises PydanticCustomError unless it is one of https, or of http on loopback."""
    parts = urlsplit(url)
    if not parts.hostname or parts.username is not None or parts.query or parts.fragment:
        raise _flaw("should be an address such as https://login.example.org, without user, query and fragment")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
        raise _flaw("should begin with https://; http:// is for loopback alone")
    return url


type SecureUrl = Annotated[str, AfterValidator(secure_url)]


class OidcSettings(BaseSettings):
    """Bearer tokens (JWT) of an OpenID Connect issuer, beside the keys; off without an issuer."""

    model_config = config("VICW_OIDC_")

    issuer: SecureUrl | None = Field(
        None,
        description="The issuer, as its tokens name it (`iss`), with https (http on loopback). Its keys are found by "
        "`/.well-known/openid-configuration` below it, or `/.well-known/oauth-authorization-server`",
    )
    audience: str = Field(
        "",
        validate_default=True,
        description="What tokens for this memory name as their audience (`aud`), such as its address; several are "
        "separated by commas. Needed with an issuer",
    )
    jwks_url: SecureUrl | None = Field(
        None, description="Address of the issuer's keys (JWKS), if it does not publish where they are"
    )
    public_url: SecureUrl | None = Field(
        None,
        description="Address by which clients call the service, such as https://memory.example.org, for the metadata "
        "that leads them to the issuer; default: as a request calls it, which lacks the https of a proxy",
    )
    tenant_claim: str | None = Field(
        None,
        description="Claim that names the tenant; dots lead into objects (`org.id`). Choose one that users cannot "
        "change themselves. Unset: tokens belong to VICW_TENANT",
    )
    tenants: str = Field(
        "",
        description="Tenants that the claim may name, separated by commas, each as it is, or as VALUE=TENANT; unset: "
        "any",
    )
    scope_claim: str = Field(
        "scope", description="Claim with the scopes: `scp` for some issuers, `realm_access.roles` for roles"
    )
    scopes: str = Field(
        "vicw:ingest=ingest, vicw:retrieve=retrieve, vicw:erase=erase, vicw:audit=audit",
        description="The rights that scopes give, as SCOPE=RIGHT, separated by commas; a scope may stand in several. "
        "None gives `admin`, unless you add it",
    )
    leeway_seconds: float = Field(
        30.0, ge=0, le=300, description="Difference of the clocks that expiry and not-before allow for, in seconds"
    )
    keys_seconds: float = Field(
        300.0, ge=10, le=86_400, description="Age from which the issuer's keys are fetched again, in seconds"
    )
    outage_seconds: float = Field(
        3600.0,
        ge=0,
        le=604_800,
        description="Time beyond that for which they are used on while the issuer does not answer, in seconds; then "
        "requests with tokens get 503",
    )

    @field_validator("audience")
    @classmethod
    def _is_named(cls, audience: str, info: ValidationInfo) -> str:
        if info.data.get("issuer") is not None and not _listed(audience):
            raise _flaw("is needed with VICW_OIDC_ISSUER: tokens for other services must not be accepted")
        return audience

    @field_validator("tenants")
    @classmethod
    def _are_tenants(cls, tenants: str, info: ValidationInfo) -> str:
        for _, name in _pairs(tenants):
            if problem := tenant_flaw(name):
                raise _flaw(f"should be names of tenants, and {name!r} {problem}")
        if _listed(tenants) and info.data.get("tenant_claim") is None:
            raise _flaw("needs VICW_OIDC_TENANT_CLAIM: without it all tokens belong to VICW_TENANT")
        return tenants

    @field_validator("scopes")
    @classmethod
    def _are_rights(cls, scopes: str) -> str:
        for scope, right in _pairs(scopes):
            if right not in Right or len(scope.split()) != 1:
                raise _flaw(f"should be pairs SCOPE=RIGHT of the rights {', '.join(Right)}, unlike {scope}={right}")
        return scopes

    @property
    def audiences(self) -> tuple[str, ...]:
        """The audiences, one of which a token must name."""
        return tuple(_listed(self.audience))

    @property
    def tenant_names(self) -> Mapping[str, str]:
        """The tenant for each value of the claim; empty: any value is a tenant."""
        return dict(_pairs(self.tenants))

    @property
    def rights(self) -> Sequence[tuple[str, Right]]:
        """Scopes, each with a right that it gives."""
        return [(scope, Right(right)) for scope, right in _pairs(self.scopes)]


def _listed(text: str) -> list[str]:
    return [part for one in text.split(",") if (part := one.strip())]


def _pairs(text: str) -> list[tuple[str, str]]:
    """Return the pairs of a list, ``a=b, c``; what stands alone is a pair with itself."""
    pairs = (one.rpartition("=") for one in _listed(text))
    return [((before or after).strip(), after.strip()) for before, _, after in pairs]


def _flaw(problem: str) -> PydanticCustomError:
    return PydanticCustomError("setting", "{problem}", {"problem": problem})
