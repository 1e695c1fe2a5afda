"""The page in a real browser, against a real server: what a person does with it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from e2e.page.conftest import OpenPage
from support.clients.browser import violations
from support.processes.server import VICW, Server, temporary_directory

CONTEXT = "page of the harbour"
_MARKUP = "<script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\"> <b>bold?</b>"


@pytest.fixture(scope="module", autouse=True)
def stored(http: httpx.Client) -> dict[str, str]:
    """A few memories; returns their uids by id."""
    items = [
        {
            "id": "1",
            "text": "The ferry was cancelled because the harbour pilot was ill.",
            "speaker": "Ana",
            "timestamp": "2026-04-02T09:00:00Z",
            "flow_id": "standup",
            "tags": ["ferry"],
        },
        {
            "id": "2",
            "text": "The harbour pilot fell ill because of the oysters.",
            "speaker": "Ben",
            "timestamp": "2026-04-02T09:05:00Z",
            "flow_id": "standup",
        },
        {"id": "markup", "text": _MARKUP, "name": "Markup"},
        {"id": "long", "text": "no space " + "x" * 5000, "name": "One line"},
        {"id": "rtl", "text": "مرحبا بالعالم", "name": "مرحبا"},
        {"id": "edited", "text": "The lighthouse is red.", "name": "Lighthouse"},
        {"id": "gone", "text": "The buoy is green.", "name": "Buoy"},
    ]
    request = {"context": CONTEXT, "domain": "general", "extract": "rules", "wait": True, "items": items}
    answer = http.post("/ingest", json=request).raise_for_status().json()
    return {item["id"]: item["uid"] for item in answer["items"]}


@pytest.fixture
def page(open_page: OpenPage, server: Server) -> Page:
    page = open_page()
    page.goto(server.url)
    return page


def ask(page: Page, question: str) -> None:
    page.get_by_label("Question").fill(question)
    page.keyboard.press("Enter")


def test_a_question_gets_its_evidence_the_causes_and_why(page: Page) -> None:
    ask(page, "Why was the ferry cancelled?")
    first = page.locator(".card").first
    expect(first).to_contain_text("because the harbour pilot was ill")
    expect(first).to_contain_text("2 Apr 2026, 11:00")  # in the reader's zone
    first.locator("summary", has_text="Why").click()
    expect(first.get_by_role("table")).to_contain_text("shares words")
    page.get_by_role("button", name="As a model gets it").click()
    expect(page.locator("pre")).to_contain_text("harbour pilot was ill")
    page.get_by_role("button", name=re.compile("Causes")).click()
    step = page.locator(".chains li").first
    expect(step).to_contain_text("→")
    step.locator("summary").first.click()
    expect(page.locator("blockquote").first).to_contain_text("because")


def test_a_question_has_an_address_and_can_be_narrowed_down(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/#/ask?q=Why+was+the+ferry+cancelled%3F&context=another")
    expect(page.get_by_label("Context")).to_have_value("another")
    expect(page.get_by_role("status").first).to_contain_text("Nothing stored seems to answer this")
    page.get_by_label("Context").fill(CONTEXT)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".card").first).to_contain_text("pilot was ill")
    assert "context=page+of+the+harbour" in page.url


def test_feedback_is_kept(page: Page, http: httpx.Client) -> None:
    ask(page, "Why was the ferry cancelled?")
    page.locator(".card").first.get_by_role("button", name="Useful").click()
    expect(page.get_by_role("status").last).to_contain_text("this result was useful")
    [kept] = http.get("/feedback", params={"context": CONTEXT}).raise_for_status().json()["items"]
    assert (kept["useful"], kept["latest"][0]["query"]) == (1, "Why was the ferry cancelled?")


def test_contexts_lead_to_their_memories_and_these_to_a_memory(page: Page, stored: dict[str, str]) -> None:
    page.get_by_role("link", name="Browse").click()
    page.get_by_role("row", name=re.compile(CONTEXT)).get_by_role("link").click()
    expect(page.locator(".card")).to_have_count(len(stored))
    page.get_by_label("Speaker").fill("Ben")
    page.get_by_label("Speaker").press("Tab")
    expect(page.locator(".card")).to_have_count(1)
    page.locator(".card a").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("fell ill")
    assert stored["2"] in page.url
    page.go_back()
    expect(page.locator(".card")).to_have_count(1)


def test_what_is_stored_is_only_ever_text(page: Page, server: Server, stored: dict[str, str]) -> None:
    page.goto(f"{server.url}/#/item/{stored['markup']}")
    expect(page.locator(".stored").first).to_have_text(_MARKUP)
    assert page.title() == "Memory – VICW"
    assert page.locator("main b", has_text="bold").count() == 0
    for uid in (stored["long"], stored["rtl"]):
        page.goto(f"{server.url}/#/item/{uid}")
        expect(page.locator("dl.properties")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing runs out of the page"
    expect(page.locator(".stored").first).to_have_css("direction", "rtl")


def test_a_memory_is_edited_and_the_edit_taken_back(page: Page, server: Server, stored: dict[str, str]) -> None:
    page.goto(f"{server.url}/#/item/{stored['edited']}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("The lighthouse is white.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".stored").first).to_have_text("The lighthouse is white.")
    expect(page.get_by_role("heading", name="Versions")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".stored").first).to_have_text("The lighthouse is red.")


def test_of_two_edits_of_one_memory_the_second_has_a_choice(
    page: Page, open_page: OpenPage, server: Server, stored: dict[str, str], http: httpx.Client
) -> None:
    other = open_page(expected="412")
    uid = http.get("/items", params={"context": CONTEXT, "id": "rtl"}).raise_for_status().json()["uid"]
    other.goto(f"{server.url}/#/item/{uid}")
    other.get_by_role("button", name="Edit").click()
    http.patch(f"/items/{uid}", json={"tags": ["changed meanwhile"]}).raise_for_status()
    other.get_by_label("Tags").fill("mine")
    other.get_by_role("button", name="Save", exact=True).click()
    expect(other.get_by_role("alert")).to_contain_text("changed while you had it open")
    other.get_by_role("button", name="Show me the other").click()
    expect(other.locator(".tag").first).to_have_text("changed meanwhile")


def test_a_memory_is_taken_back(page: Page, server: Server, stored: dict[str, str], http: httpx.Client) -> None:
    page.goto(f"{server.url}/#/item/{stored['gone']}")
    page.get_by_role("button", name="Take back").click()
    page.get_by_role("dialog").get_by_role("button", name="Take back").click()
    expect(page.locator(".mark")).to_have_text("replaced or taken back")
    assert http.get(f"/items/{stored['gone']}").raise_for_status().json()["retired_at"] is not None


def test_the_keyboard_is_enough(page: Page) -> None:
    expect(page.get_by_label("Question")).to_be_focused()
    page.keyboard.type("Why was the ferry cancelled?")
    page.keyboard.press("Enter")
    expect(page.locator(".card").first).to_be_visible()
    link = page.locator(".card a").first
    for _ in range(20):
        page.keyboard.press("Tab")
        if link.evaluate("element => element === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("ferry was cancelled")
    edit = page.get_by_role("button", name="Edit")
    edit.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(edit).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_screen_is_usable_by_all_and_fits_a_telephone(
    open_page: OpenPage, server: Server, stored: dict[str, str], axe: str, scheme: str
) -> None:
    page = open_page(bypass_csp=True, color_scheme=scheme, viewport={"width": 360, "height": 740})
    for route, shown in {
        "ask": "form",
        "ask?q=Why+was+the+ferry+cancelled%3F": ".card",
        "browse": "table",
        "browse?context=page+of+the+harbour": ".card",
        f"item/{stored['2']}": "dl.properties",
    }.items():
        page.goto("about:blank")
        page.goto(f"{server.url}/#/{route}")
        expect(page.locator(shown).first).to_be_visible()
        assert violations(page, axe) == [], route
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, route


def test_what_is_not_there_is_said(open_page: OpenPage, server: Server) -> None:
    page = open_page(expected="404")
    page.goto(f"{server.url}/#/item/00000000-0000-5000-8000-000000000000")
    expect(page.get_by_role("heading", name="There is no such memory")).to_be_visible()


def test_a_server_with_keys_asks_for_one_and_is_told_it_only(open_page: OpenPage, models_dir: Path) -> None:
    with temporary_directory() as directory:
        server = Server(directory / "data", models_dir, VICW_HOST="0.0.0.0", VICW_EMBEDDER="none")
        server.start()
        try:
            made = subprocess.run(
                [VICW, "keys", "create", "--right", "retrieve", "--data-dir", server.data_dir],
                env=server.environment,
                capture_output=True,
                text=True,
                check=True,
            )
            token = made.stdout.strip()
            page = open_page(expected="401")
            page.goto(f"{server.url}/#/browse")
            dialog = page.get_by_role("dialog")
            expect(dialog).to_contain_text("asks for a key")
            dialog.get_by_label("Key").fill("wrong")
            page.keyboard.press("Enter")
            expect(dialog).to_contain_text("does not know this key")
            dialog.get_by_label("Key").fill(token)
            page.keyboard.press("Enter")
            expect(page.get_by_role("heading", name="Nothing is stored yet")).to_be_visible()
            assert token not in page.url
            assert page.context.cookies() == []
            page.get_by_role("button", name="Forget key").click()
            expect(dialog).to_contain_text("asks for a key")
        finally:
            server.stop(within=15)
