"""Signing in to a real service: browsers, and commands by the device flow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import Running, running
from tests.oidc.fake_provider import CLIENT, SECRET, FakeProvider, fake_provider
from tests.pages.browser import Browser

SESSION, SIGN_IN = "__Host-labledger", "__Host-labledger-sign-in"
WEB_URL = "https://lab.example.com"
START = "/ui/login/sso?next=%2Fui%2Fsystems"
# On the way there from another address of the service than WEB_URL.
REDIRECTED = f"{START}&is_redirected=true"
DENIED = {"error": "access_denied"}


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with fake_provider() as started:
        yield started


@pytest.fixture(scope="module")
def service(
    servers: ServerPool, provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    table = tmp_path_factory.mktemp("table") / "groups.toml"
    table.write_text('[oidc]\nkernel = "kernel"\n')
    with (
        servers.databases("embedded").fresh() as database,
        running(
            database,
            LABLEDGER_OIDC_ISSUER=provider.issuer,
            LABLEDGER_OIDC_CLIENT_ID=CLIENT,
            LABLEDGER_OIDC_CLIENT_SECRET=SECRET,
            LABLEDGER_OIDC_NAME="the <Lab>",
            LABLEDGER_WEB_URL=f"{WEB_URL}/",
            LABLEDGER_GROUP_TABLE=str(table),
            LABLEDGER_OIDC_ADMINS="dora, somebody",
        ) as started,
    ):
        started.do("group", "put", "kernel")
        yield started


@pytest.fixture
def fake(provider: FakeProvider) -> FakeProvider:
    provider.claims, provider.refusals = {}, []
    return provider


@pytest.fixture
def browser(service: Running) -> Iterator[Browser]:
    opened = Browser(service.url)
    yield opened
    # Without a request for the home page, on which a browser logs out.
    opened.cookies.clear()
    opened.close()


def return_path(fake: FakeProvider, browser: Browser, start: str = START) -> str:
    """Return the path on which the browser comes back after a sign-in at the provider."""
    there = browser.get(start).headers["location"]
    assert there.startswith(f"{WEB_URL}/ui/login/sso?"), "first to the address to which the way back leads"
    address = browser.get(there.removeprefix(WEB_URL)).headers["location"]
    back = fake.authorized(address)
    assert back.startswith(f"{WEB_URL}/ui/login/sso/return?")
    return back.removeprefix(WEB_URL)


def test_browser__signs_in__is_the_user_of_the_name_with_its_groups_on_the_page_it_came_for(
    service: Running, fake: FakeProvider, browser: Browser
) -> None:
    page = browser.get("/ui/login?next=/ui/systems").text
    assert f'<a href="{START}">Sign in with the &lt;Lab&gt;</a>' in page
    done = browser.get(return_path(fake, browser))
    assert (done.status_code, done.headers["location"]) == (303, "/ui/systems")
    (session,) = [line for line in done.headers.get_list("set-cookie") if line.startswith(f"{SESSION}=")]
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in session.split(";")}
    assert SIGN_IN not in browser.cookies
    with service.client(browser.cookies[SESSION]) as carol:
        assert carol.get("/whoami").json()["user"] == "carol"
    with service.client() as admin:
        assert admin.get("/groups/kernel").json()["members"] == ["carol"]
        assert admin.get("/users/carol").json()["roles"] == ["submitter"]


def test_way_there__of_a_browser__asks_for_a_code_with_pkce_and_binds_it_to_a_cookie(
    fake: FakeProvider, browser: Browser
) -> None:
    there = browser.get(START)
    assert there.headers["location"] == f"{WEB_URL}{REDIRECTED}" and not browser.cookies
    sent = browser.get(REDIRECTED)
    query = urlsplit(sent.headers["location"]).query
    assert "code_challenge_method=S256" in query and "scope=openid+profile" in query
    (cookie,) = sent.headers.get_list("set-cookie")
    attributes = {part.strip() for part in cookie.split(";")}
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=600"} <= attributes
    # The address does not reveal the other values.
    secret = browser.cookies[SIGN_IN].partition(".")[0]
    assert secret not in sent.headers["location"]


def test_way_there__begun_by_another_site__is_a_link_that_the_person_has_to_follow(service: Running) -> None:
    headers = {"Sec-Fetch-Site": "cross-site"}
    answer = httpx.get(f"{service.url}{REDIRECTED}", headers=headers, trust_env=False)
    assert answer.status_code == 200 and f'href="{START}"' in answer.text
    assert SIGN_IN not in answer.cookies


@pytest.mark.parametrize("place", ["https://elsewhere.example.com/", "//elsewhere.example.com", "/jobs"])
def test_way_back__next_leads_elsewhere__goes_home(fake: FakeProvider, browser: Browser, place: str) -> None:
    path = return_path(fake, browser, f"/ui/login/sso?next={place}")
    assert browser.get(path).headers["location"] == "/ui"


def test_way_back__not_of_this_browser_or_used__says_so_on_the_login_page(
    service: Running, fake: FakeProvider, browser: Browser
) -> None:
    path = return_path(fake, browser)
    victim = Browser(service.url)
    for answer in (victim.get(path), browser.get(re.sub("state=[^&]*", "state=x", path))):
        assert (answer.status_code, SESSION in victim.cookies) == (401, False)
        assert "not begun in this browser" in answer.text and "<form" in answer.text
    # No other site can show a text of its own.
    assert "PAY" not in browser.get("/ui/login/sso/return?state=x&error=PAY&error_description=ME").text
    victim.cookies.clear()
    victim.close()
    cookies = dict(browser.cookies)
    assert browser.get(path).status_code == 303
    browser.cookies.clear()
    browser.cookies.update(cookies)
    again = browser.get(path)
    assert again.status_code == 401 and "used before" in again.text


def test_way_back__denied_or_provider_away__says_so_and_keeps_the_way(
    fake: FakeProvider, browser: Browser
) -> None:
    path = return_path(fake, browser)
    state = re.search("state=[^&]*", path)
    assert state is not None
    denied = browser.get(f"/ui/login/sso/return?{state[0]}&error=access_denied")
    assert denied.status_code == 401
    assert "denied at the identity provider" in denied.text and f'href="{START}"' in denied.text
    fake.refusals = [(502, {})]
    away = browser.get(return_path(fake, browser))
    assert away.status_code == 503 and "try again later" in away.text
    fake.claims = {"nonce": "of another browser"}
    wrong = browser.get(return_path(fake, browser))
    assert wrong.status_code == 401 and "nonce" in wrong.text


def test_device_flow__by_http__is_pending_then_done_or_denied(service: Running, fake: FakeProvider) -> None:
    with service.client() as client:
        begun = client.post("/login/device").json()
        assert begun["user_code"] == "ABCD-EFGH" and begun["verification_uri_complete"] is None
        body = {"device_code": begun["device_code"]}
        fake.refusals = [(400, {"error": "authorization_pending"}), (400, {"error": "slow_down"})]
        states = [client.post("/login/device/token", json=body).json()["state"] for _ in range(3)]
        assert states == ["pending", "slow_down", "done"]
        fake.refusals = [(400, DENIED)]
        denied = client.post("/login/device/token", json=body)
        assert (denied.status_code, denied.json()["title"]) == (401, "Sign-in failed")
        wrong = client.post("/login/device/token", json={**body, "role": "king"})
        assert [fault["where"] for fault in wrong.json()["errors"]] == ["role"]
        no_admin = client.post("/login/device/token", json={**body, "role": "admin"})
        assert no_admin.status_code == 403


def test_device_flow__without_a_role__is_that_of_a_submitter_also_for_admins(
    service: Running, fake: FakeProvider
) -> None:
    fake.claims = {"preferred_username": "dora", "groups": []}
    with service.client() as client:
        client.put("/users/dora", json={"roles": ["admin", "submitter"], "email": None}).raise_for_status()
        code = client.post("/login/device").json()["device_code"]
        refused = client.post("/login/device/token", json={"device_code": code, "role": "admin"})
        assert refused.status_code == 403 and "no role admin" in refused.json()["detail"]
        done = client.post("/login/device/token", json={"device_code": code}).json()
        assert done["login"]["role"] == "submitter"
        client.delete("/users/dora").raise_for_status()


def test_command__sso__saves_a_login_as_with_a_password(
    service: Running, fake: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    shown = json.loads(service.labledger("login", "--sso", "--json"))
    assert (shown["user"], shown["role"]) == ("carol", "submitter")
    (saved,) = json.loads((tmp_path / "labledger" / "logins.json").read_text())["logins"]
    assert (saved["user"], saved["token_id"]) == ("carol", shown["token_id"])
    with service.client(saved["token"]) as carol:
        assert carol.get("/whoami").json()["user"] == "carol"
    assert "--sso takes neither" in service.labledger("login", "carol", "--sso", status=2)
