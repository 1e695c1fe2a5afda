"""Settings of an issuer: what is refused when a service starts."""

from __future__ import annotations

import pytest

from vicw_shared.errors import SettingsError
from vicw_shared.model.keys import Right
from vicw_shared.settings import OidcSettings
from vicw_shared.settings.variables import named_by_variable


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"ISSUER": "http://login.example.org"}, "VICW_OIDC_ISSUER .* should begin with https://"),
        ({"ISSUER": "login.example.org"}, "VICW_OIDC_ISSUER .* should be an address such as"),
        ({"ISSUER": "https://user:word@login.example.org"}, "without user"),
        ({"ISSUER": "https://login.example.org?x=1"}, "without user, query"),
        ({"ISSUER": "https://login.example.org"}, "VICW_OIDC_AUDIENCE .* is needed with VICW_OIDC_ISSUER"),
        ({"ISSUER": "https://login.example.org", "AUDIENCE": " , "}, "VICW_OIDC_AUDIENCE"),
        ({"JWKS_URL": "ftp://login.example.org/keys"}, "VICW_OIDC_JWKS_URL"),
        ({"TENANTS": "a=b\x1b"}, "VICW_OIDC_TENANTS .* control character"),
        ({"TENANTS": "acme, globex"}, "VICW_OIDC_TENANTS .* needs VICW_OIDC_TENANT_CLAIM"),
        ({"SCOPES": "memory"}, "should be pairs SCOPE=RIGHT .* unlike memory=memory"),
        ({"SCOPES": "memory=root"}, "of the rights ingest, retrieve, erase, audit, admin, unlike memory=root"),
        ({"LEEWAY_SECONDS": "301"}, "VICW_OIDC_LEEWAY_SECONDS"),
    ],
)
def test_a_setting_that_would_admit_too_much_or_nothing_is_named(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], says: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"VICW_OIDC_{name}", value)
    with pytest.raises(SettingsError, match=says), named_by_variable():
        OidcSettings()


def test_an_issuer_on_loopback_needs_no_tls_and_its_name_is_kept_as_it_is() -> None:
    assert OidcSettings(issuer="http://127.0.0.1:9/", audience="m").issuer == "http://127.0.0.1:9/"


def test_a_scope_may_give_several_rights_and_none_gives_admin_by_default() -> None:
    given = OidcSettings(scopes="urn:memory:all=ingest, urn:memory:all=retrieve").rights
    assert given == [("urn:memory:all", Right.INGEST), ("urn:memory:all", Right.RETRIEVE)]
    assert Right.ADMIN not in {right for _, right in OidcSettings().rights}
