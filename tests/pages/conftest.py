from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.pages.browser import Browser
from tests.pages.directory_lab import DirectoryLab, directory_lab

PASSWORD = "a password of the tests"


@pytest.fixture(scope="package")
def service(servers: ServerPool) -> Iterator[Running]:
    """Run one service with the sample lab, whose admin has a password, for all tests of the pages."""
    with servers.databases("embedded").fresh() as database, running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        with started.client() as admin:
            admin.put("/users/admin/password", json={"password": PASSWORD}).raise_for_status()
        yield started


@pytest.fixture
def stranger(service: Running) -> Iterator[Browser]:
    """Yield a browser without a login."""
    browser = Browser(service.url)
    yield browser
    browser.close()


@pytest.fixture
def browser(stranger: Browser) -> Browser:
    """Return a browser in which the admin is logged in."""
    assert stranger.log_in("admin", PASSWORD).status_code == 303
    return stranger


@pytest.fixture(scope="package")
def lab(service: Running) -> Iterator[DirectoryLab]:
    """Fill the lists of the directory."""
    with directory_lab(service, PASSWORD) as filled:
        yield filled
