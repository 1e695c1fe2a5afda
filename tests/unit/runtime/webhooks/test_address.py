"""Webhooks go to public addresses alone, unless the operator allows others."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from vicw_runtime.webhooks.address import is_public, parse_url, resolve
from vicw_shared.errors import InvalidInputError


@pytest.mark.parametrize(
    "address",
    "127.0.0.1 127.8.8.8 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 "
    "255.255.255.255 192.0.2.1 ::1 :: fe80::1 fc00::1 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 "
    "2002:7f00:1:: 64:ff9b::a00:1 64:ff9b::7f00:1 2001:0:7f00:1::1 2001:db8::1 64:ff9b:1::a00:1 ::a00:1 "
    "::ffff:0:a00:1 192.0.0.192 168.63.129.16".split(),
)
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "url",
    "x ftp://app.example.org file:///etc/passwd http:// //app.example.org https://a:b@app.example.org "
    "https://app.example.org/#a http://app.example.org:0/ http://app.example.org:99999/ http://[::1".split(),
)
def test_what_is_no_plain_address_of_http_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="url"):
        parse_url(url)


@pytest.mark.parametrize(
    "url",
    "http://127.0.0.1 http://localhost:80/x http://[::1]/ http://2130706433/ http://0x7f.1/ http://127.1 "
    "http://169.254.169.254/latest http://[::ffff:127.0.0.1]/".split(),
)
async def test_no_spelling_leads_to_this_machine(url: str) -> None:
    with pytest.raises(InvalidInputError, match="url"):
        await resolve(parse_url(url), allow_private=False)


async def test_the_operator_may_allow_it() -> None:
    assert await resolve(parse_url("http://127.0.0.1:80/x"), allow_private=True) == ["127.0.0.1"]
    with pytest.raises(InvalidInputError, match="cannot be resolved"):
        await resolve(parse_url("http://nowhere.invalid"), allow_private=True)
