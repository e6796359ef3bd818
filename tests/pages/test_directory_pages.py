"""The pages of the directory: the facts of the API at a position, hidden systems, text that is no markup."""

from __future__ import annotations

import re
from typing import Any

import httpx
import orjson
import pytest
from lxml import html

from tests.pages.browser import PASSWORD, Browser, step
from tests.pages.directory_lab import TREE, URLS, DirectoryLab
from tests.pages.page_facts import unexplained
from tests.pages.page_text import element_text, missing, page_of, rows_of
from tests.rest.actions import EAST

SHOWN = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 7 }}"


LISTS = [
    ("users", "users", ("name", "roles", "email")),
    ("groups", "groups", ("name", "owners")),
    ("pools", "pools", ("name", "owner_group", "description")),
    ("lab-controllers", "lab_controllers", ("fqdn", "partition", "last_heard_at")),
    ("distro-trees", "distro_trees", ("id", "name", "arch", "variant", "family", "version", "tags")),
    ("tokens", "tokens", ("token_id", "user", "role", "lab_controller", "created_at", "expires_at")),
    ("partitions", "partitions", ("name", "state", "lab_controllers")),
    ("filters", "filters", ("name", "priority", "watermark", "action", "reason")),
    ("claims", "claims", ("recipe_id", "system", "since", "job_id", "recipe_set_id", "owner", "group")),
    (
        "locks",
        "locks",
        (
            "name",
            "mode",
            "state",
            "recipe_id",
            "recipe_set_id",
            "owner",
            "lab_controller",
            "since",
            "waits_for",
        ),
    ),
    ("reconciliations", "reconciliations", ("system", "lab_controller", "recipe_id", "reason", "since")),
]


@pytest.mark.parametrize(("path", "name", "fields"), LISTS)
@pytest.mark.parametrize("user", ["admin", "carol"])
def test_list__as_of_a_position__has_the_rows_and_facts_of_the_api(
    stranger: Browser, lab: DirectoryLab, user: str, path: str, name: str, fields: tuple[str, ...]
) -> None:
    assert stranger.log_in(user, PASSWORD).status_code == 303
    asked = {"as_of": lab.position}
    text = page_of(stranger, f"/{path}", **asked)
    answer = (lab.admin if user == "admin" else lab.carol).get(f"/{path}", params=asked).json()
    items, rows = answer[name], rows_of(text)
    assert items
    assert len(rows) == len(items)
    for item, row in zip(items, rows, strict=True):
        assert missing({field: item[field] for field in fields}, row) == [], row
    # The page of job filters names the partition of its query.
    assert unexplained(text, {**answer, "partition": "default"}) == set()
    for fqdn in lab.hidden:
        assert user == "admin" or fqdn not in text


def test_lists__hidden_systems__are_on_the_pages_of_those_who_see_them(
    browser: Browser, lab: DirectoryLab
) -> None:
    claims, locks = (page_of(browser, f"/{path}", as_of=lab.position) for path in ("claims", "locks"))
    reconciliations = page_of(browser, "/reconciliations", as_of=lab.position)
    for claimed, occupied, _ in (lab.hidden, lab.visible):
        assert claimed in claims and claimed in locks
        assert occupied in reconciliations


ONES = [
    ("/users/carol", ("/groups?user=carol",)),
    ("/groups/kernel-qe", ("/pools?owner_group=kernel-qe",)),
    ("/pools/hostile", ()),
    ("/pools/big", ("/pools/big/access-policy",)),
    (f"/lab-controllers/{EAST}", ()),
    (f"/distro-trees/{TREE}", ()),
    ("/tokens/{token_id}", ()),
    ("/partitions/default/queues/root.kernel", ()),
    ("/filters/of-pages", ()),
]


@pytest.mark.parametrize(("path", "further"), ONES)
def test_page__as_of_a_position__has_the_facts_of_the_api_and_no_others(
    browser: Browser, lab: DirectoryLab, path: str, further: tuple[str, ...]
) -> None:
    path = path.replace("{token_id}", lab.token_id)
    page = page_of(browser, path, as_of=lab.position)
    text = element_text(html.fromstring(page))
    as_of = {"as_of": str(lab.position)}
    answers = [lab.admin.get(httpx.URL(each).copy_merge_params(as_of)).json() for each in (path, *further)]
    for answer in answers:
        # A permission is two words on the page.
        entries = [
            {**one, "permission": one["permission"].replace("_", " ")} for one in answer.get("entries", ())
        ]
        assert missing({**answer, "entries": entries}, text) == []
    assert unexplained(page, {"answers": answers, "partition": "default"}) == set()


def test_pages__hostile_text__appears_as_text(browser: Browser, lab: DirectoryLab) -> None:
    for path in ("/pools", "/pools/hostile", "/filters", "/filters/of-pages"):
        text = page_of(browser, path, as_of=lab.position)
        assert not re.search(r"<script(?![^>]* src=)", text)
        assert SHOWN in text


def test_distro_tree_page__urls_of_a_lab__only_http_is_a_link(browser: Browser, lab: DirectoryLab) -> None:
    page = html.fromstring(page_of(browser, f"/distro-trees/{TREE}"))
    links = {each.get("href"): each.get("rel") for each in page.iter("a") if "/ui" not in each.get("href")}
    assert {url: rel for url, rel in links.items() if not url.startswith("#")} == {
        URLS[0]: "noreferrer noopener"
    }
    cell = element_text(page.find(".//table/tbody/tr/td"))
    assert all(url in cell for url in URLS)


def test_partition_page__queues__are_those_of_the_api_in_the_order_of_the_tree(
    browser: Browser, lab: DirectoryLab
) -> None:
    asked = {"as_of": lab.position}
    queues = lab.admin.get("/partitions/default/queues", params=asked).json()["queues"]
    answer = lab.admin.get("/partitions/default", params=asked).json()
    page = page_of(browser, "/partitions/default", **asked)
    assert missing(answer, element_text(html.fromstring(page))) == []
    assert unexplained(page, [answer, queues]) == set()
    rows = rows_of(page)
    shown = ("path", "state", "used", "guaranteed", "max", "share", "waiting", "jobs", "max_jobs", "order")
    assert [row.split() for row in rows] == [
        [str("none" if queue[name] is None else queue[name]) for name in shown] for queue in queues
    ]
    assert {"root.kernel", "root.people", "root.default"} < {queue["path"] for queue in queues}


def test_configuration_page__and_its_versions__have_the_documents_of_the_api(
    browser: Browser, lab: DirectoryLab
) -> None:
    path, asked = "/partitions/default/configuration", {"as_of": lab.position}
    text = page_of(browser, path, **asked)
    answer = lab.admin.get(path, params=asked).json()
    assert _json_of(text) == {name: answer[name] for name in answer if name not in ("position", "as_of")}
    (version,) = lab.admin.get(f"{path}s", params=asked).json()["configurations"]
    (row,) = rows_of(text)
    assert missing(list(version.values()), row) == []
    path = f"{path}s/{version['version']}"
    answer = lab.admin.get(path, params=asked).json()
    document = {name: answer[name] for name in answer if name not in (*version, "as_of")}
    assert _json_of(page_of(browser, path, **asked)) == document
    assert browser.get(f"/ui{path}9").status_code == 404


def _json_of(text: str) -> Any:
    return orjson.loads(html.fromstring(text).find(".//pre").text_content())


def test_page__of_a_user_or_group__leads_to_groups_pools_jobs_and_systems(
    browser: Browser, lab: DirectoryLab
) -> None:
    carol = page_of(browser, "/users/carol")
    for link in ("/ui/groups/net-qe", "/ui/jobs?owner=carol", "/ui/systems?owner=carol"):
        assert f'href="{link}"' in carol
    assert 'href="/ui/groups/kernel-qe"' not in carol
    group = page_of(browser, "/groups/net-qe")
    for link in ("/ui/users/carol", "/ui/pools/hostile", "/ui/pools/arm", "/ui/jobs?group=net-qe"):
        assert f'href="{link}"' in group
    assert 'href="/ui/pools/big"' not in group


def test_lab_controller_page__of_the_present__says_when_it_was_heard(
    browser: Browser, lab: DirectoryLab
) -> None:
    text = page_of(browser, f"/lab-controllers/{EAST}")
    assert f"<title>Lab controller {EAST} is enabled · Labledger</title>" in text
    assert "never" not in text
    assert "not in the log" in page_of(browser, f"/lab-controllers/{EAST}", as_of=lab.position)


def test_tokens__of_somebody_else__are_not_on_the_pages_of_a_submitter(
    stranger: Browser, lab: DirectoryLab
) -> None:
    assert stranger.log_in("carol", PASSWORD).status_code == 303
    asked = {"as_of": lab.position}
    tokens = lab.admin.get("/tokens", params=asked).json()["tokens"]
    others = {each["token_id"] for each in tokens if each["user"] != "carol"}
    text = page_of(stranger, "/tokens", limit=1_000)
    assert others
    assert lab.token_id in text
    assert not any(token_id in text for token_id in others)
    assert stranger.get(f"/ui/tokens/{min(others)}").status_code == 404
    assert "ll_" not in text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/ui/users/nobody-here", 404),
        ("/ui/partitions/nowhere", 404),
        ("/ui/partitions/default/queues/root.nowhere", 404),
        ("/ui/filters?partition=nowhere", 404),
        ("/ui/lab-controllers?partition=nowhere", 404),
        ("/ui/users?owner=alice", 422),
        ("/ui/locks?level=nowhere", 422),
        ("/ui/pools?cursor=WzFd", 422),
    ],
)
def test_page__of_nothing_or_with_wrong_parameters__is_refused(
    browser: Browser, path: str, status: int
) -> None:
    assert browser.get(path).status_code == status


def test_list_of_pools__filter_and_next_page__select_and_continue(
    browser: Browser, lab: DirectoryLab
) -> None:
    first = page_of(browser, "/pools", owner_group="net-qe", limit=1)
    assert [row.split()[0] for row in rows_of(first)] == ["arm"]
    following = first.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    second = browser.get(following).text
    assert [row.split()[0] for row in rows_of(second)] == ["hostile"]
    assert 'name="owner_group" value="net-qe"' in second


def test_step__from_a_job_filter__visits_the_changes_of_its_partition(
    browser: Browser, lab: DirectoryLab
) -> None:
    path = "/ui/filters/of-pages?partition=default"
    events = lab.admin.get("/events", params={"subject": "partition/default"}).json()["events"]
    earlier, latest = [each["position"] for each in events if each["position"] <= lab.position][-2:]
    assert step(browser, path, lab.position + 1, "previous")[1] == latest
    assert step(browser, path, latest, "previous")[1] == earlier
    assert step(browser, path, earlier, "next")[1] == latest


def test_directory__its_links__lead_to_every_list(browser: Browser, lab: DirectoryLab) -> None:
    text = page_of(browser, "/directory", as_of=lab.position)
    assert 'aria-current="page">Directory' in text
    for path, *_ in LISTS:
        assert f'href="/ui/{path}?as_of={lab.position}"' in text
