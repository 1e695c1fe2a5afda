"""The screens of upkeep: what the night did, files that are added, and the state of the server."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from e2e.page.conftest import OpenPage
from support.clients.browser import violations
from support.processes.server import VICW, Server, temporary_directory

_NOTE = "---\ntags: [boats]\n---\n# Moorings\nThe red mooring is for guests.\n"
_CHAT = [{"role": "user", "content": "Which mooring is for guests?"}, {"role": "assistant", "content": "The red one."}]
_MAIL = (
    "From: Ana <ana@example.org>\nTo: Ben <ben@example.org>\nDate: Thu, 2 Apr 2026 09:00:00 +0200\n"
    "Subject: Mooring fees\n\nThe mooring fee rises to forty euros in May.\n"
)


@pytest.fixture(scope="module")
def own(models_dir: Path) -> Iterator[Server]:
    """A server of this file's own that asks for keys: what is erased here is nobody else's."""
    with temporary_directory() as directory:
        server = Server(directory / "data", models_dir, VICW_HOST="0.0.0.0", VICW_EMBEDDER="none")
        server.start()
        yield server
        server.stop(within=15)


def make_key(server: Server, *rights: str) -> str:
    options = [part for right in rights for part in ("--right", right)]
    made = subprocess.run(
        [VICW, "keys", "create", *options, "--data-dir", server.data_dir],
        env=server.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.strip()


@pytest.fixture(scope="module")
def token(own: Server) -> str:
    return make_key(own, "ingest", "retrieve", "erase", "audit", "admin")


def opened(open_page: OpenPage, server: Server, token: str, route: str, **options: object) -> Page:
    page = open_page(expected="40", **options)
    page.add_init_script(f"sessionStorage.setItem('vicw.key', {json.dumps(token)})")
    page.goto(f"{server.url}/#/{route}")
    return page


def test_files_are_added_and_what_was_not_read_is_named(
    open_page: OpenPage, own: Server, token: str, tmp_path: Path
) -> None:
    (tmp_path / "moorings.md").write_text(_NOTE)
    (tmp_path / "chat.json").write_text(json.dumps(_CHAT))
    (tmp_path / "fees.eml").write_text(_MAIL)
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<</Type/Cat")
    page = opened(open_page, own, token, "add")
    page.get_by_label("Files to add").set_input_files([str(path) for path in sorted(tmp_path.iterdir())])
    page.get_by_label("Context", exact=True).fill("harbour office")
    page.get_by_role("button", name="Show what would be stored").click()
    report = page.get_by_role("region", name="Report")
    expect(report).to_contain_text("What would be stored")
    expect(report).to_contain_text("broken.pdf")
    page.get_by_role("button", name="Add them").click()
    expect(report.get_by_role("heading")).to_have_text("Stored")
    expect(report).to_contain_text("cut off")
    for kind in ("Markdown", "1 file"):
        expect(report).to_contain_text(kind)
    report.get_by_role("link", name="Look at harbour office").click()
    expect(page.locator(".card", has_text="forty euros")).to_be_visible()
    expect(page.locator(".card", has_text="The red mooring is for guests")).to_be_visible()


def test_a_text_is_added(open_page: OpenPage, own: Server, token: str) -> None:
    page = opened(open_page, own, token, "add")
    form = page.get_by_role("form", name="Text")
    form.get_by_label("Text", exact=True).fill("The blue buoy marks the shoal.")
    form.get_by_label("Context it belongs to").fill("notes")
    form.get_by_label("Tags of it").fill("buoys, shoals")
    form.get_by_role("button", name="Store").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("blue buoy")
    expect(page.locator(".tag")).to_have_text(["buoys", "shoals"])


def test_a_key_is_made_used_and_revoked(open_page: OpenPage, own: Server, token: str) -> None:
    page = opened(open_page, own, token, "state")
    page.get_by_role("button", name="Make a key").click()
    page.get_by_label("What it is for").fill("the second tab")
    page.get_by_label("store and change").uncheck()
    page.get_by_role("button", name="Make it").click()
    made = page.locator(".secret").inner_text()
    page.get_by_role("button", name="I have it").click()
    row = page.get_by_role("row", name=re.compile("the second tab"))
    expect(row).to_contain_text("retrieve")
    assert made not in page.content()
    second = opened(open_page, own, made, "state")
    expect(second.get_by_text("This key lacks the right admin.")).to_be_visible()
    expect(second.get_by_text("This key lacks the right audit.")).to_be_visible()
    row.get_by_role("button", name=re.compile("Revoke")).click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")
    second.wait_for_timeout(6000)  # a server knows a key for five seconds
    second.goto(f"{own.url}/#/browse")
    expect(second.get_by_role("dialog")).to_contain_text("was revoked")


def test_a_user_is_erased_with_proof(open_page: OpenPage, own: Server, token: str) -> None:
    said = [{"id": str(n), "text": f"I moored at berth {n}.", "speaker": "Zoe", "user": "zoe"} for n in range(3)]
    with httpx.Client(base_url=own.url, headers={"Authorization": f"Bearer {token}"}, trust_env=False) as http:
        http.post("/ingest", json={"context": "berths", "wait": True, "items": said}, timeout=60).raise_for_status()
        page = opened(open_page, own, token, "state")
        page.get_by_label("or all of a user").fill("zoe")
        page.get_by_role("button", name="See how much it is").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("3 memories of the user zoe")
        erase = dialog.get_by_role("button", name="Erase")
        expect(erase).to_be_disabled()
        dialog.get_by_label("to go on").fill("erase")
        erase.click()
        expect(page.get_by_role("heading", name="Erased, and proven")).to_be_visible(timeout=60_000)
        assert http.get("/items", params={"context": "berths"}).json()["items"] == []
    page.reload()
    expect(page.get_by_role("region", name="Changes")).to_contain_text("erase")


def test_every_day_of_the_last_thirty_has_its_bar(open_page: OpenPage, own: Server, token: str) -> None:
    page = opened(open_page, own, token, "state")
    expect(page.locator(".days rect")).to_have_count(30)
    expect(page.locator(".days rect title").last).to_have_text(re.compile(r"\d{4}-\d\d-\d\d: [1-9]"))


def test_the_night_shows_its_jobs_and_runs_one(open_page: OpenPage, own: Server, token: str) -> None:
    page = opened(open_page, own, token, "night")
    jobs = page.get_by_role("region", name="Jobs")
    expect(page.locator("main > *").first).to_have_text("Night")
    stopped = jobs.get_by_role("row", name=re.compile("^consolidation stopped"))
    expect(stopped).to_contain_text("stopped by VICW_EMBEDDER=none")
    jobs.get_by_role("button", name="Run resolve now").click()
    expect(page.get_by_role("status").last).to_contain_text("Started: resolve.")
    expect(jobs.get_by_role("row", name=re.compile("^resolve"))).not_to_contain_text("not yet", timeout=30_000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_screens_of_upkeep_are_usable_by_all_and_fit_a_telephone(
    open_page: OpenPage, own: Server, token: str, axe: str, scheme: str
) -> None:
    options = {"bypass_csp": True, "color_scheme": scheme, "viewport": {"width": 360, "height": 740}}
    for route, shown in {"night": "Jobs", "add": "Files", "state": "Keys"}.items():
        page = opened(open_page, own, token, route, **options)
        expect(page.get_by_role("region", name=shown).first).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert violations(page, axe) == [], route
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, route
