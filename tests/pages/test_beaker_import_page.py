"""The page to import CSV files of Beaker: checked first, then imported by a second form."""

from __future__ import annotations

import html
import re

import httpx

from tests.harness.running import Running
from tests.pages.browser import Browser, form_value
from tests.pages.people import ADMIN, AUDITOR, OTHER
from tests.rest.actions import EAST

PATH = "/ui/imports/beaker"
COLUMNS = "csv_type,fqdn,location,arch,lab_controller,owner,status,type"


def checked(browser: Browser, **texts: str) -> httpx.Response:
    """Send files to be checked."""
    fields = {"form_value": form_value(browser.get(PATH)), "check": "1"}
    files = [("file", (f"{name}.csv", text.encode())) for name, text in texts.items()]
    return browser.upload(PATH, fields, files)


def confirmation(page: httpx.Response) -> dict[str, str]:
    """Return the fields of the form that imports what was checked."""
    form = page.text.partition('name="send"')[0].rpartition("<form")[2]
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    return {**{name: html.unescape(value) for name, value in fields.items()}, "send": "1"}


def test_beaker_import__checked_then_confirmed__changes_what_was_shown_once(
    service: Running, people: dict[str, Browser], admin: httpx.Client
) -> None:
    fqdn = f"bkr-{service.end()}.example.com"
    row = f'system,{fqdn},"hall ""9""\r\nleft",x86_64,{EAST},{ADMIN},Manual,Machine'
    browser, end = people[ADMIN], service.end()
    # The keys are in a file of their own.
    keys = f"csv_type,fqdn,key,key_value,deleted\r\nkeyvalue,{fqdn},HVM,1,False\r\n"
    preview = checked(browser, keys=keys, systems=f"{COLUMNS}\r\n{row}\r\n")
    assert preview.status_code == 200, preview.text
    assert "1 created, 0 changed" in preview.text and "not imported yet" in preview.text
    assert "hall &#34;9&#34;" in preview.text or "hall &quot;9&quot;" in preview.text
    assert service.end() == end
    fields = confirmation(preview)
    answers = [browser.upload(PATH, fields, {}) for _ in range(2)]
    for done in answers:
        assert done.status_code == 200, done.text
        assert "The files were imported." in done.text and "1 created" in done.text
        assert 'name="send"' not in done.text
    topics = [event["topic"] for event in service.events(end) if event["subject"] == f"system/{fqdn}"]
    assert topics.count("system.registered") == 1
    found = admin.get(f"/systems/{fqdn}", params={"min_position": service.end()}).json()
    assert (found["location"], found["key_values"]) == ('hall "9"\nleft', {"HVM": ["1"]})
    again = checked(browser, systems=f"{COLUMNS}\r\n{row}\r\n")
    assert "0 created, 0 changed, 1 unchanged" in again.text
    admin.delete(f"/systems/{fqdn}").raise_for_status()


def test_beaker_import__wrong_files_or_no_right__shows_all_faults_and_stores_nothing(
    service: Running, people: dict[str, Browser]
) -> None:
    browser, end = people[ADMIN], service.end()
    rows = [
        f"system,bkr.example.com,,x86_64,{lab},{ADMIN},{status},Machine"
        for lab, status in (("no.such.lab", "Manual"), (EAST, "Damaged"))
    ]
    wrong = checked(browser, systems="\n".join([COLUMNS, *rows]))
    assert wrong.status_code == 422
    faults = re.findall(r"<tr><th scope=\"row\"><bdi>([^<]*)</bdi>", wrong.text)
    assert any("line 3, column status" in fault for fault in faults) and len(faults) > 1
    assert 'name="send"' not in wrong.text
    fields = {"form_value": form_value(browser.get(PATH)), "check": "1"}
    nothing = browser.upload(PATH, fields, {"file": ("", b"")})
    assert (nothing.status_code, "choose one or more files" in nothing.text) == (422, True)
    for broken in ("{", "[]", '{"files": 7}'):
        sent = {**fields, "key": "k", "send": "1", "files": broken}
        assert browser.upload(PATH, sent, {}).status_code == 422, broken
    new = f"system,bkr.example.com,,x86_64,{EAST},{ADMIN},Manual,Machine"
    refused = checked(people[OTHER], systems=f"{COLUMNS}\n{new}\n")
    assert refused.status_code == 403 and 'role="alert"' in refused.text
    assert people[AUDITOR].get(PATH).status_code == 403
    assert f'href="{PATH}"' not in people[AUDITOR].get("/ui/directory").text
    assert f'href="{PATH}"' in browser.get("/ui/directory").text
    assert service.end() == end
