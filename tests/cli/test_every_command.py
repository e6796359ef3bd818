"""Every command: its help, its JSON, its exit statuses. The answers come from a real service."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import Result

from api.client import RetryPolicy
from api.client.transport import RequestOptions
from tests.cli.command_tree import LEAVES, command_at
from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.harness.waiting import wait_until
from tests.intake.jobs import job_document

Run = Callable[..., Result]

SMOKE, LAB = str(SAMPLES / "kernel-smoke.xml"), str(SAMPLES / "lab.json")
ARM, MANUAL, OLD = "arm-02.east.example.com", "arm-03.east.example.com", "old-01.east.example.com"
EAST, WEST = "lab.east.example.com", "lab.west.example.com"
RECIPE = {
    "distro_requires_xml": "<distroRequires/>",
    "host_requires_xml": "<hostRequires/>",
    "tasks": [{"name": "/t"}],
}
SOME_JOB = {"recipe_sets": [{"recipes": [RECIPE]}]}
SOME_POLICY = json.dumps({"entries": [{"permission": "view", "everybody": True}]})
SETS = json.dumps({"recipe_sets": job_document()["recipe_sets"]})
SOME_SYSTEMS = json.dumps({"systems": [{"fqdn": ARM, "location": "rack 7"}]})


@dataclass(frozen=True)
class Call:
    """A call with standard input `given`; `lines`: its JSON is one document per line instead of one."""

    arguments: str
    lines: bool = False
    given: str = json.dumps(SOME_JOB)

    @property
    def command(self) -> tuple[str, ...]:
        return tuple(path for path in LEAVES if tuple(self.arguments.split()[: len(path)]) == path)[-1]


# Commands that are servers themselves, or need none.
REMOTE = {path for path in LEAVES if any(param.name == "url" for param in command_at(path).params)}
# Commands that prompt for a password, or need a login: see test_login.py.
WITH_PASSWORD = {("login",), ("logout",)}
# Needs an LDAP server: see tests/ldap.
WITH_LDAP = {("ldap", "sync")}
# In this order: job 1 is completed, jobs 2 to 9 are submitted, and some of them wait for a system.
CASES = [
    *(
        Call("jobs"),
        Call("jobs --all"),
        Call("job 1"),
        Call("recipe 1"),
        Call("recipe-set 1"),
        Call("results 1"),
        Call("results R:1 --failed"),
        Call("logs 1"),
        Call("watch 1", lines=True),
    ),
    *(Call("estimate 9"), Call("estimate 1"), Call("waits"), Call("waits --by pool --limit 2")),
    *(Call("explain 1"), Call(f"explain 9 --system {ARM}"), Call("matches -")),
    *(Call("timeline"), Call(f"timeline {ARM} --resolution 600 --condition Automated --as-of 30")),
    *(Call(f"who {ARM}"), Call(f"who {ARM} --since yesterday"), Call(f"who {ARM} --at yesterday")),
    Call("weigh --lock system=Exclusive:a --running system=Shared:a,b --age 3"),
    Call("workflow --family RedHatEnterpriseLinux9 --task /t"),
    *(
        Call("queue"),
        Call("queue --partition default"),
        Call("queue --reasons"),
        Call("queue --by-reason --as-of 30"),
        Call(f"queue --system {ARM}"),
        Call("idle"),
        Call("locks"),
        Call("claims"),
        Call(f"claims --system {ARM} --as-of 30"),
        Call("reconciliations"),
        Call("systems --as-of 30"),
        Call(f"jobs --mine --whiteboard x --since today --result Pass --system {ARM} --task /t --product p"),
        Call("overview"),
        Call("lab-controllers"),
    ),
    *(Call("distro-trees"), Call("pools"), Call("users"), Call("groups"), Call("usage --by pool")),
    Call("usage --report"),
    Call("usage --group-by owner --step day --since yesterday"),
    Call("reads"),
    Call("events --types recipe.new,recipe.queued --limit 5", lines=True),
    *(Call("set-priority 9 High"), Call("cancel-set 8 --reason late"), Call("cancel 7"), Call("return 1")),
    *(Call("review 8 rejected --reason late"), Call("waive 8 --reason late")),
    Call("ldap show"),
    *(Call("keep 7 --reason bug"), Call("retention"), Call("retention --dry-run --tags scratch:1")),
    *(
        Call("submit -", given='{"open": true}', lines=True),
        Call("add-sets 10 -", given=SETS),
        Call("close-job 10"),
        Call("rerun 1"),
        Call("set-recipe 9 locks=null"),
    ),
    *(
        Call("set-job 6 whiteboard=x"),
        Call(f"system add new.east.example.com owner=bob lab_controller={EAST}"),
    ),
    *(Call(f"system show {ARM}"), Call(f"system usage {ARM}"), Call(f"system set {ARM} memory_mb=4096")),
    *(Call(f"system history {ARM}"), Call("systems export"), Call("systems import -", given=SOME_SYSTEMS)),
    *(
        Call("import beaker -", given=f"csv_type,fqdn,vendor\nsystem,{ARM},Cavium\n"),
        Call("export beaker system"),
    ),
    *(
        Call(f"system drain {ARM}"),
        Call(f"system undrain {ARM}"),
        Call(f"system vacate {ARM}"),
        Call(f"system condition {OLD} {MANUAL} Manual --wait"),
        Call(f"system drain --lab {EAST} --dry-run"),
    ),
    *(Call(f"system note add {ARM} slow"), Call(f"system note list {ARM}")),
    Call(f"system note remove {ARM} NOTE"),
    *(Call(f"system power set {ARM} ilo {ARM} --secret-file -"), Call(f"system power show {ARM}")),
    Call(f"system power unset {ARM}"),
    *(
        Call(f"maintenance add {ARM} --from 8h --until 9h --lead 1m --reason disks"),
        *(Call("maintenance list"), Call("maintenance show 1"), Call("maintenance move 1 --until 10h")),
        Call("maintenance end 1 --reason done"),
    ),
    *(Call(f"system reserve {MANUAL} --until 8h"), Call(f"extend {MANUAL} --by 1h")),
    Call(f"system return {MANUAL}"),
    *(Call(f"system loan {MANUAL} --user bob --until 8h"), Call(f"system end-loan {MANUAL}")),
    *(Call("filter put idle CONTINUE --where user=ada"), Call("filter show idle"), Call("filters")),
    *(Call("filter test idle"), Call("filter delete idle"), Call("partition configuration")),
    *(Call("partition apply - --dry-run", given="{}"), Call("operations")),
    *(Call("partition apply -", given="limits: {placed_recipes: 90}"), Call("partition apply -", given="{}")),
    *(Call("partition configurations"), Call("partition diff 3 4"), Call("queues root.default")),
    *(Call("partition drain"), Call("partition start"), Call("partition stop default")),
    *(Call("partition start"), Call("partitions"), Call("partition put spare"), Call("queues")),
    *(Call("partition show spare"), Call("partition drain spare"), Call("partition remove spare")),
    *(Call("user put zoe"), Call("user show zoe"), Call("group put spare --member zoe")),
    *(Call("group show spare"), Call("group add-member spare alice"), Call("group remove-member spare zoe")),
    *(Call("pool put spare"), Call("pool show spare"), Call(f"pool add-system spare {ARM}", lines=True)),
    *(
        Call("policy grant view submit --pool spare --group spare --maximum Low"),
        Call("policy show --pool spare"),
    ),
    *(Call(f"policy use {ARM} spare"), Call(f"policy show --system {ARM}"), Call(f"policy use {ARM}")),
    *(
        Call("policy revoke submit --pool spare --group spare"),
        Call("policy set - --pool spare", given=SOME_POLICY),
    ),
    Call(f"pool remove-system spare {ARM}", lines=True),
    *(Call("lab-controller put lab.north.example.com"), Call("lab-controller show lab.north.example.com")),
    *(Call(f"lab-controller disable {WEST}"), Call(f"lab-controller enable {WEST}")),
    *(Call("distro-tree put 99 name=F family=F arch=x86_64"), Call("distro-tree show 99")),
    *(Call("distro-tree delete 99"), Call("token create alice --expires-in 30d")),
    *(Call("token list"), Call("token revoke TOKEN"), Call("whoami"), Call("password alice --stdin")),
    Call("notifications set alice --no-mail --webhook https://hook.example.com/a --webhook-kind end-near"),
    *(Call("notifications show alice"), Call("notifications list alice --failed")),
    Call("notifications list --all"),
    *(Call("user delete zoe"), Call("group delete spare"), Call("pool delete spare")),
    Call("lab-controller delete lab.north.example.com"),
    *(Call(f"submit {SMOKE}", lines=True), Call(f"lab load {LAB}"), Call("lab submit -", lines=True)),
    Call("lab simulate --once --speed 100000", lines=True),
]
# Commands that the server refuses.
REFUSED = [
    *(
        "job 999",
        "set-job 999 whiteboard=x",
        "set-recipe 999 locks=null",
        "add-sets 999 -",
        "close-job 999",
        "system usage no.such",
        "who no.such",
        "system history no.such",
        "systems export --pool nosuch",
        "systems import -",
        "import beaker -",
        "export beaker system --pool nosuch",
        "system add a.b lab_controller=no.such",
        "usage --token ll_nobody",
        "recipe 999",
        "results 999",
        "results R:999",
        "logs 999",
        "explain 999",
        "estimate 999",
        "matches -",
        "watch 999",
        "cancel 999",
        "cancel-set 999",
        "set-priority 999 Low",
        "return 999",
        "extend 999 --by 1h",
        *("keep 999 --reason x", "retention --tags x"),
        *("review 999 rejected --reason x", "waive 999 --reason x", "waive 999 1 --reason x"),
    ),
    *(
        "system show no.such",
        "system set no.such memory_mb=1",
        f"system set {ARM} nosuch=1",
        *("system drain no.such", "system drain --pool nosuch", f"system undrain {ARM} no.such"),
        "system condition no.such Manual",
        *("system power show no.such", "system power set no.such ilo a", "system power unset no.such"),
        *("system note add no.such x", "system note list no.such", f"system note remove {ARM} 1"),
    ),
    *(
        "maintenance add no.such --from 8h --until 9h --reason disks",
        *("maintenance show 999", "maintenance move 999 --until 9h", "maintenance end 999"),
    ),
    *(
        f"system reserve {OLD} --user nobody",
        "system return no.such",
        "system loan no.such",
        "system end-loan no.such",
        "policy show --pool nosuch",
        "policy grant view --pool spare --user nobody",
        "policy revoke view --system no.such --everybody",
        f"policy use {MANUAL} nosuch",
        "policy set - --pool nosuch",
        "ldap sync",
        "user show nobody",
        "group show nosuch",
    ),
    *("group put x --member nobody", "group add-member nosuch alice", "pool add-system nosuch a.b"),
    *("pool put x --owner-group nosuch", "lab-controller enable no.such", "distro-tree show 777"),
    *(
        "distro-tree put 98 name=F",
        "token create nobody",
        "events --types nosuch",
        "submit -",
        "lab submit -",
    ),
    *("queue --token ll_nobody", "overview --token ll_nobody"),
    *("filter show nosuch", "filter delete nosuch", "filter test nosuch", "filter put x PAUSE --predicate -"),
    *("partition configuration --token ll_nobody", "operations --token ll_nobody"),
    *("partitions --token ll_nobody", "partition drain nosuch", "partition stop nosuch"),
    *("partition start nosuch", "partition show nosuch", "partition put .x", "partition remove default"),
]


@pytest.fixture(scope="module")
def service(servers: ServerPool) -> Iterator[Running]:
    """Run a separate service, because jobs are counted from 1 here."""
    with servers.databases("embedded").fresh() as database, running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        yield started


@pytest.fixture(scope="module")
def busy(service: Running) -> None:
    """Complete job 1, and submit jobs 2 to 9."""
    service.do("submit", SMOKE)
    # A simulator with `--once` would end before the recipe is placed.
    with service.client() as client:
        wait_until(lambda: client.get("/recipes/1").json().get("state") == "waiting", "job 1 to be placed")
    service.labledger("lab", "simulate", "--once", "--speed", "100000")
    for _ in range(2, 10):
        service.do("submit", SMOKE)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient = functools.partial(RequestOptions, policy=RetryPolicy(attempts=1, seconds=0.0))
    monkeypatch.setattr("api.client.calls.RequestOptions", impatient)


def documents(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_help__of_every_command__shows_its_usage(run: Run, path: tuple[str, ...]) -> None:
    result = run(*path, "--help")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Usage: main {' '.join(path)}")
    assert path not in REMOTE or "--json" in result.stdout


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_usage__of_every_command__wrong__is_status_2(run: Run, path: tuple[str, ...]) -> None:
    result = run(*path, "--nosuch")
    assert (result.exit_code, result.stdout) == (2, "")
    result = run(*path, "--json", "--nosuch")
    assert (result.exit_code, result.stdout) == (2, "")
    assert json.loads(result.stderr)["title"] == "Wrong usage"


def test_table__of_cases__has_every_command_that_calls_a_server() -> None:
    assert {case.command for case in CASES} >= REMOTE - WITH_PASSWORD - WITH_LDAP


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arguments)
@pytest.mark.usefixtures("busy")
def test_json__of_every_command__is_all_there_is_on_standard_output(
    service: Running, real: Run, case: Call
) -> None:
    arguments = case.arguments
    if "TOKEN" in arguments:
        arguments = arguments.replace("TOKEN", service.json("token", "create", "bob")["token_id"])
    if "NOTE" in arguments:
        note = service.json("system", "note", "add", ARM, "two disks")["id"]
        arguments = arguments.replace("NOTE", str(note))
    result = real(*arguments.split(), "--json", input=case.given)
    assert (result.exit_code, _other_than_times(result.stderr)) == (0, [])
    found = documents(result.stdout)
    assert case.lines or len(found) == 1


@pytest.mark.parametrize("arguments", REFUSED)
@pytest.mark.usefixtures("busy", "at_once")
def test_refused__with_and_without_json__is_status_1_and_on_standard_error(real: Run, arguments: str) -> None:
    result = real(*arguments.split(), "--json", input="{}")
    assert (result.exit_code, result.stdout) == (1, "")
    problem = json.loads(result.stderr.splitlines()[-1])
    assert problem["title"] and isinstance(problem["errors"], list)
    result = real(*arguments.split(), input="{}")
    assert result.exit_code == 1
    assert "Error: " in result.stderr and "Traceback" not in result.output


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arguments)
@pytest.mark.usefixtures("at_once")
def test_no_server__every_command__is_status_1_with_advice(run: Run, case: Call) -> None:
    arguments = case.arguments.replace("NOTE", "1").split()
    result = run(*arguments, "--json", "--url", "http://127.0.0.1:1", input=case.given)
    assert (result.exit_code, result.stdout) == (1, "")
    (problem,) = _other_than_times(result.stderr)
    assert "script/up --demo" in problem["advice"]


def _other_than_times(printed: str) -> list[dict[str, Any]]:
    """Return the objects on standard error, without those of the times that options took."""
    return [found for line in printed.splitlines() if "option" not in (found := json.loads(line))]
