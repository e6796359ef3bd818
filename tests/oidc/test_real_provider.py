"""Signing in at a real OpenID Connect provider, through a real service."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import Running, running
from tests.oidc.real_provider import CLIENT, SECRET, Person, real_provider
from tests.pages.browser import Browser

pytestmark = pytest.mark.soak

WEB_URL = "http://127.0.0.1:1"
SESSION = "__Host-labledger"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with real_provider(f"{WEB_URL}/ui/login/sso/return") as started:
        yield started


@pytest.fixture(scope="module")
def service(servers: ServerPool, issuer: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    table = tmp_path_factory.mktemp("table") / "groups.toml"
    table.write_text('[oidc]\nkernel = "kernel"\n"/staff" = ["readers", "absent"]\n')
    settings = {
        "LABLEDGER_OIDC_ISSUER": issuer,
        "LABLEDGER_OIDC_CLIENT_ID": CLIENT,
        "LABLEDGER_OIDC_CLIENT_SECRET": SECRET,
        "LABLEDGER_WEB_URL": WEB_URL,
        "LABLEDGER_GROUP_TABLE": str(table),
    }
    with servers.databases("embedded").fresh() as database, running(database, **settings) as started:
        for group in ("kernel", "readers"):
            started.do("group", "put", group)
        yield started


def address_of_provider(browser: Browser, next_path: str = "/ui/") -> str:
    """Return where a browser is sent, which comes by another address than that of the service."""
    there = browser.get(f"/ui/login/sso?next={next_path}").headers["location"]
    return browser.get(there.removeprefix(WEB_URL)).headers["location"]


def test_browser__signs_in_at_a_real_provider__has_a_session_and_its_groups(
    service: Running, issuer: str
) -> None:
    with closing(Person("erika@example.com")) as person, closing(Browser(service.url)) as browser:
        start = address_of_provider(browser, "/ui/jobs")
        back = person.sign_in(start, issuer)
        done = browser.get(back.removeprefix(WEB_URL))
        assert (done.status_code, done.headers["location"]) == (303, "/ui/jobs")
        with service.client(browser.cookies[SESSION]) as erika:
            assert erika.get("/whoami").json()["user"] == "erika@example.com"
            members = [erika.get(f"/groups/{group}").json()["members"] for group in ("kernel", "readers")]
            assert members == [["erika@example.com"], ["erika@example.com"]]
        # The code counts once, and the login page says that a person has aborted.
        assert browser.get(back.removeprefix(WEB_URL)).status_code == 401
    with closing(Person("erika@example.com")) as person, closing(Browser(service.url)) as browser:
        start = address_of_provider(browser)
        aborted = browser.get(person.sign_in(start, issuer, aborts=True).removeprefix(WEB_URL))
        assert aborted.status_code == 401 and "denied at the identity provider" in aborted.text


def test_command__device_flow_at_a_real_provider__saves_a_login(
    service: Running, issuer: str, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "login", "--sso", "--json"],
        env={**service.environment, "XDG_CONFIG_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.fullmatch(r"Open (\S+) in a browser, and enter the code (\S+)\n", line)
    assert found is not None, line
    with closing(Person("max")) as person:
        assert "Sign-in Success" in person.sign_in(found[1], issuer, found[2])
    shown, said = process.communicate(timeout=180)
    assert process.returncode == 0, said
    assert json.loads(shown)["user"] == "max"
    (saved,) = json.loads((tmp_path / "labledger" / "logins.json").read_text())["logins"]
    with service.client(saved["token"]) as max_client:
        assert max_client.get("/whoami").json()["user"] == "max"
