"""The page to submit a job: faults beside their lines, a preview, and one job however often it is sent."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import httpx
import pytest

from tests.harness.running import SAMPLES, Running
from tests.harness.waiting import wait_until
from tests.pages.browser import PASSWORD, Browser, form_value
from tests.rest.actions import recipe_for

SAMPLE = (SAMPLES / "kernel-smoke.xml").read_text("utf-8")
WRONG = SAMPLE.replace("<recipeSet", "<recipeSet priority='Soon'", 1)


def send(browser: Browser, text: str, button: str, *, key: str = "", file: str = "") -> httpx.Response:
    """Send the form of the page, and return the answer."""
    page = browser.get("/ui/submit")
    found = re.search(r'name="key" value="([^"]+)"', page.text)
    assert found is not None
    fields = {"form_value": form_value(page), "key": key or found[1], "text": text, button: "1"}
    return browser.upload("/ui/submit", fields, {"file": ("job.xml", file.encode())})


def jobs(service: Running) -> list[dict[str, Any]]:
    with service.client() as admin:
        found: list[dict[str, Any]] = admin.get("/jobs", params={"min_position": service.end()}).json()[
            "jobs"
        ]
        return found


def test_check__valid_job__says_how_many_systems_and_stores_nothing(
    browser: Browser, service: Running
) -> None:
    end = service.end()
    page = send(browser, SAMPLE, "check")
    assert page.status_code == 200, page.text
    assert "not submitted yet" in page.text
    with service.client() as admin:
        matched = admin.post("/matches", content=SAMPLE, headers={"Content-Type": "application/xml"}).json()
    viable = sum(system["viable"] for system in matched["systems"])
    assert viable > 0
    assert f'<td class="number">{viable}</td>' in page.text
    (estimate,) = [recipe["estimate"] for recipe in matched["recipes"]]
    assert estimate["basis"]["words"] in unescape(page.text)
    for reason in {reason for system in matched["systems"] for reason in system["reasons"]}:
        assert reason in unescape(page.text)
    assert service.end() == end


def test_check__wrong_job__faults_are_beside_their_lines(browser: Browser, service: Running) -> None:
    end = service.end()
    with service.client() as admin:
        kind = {"Content-Type": "application/xml"}
        faults = admin.post("/jobs", content=WRONG, headers=kind).json()["errors"]
    for button in ("check", "send"):
        page = send(browser, WRONG, button)
        assert page.status_code == 422
        line = next(number for number, text in enumerate(WRONG.split("\n"), 1) if "Soon" in text)
        assert f'<th scope="row" class="number">{line}</th><td><code>' in page.text
        assert "priority=&#39;Soon&#39;" in page.text
        for fault in faults:
            # The line has a column of its own.
            in_line = re.sub(r"^line \d+(, |$)", "", fault["where"])
            assert in_line != fault["where"]
            located = f"{in_line}: " if in_line else ""
            assert f"<bdi>{located}{fault['message']}</bdi>" in unescape(page.text)
        # The text is still there, to be corrected.
        assert WRONG.strip() in unescape(page.text)
    assert service.end() == end


def test_send__twice_with_one_key__is_one_job(browser: Browser, service: Running) -> None:
    last = max((job["job_id"] for job in jobs(service)), default=0)
    answers = [send(browser, SAMPLE, "send", key="key-of-one-form") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert answers[0].headers["location"] == answers[1].headers["location"]
    found = jobs(service)
    assert [job["job_id"] > last for job in found].count(True) == 1
    page = browser.get(answers[0].headers["location"])
    assert page.status_code == 200
    assert f"<h1>Job {found[0]['job_id']}</h1>" in page.text
    other = send(browser, SAMPLE + "\n", "send", key="key-of-one-form")
    assert (other.status_code, "was used for another request" in other.text) == (422, True)


def test_send__json_and_files__are_accepted(browser: Browser, service: Running) -> None:
    document = json.dumps({"recipe_sets": [{"recipes": [recipe_for("x86-02.east.example.com")]}]})
    assert send(browser, document, "send").status_code == 303
    assert send(browser, "", "send", file=SAMPLE).status_code == 303


def test_rerun__copy_of_a_job__is_shown_checked_and_sent_as_one(browser: Browser, service: Running) -> None:
    assert send(browser, SAMPLE, "send").status_code == 303
    origin = jobs(service)[0]["job_id"]
    link = f'href="/ui/submit?rerun={origin}"'
    assert link in browser.get(f"/ui/jobs/{origin}").text
    page = browser.get("/ui/submit", params={"rerun": origin})
    assert f'A copy of job <a href="/ui/jobs/{origin}">' in page.text
    assert f'name="origin" value="{origin}"' in page.text
    found = re.search(r'name="key" value="([^"]+)".*?<textarea[^>]*>(.*?)</textarea>', page.text, re.DOTALL)
    assert found is not None
    fields = {"form_value": form_value(page), "key": found[1], "text": unescape(found[2]).strip()}
    fields["origin"] = str(origin)
    checked = browser.upload("/ui/submit", {**fields, "check": "1"}, {})
    # The copy is still one after a check.
    assert f'name="origin" value="{origin}"' in checked.text and checked.status_code == 200
    sent = [browser.upload("/ui/submit", {**fields, "send": "1"}, {}) for _ in range(2)]
    assert [answer.status_code for answer in sent] == [303, 303]
    assert sent[0].headers["location"] == sent[1].headers["location"]
    copy = browser.get(sent[0].headers["location"])
    assert f'Copy of</dt><dd>job <a href="/ui/jobs/{origin}">{origin}</a>' in copy.text
    number = jobs(service)[0]["job_id"]
    assert f'Copies</dt><dd>job <a href="/ui/jobs/{number}">' in browser.get(f"/ui/jobs/{origin}").text
    nothing_failed = browser.get("/ui/submit", params={"rerun": number, "failed": "true"})
    assert (nothing_failed.status_code, "has failed" in nothing_failed.text) == (409, True)
    wrong = browser.upload("/ui/submit", {**fields, "key": "other", "origin": "0", "send": "1"}, {})
    assert (wrong.status_code, "must be the number of a job" in wrong.text) == (422, True)
    assert jobs(service)[0]["job_id"] == number


@pytest.mark.parametrize("wrong", ['"Fedora-99"', '"s390xx"'])
def test_check__no_distro_tree__says_the_reason_of_the_abort(
    browser: Browser, service: Running, wrong: str
) -> None:
    name, arch = (wrong, '"x86_64"') if "Fedora" in wrong else ('"RHEL-9.6"', wrong)
    distro = f"<distroRequires><distro_name op='=' value={name}/><distro_arch op='=' value={arch}/>"
    text = re.sub("<distroRequires>.*?(?=</distroRequires>)", distro, SAMPLE, flags=re.DOTALL)
    page = unescape(send(browser, text, "check").text)
    assert "No lab of its partition could ever run it, so it would be aborted." in page
    (why_never,) = re.findall("The recipe set would be aborted: <bdi>(.*?)</bdi>", page)
    assert why_never.startswith("no distro tree matches the distro requirements")
    assert "comparable" not in page and 'name="send"' in page
    assert "distro family" not in page and "architecture of the distro tree" not in page
    # In the words of faults.
    assert '<th scope="row">recipeSet[1]/recipe[1]</th>' in page
    sent = send(browser, text, "send")
    job = sent.headers["location"].removeprefix("/ui")
    with service.client() as admin:
        wait_until(lambda: admin.get(job).json()["state"] == "aborted", "it to be aborted")
        (recipe_set,) = admin.get(job).json()["recipe_sets"]
        (recipe,) = recipe_set["recipes"]
    assert recipe["reason"] == why_never


def test_check__plain_text__is_neither_xml_nor_json(browser: Browser) -> None:
    page = send(browser, "run my job", "check")
    assert page.status_code == 422
    assert "text: is neither XML, which begins with <, nor JSON, which begins with {" in unescape(page.text)


def test_form__login_ended_meanwhile__nothing_is_stored_and_the_text_is_shown(
    stranger: Browser, service: Running
) -> None:
    stranger.log_in("admin", PASSWORD)
    page = stranger.get("/ui/submit")
    fields = {"form_value": form_value(page), "key": "k", "text": SAMPLE, "send": "1"}
    old = dict(stranger.cookies)
    stranger.log_out()
    end = service.end()
    # Without a login, and with one that was revoked.
    for cookies in ({}, old):
        stranger.cookies = dict(cookies)
        answer = stranger.upload("/ui/submit", fields, {})
        assert answer.status_code == 401
        assert "Nothing was stored" in answer.text
        assert 'href="/ui/login?next=%2Fui%2Fsubmit" target="_blank" rel="noopener"' in answer.text
        assert SAMPLE.strip() in unescape(answer.text)
        assert fields["form_value"] not in answer.text and answer.text.count("<textarea") == 1
        foreign = stranger.upload("/ui/submit", fields, {}, **{"Sec-Fetch-Site": "cross-site"})
        assert (foreign.status_code, "<textarea" in foreign.text) == (401, False)
    assert service.end() == end


def test_form__of_another_login__says_to_load_it_again_and_shows_the_text(
    browser: Browser, service: Running
) -> None:
    end = service.end()
    for value in ({"form_value": "0" * 64}, {}):
        answer = browser.upload("/ui/submit", {"key": "k", "text": SAMPLE, "send": "1", **value}, {})
        assert answer.status_code == 403
        assert "Nothing was stored" in answer.text and "Ask an admin" not in answer.text
        assert '<a href="/ui/submit" target="_blank" rel="noopener">Load the form again' in answer.text
        assert SAMPLE.strip() in unescape(answer.text)
    assert service.end() == end


def test_send__empty_too_large_and_foreign__422_413_and_403(browser: Browser, service: Running) -> None:
    end = service.end()
    assert send(browser, " ", "check").status_code in (400, 422)
    assert send(browser, "x" * (2 << 20), "check").status_code == 413
    page = browser.get("/ui/submit")
    fields = {"form_value": form_value(page), "key": "k", "text": SAMPLE, "send": "1"}
    foreign = browser.upload("/ui/submit", fields, {}, **{"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    assert browser.upload("/ui/submit", {**fields, "form_value": "0" * 64}, {}).status_code == 403
    assert service.end() == end


def test_submit_page__as_auditor__403_and_not_in_the_navigation(stranger: Browser, service: Running) -> None:
    with service.client() as admin:
        admin.put("/users/carol", json={"roles": ["submitter", "auditor"]}).raise_for_status()
        admin.put("/users/carol/password", json={"password": PASSWORD}).raise_for_status()
    assert stranger.log_in("carol", PASSWORD, role="auditor").status_code == 303
    assert stranger.get("/ui/submit").status_code == 403
    assert 'href="/ui/submit"' not in stranger.get("/ui").text
    assert 'href="/ui/jobs"' in stranger.get("/ui").text


@pytest.mark.parametrize("name", ["kernel-smoke", "pinned"])
def test_submit_page__sample__fills_the_form(browser: Browser, name: str) -> None:
    page = browser.get("/ui/submit", params={"sample": name})
    assert (SAMPLES / f"{name}.xml").read_text("utf-8").strip() in unescape(page.text)
    assert browser.get("/ui/submit", params={"sample": "../lab"}).status_code == 422
