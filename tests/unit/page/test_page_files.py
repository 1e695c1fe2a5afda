"""What the page is made of: its weight, where each file comes from, and what a browser is told of it."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from vicw_page.api import FILES, add_page

_SOURCES = json.loads((FILES / "vendor" / "sources.json").read_text("utf-8"))
_IMPORT = re.compile(r"""from\s+"(\.[^"]+)\"""")
"""What a module needs to begin; what it imports later is asked for when it is used."""


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    add_page(app)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://vicw") as client:
        yield client


async def test_the_page_loads_nothing_from_elsewhere_and_runs_no_script_in_it(http: httpx.AsyncClient) -> None:
    document = await http.get("/")
    assert (await http.head("/")).headers["content-length"] == document.headers["content-length"]
    assert document.headers["content-type"] == "text/html; charset=utf-8"
    for path in ("/", "/page/app.js", "/page/style.css", "/page/vendor/preact-htm.js"):
        answer = await http.get(path)
        assert answer.status_code == 200, path
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'self'"
        assert not {"script-src", "style-src", "connect-src"} & policy.keys(), "no exception from default-src"
        assert (policy["frame-ancestors"], policy["base-uri"], policy["object-src"]) == ("'none'",) * 3
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?! type=\"module\" src=)|<style|\son\w+=|\sstyle=|https?://", document.text)


@pytest.mark.parametrize("name", sorted(path.relative_to(FILES).as_posix() for path in FILES.rglob("*.*")))
def test_no_file_has_an_address_of_another_server(name: str) -> None:
    text = (FILES / name).read_text("utf-8")
    elsewhere = set(re.findall(r"https?://[\w.-]+", text)) - {"http://www.w3.org"}
    assert not elsewhere or "vendor/" in name  # where a file is from


async def test_scripts_are_scripts_and_come_packed_and_only_once(http: httpx.AsyncClient) -> None:
    first = await http.get("/page/vendor/preact-htm.js")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    assert first.headers["content-encoding"] == "gzip"
    again = await http.get("/page/vendor/preact-htm.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.headers["x-content-type-options"]) == (304, "nosniff")


@pytest.mark.parametrize("path", ["/page/", "/page/none.js", "/page/../api.py", "/page/%2e%2e/api.py"])
async def test_what_is_no_file_of_the_page_is_not_found(http: httpx.AsyncClient, path: str) -> None:
    assert (await http.get(path)).status_code == 404


def test_the_first_screen_is_light() -> None:
    files = {"index.html", "icon.svg", "style.css", "app.js", "screens/ask.js"}
    waiting = ["app.js", "screens/ask.js"]
    while waiting:
        name = waiting.pop()
        text = (FILES / name).read_text("utf-8")
        for target in _IMPORT.findall(text) if "vendor" not in name else ():
            other = (FILES / name).parent.joinpath(target).resolve().relative_to(FILES.resolve()).as_posix()
            if other not in files:
                files.add(other)
                waiting.append(other)
    packed = {name: len(gzip.compress((FILES / name).read_bytes())) for name in files}
    assert len(files) <= 13, "with what it asks the server for, 15 requests"
    assert sum(packed.values()) < 150_000, packed
    assert sum(path.stat().st_size for path in FILES.rglob("*") if path.is_file()) < 400_000


def test_each_file_of_others_is_as_it_was_published_but_for_what_is_said() -> None:
    vendored = {path.name for path in (FILES / "vendor").iterdir()} - {"sources.json"}
    licences = {source["licence_file"] for source in _SOURCES}
    assert vendored == {source["file"] for source in _SOURCES} | licences
    for source in _SOURCES:
        text = (FILES / "vendor" / source["file"]).read_text("utf-8")
        if changed := source.get("changed"):
            assert (text.count(changed["to"]), text.count(changed["from"])) == (changed["times"], 0)
            text = text.replace(changed["to"], changed["from"])
        assert hashlib.sha256(text.encode()).hexdigest() == source["sha256"], source["file"]
