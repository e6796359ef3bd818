"""Login and logout of browsers: the cookie, forms of other origins, and the way back."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import iter_modules

import httpx
import pytest

import api.pages
from api.pages.actions import ActionSubject
from api.pages.forms import SECRETS
from tests.harness.running import Running
from tests.pages.addresses import SYSTEM
from tests.pages.browser import PASSWORD, Browser, form_value
from tests.rest.actions import EAST

COOKIE = "__Host-labledger"


def test_page__without_login__leads_to_the_login_and_back(stranger: Browser) -> None:
    asked = stranger.get("/ui/recipes/17/why?as_of=3")
    assert asked.status_code == 303
    assert asked.headers["location"] == "/ui/login?next=%2Fui%2Frecipes%2F17%2Fwhy%3Fas_of%3D3"
    assert "ecipe" not in stranger.get(asked.headers["location"]).text.replace("/ui/recipes", "")
    back = stranger.log_in("admin", PASSWORD, next="/ui/recipes/17/why?as_of=3")
    assert (back.status_code, back.headers["location"]) == (303, "/ui/recipes/17/why?as_of=3")


@pytest.mark.parametrize(
    "place", ["https://elsewhere.example.com/", "//elsewhere.example.com", "/uix", "/jobs", "/ui/\\a", ""]
)
def test_login__next_leads_elsewhere__goes_home(stranger: Browser, place: str) -> None:
    assert stranger.log_in("admin", PASSWORD, next=place).headers["location"] == "/ui"


def test_cookie__after_login__is_bound_to_host_and_hidden_from_scripts(stranger: Browser) -> None:
    cookies = stranger.log_in("admin", PASSWORD).headers.get_list("set-cookie")
    (session,) = [line for line in cookies if line.startswith(f"{COOKIE}=")]
    attributes = {part.strip().partition("=")[0] for part in session.split(";")[1:]}
    assert {"Secure", "HttpOnly", "Path", "SameSite", "expires"} <= attributes
    assert "Path=/" in session
    assert "SameSite=Lax" in session
    assert "Domain" not in attributes


def test_cookie__outside_of_the_pages__is_ignored(browser: Browser, service: Running) -> None:
    assert browser.get("/jobs").status_code == 401
    bearer = {"Authorization": f"Bearer {service.token}"}
    assert httpx.get(f"{service.url}/ui", headers=bearer, trust_env=False).status_code == 303


def test_login__wrong_password__says_so_and_keeps_the_name(stranger: Browser) -> None:
    answer = stranger.log_in("admin", "not this one")
    assert answer.status_code == 401
    assert "no user has this name and password" in answer.text
    assert 'value="admin"' in answer.text
    assert COOKIE not in stranger.cookies


def test_login__form_of_another_origin_or_without_its_value__403(stranger: Browser) -> None:
    value = form_value(stranger.get("/ui/login"))
    fields = {"user": "admin", "password": PASSWORD, "role": "", "form_value": value}
    for wrong in ({**fields, "form_value": "0" * 64}, {**fields, "form_value": ""}):
        assert stranger.post("/ui/login", wrong).status_code == 403
    foreign = stranger.post("/ui/login", fields, **{"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    assert stranger.post("/ui/login", fields).status_code == 303


def test_form__without_login__shows_what_was_written_but_secrets(stranger: Browser, service: Running) -> None:
    path = "/ui/users/admin/actions/password"
    fields = {
        "form_value": "0" * 64,
        "username": "admin",
        "password": "new one",
        "current_password": "old one",
    }
    answer = stranger.post(path, {**fields, "reason": "it is old"})
    assert (answer.status_code, answer.text.count("<textarea")) == (401, 1)
    assert "it is old" in answer.text and "new one" not in answer.text and "old one" not in answer.text
    assert 'href="/ui/login?next=%2Fui%2Fusers%2Fadmin%2Factions%2Fpassword"' in answer.text
    # A long form is not read, because anybody may send one.
    long = stranger.post(path, {"reason": "x" * (256 << 10)})
    assert (long.status_code, "Nothing was stored" in long.text, "<textarea" in long.text) == (
        401,
        True,
        False,
    )
    # Without a page of the form there is none to go back to.
    assert stranger.post("/ui/logout", {}).headers["location"] == "/ui/login?next=%2Fui"


def test_secret_fields__of_all_forms__have_a_name_that_is_not_shown() -> None:
    modules = [import_module(each.name) for each in iter_modules(api.pages.__path__, "api.pages.")]
    subjects = [
        each for module in modules for each in vars(module).values() if isinstance(each, ActionSubject)
    ]
    fields = [each for subject in subjects for action in subject.actions for each in action.fields]
    secrets = [each.name for each in fields if each.is_secret]
    assert "current_password" in secrets and all(any(word in name for word in SECRETS) for name in secrets)


def test_logout__form_of_this_login__revokes_the_token(browser: Browser, service: Running) -> None:
    home = browser.get("/ui")
    assert home.status_code == 200
    token = browser.cookies[COOKIE]
    assert browser.post("/ui/logout", {"form_value": "0" * 64}).status_code == 403
    assert browser.get("/ui").status_code == 200
    assert browser.post("/ui/logout", {"form_value": form_value(home)}).status_code == 303
    assert COOKIE not in browser.cookies
    bearer = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{service.url}/whoami", headers=bearer, trust_env=False).status_code == 401


def test_login__as_a_lab_controller__is_not_offered_and_refused(stranger: Browser) -> None:
    choices = re.findall(r"<option[^>]*>([a-z-]+)</option>", stranger.get("/ui/login").text)
    assert choices == ["admin", "submitter", "auditor", "metrics"]
    refused = stranger.log_in("admin", PASSWORD, role="lab-controller")
    assert refused.status_code == 401
    assert "cannot be that of a lab controller" in refused.text
    assert COOKIE not in stranger.cookies


def test_login__as_metrics__reaches_no_page(stranger: Browser, admin: httpx.Client) -> None:
    admin.put("/users/scraper", json={"roles": ["metrics"]}).raise_for_status()
    admin.put("/users/scraper/password", json={"password": PASSWORD}).raise_for_status()
    home = stranger.log_in("scraper", PASSWORD).headers["location"]
    refused = stranger.get(home)
    assert refused.status_code == 403
    assert "requires the role admin or submitter or lab-controller or auditor" in refused.text


def test_cookie__with_the_token_of_a_lab_controller__reads_and_offers_no_action(
    stranger: Browser, admin: httpx.Client
) -> None:
    wanted = {"user": "admin", "role": "lab-controller", "lab_controller": EAST}
    stranger.cookies[COOKIE] = admin.post("/tokens", json=wanted).json()["token"]
    for path in ("", f"/lab-controllers/{EAST}", f"/systems?lab_controller={EAST}", f"/systems/{SYSTEM}"):
        page = stranger.get(f"/ui{path}")
        assert page.status_code == 200, page.text
        assert "admin</a>, lab-controller</span>" in page.text
        assert "/actions/" not in page.text
        assert "/ui/new/" not in page.text
    assert stranger.get("/ui/reconciliations").status_code == 200
    for path in ("reads", "submit", f"lab-controllers/{EAST}/actions/disable", "new/tokens"):
        assert stranger.get(f"/ui/{path}").status_code == 403, path
