from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser as Program
from playwright.sync_api import BrowserContext, StorageState

from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.harness.waiting import wait_until
from tests.pages.browser import PASSWORD, Browser
from tests.pages.chromium import chromium, watched_page
from tests.pages.directory_lab import DirectoryLab, directory_lab
from tests.pages.keyboard import log_in
from tests.pages.people import people_of
from tests.rest.actions import recipe_for, submit


@pytest.fixture(scope="package")
def service(servers: ServerPool) -> Iterator[Running]:
    """Run one service with the sample lab, whose admin has a password, for all tests of the pages."""
    with servers.databases("embedded").fresh() as database, running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        with started.client() as admin:
            admin.put("/users/admin/password", json={"password": PASSWORD}).raise_for_status()
        yield started


# Not for the whole package: while Playwright runs, other tests of the thread cannot run a loop of their own.
@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    """Yield a Chromium for the tests of a module."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def login(program: Program, service: Running) -> StorageState:
    """Return the cookies of the admin, who has logged in, for contexts of the browser."""
    with watched_page(program, service.url) as watched:
        log_in(watched, "admin", PASSWORD)
        return watched.page.context.storage_state()


@pytest.fixture
def context(program: Program, service: Running, login: StorageState) -> Iterator[BrowserContext]:
    """Yield a context in which the admin is logged in; its tabs are watched."""
    with watched_page(program, service.url, storage_state=login) as watched:
        made = watched.page.context
        watched.page.close()
        yield made


@pytest.fixture
def stranger(service: Running) -> Iterator[Browser]:
    """Yield a browser without a login. Log out of what the test logs in."""
    browser = Browser(service.url)
    yield browser
    browser.log_out()
    browser.close()


@pytest.fixture
def browser(stranger: Browser) -> Browser:
    """Return a browser in which the admin is logged in."""
    assert stranger.log_in("admin", PASSWORD).status_code == 303
    return stranger


@pytest.fixture(scope="module")
def people(service: Running) -> Iterator[dict[str, Browser]]:
    """Yield a browser for each person of `people`, logged in."""
    with people_of(service) as found:
        yield found


@pytest.fixture
def admin(service: Running) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client


@pytest.fixture
def recipe(service: Running) -> dict[str, Any]:
    """Return the answer about a job whose recipe may wait."""
    with service.client() as admin:
        found: dict[str, Any] = submit(admin, recipe_for("x86-01.east.example.com"))
        admin.get("/jobs", params={"min_position": found["position"]}).raise_for_status()
    return found


@pytest.fixture
def machine(service: Running) -> Iterator[str]:
    """Yield an idle system of the admin, which no other test uses; remove it afterwards."""
    with service.client() as admin:
        fqdn = f"own-{service.end()}.east.example.com"
        place = {"lab_controller": "lab.east.example.com", "owner": "admin", "condition": "Automated"}
        machine = {"type": "Machine", "arches": ["x86_64"], "memory_mb": 16}
        admin.post("/systems", json={"fqdn": fqdn, **place, **machine}).raise_for_status()
        wait_until(lambda: admin.get(f"/systems/{fqdn}").json().get("usage") == "idle", f"{fqdn} to be idle")
        yield fqdn
        admin.delete(f"/systems/{fqdn}")


@pytest.fixture(scope="package")
def lab(service: Running) -> Iterator[DirectoryLab]:
    """Fill the lists of the directory."""
    with directory_lab(service, PASSWORD) as filled:
        yield filled
