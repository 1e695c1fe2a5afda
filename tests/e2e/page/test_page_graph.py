"""The graph, and people and things: widened, followed by their causes and order, merged and split."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from e2e.page.conftest import OpenPage
from support.clients.browser import violations
from support.processes.server import Server

CONTEXT = "graph of the mill"


@pytest.fixture(scope="module", autouse=True)
def stored(http: httpx.Client) -> dict[str, str]:
    """A cause, its effect and what followed, with people; returns the uids of the items by id."""
    said = [
        ("1", "Marta Oren", "The mill stopped because the millrace froze."),
        ("2", "Jon Velde", "Marta Oren told the baker that the mill stopped."),
        ("3", "Marta Oren", "<b>The ice</b> was gone by noon."),
    ]
    items = [
        {"id": name, "text": text, "speaker": speaker, "flow_id": "mill", "timestamp": f"2026-01-0{name}T09:00:00Z"}
        for name, speaker, text in said
    ]
    request = {"context": CONTEXT, "domain": "general", "extract": "rules", "wait": True, "items": items}
    answer = http.post("/ingest", json=request).raise_for_status().json()
    return {item["id"]: item["uid"] for item in answer["items"]}


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return open_page()


def test_the_graph_is_widened_and_leads_to_what_it_shows(page: Page, server: Server, stored: dict[str, str]) -> None:
    page.goto(f"{server.url}/#/item/{stored['1']}")
    page.get_by_role("link", name="Show in the graph").click()
    expect(page.locator(".drawing canvas").first).to_be_visible()
    nodes = page.locator(".nodes li")
    expect(nodes.first).to_be_visible()
    before = nodes.count()
    page.get_by_role("button", name=re.compile("Widen from Jon Velde|Widen from Marta Oren")).first.click()
    expect(page.locator(".nodes .chosen")).to_contain_text(re.compile("Jon|Marta"))
    page.wait_for_function("count => document.querySelectorAll('.nodes li').length > count", arg=before)
    page.locator(".nodes li", has_text="Entity").filter(has_text="Marta Oren").get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Marta Oren")
    assert "/#/entity/" in page.url


def test_causes_and_orders_are_followed(page: Page, server: Server, stored: dict[str, str]) -> None:
    page.goto(f"{server.url}/#/graph/{stored['1']}")
    page.get_by_role("button", name="Order").click()
    flow = page.get_by_role("region", name="NEXT")
    expect(flow.get_by_role("listitem")).to_have_count(3)
    expect(flow.get_by_role("listitem").last).to_contain_text("2026")
    page.get_by_role("button", name="Causes").click()
    expect(page.get_by_role("heading", level=2).or_(page.locator(".empty")).first).to_be_visible()
    assert "view=causes" in page.url
    page.reload()
    expect(page.get_by_role("button", name="Causes")).to_have_attribute("aria-pressed", "true")


def test_nothing_stored_becomes_markup_in_the_picture(page: Page, server: Server, stored: dict[str, str]) -> None:
    page.goto(f"{server.url}/#/graph/{stored['3']}")
    canvas = page.locator(".drawing canvas").first
    expect(canvas).to_be_visible()
    box = canvas.bounding_box()
    assert box is not None
    for step in range(9):
        page.mouse.move(box["x"] + box["width"] / 2 + 10 * step - 40, box["y"] + box["height"] / 2)
    assert page.locator(".drawing b").count() == 0


def test_two_names_of_one_person_are_merged_and_split(
    page: Page, server: Server, stored: dict[str, str], http: httpx.Client
) -> None:
    listed = http.get("/entities", params={"context": CONTEXT}).raise_for_status().json()["entities"]
    uids = {one["name"]: one["uid"] for one in listed}
    page.goto(f"{server.url}/#/people?context=graph+of+the+mill")
    page.get_by_role("row", name=re.compile("Jon Velde")).get_by_role("link").click()
    page.get_by_role("button", name="Same as").click()
    page.get_by_label("Its uid").fill(f"{server.url}/#/entity/{uids['Marta Oren']}")
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Part of")).to_contain_text("Marta Oren")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Part of")).to_have_count(0)
    assert http.get(f"/entities/{uids['Jon Velde']}").json()["merged_into"] is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_screens_of_the_graph_are_usable_by_all_and_fit_a_telephone(
    open_page: OpenPage, server: Server, stored: dict[str, str], axe: str, http: httpx.Client, scheme: str
) -> None:
    entity = http.get("/entities", params={"context": CONTEXT}).raise_for_status().json()["entities"][0]["uid"]
    small = {"width": 360, "height": 740}
    page = open_page(bypass_csp=True, color_scheme=scheme, reduced_motion="reduce", viewport=small)
    for route, shown in {
        f"graph/{stored['1']}": ".nodes",
        f"graph/{stored['1']}?view=order": ".lanes",
        "people?context=graph+of+the+mill": "table",
        f"entity/{entity}": "h1",
    }.items():
        page.goto("about:blank")
        page.goto(f"{server.url}/#/{route}")
        expect(page.locator(shown).first).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert violations(page, axe) == [], route
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, route
