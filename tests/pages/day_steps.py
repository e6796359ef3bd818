"""The steps of the day of a person, by keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from playwright.sync_api import Browser as Program

from tests.pages.browser import PASSWORD
from tests.pages.chromium import Watched, watched_page
from tests.pages.day_labs import DayLab
from tests.pages.keyboard import Keyboard, log_in
from tests.rest.actions import DISTRO, EAST


@contextmanager
def day(program: Program, lab: DayLab, user: str) -> Iterator[tuple[Watched, Keyboard]]:
    """Yield the page of a person who has logged in, and their keyboard."""
    with watched_page(program, lab.url) as watched:
        log_in(watched, user, PASSWORD)
        yield watched, Keyboard(watched.page)


def job_for(fqdn: str) -> str:
    """Return a job, as a person would type it, that only one system can run."""
    arch = {"element": "arch", "value": "aarch64" if fqdn.startswith("arm") else "x86_64"}
    distro = {"and": [DISTRO["and"][0], arch]}
    recipe = {"distro_requires": distro, "host_requires": {"element": "hostname", "value": fqdn}}
    return json.dumps({"recipe_sets": [{"recipes": [{**recipe, "tasks": [{"name": "/one"}]}]}]})


def submit(watched: Watched, keyboard: Keyboard, text: str) -> str:
    """Submit a job. Return the path of its first recipe, whose page is open in the end."""
    keyboard.follow("Submit")
    keyboard.fill("Job", text)
    keyboard.follow("Check")
    assert "The job is valid, and not submitted yet" in watched.page.inner_text("main")
    keyboard.follow("Send")
    recipe = watched.page.locator("main a[href^='/ui/recipes/']").first
    path = recipe.get_attribute("href")
    assert path is not None
    keyboard.skip()
    keyboard.follow(path)
    return path


def act(keyboard: Keyboard, action: str, **fields: str) -> None:
    """Take an action of the open page: its link, its fields in their order, and its button."""
    keyboard.skip()
    keyboard.follow(action)
    keyboard.skip()
    for label, text in fields.items():
        keyboard.fill(label, text)
    keyboard.follow(action)


def open_system(keyboard: Keyboard, fqdn: str) -> None:
    keyboard.follow("Systems")
    keyboard.skip()
    keyboard.fill("Lab controller", EAST)
    keyboard.follow("Filter")
    keyboard.skip()
    keyboard.follow(fqdn)


def open_list(keyboard: Keyboard, name: str) -> None:
    """Open a list of the directory."""
    keyboard.follow("Directory")
    keyboard.skip()
    keyboard.follow(name)
    keyboard.skip()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def who_is(lab: DayLab, token: str) -> httpx.Response:
    return lab.admin.get("/whoami", headers=bearer(token))
