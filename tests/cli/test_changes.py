"""Commands that change something, and `labledger sample`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from cli.jobs.sample import SAMPLES
from tests.cli.loopback import Answer, LoopbackServer
from tests.harness.running import SAMPLES as FILES

Run = Callable[..., Result]

# arguments, method, path, body, answer, message after a change, message without a change
DEEDS: list[tuple[str, str, str, dict[str, Any] | None, str, str, str]] = [
    (
        *("cancel-set 3 --reason no", "POST", "/recipe-sets/3/cancel", {"reason": "no"}, "cancelled"),
        *("recipe set 3 cancelled", "recipe set 3 had already finished: nothing to cancel"),
    ),
    (
        *("close-job 3", "POST", "/jobs/3/close", {}, "closed"),
        *("job 3 closed", "job 3 was not open"),
    ),
    (
        *("set-recipe 12 locks=null", "PATCH", "/recipes/12", {"locks": None}, "changed"),
        *("recipe 12 changed", "recipe 12 unchanged"),
    ),
    (
        *("set-priority 3 high", "PATCH", "/recipe-sets/3", {"priority": "High"}, "changed"),
        *("recipe set 3 is now High", "recipe set 3 was already High"),
    ),
    (
        *("return 12", "POST", "/recipes/12/return", {}, "returned"),
        *("recipe 12 returned its system", "recipe 12 had already finished"),
    ),
    (
        *("system condition a.b broken --reason smoke", "PATCH", "/systems/a.b"),
        *(
            {"condition": "Broken", "reason": "smoke"},
            "changed",
            "a.b is now Broken",
            "a.b was already Broken",
        ),
    ),
    (
        *("system drain a.b --reason disks", "PATCH", "/systems/a.b", {"draining": True, "reason": "disks"}),
        *("changed", "a.b is draining", "a.b was already draining"),
    ),
    (
        *("system undrain a.b", "PATCH", "/systems/a.b", {"draining": False}, "changed"),
        *("a.b takes recipes again", "a.b was not draining"),
    ),
    (
        *("system undrain a.b --despite-maintenance", "PATCH", "/systems/a.b"),
        *({"draining": False, "despite_maintenance": True}, "changed"),
        *("a.b takes recipes again", "a.b was not draining"),
    ),
    (
        *("system set a.b memory_mb=32 owner=bob vendor=null", "PATCH", "/systems/a.b"),
        *({"memory_mb": 32, "owner": "bob", "vendor": None}, "changed", "a.b changed", "a.b unchanged"),
    ),
    (
        # A property can be set under the name in `history` and in tables.
        *("system set a.b cpu.cores=8 cpu.flags=null key_values.HVM.x=1", "PATCH", "/systems/a.b"),
        *({"cpu": {"cores": 8, "flags": None}, "key_values": {"HVM.x": 1}}, "changed"),
        *("a.b changed", "a.b unchanged"),
    ),
    (
        *("system return a.b", "DELETE", "/systems/a.b/reservation", None, "returned"),
        *("a.b returned", "a.b was not reserved"),
    ),
    (
        *("system end-loan a.b", "DELETE", "/systems/a.b/loan", None, "ended"),
        *("a.b is no longer on loan", "a.b was not on loan"),
    ),
    (
        *("lab-controller disable l.b", "PATCH", "/lab-controllers/l.b", {"enabled": False}, "changed"),
        *("l.b is now disabled", "l.b was already disabled"),
    ),
    (
        *("lab-controller enable l.b", "PATCH", "/lab-controllers/l.b", {"enabled": True}, "changed"),
        *("l.b is now enabled", "l.b was already enabled"),
    ),
    (
        *("distro-tree delete 5", "DELETE", "/distro-trees/5", None, "removed"),
        *("distro tree 5 deleted", "distro tree 5 was already deleted"),
    ),
    (
        *("group delete qe", "DELETE", "/groups/qe", None, "removed"),
        *("group qe deleted", "group qe was already deleted"),
    ),
    (
        *("user put zoe --role auditor --email z@example.com", "PUT", "/users/zoe"),
        *({"roles": ["auditor"], "email": "z@example.com"}, "added", "user zoe added", "user zoe unchanged"),
    ),
    (
        *("group put qe --member a --member b --owner a", "PUT", "/groups/qe"),
        *({"members": ["a", "b"], "owners": ["a"]}, "changed", "group qe changed", "group qe unchanged"),
    ),
    (
        *("pool put big --owner-group qe", "PUT", "/pools/big", {"owner_group": "qe"}, "added"),
        *("pool big added", "pool big unchanged"),
    ),
    (
        *("lab-controller put l.b --disabled", "PUT", "/lab-controllers/l.b", {"enabled": False}, "added"),
        *("lab controller l.b added", "lab controller l.b unchanged"),
    ),
    (
        *("lab-controller put l.b --disabled --reason moved", "PUT", "/lab-controllers/l.b"),
        *({"enabled": False, "reason": "moved"}, "changed"),
        *("lab controller l.b changed", "lab controller l.b unchanged"),
    ),
    (
        *('distro-tree put 5 name=F urls={"l.b":["u"]}', "PUT", "/distro-trees/5"),
        *({"name": "F", "urls": {"l.b": ["u"]}}, "added"),
        *("distro tree 5 added", "distro tree 5 unchanged"),
    ),
]


@pytest.mark.parametrize(
    ("arguments", "method", "path", "body", "field", "done", "unchanged"),
    DEEDS,
    ids=[row[0] for row in DEEDS],
)
def test_change__any__sends_one_request_and_prints_the_result(
    server: LoopbackServer,
    run: Run,
    arguments: str,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    field: str,
    done: str,
    unchanged: str,
) -> None:
    server.on(method, path, Answer({field: True}), Answer({field: False}))
    assert [run(*arguments.split()).stdout for _ in range(2)] == [f"{done}\n", f"{unchanged}\n"]
    assert [asked.json() if asked.body else None for asked in server.asked] == [body, body]
    assert json.loads(run(*arguments.split(), "--json").stdout) == {field: False}


ENDINGS = [
    ("user delete zoe", "DELETE", "/users/zoe"),
    ("lab-controller delete l.b --force", "DELETE", "/lab-controllers/l.b"),
    ("distro-tree delete 5", "DELETE", "/distro-trees/5"),
    ("pool remove-system big a.b", "DELETE", "/pools/big/systems/a.b"),
    ("filter delete few", "DELETE", "/filters/few"),
    ("partition remove spare", "DELETE", "/partitions/spare"),
    ("partition drain spare", "POST", "/partitions/spare/drain"),
    ("partition stop spare", "POST", "/partitions/spare/stop"),
    ("token revoke abc", "DELETE", "/tokens/abc"),
    ("system return a.b", "DELETE", "/systems/a.b/reservation"),
    ("system end-loan a.b", "DELETE", "/systems/a.b/loan"),
    ("return 12", "POST", "/recipes/12/return"),
    ("close-job 3", "POST", "/jobs/3/close"),
]


@pytest.mark.parametrize(("arguments", "method", "path"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_ending__with_or_without_a_reason__sends_the_given_one(
    server: LoopbackServer, run: Run, arguments: str, method: str, path: str
) -> None:
    server.on(method, path, Answer({"changed": True, "state": "draining"}))
    for given, sent in ((["--reason", "it moves"], ["it moves"]), ([], None), (["--reason", ""], None)):
        assert run(*arguments.split(), *given).exit_code == 0
        assert server.asked[-1].query.get("reason") == sent


def test_lab_controller__disabled_with_a_reason__is_in_the_body(server: LoopbackServer, run: Run) -> None:
    server.on("PATCH", "/lab-controllers/l.b", Answer({"changed": True}))
    assert run("lab-controller", "disable", "l.b", "--reason", "it moves").exit_code == 0
    assert server.asked[0].json() == {"enabled": False, "reason": "it moves"}


@pytest.mark.parametrize("command", ["partition start", "lab-controller enable l.b"])
def test_command__that_ends_nothing__takes_no_reason(server: LoopbackServer, run: Run, command: str) -> None:
    assert run(*command.split(), "--reason", "x").exit_code == 2
    assert not server.asked


def test_reserve__for_a_user_until_a_time__is_sent_in_utc(server: LoopbackServer, run: Run) -> None:
    server.on("PUT", "/systems/a.b/reservation", Answer({"user": "bob"}))
    options = ("--user", "bob", "--until", "2126-12-24T18:00", "--distro-tree", "1")
    assert run("system", "reserve", "a.b", *options).stdout == "a.b is reserved by bob\n"
    body = {"user": "bob", "until": "2126-12-24T18:00:00+00:00", "distro_tree": 1}
    assert server.asked[0].json() == body
    run("system", "reserve", "a.b")
    assert server.asked[1].json() == {}


@pytest.mark.parametrize(
    "arguments",
    [
        "system set a.b memory_mb",
        "system set a.b cpu=null cpu.cores=8",
        "system condition a.b Odd",
        "system condition a.b Automated --wait",  # more recipes may follow
        "system drain",
        "system drain a.b --pool big",  # either names or a selection
        "set-priority 3 Extreme",
        "system reserve a.b --until yesterday",  # the end is in the past
        "system loan a.b --until yesterday",
        "policy show",  # no owner of a policy
        "policy show --system a.b --pool big",
        "policy grant fly --pool big --everybody",
        "policy grant view --pool big",  # no grantee
        "policy grant view --pool big --everybody --maximum High",
        "policy revoke --pool big --everybody",
        "token create lab --role lab-controller",  # no lab controller
        "token create alice --lab-controller l.b",  # submitters have no lab controller
        "token create alice --role boss",
        "token create alice --expires-in soon",
        "password",  # no terminal
    ],
)
def test_change__wrong_usage__status_2_and_nothing_sent(
    server: LoopbackServer, run: Run, arguments: str
) -> None:
    server.on("GET", "/whoami", Answer({"user": "alice", "role": "submitter"}))
    result = run(*arguments.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert not [asked for asked in server.asked if asked.method != "GET"]


def test_cancel__blank_reason__is_wrong_usage(server: LoopbackServer, run: Run) -> None:
    assert run("cancel", "7", "--reason", " ").exit_code == 2
    assert not server.asked


def test_pool__many_systems__one_line_each(server: LoopbackServer, run: Run) -> None:
    for fqdn in ("a", "b"):
        server.on("PUT", f"/pools/big/systems/{fqdn}", Answer({"pool": "big", "fqdn": fqdn, "member": True}))
        server.on("DELETE", f"/pools/big/systems/{fqdn}", Answer({"fqdn": fqdn, "member": False}))
    assert run("pool", "add-system", "big", "a", "b").stdout == "a is in pool big\nb is in pool big\n"
    lines = run("pool", "remove-system", "big", "a", "b", "--json").stdout.splitlines()
    assert [json.loads(line)["fqdn"] for line in lines] == ["a", "b"]


def test_group__member_added__concurrent_change__is_added_to_the_new_version(
    server: LoopbackServer, run: Run
) -> None:
    groups = [{"name": "qe", "members": members, "owners": ["o"]} for members in (["a"], ["a", "b"])]
    tagged = [Answer(group, headers={"ETag": f'"{at}"'}) for at, group in enumerate(groups)]
    server.on("GET", "/groups/qe", *tagged)
    server.on("PUT", "/groups/qe", Answer({"title": "stale"}, 412), Answer({"changed": True}))
    assert run("group", "add-member", "qe", "c").stdout == "group qe changed\n"
    first, second = server.asked_for("PUT", "/groups/qe")
    assert (first.headers["If-Match"], first.json()["members"]) == ('"0"', ["a", "c"])
    assert (second.headers["If-Match"], second.json()) == (
        '"1"',
        {"members": ["a", "b", "c"], "owners": ["o"]},
    )


def test_change__done__the_next_read_reflects_it(server: LoopbackServer, run: Run) -> None:
    server.on("PATCH", "/jobs/7", Answer({"changed": True}, headers={"Labledger-Position": "41"}))
    server.on("GET", "/idle-pool", Answer({"title": "not there yet"}, 504))
    result = run("set-job", "7", "whiteboard=nightly", "product=null")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "job 7 changed\n", "")
    assert server.asked[0].json() == {"whiteboard": "nightly", "product": None}
    (settled,) = server.asked_for("GET", "/idle-pool")
    assert settled.query["min_position"] == ["41"]


def test_group__member_removed__others_stay(server: LoopbackServer, run: Run) -> None:
    group = {"name": "qe", "members": ["a", "b"], "owners": ["o"]}
    server.on("GET", "/groups/qe", Answer(group, headers={"ETag": '"3"'}))
    server.on("PUT", "/groups/qe", Answer({"changed": True}))
    run("group", "remove-member", "qe", "a", "x")
    assert server.asked_for("PUT", "/groups/qe")[0].json() == {"members": ["b"], "owners": ["o"]}


@pytest.mark.parametrize("name", SAMPLES)
def test_sample__any__is_the_file_of_the_package(run: Run, name: str) -> None:
    (file,) = FILES.glob(f"{name}.*")
    assert run("sample", name).stdout.strip() == file.read_text("utf-8").strip()


def test_sample__every_sample__is_listed_by_the_help(run: Run) -> None:
    named = {file.stem for file in FILES.iterdir() if file.suffix in (".xml", ".json")}
    assert named == set(SAMPLES)
    shown = run("sample", "--help").stdout
    assert all(f"{name} " in shown for name in named)


def test_sample__piped_into_submit__is_a_job(real: Run) -> None:
    result = real("submit", "-", input=real("sample", "guests").stdout)
    assert result.exit_code == 0 and " submitted: recipe set" in result.stdout


def test_set_recipe__broken_json__names_each_property_and_sends_nothing(run: Run) -> None:
    result = run("set-recipe", "12", 'tasks=[{"name": "/smoke"', "locks={", "host_requires=")
    assert result.exit_code == 2
    assert "tasks: is not valid JSON; locks: is not valid JSON" in result.stderr
