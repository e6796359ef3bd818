"""A real Chromium, driven by Playwright: that of the machine, never one of Playwright's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

REQUIRED = "LABLEDGER_TEST_BROWSER"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser. Skip the test without Chromium, except where it is required."""
    program = shutil.which("chromium")
    if program is None:
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(f"{REQUIRED}=required, but chromium is not on PATH")
        pytest.skip("chromium is not on PATH")
    # As root Chromium starts only without its sandbox.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@contextmanager
def watched_page(program: Browser, url: str, **options: Any) -> Iterator[Watched]:
    """Yield a page of a new context, and check in the end that no page of it did what is forbidden."""
    # Browsers keep a cookie that is for HTTPS alone over HTTP only from this machine.
    origin = url.replace("127.0.0.1", "localhost")
    context = program.new_context(base_url=origin, **options)
    found = Watched(context.new_page(), origin)
    yield found
    context.close()
    assert found.wrong == []


def live(page: Page, text: str, seconds: float = 15) -> None:
    """Wait until the page shows a text, without loading it again."""
    page.wait_for_function(
        "text => document.body.innerText.includes(text)", arg=text, timeout=seconds * 1_000
    )


@dataclass
class Watched:
    """A page, with all that it and others of its context must not do: messages, and requests elsewhere."""

    page: Page
    origin: str
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        context = self.page.context
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.wrong.append(f"error: {error.error}"))
        context.on("request", self._on_request)

    def open(self, path: str) -> None:
        self.page.goto(path)

    def _on_console(self, message: ConsoleMessage) -> None:
        # A violation of the content security policy is a message, too.
        self.wrong.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith(f"{self.origin}/"):
            self.wrong.append(f"request: {request.url}")
