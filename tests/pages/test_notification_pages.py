"""The pages of notifications: the choice of a user, its form, and the messages."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from domain.notifications.kinds import KINDS
from store.event_log import EventLog
from tests.harness.running import Running
from tests.pages.browser import Browser
from tests.pages.page_facts import unexplained
from tests.pages.people import ADMIN, AUDITOR, OTHER, OWNER, filled, shown

PAGE, ALL = f"/ui/notifications/{OWNER}", "/ui/notifications"
FORM = f"{PAGE}/actions/choose"
HOSTILE = "<script>alert(1)</script>"
MESSAGES = b"""
INSERT INTO live.notifications
    (id, user_name, channel, lane, kind, title, event, state, last_error, finished_at)
VALUES ('page-1', %(owner)s, 'mail', 'mail', 'job-ended', 'Job 4711 completed', '', 'sent', NULL, now()),
    ('page-2', %(owner)s, 'webhook', 'x', 'job-ended', %(title)s, '', 'given-up', '410: refused', now()),
    ('page-3', %(other)s, 'mail', 'mail', 'job-ended', 'Job 4713 aborted', '', 'given-up', '550 no', now())
RETURNING id"""


@pytest.fixture
def messages(service: Running) -> Iterator[None]:
    log = EventLog(service.database.service_url)
    log.rows(MESSAGES, {"owner": OWNER, "other": OTHER, "title": HOSTILE})
    yield
    log.rows(b"DELETE FROM live.notifications WHERE id LIKE 'page-_' RETURNING id", ())
    log.close()


def test_notifications__of_a_user__are_shown_to_the_user_and_admins(
    people: dict[str, Browser], admin: httpx.Client, messages: None
) -> None:
    found = {user: browser.get(PAGE) for user, browser in people.items()}
    statuses = {user: page.status_code for user, page in found.items()}
    assert statuses == {ADMIN: 200, OWNER: 200, OTHER: 403, AUDITOR: 403}
    paths = [f"/users/{OWNER}/notifications", f"/users/{OWNER}/notifications/messages"]
    answers = [admin.get(path).json() for path in paths]
    for user in (ADMIN, OWNER):
        text = found[user].text
        assert "Job 4711 completed" in text and "410: refused" in text and "4713" not in text
        assert HOSTILE not in text
        assert f'href="{FORM}"' in text
    assert unexplained(found[OWNER].text, [*answers, KINDS]) == set()
    failed = people[OWNER].get(PAGE, params={"state": "given-up"}).text
    assert "410: refused" in failed and "Job 4711" not in failed


def test_notifications__of_all_users__are_shown_to_admins_alone(
    people: dict[str, Browser], messages: None
) -> None:
    statuses = {user: browser.get(ALL).status_code for user, browser in people.items()}
    assert statuses == {ADMIN: 200, OWNER: 403, OTHER: 403, AUDITOR: 403}
    failed = people[ADMIN].get(ALL, params={"state": "given-up"}).text
    assert "410: refused" in failed and "550 no" in failed and "Job 4711" not in failed
    of_one = people[ADMIN].get(ALL, params={"user": OTHER}).text
    assert "550 no" in of_one and "410: refused" not in of_one


def test_notifications__links_to_them__only_for_their_readers(people: dict[str, Browser]) -> None:
    for user, own, every in ((ADMIN, True, True), (OWNER, True, False), (AUDITOR, False, False)):
        directory = people[user].get("/ui/directory").text
        assert (f'href="/ui/notifications/{user}"' in directory, f'href="{ALL}"' in directory) == (own, every)
    for user, may in ((ADMIN, True), (OWNER, True), (OTHER, False), (AUDITOR, False)):
        assert (f'href="{PAGE}"' in people[user].get(f"/ui/users/{OWNER}").text) == may


def test_choice__by_its_form__is_that_of_the_api(
    service: Running, people: dict[str, Browser], admin: httpx.Client
) -> None:
    olga, path = people[OWNER], f"/users/{OWNER}/notifications"
    begin = service.end()
    form = filled(
        olga, FORM, default_mail="no", mail="job-ended\nx", webhook_url="ftp://h", webhook_kinds="y"
    )
    faulty = olga.post(FORM, {**form, "webhook_secret": "short"})
    assert faulty.status_code == 422
    for name in ("mail", "webhook_url", "webhook_kinds", "webhook_secret"):
        assert f'id="{name}-note" class="small"><strong>' in faulty.text, name
    assert service.end() == begin
    fields = {"mail": "end-near\njob-ended", "webhook_url": "https://hook.example.com/o"}
    secret = "0123456789abcdef"
    form = filled(olga, FORM, default_mail="no", webhook_secret=secret, webhook_kinds="job-ended", **fields)
    done = olga.post(FORM, form)
    assert done.status_code == 303, done.text
    text = olga.get(done.headers["location"]).text
    assert "end-near, job-ended" in text and "https://hook.example.com/o" in text and secret not in text
    chosen = admin.get(path, params={"min_position": service.end()}).json()
    assert chosen["mail"] == ["end-near", "job-ended"]
    assert chosen["webhook"] == {"url": "https://hook.example.com/o", "kinds": ["job-ended"]}
    # The form begins with the present values, and the secret stays without a new one.
    again = olga.get(FORM).text
    assert (
        shown(again, "default_mail") == "no" and shown(again, "webhook_url") == "https://hook.example.com/o"
    )
    assert secret not in again
    form = filled(olga, FORM, default_mail="yes", mail="", webhook_url="", webhook_kinds="")
    assert olga.post(FORM, form).status_code == 303
    chosen = admin.get(path, params={"min_position": service.end()}).json()
    assert (chosen["mail"], chosen["webhook"]) == (None, None)
    other = people[OTHER].post(
        FORM, {**form, **filled(people[OTHER], f"/ui/notifications/{OTHER}/actions/choose")}
    )
    assert other.status_code == 403
