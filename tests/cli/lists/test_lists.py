"""Lists and their filters."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import Result

from tests.cli.answers import QUEUE, RECIPE, SYSTEM, event
from tests.cli.loopback import Answer, LoopbackServer, ReceivedRequest
from tests.harness.running import SAMPLES, Running

Run = Callable[..., Result]


def test_list__for_people__is_a_table(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue", Answer(QUEUE))
    result = run("queue")
    assert result.exit_code == 0
    heading, _, row = result.stdout.strip().splitlines()
    assert heading.split()[:4] == ["recipe", "set", "job", "state"]
    assert row.split()[:5] == ["12", "3", "7", "queued", "High"]


def test_list__of_an_unknown_pool_or_lab__names_a_similar_one(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/systems", Answer({"systems": [], "next": None}))
    server.on("GET", "/pools", Answer({"pools": [{"name": "small"}], "next": None}))
    server.on("GET", "/lab-controllers", Answer({"lab_controllers": [{"fqdn": "lab.east.x"}], "next": None}))
    for option, name, meant in (("--pool", "smal", "small"), ("--lab", "lab", "lab.east.x")):
        result = run("systems", option, name)
        assert result.exit_code == 1 and f"; did you mean {meant}?" in result.stderr


@pytest.mark.parametrize("configured", [False, True])
def test_ldap_show__before_the_first_sync__says_so(
    server: LoopbackServer, run: Run, configured: bool
) -> None:
    last = {"finished_at": None, "succeeded_at": None, "fault": None, "changed": {}}
    server.on("GET", "/ldap-sync", Answer({"configured": configured, "running": False, **last}))
    lines = run("ldap", "show").stdout.splitlines()
    assert lines[-1].split() == (["yes", "no"] if configured else ["No", "LDAP", "is", "configured."])


def test_list__for_machines__is_the_document(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue", Answer(QUEUE))
    result = run("queue", "--json")
    assert json.loads(result.stdout) == QUEUE


def test_queue__set_is_held_back__says_why(server: LoopbackServer, run: Run) -> None:
    rows = [
        {"row": "dependency", "reason": "job 2 has not ended"},
        {"row": "rate-limit", "reason": "no room"},
    ]
    recipes = [{**RECIPE, "held_back": rows}, {**RECIPE, "held_back": None}]
    server.on("GET", "/queue", Answer({**QUEUE, "recipes": recipes}))
    said = run("queue", "--wide").stdout
    assert "held back" in said and said.count("job 2 has not ended; no room") == 1


def test_list__in_a_pipe__is_not_cut_off(server: LoopbackServer, run: Run) -> None:
    long = {**RECIPE, "whiteboard": "word " * 60 + "end"}
    server.on("GET", "/queue", Answer({**QUEUE, "recipes": [long]}))
    assert "word word end" in run("queue").stdout


def test_list__text_of_others__cannot_steer_the_terminal(server: LoopbackServer, run: Run) -> None:
    nasty = {**RECIPE, "whiteboard": "\x1b[2J[red]hello[/red]\nnext"}
    server.on("GET", "/queue", Answer({**QUEUE, "recipes": [nasty]}))
    output = run("queue").stdout
    assert "\x1b" not in output
    assert "[2J[red]hello[/red] next" in output


@pytest.mark.parametrize(
    ("command", "path", "name"),
    [
        ("queue", "/queue", "recipes"),
        ("idle", "/idle-pool", "systems"),
        ("locks", "/locks", "locks"),
        ("claims", "/claims", "claims"),
        ("reconciliations", "/reconciliations", "reconciliations"),
        ("systems", "/systems", "systems"),
        ("jobs", "/jobs", "jobs"),
    ],
)
def test_list__empty__says_so(server: LoopbackServer, run: Run, command: str, path: str, name: str) -> None:
    server.on("GET", path, Answer({"position": 0, name: [], "next": None}))
    result = run(command)
    assert (result.exit_code, result.stdout.count("\n")) == (0, 1)


COMMANDS_OF_A_PARTITION = [
    ("queue", "/queue", "recipes"),
    ("jobs", "/jobs", "jobs"),
    ("idle", "/idle-pool", "systems"),
    ("systems", "/systems", "systems"),
    ("lab-controllers", "/lab-controllers", "lab_controllers"),
]


@pytest.mark.parametrize(("command", "path", "name"), COMMANDS_OF_A_PARTITION)
def test_list__of_a_partition__is_asked_for_and_has_a_column_if_there_is_another(
    server: LoopbackServer, run: Run, command: str, path: str, name: str
) -> None:
    rows = [{**RECIPE, **SYSTEM, "result": "None", "recipe_set_ids": [3]} for _ in range(3)]
    server.on("GET", path, Answer({"position": 4, name: rows, "next": None}))
    shown = run(command, "--partition", "other", "--wide")
    assert server.asked[0].query["partition"] == ["other"]
    assert shown.exit_code == 0 and "partition" not in shown.stdout
    named = [{**row, "partition": of_row} for row, of_row in zip(rows, ("default", "x", None), strict=True)]
    server.on("GET", path, Answer({"position": 4, name: [], "next": None}))
    assert "with partition other." in run(command, "--partition", "other").stdout
    for some, words in ((named[:1], None), (named, ["default", "x", "none"])):
        server.on("GET", path, Answer({"position": 4, name: some, "next": None}))
        heading, _, *lines = run(command, "--wide").stdout.splitlines()
        begin = heading.find("partition")
        assert (begin < 0) == (words is None)
        assert words is None or [line[begin:].split()[0] for line in lines] == words


def test_usage_and_events__of_a_partition__are_asked_for(server: LoopbackServer, run: Run) -> None:
    sums = {"position": 4, "since": None, "until": None, "groups": [], "next": None}
    server.on("GET", "/system-usage", Answer(sums))
    server.on("GET", "/events", Answer({"position": 4, "events": [], "next": None}))
    run("usage", "--partition", "other")
    assert "no events of the partition other" in run("events", "--partition", "other").stderr
    assert [asked.query["partition"] for asked in server.asked] == [["other"], ["other"]]
    assert run("usage", "--log", "--partition", "other").exit_code == 2


def _numbered(asked: ReceivedRequest) -> Answer:
    """Answer two pages of one job each."""
    at = int(asked.query.get("cursor", ["1"])[0])
    following = f"/jobs?cursor={at + 1}" if at < 2 else None
    job = {"job_id": at, "state": "running", "result": "None", "recipe_set_ids": [at]}
    return Answer({"position": 1, "jobs": [job], "next": following})


def test_list__more_than_the_limit__names_the_option_for_all(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/jobs", _numbered)
    first = run("jobs", "--limit", "1")
    assert "use --all for the rest" in first.stderr and len(first.stdout.splitlines()) == 3
    assert json.loads(run("jobs", "--limit", "1", "--json").stdout)["next"] == "/jobs?cursor=2"
    everything = run("jobs", "--all")
    assert everything.stderr == "" and len(everything.stdout.splitlines()) == 4


def _limited(rows: int) -> Callable[[ReceivedRequest], Answer]:
    """Return what answers pages of `rows` jobs as the server does: a full page has a `next`."""

    def answer(asked: ReceivedRequest) -> Answer:
        limit, begin = int(asked.query["limit"][0]), int(asked.query.get("cursor", ["0"])[0])
        numbers = range(begin, min(begin + limit, rows))
        job = {"state": "running", "result": "None", "recipe_set_ids": [1]}
        following = f"/jobs?cursor={begin + limit}" if len(numbers) == limit else None
        return Answer({"position": 1, "jobs": [{**job, "job_id": at} for at in numbers], "next": following})

    return answer


# With 1000 rows, the row more is on a second page.
@pytest.mark.parametrize("limit", [2, 1000])
def test_list__as_many_rows_as_the_limit__has_no_rest(server: LoopbackServer, run: Run, limit: int) -> None:
    server.on("GET", "/jobs", _limited(limit))
    exact = run("jobs", "--limit", str(limit))
    assert (exact.exit_code, exact.stderr) == (0, "")
    assert len(exact.stdout.splitlines()) == limit + 2
    server.on("GET", "/jobs", _limited(limit + 1))
    more = run("jobs", "--limit", str(limit))
    assert more.stderr == f"Showing {limit}; use --all for the rest.\n"
    assert len(more.stdout.splitlines()) == limit + 2
    document = json.loads(run("jobs", "--limit", str(limit), "--json").stdout)
    assert (len(document["jobs"]), document["next"]) == (limit, f"/jobs?cursor={limit}")


def test_history__as_many_changes_as_the_limit__has_no_rest(server: LoopbackServer, run: Run) -> None:
    path = "/systems/a.b/history"
    change: dict[str, Any] = {"position": 3, "at": "2026-01-01T00:00:00Z", "actor": "ada", "reason": None}
    change["changes"] = [{"property": "owner", "from": None, "to": "bob"}]
    for rows, note in ((1, ""), (2, "Showing 1; use --all for the rest.\n")):
        server.on("GET", path, Answer({"position": 4, "changes": [change] * rows, "next": None}))
        assert run("system", "history", "a.b", "--limit", "1").stderr == note


def test_list__limit_not_given__is_bounded(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/systems", Answer({"position": 9, "systems": [SYSTEM], "next": None}))
    run("systems")
    run("systems", "--all")
    assert [asked.query["limit"] for asked in server.asked] == [["101"], ["1000"]]


def test_list__as_of__is_asked_as_of_then(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/systems", Answer({"position": 9, "systems": [SYSTEM], "next": None}))
    assert "big, small" in run("systems", "--as-of", "9").stdout
    assert server.asked[0].query["as_of"] == ["9"]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("2026-11-21 12:02:50", "2026-11-21T12:02:50+00:00"),  # The form of the tables.
        ("2026-11-21T12:02:50.5Z", "2026-11-21T12:02:50.500000+00:00"),  # The form of the API.
        ("2026-11-21T12:02:50+02:00", "2026-11-21T10:02:50+00:00"),
        ("20261121", "20261121"),  # A position.
    ],
)
def test_list__as_of_a_time__is_taken_as_it_is_printed(
    server: LoopbackServer, run: Run, given: str, asked: str
) -> None:
    server.on("GET", "/queue", Answer({**QUEUE, "position": 20261121, "as_of": "2026-11-21T12:02:50Z"}))
    assert run("queue", "--as-of", given).exit_code == 0
    assert server.asked[0].query["as_of"] == [asked]


def test_list__as_of_an_invalid_time__shows_the_format(server: LoopbackServer, run: Run) -> None:
    assert "yesterday 14:00" in run("queue", "--as-of", "lately").stderr
    assert not server.asked


@pytest.mark.parametrize("asked", ["2100-01-01", "in 2h", "99"])
def test_list__as_of_the_future__is_wrong_usage(server: LoopbackServer, run: Run, asked: str) -> None:
    now = datetime.now(UTC).isoformat()
    server.on("GET", "/queue", Answer({**QUEUE, "as_of": now}))
    server.on("GET", "/events", Answer({"events": []}))
    result = run("queue", "--as-of", asked)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "in the future" in result.stderr


def test_list__as_of_a_position_inside_a_commit__is_no_future(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue", Answer({**QUEUE, "position": 97}))
    server.on("GET", "/events", Answer({"events": [event(100)]}))
    assert run("queue", "--as-of", "99").exit_code == 0
    assert server.asked_for("GET", "/events")[0].query["after"] == ["98"]


def test_list__as_of__lasted_until_then(server: LoopbackServer, run: Run) -> None:
    idle = {"fqdn": "a.example.com", "since": "2026-01-01T00:00:00Z"}
    then = {"position": 9, "as_of": "2026-01-01T00:01:15Z", "next": None}
    server.on("GET", "/idle-pool", Answer({**then, "systems": [idle]}))
    assert "1m 15s" in run("idle", "--as-of", "9").stdout
    server.on("GET", "/queue", Answer({**then, "recipes": [{**RECIPE, "since": idle["since"]}]}))
    assert "1m 15s" in run("queue", "--as-of", "9").stdout
    history = [{"state": "queued", "since": idle["since"], "until": None}]
    server.on("GET", "/recipes/12", Answer({**RECIPE, **then, "history": history, "tasks": []}))
    assert "1m 15s" in run("recipe", "12", "--as-of", "9").stdout


def test_systems__draining_and_reserved__say_so(server: LoopbackServer, run: Run) -> None:
    busy = {**SYSTEM, "draining": True, "user": "bob"}
    server.on("GET", "/systems", Answer({"position": 9, "systems": [busy], "next": None}))
    assert "Broken, draining" in (shown := run("systems").stdout) and "bob" in shown


def test_lab_controllers__listed__when_they_were_heard(server: LoopbackServer, run: Run) -> None:
    row = {"fqdn": "l.b", "enabled": True, "silent": False, "last_heard_at": "2026-01-01T00:00:00Z"}
    server.on("GET", "/lab-controllers", Answer({"position": 1, "lab_controllers": [row], "next": None}))
    assert run("lab-controllers").stdout.splitlines()[-1].split()[:3] == ["l.b", "enabled", "2026-01-01"]


def test_lab_controllers__without_a_contact__only_a_new_one_was_never_heard(
    server: LoopbackServer, run: Run
) -> None:
    row = {"enabled": True, "silent": True, "last_heard_at": None}
    rows = [{**row, "fqdn": "new.b", "never_heard": True}, {**row, "fqdn": "old.b", "never_heard": False}]
    server.on("GET", "/lab-controllers", Answer({"position": 1, "lab_controllers": rows, "next": None}))
    new, old = run("lab-controllers").stdout.splitlines()[-2:]
    assert (new.split(), old.split()) == (["new.b", "never", "heard"], ["old.b", "silent"])


SMOKE = str(SAMPLES / "kernel-smoke.xml")


@pytest.fixture(scope="module")
def job(service: Running) -> str:
    """Return a cancelled job."""
    number = str(service.json("submit", SMOKE)["job_id"])
    service.do("cancel", number)
    return number


def test_jobs__filtered_by_state__shows_no_others(real: Run, job: str) -> None:
    listed = json.loads(real("jobs", "--all", "--json").stdout)["jobs"]
    asked = ("jobs", "--state", "Cancelled", "--owner", "admin", "--group", "kernel-qe", "--all", "--json")
    like = {"state": "cancelled", "owner": "admin", "group": "kernel-qe"}.items()
    assert json.loads(real(*asked).stdout)["jobs"] == [row for row in listed if like <= row.items()]
    assert job in real("jobs", "--state", "cancelled").stdout


def test_systems__filtered_by_pool__shows_no_others(real: Run) -> None:
    listed = json.loads(real("systems", "--json").stdout)["systems"]
    found = json.loads(real("systems", "--pool", "big", "--condition", "automated", "--json").stdout)[
        "systems"
    ]
    # Between the two commands the usage of a system may change.
    assert [row["fqdn"] for row in found] == [
        row["fqdn"] for row in listed if "big" in row["pools"] and row["condition"] == "Automated"
    ]
    assert found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("jobs --state reserved --owner alice", "There are no jobs with state reserved, owner alice.\n"),
        ("systems --pool big --as-of 0", None),
        ("systems --draining --owner carol", "There are no systems with --draining, owner carol.\n"),
        ("queue --system arm-03.east.example.com", "No waiting recipe could use arm-03.east.example.com.\n"),
        ("systems --condition removed", "There are no systems with condition Removed.\n"),
    ],
)
def test_list__no_matches__message_names_the_filter(real: Run, arguments: str, said: str | None) -> None:
    result = real(*arguments.split())
    if said is None:
        # The pool did not exist then.
        assert result.exit_code == 1 and "as of position 0, pool big did not exist" in result.stderr
    else:
        assert (result.exit_code, result.stdout) == (0, said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("jobs --owner nobody", "\nRun `labledger users` to list"),
        ("jobs --group nosuch", "\nRun `labledger groups` to list"),
        ("systems --pool nosuch", "\nRun `labledger pools` to list"),
        ("systems --lab-controller no.such", "\nRun `labledger lab-controllers` to list"),
    ],
)
def test_list__filtered_by_an_unknown_object__is_refused(real: Run, arguments: str, said: str) -> None:
    result = real(*arguments.split())
    assert (result.exit_code, result.stdout) == (1, "")
    assert arguments.split()[-1] in result.stderr and said in result.stderr


def test_pool__shown__lists_its_systems(real: Run) -> None:
    systems = [
        row["fqdn"] for row in json.loads(real("systems", "--pool", "big", "--json").stdout)["systems"]
    ]
    shown = real("pool", "show", "big").stdout
    assert f"systems: {len(systems)}\n" in shown and all(fqdn in shown for fqdn in systems)
    assert json.loads(real("pool", "show", "big", "--json").stdout)["systems"] == systems
    real("pool", "put", "hollow")
    assert "systems: 0" in real("pool", "show", "hollow").stdout


def test_history__with_times_and_reasons__are_in_the_table(server: LoopbackServer, run: Run) -> None:
    of_loan = {"property": "loaned_until", "from": None, "to": "2026-01-02T03:04:05.678901Z"}
    change = {
        "position": 3,
        "at": "2026-01-01T00:00:00Z",
        "actor": "ada",
        "reason": "for bob",
        "changes": [of_loan],
    }
    server.on("GET", "/systems/a.b/history", Answer({"position": 4, "changes": [change], "next": None}))
    assert "2026-01-02 03:04:05  for bob" in run("system", "history", "a.b").stdout
