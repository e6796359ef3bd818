"""The pages in a real browser: login by keyboard, accessibility, and nothing that a policy forbids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Browser, Page, StorageState, ViewportSize

from tests.harness.programs import TOP
from tests.harness.running import Running
from tests.pages.addresses import addresses
from tests.pages.browser import PASSWORD
from tests.pages.chromium import Watched, watched_page
from tests.pages.directory_lab import DirectoryLab
from tests.pages.keyboard import log_in
from tests.rest.actions import EAST

SMALL: Final[ViewportSize] = {"width": 320, "height": 640}
LARGE: Final[ViewportSize] = {"width": 1_280, "height": 800}
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
# Git ignores this folder.
SHOTS = TOP / "build" / "screenshots"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

# Forms with each kind of field, those of the directory.
FORMS = (
    *("/ui/new/users", "/ui/new/groups", "/ui/new/lab-controllers", "/ui/new/distro-trees", "/ui/new/tokens"),
    *("/ui/users/carol/actions/password", "/ui/groups/net-qe/actions/change", "/ui/pools/big/actions/remove"),
    *(f"/ui/partitions/default/actions/{action}" for action in ("configure", "put-filter")),
    *(f"/ui/lab-controllers/{EAST}/actions/remove", "/ui/notifications/admin/actions/choose"),
    *(f"/ui/listed-systems/{form}?condition=Automated" for form in ("drain", "maintenance-window")),
    "/ui/imports/beaker",
)


@pytest.fixture(scope="module")
def pages(service: Running, lab: DirectoryLab) -> list[str]:
    """Return an address of each kind of page, about jobs with hostile text and a filled directory."""
    # The last of each kind.
    found = {re.sub(r"\d+", "N", address): address for address in addresses(service)}
    forms = ["/ui/login", "/ui/submit", f"{found['/ui/jobs/N']}/actions/cancel"]
    return [*found.values(), *lab.addresses, *forms, *FORMS]


@pytest.fixture
def watched(program: Browser, service: Running, login: StorageState) -> Iterator[Watched]:
    """Yield a page that is logged in, and check in the end that it did nothing that is forbidden."""
    with watched_page(program, service.url, storage_state=login) as found:
        found.open("/ui")
        yield found


def test_login__by_keyboard__shows_who_is_logged_in(program: Browser, service: Running) -> None:
    with watched_page(program, service.url) as watched:
        log_in(watched, "admin", PASSWORD)
        assert "admin, admin" in watched.page.inner_text("header")


def violations(page: Page) -> AxeResults:
    """Return what axe finds on a page that has its script."""
    # The elements that pass are not returned: to send them takes longer than to check them.
    options = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}
    return AxeResults(page.evaluate("options => axe.run(options)", options))


@pytest.mark.soak
def test_every_page__by_axe_small_and_large_light_and_dark__has_no_violation(
    watched: Watched, pages: list[str]
) -> None:
    """Take screenshots of each page, too, for people to look at."""
    page = watched.page
    for path in pages:
        watched.open(path)
        page.evaluate(AXE_SCRIPT)
        name = re.sub(r"\W+", "-", path).strip("-")
        for size in (SMALL, LARGE):
            page.set_viewport_size(size)
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                found = violations(page)
                what = f"{path}, {size['width']} px, {scheme}"
                assert found.violations_count == 0, f"{what}: {found.generate_report()}"
            page.screenshot(path=SHOTS / str(size["width"]) / f"{name}.png", full_page=True)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= size["width"], f"{path} is {width} px wide"


def test_axe__planted_input_without_label__is_found(watched: Watched) -> None:
    watched.page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    watched.page.evaluate(AXE_SCRIPT)
    found = violations(watched.page)
    assert "label" in {violation["id"] for violation in found.response["violations"]}


def test_watched__planted_inline_script_and_foreign_request__are_found(watched: Watched) -> None:
    watched.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = '1'; document.body.append(s);"
        " return fetch('http://127.0.0.1:9/').catch(() => null); }"
    )
    assert len(watched.wrong) >= 2
    watched.wrong.clear()
