"""A walk over all links, by role and moment: no dead link, and nothing hidden in any byte."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import httpx
import pytest
from lxml import html

from tests.harness.running import Running
from tests.pages.browser import PASSWORD, Browser
from tests.rest.actions import cancel_set, recipe_for, submit

PageKind = tuple[tuple[str, ...], frozenset[str]]

HIDDEN = "hidden-from-bob.example.com"
LATER = "submitted after the moment"
# There are as many pages of events as events, all alike: of pages of one kind only the first ones are opened.
MAX_ALIKE = 10
# The walk of one role visits fewer pages; more would be kinds of links that never end.
MAX_PAGES = 3_000


@pytest.fixture(scope="module")
def moment(service: Running) -> int:
    """Return a position before a job; a system is hidden from bob, who has a password and two roles."""
    with service.client() as admin:
        admin.put("/users/bob", json={"roles": ["submitter", "auditor"]}).raise_for_status()
        admin.put("/users/bob/password", json={"password": PASSWORD}).raise_for_status()
        system = {
            "fqdn": HIDDEN,
            "lab_controller": "lab.east.example.com",
            "owner": "alice",
            "condition": "Manual",
        }
        admin.post("/systems", json=system).raise_for_status()
        policy = {"entries": [{"permission": "view", "user": "alice"}]}
        admin.put(f"/systems/{HIDDEN}/access-policy", json=policy).raise_for_status()
        before = submit(admin, recipe_for("x86-01.east.example.com"))
        cancel_set(admin, before)
        _use_and_remove_names(admin)
        position = service.end()
        later = submit(admin, recipe_for("x86-01.east.example.com"), whiteboard=LATER)
        admin.get("/jobs", params={"min_position": later["position"]}).raise_for_status()
    return position


def _use_and_remove_names(admin: httpx.Client) -> None:
    """Remove a user, a group and a pool that a job, a system and events name."""
    fqdn = "of-removed-names.example.com"
    admin.put("/users/gone", json={"roles": ["submitter"]}).raise_for_status()
    admin.put("/groups/gone", json={"members": ["gone"], "owners": ["gone"]}).raise_for_status()
    admin.put("/pools/gone", json={"owner_group": "gone"}).raise_for_status()
    system = {"fqdn": fqdn, "lab_controller": "lab.east.example.com", "owner": "gone", "condition": "Manual"}
    admin.post("/systems", json=system).raise_for_status()
    admin.put(f"/pools/gone/systems/{fqdn}").raise_for_status()
    job = {"user": "gone", "group": "gone", "recipe_sets": [{"recipes": [recipe_for(fqdn)]}]}
    answer = admin.post("/jobs", json=job)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    admin.post(f"/jobs/{made['job_id']}/cancel", json={"reason": "gone"}).raise_for_status()
    admin.patch(f"/systems/{fqdn}", json={"owner": "alice"}).raise_for_status()
    admin.delete(f"/systems/{fqdn}").raise_for_status()
    for path in ("/pools/gone", "/groups/gone", "/users/gone"):
        answer = admin.delete(path)
        assert answer.status_code == 200, answer.text


def walk(browser: Browser, start: str) -> Iterator[tuple[str, str]]:
    """Yield the address and the text of each page that can be reached; fail at a dead link.

    A link to another moment is opened, but its links are not followed.
    """
    moment = _as_of(start)
    waiting, seen, kinds = deque([start]), {start}, Counter[PageKind]()
    while waiting:
        address = waiting.popleft()
        page = browser.get(address)
        assert page.status_code == 200, f"{address}: {page.status_code}\n{page.text}"
        yield address, page.text
        if _as_of(address) != moment:
            continue
        for link in links_of(address, page.text):
            if link not in seen and kinds[_kind(link)] < MAX_ALIKE:
                kinds[_kind(link)] += 1
                seen.add(link)
                waiting.append(link)
    assert len(seen) < MAX_PAGES


def links_of(address: str, text: str) -> Iterator[str]:
    """Yield the links of a page, all below `/ui`, without the steps, which lead to pages by a redirect."""
    for element in html.fromstring(text).iter("a", "link"):
        link = urljoin(address, element.get("href"))
        if "noreferrer" in element.get("rel", ""):
            # Files of a lab, elsewhere.
            assert link.startswith(("http://", "https://"))
            continue
        path = urlsplit(link).path
        assert path.startswith("/ui"), f"{address} links to {link}"
        if not path.startswith(("/ui/step", "/ui/static")):
            yield link.partition("#")[0]


def _kind(link: str) -> PageKind:
    parts = urlsplit(link)
    # The third segment is a name or a number: /ui/recipes/17/why.
    segments = parts.path.split("/")
    return (*segments[:3], *segments[4:]), frozenset(name for name, _ in parse_qsl(parts.query))


def _as_of(address: str) -> str | None:
    return dict(parse_qsl(urlsplit(address).query)).get("as_of")


# A walk takes long. The one that may find most of what is hidden is in the quick tests.
@pytest.mark.parametrize(
    ("user", "role", "is_past"),
    [
        pytest.param("admin", "admin", False, id="admin-present", marks=pytest.mark.soak),
        pytest.param("bob", "submitter", False, id="submitter-present"),
        pytest.param("bob", "submitter", True, id="submitter-past", marks=pytest.mark.soak),
        pytest.param("admin", "admin", True, id="admin-past", marks=pytest.mark.soak),
        pytest.param("bob", "auditor", False, id="auditor-present", marks=pytest.mark.soak),
        pytest.param("bob", "auditor", True, id="auditor-past", marks=pytest.mark.soak),
    ],
)
def test_links__as_each_role__lead_to_pages_without_what_is_hidden_or_later(
    service: Running, stranger: Browser, moment: int, user: str, role: str, is_past: bool
) -> None:
    assert stranger.log_in(user, PASSWORD, role=role).status_code == 303
    start = f"/ui?{urlencode({'as_of': moment})}" if is_past else "/ui"
    found: dict[str, Any] = dict(walk(stranger, start))
    assert len(found) > 5
    if role == "submitter":
        assert [address for address, text in found.items() if HIDDEN in text] == []
    then = [address for address in found if _as_of(address) == _as_of(start)]
    later = [address for address in then if LATER in found[address]]
    assert later == [] if is_past else later


def test_walk__page_with_a_dead_link__fails(browser: Browser) -> None:
    with pytest.raises(AssertionError, match="/ui/nowhere: 404"):
        list(walk(browser, "/ui/nowhere"))
