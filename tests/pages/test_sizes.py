"""Sizes: how much a page loads, and that nothing of it is lost on a small screen or in large text."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Browser as Program
from playwright.sync_api import Page, StorageState

from tests.harness.http_options import LOCAL_HTTP
from tests.harness.running import Running
from tests.pages.addresses import addresses
from tests.pages.browser import Browser
from tests.pages.chromium import watched_page

FIRST_BYTES, LATER_BYTES, SCRIPT_BYTES = 150_000, 40_000, 30_000
STATIC = re.compile(r'(?:href|src)="(/ui/static/[^"]+)"')
# Elements whose text is wider than they are and that do not scroll, and texts that are outside of the page.
LOST = """() => [...document.querySelectorAll('body *')].filter((of) => {
  if (!of.textContent.trim() || of.closest('svg, .skip, select')) return false;
  const style = getComputedStyle(of), box = of.getBoundingClientRect();
  const hides = ['hidden', 'clip'];
  const isClipped = (of.scrollWidth > of.clientWidth + 1 && hides.includes(style.overflowX))
    || (of.scrollHeight > of.clientHeight + 1 && hides.includes(style.overflowY));
  return isClipped || (!of.closest('.scroll') && box.right > innerWidth + 1);
}).map((of) => `${of.tagName} ${of.className} ${of.textContent.trim().slice(0, 40)}`)"""


@pytest.fixture(scope="module")
def pages(service: Running) -> list[str]:
    """Return an address of each kind of page."""
    return [*{re.sub(r"\d+", "N", each): each for each in addresses(service)}.values(), "/ui/submit"]


def test_page__first_and_later_visit__is_small(browser: Browser, pages: list[str]) -> None:
    for path in pages:
        page = browser.get(path)
        assert page.headers["content-encoding"] == "gzip"
        assert page.headers["vary"] == "Accept-Encoding"
        # Most pages have the same files, which a browser loads once.
        files = {name: browser.get(name) for name in STATIC.findall(page.text)}
        later = page.num_bytes_downloaded
        first = later + sum(each.num_bytes_downloaded for each in files.values())
        scripts = sum(len(each.content) for name, each in files.items() if name.endswith(".js"))
        assert later <= LATER_BYTES, f"{path}: {later} bytes"
        assert first <= FIRST_BYTES, f"{path}: {first} bytes"
        assert scripts <= SCRIPT_BYTES, f"{path}: {scripts} bytes of scripts"


def test_stream__client_that_accepts_gzip__is_not_compressed(browser: Browser) -> None:
    with browser.stream("/ui/live", [("page", "/ui/jobs")], **{"Accept-Encoding": "gzip"}) as answer:
        assert "content-encoding" not in answer.headers


def test_form_value__of_two_pages__differs(service: Running) -> None:
    with httpx.Client(base_url=service.url, **LOCAL_HTTP) as client:
        found = [re.findall(r'name="form_value" value="(\w+)"', client.get("/ui/login").text) for _ in "ab"]
    assert found[0] != found[1]


def assert_nothing_lost(page: Page, path: str, width: int, percent: int) -> None:
    """Check the page in a window of this width with its text enlarged, as a browser enlarges text alone."""
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate("size => document.documentElement.style.setProperty('font-size', size)", f"{percent}%")
    actual = page.evaluate("document.documentElement.scrollWidth")
    assert actual <= width, f"{path} is {actual} px wide: {page.evaluate(LOST)}"
    assert page.evaluate(LOST) == [], f"{path} at {width} px and {percent} %"


def assert_nothing_moves(page: Page, path: str) -> None:
    assert page.evaluate("document.getAnimations().length") == 0, path
    behaviour = page.evaluate("getComputedStyle(document.documentElement).scrollBehavior")
    assert behaviour == "auto", path


@pytest.mark.soak
def test_every_page__small_or_with_large_text_or_less_motion__loses_nothing_and_does_not_move(
    program: Program, service: Running, login: StorageState, pages: list[str]
) -> None:
    # A reader who wants less motion; each page is opened once.
    with watched_page(program, service.url, storage_state=login, reduced_motion="reduce") as watched:
        for path in pages:
            watched.open(path)
            assert_nothing_moves(watched.page, path)
            for width, percent in ((320, 100), (320, 200), (1_280, 200)):
                assert_nothing_lost(watched.page, path, width, percent)
