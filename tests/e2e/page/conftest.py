"""A browser, and a page of it whose console has to stay empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

type OpenPage = Callable[..., Page]

_WAIT_MS = 20_000
"""How long a page may take for anything, on a machine that is busy with other tests."""
expect.set_options(timeout=_WAIT_MS)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser of the file's own: while it is open, an event loop runs here, and no other test may run one."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open a page in a context of its own; whatever its console says that was not announced is a failure."""
    said: list[str] = []
    contexts = []

    def open_one(*, expected: str = "\0", **options: object) -> Page:
        context = browser.new_context(locale="en-GB", timezone_id="Europe/Vienna", **options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(_WAIT_MS)

        def note(message: ConsoleMessage) -> None:
            if expected not in message.text:
                said.append(f"{message.type}: {message.text}")

        def failed(request: Request) -> None:
            if request.failure != "net::ERR_ABORTED":  # a screen that was left asks for nothing any more
                said.append(f"failed: {request.url} {request.failure}")

        page.on("console", note)
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("requestfailed", failed)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert said == []
