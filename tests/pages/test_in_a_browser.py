"""The pages in a real browser: login by keyboard, accessibility, and nothing that a policy forbids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.harness.programs import TOP
from tests.harness.running import Running
from tests.pages.addresses import addresses
from tests.pages.browser import PASSWORD
from tests.pages.chromium import Watched, watched_page
from tests.pages.directory_lab import DirectoryLab
from tests.pages.keyboard import log_in
from tests.rest.actions import EAST

SMALL, LARGE = {"width": 320, "height": 640}, {"width": 1_280, "height": 800}
# Git ignores this folder.
SHOTS = TOP / "build" / "screenshots"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

# Forms with each kind of field, those of the directory.
FORMS = (
    *("/ui/new/users", "/ui/new/groups", "/ui/new/lab-controllers", "/ui/new/distro-trees", "/ui/new/tokens"),
    *("/ui/users/carol/actions/password", "/ui/groups/net-qe/actions/change", "/ui/pools/big/actions/remove"),
    *(f"/ui/partitions/default/actions/{action}" for action in ("configure", "put-filter")),
    f"/ui/lab-controllers/{EAST}/actions/remove",
)


@pytest.fixture(scope="module")
def pages(service: Running, lab: DirectoryLab) -> list[str]:
    """Return an address of each kind of page, about jobs with hostile text and a filled directory."""
    # The last of each kind.
    found = {re.sub(r"\d+", "N", address): address for address in addresses(service)}
    forms = ["/ui/login", "/ui/submit", f"{found['/ui/jobs/N']}/actions/cancel"]
    return [*found.values(), *lab.addresses, *forms, *FORMS]


@pytest.fixture
def watched(program: Browser, service: Running, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """Yield a page that is logged in, and check in the end that it did nothing that is forbidden."""
    options: dict[str, Any] = getattr(request, "param", {})
    with watched_page(program, service.url, **options) as found:
        log_in(found, "admin", PASSWORD)
        yield found


def test_login__by_keyboard__shows_who_is_logged_in(watched: Watched) -> None:
    assert "admin, admin" in watched.page.inner_text("header")


def looked_at(scheme: str, size: dict[str, int], *marks: pytest.MarkDecorator) -> Any:
    options = {"color_scheme": scheme, "viewport": size, "java_script_enabled": True}
    return pytest.param(options, marks=marks, id=f"{scheme}-{size['width']}")


# Each takes half a minute.
@pytest.mark.parametrize(
    "watched",
    [
        looked_at("light", SMALL),
        looked_at("dark", LARGE, pytest.mark.soak),
        looked_at("light", LARGE, pytest.mark.soak),
        looked_at("dark", SMALL, pytest.mark.soak),
    ],
    indirect=True,
)
def test_every_page__by_axe__has_no_violation(
    watched: Watched, pages: list[str], request: pytest.FixtureRequest
) -> None:
    """Take a screenshot of each page, too, for people to look at."""
    shots = SHOTS / request.node.callspec.id
    for path in pages:
        watched.open(path)
        name = re.sub(r"\W+", "-", path).strip("-")
        watched.page.screenshot(path=shots / f"{name}.png", full_page=True)
        found = Axe().run(watched.page, options={"runOnly": {"type": "tag", "values": TAGS}})
        assert found.violations_count == 0, f"{path}: {found.generate_report()}"
        width = watched.page.evaluate("document.documentElement.scrollWidth")
        assert width <= watched.page.viewport_size["width"], f"{path} is {width} px wide"  # type: ignore[index]


def test_axe__planted_input_without_label__is_found(watched: Watched) -> None:
    watched.page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    found = Axe().run(watched.page)
    assert "label" in {violation["id"] for violation in found.response["violations"]}


def test_watched__planted_inline_script_and_foreign_request__are_found(watched: Watched) -> None:
    watched.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = '1'; document.body.append(s);"
        " return fetch('http://127.0.0.1:9/').catch(() => null); }"
    )
    assert len(watched.wrong) >= 2
    watched.wrong.clear()
