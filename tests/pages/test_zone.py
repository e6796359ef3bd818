"""Times in UTC or in the reader's own zone, as the reader chooses."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser as Program

from tests.harness.running import Running
from tests.pages.browser import PASSWORD
from tests.pages.chromium import live, watched_page
from tests.pages.keyboard import Keyboard, log_in
from tests.rest.actions import cancel_set

# A zone without summer time, so that its distance from UTC is the same all year.
ZONE, AHEAD = "Asia/Tokyo", timedelta(hours=9)
TICKS = "[...document.querySelectorAll('.axis time')].map((t) => [t.dateTime, t.textContent])"
EXACT = "document.querySelector('dd time small').textContent"


def read(text: str) -> datetime:
    """Return the time that a page shows, without its zone."""
    found = re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", text)
    assert found is not None, text
    return datetime.fromisoformat(found[0])


def test_own_zone__chosen__is_shown_on_all_pages_and_in_live_parts(
    program: Program, service: Running, recipe: dict[str, Any]
) -> None:
    with watched_page(program, service.url, timezone_id=ZONE) as watched:
        log_in(watched, "admin", PASSWORD)
        page, keyboard = watched.page, Keyboard(watched.page)
        watched.open(f"/ui/recipes/{recipe['recipe_ids'][0]}")
        in_utc = page.evaluate(EXACT)
        assert in_utc.endswith("UTC)")
        assert page.inner_text("[data-zone]") == "UTC"
        keyboard.to(f"Show times in {ZONE}")
        page.keyboard.press("Enter")
        assert page.inner_text("[data-zone]") == ZONE
        assert read(page.evaluate(EXACT)) == read(in_utc) + AHEAD
        with service.client() as admin:
            cancel_set(admin, recipe)
        live(page, "seen enough")
        assert "UTC" not in page.inner_text("main")
        page.reload()
        assert read(page.evaluate(EXACT)) - AHEAD <= datetime.now(UTC).replace(tzinfo=None)
        assert "UTC" not in page.inner_text("main")
        watched.open("/ui/lab")
        assert_ticks(page.evaluate(TICKS), AHEAD)
        keyboard.to("Show times in UTC")
        page.keyboard.press("Space")
        assert page.inner_text("[data-zone]") == "UTC"
        assert_ticks(page.evaluate(TICKS), timedelta())


def assert_ticks(ticks: list[list[str]], ahead: timedelta) -> None:
    """Check the texts of an axis against its times."""
    assert ticks
    for at, text in ticks:
        assert text == f"{datetime.fromisoformat(at) + ahead:%m-%d %H:%M}"


@pytest.mark.parametrize("options", [{"java_script_enabled": False}, {"timezone_id": "UTC"}], ids=str)
def test_zone__without_a_choice__is_utc(program: Program, service: Running, options: dict[str, Any]) -> None:
    with watched_page(program, service.url, **{"timezone_id": ZONE, **options}) as watched:
        watched.open("/ui/login")
        watched.page.fill("#user", "admin")
        watched.page.fill("#password", PASSWORD)
        watched.page.click("main button")
        assert "Times are in UTC." in watched.page.inner_text("footer")
        assert "Show times" not in watched.page.inner_text("footer")
