"""Commands about inventory, usage and policies of systems."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from api import client as api_client
from api.client import Unreachable, inventory_file
from cli.systems.usage import SHARES, shares
from domain.access.policy import PERMISSIONS
from domain.errors import Fault
from domain.system.lifecycle import CONDITIONS, USAGE
from tests.cli.loopback import Answer, LoopbackServer
from tests.harness.running import Running

Run = Callable[..., Result]
EAST, ARM = "lab.east.example.com", "arm-02.east.example.com"


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import few systems at a time, so that a small file has several parts."""
    monkeypatch.setattr(inventory_file, "SYSTEMS_IN_PART", 2)


def done(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


def table(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def write_table(file: Path, rows: list[dict[str, Any]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, dict.fromkeys(name for row in rows for name in row))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.usefixtures("small_parts")
def test_export__imported_again__keeps_every_system(
    real: Run, tmp_path: Path, service: Running, form: str
) -> None:
    file = tmp_path / f"lab.{form}"
    assert done(real("systems", "export", str(file))) == f"exported to {file}\n"
    systems = json.loads(done(real("systems", "--all", "--json")))["systems"]
    before = service.end()
    assert done(real("systems", "import", str(file))) == f"0 added, 0 changed, {len(systems)} unchanged\n"
    assert service.events(before) == []
    # Standard input has no suffix.
    given = file.read_text(encoding="utf-8")
    assert f"{len(systems)} unchanged" in done(real("systems", "import", "-", "--format", form, input=given))


def test_export__several_pages__one_table_with_one_heading(
    real: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = done(real("systems", "export", "--format", "csv"))
    monkeypatch.setattr("api.client.calls.PAGE_SIZE", 2)
    assert done(real("systems", "export", "--format", "csv")) == whole
    narrow = list(
        csv.DictReader(done(real("systems", "export", "--format", "csv", "--pool", "big")).splitlines())
    )
    assert narrow and all("big" in row["pools"].split() for row in narrow)
    assert len(whole.splitlines()) > len(narrow) + 1


def test_import__edited_table__shows_the_changes_and_then_makes_them(real: Run, tmp_path: Path) -> None:
    file = tmp_path / "edited.csv"
    done(real("systems", "export", str(file)))
    rows = table(file)
    (arm,) = (row for row in rows if row["fqdn"] == ARM)
    before = arm["memory_mb"]
    arm |= {"memory_mb": "4711", "location": "rack 9", "cpu.cores": "77"}
    write_table(file, rows)
    shown = done(real("systems", "import", "--dry-run", str(file)))
    assert shown.splitlines()[-1] == f"0 added, 1 changed, {len(rows) - 1} unchanged"
    assert f"memory_mb {before} 4711" in " ".join(shown.split()) and "cpu.cores" in shown
    assert f"memory_mb: {before}" in done(real("system", "show", ARM))
    assert "1 changed" in done(real("systems", "import", str(file)))
    shown = done(real("system", "show", ARM))
    assert "memory_mb: 4711" in shown and "location: rack 9" in shown and "cores=77" in shown
    latest = done(real("system", "history", ARM)).splitlines()
    assert any(f"memory_mb {before} 4711" in " ".join(line.split()) for line in latest)
    changes = json.loads(done(real("system", "history", ARM, "--limit", "1", "--json")))["changes"]
    assert {change["property"] for change in changes[0]["changes"]} == {"memory_mb", "location", "cpu.cores"}


@pytest.mark.usefixtures("small_parts")
def test_import__faults_in_several_parts__all_have_their_place_in_the_file(
    real: Run, tmp_path: Path, service: Running
) -> None:
    new = {"lab_controller": EAST, "owner": "alice"}
    rows: list[dict[str, Any]] = [{"fqdn": f"new-{number}.east.example.com", **new} for number in range(6)]
    rows[1]["owner"], rows[2]["memory_mb"], rows[5]["fqdn"] = "nobody", "much", rows[0]["fqdn"]
    before = service.end()
    as_table, as_json = tmp_path / "new.csv", tmp_path / "new.json"
    write_table(as_table, rows)
    refused = real("systems", "import", str(as_table))
    assert refused.exit_code == 1
    for place in ("row 3, column owner", "row 4, column memory_mb", "row 7, column fqdn: occurs twice"):
        assert f"  {place}" in refused.stderr
    as_json.write_text(json.dumps({"systems": rows}), encoding="utf-8")
    refused = real("systems", "import", "--json", str(as_json))
    assert sorted(fault["where"] for fault in json.loads(refused.stderr)["errors"]) == [
        *("systems[1].owner", "systems[2].memory_mb", "systems[5].fqdn")
    ]
    assert service.events(before) == []


def test_commands_of_a_list__options_before_them__are_not_dropped_in_silence(real: Run) -> None:
    refused = real("systems", "--pool", "big", "export")
    assert refused.exit_code == 2 and "--pool must follow" in refused.stderr
    refused = real("systems", "exprot")
    assert refused.exit_code == 2 and "export" in refused.stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        # Content of another format than the suffix; no systems; not text.
        ("a.csv", b'{"systems": []}', "row 1"),
        ("a.json", b"fqdn\na.b\n", "line 1, column"),
        ("a.json", b'{"systems": {}, "users": []}', "users: is an unknown field"),
        ("a.csv", b"\xff\xfe", "a.csv: is not UTF-8 at byte 0"),
        ("a", b"{\0\xff", "is not UTF-8 at byte 2"),
    ],
)
def test_import__file_of_another_kind__is_refused_with_the_reason(
    real: Run, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    refused = real("systems", "import", str(file))
    assert refused.exit_code == 1 and said in refused.stderr


@pytest.mark.usefixtures("small_parts")
def test_import__server_goes_away_between_two_parts__message_names_the_stored_systems() -> None:
    names = [f"a{number}.east.example.com" for number in range(5)]
    body = json.dumps({"systems": [{"fqdn": name} for name in names]}).encode()
    nothing = {"added": 0, "changed": 2, "kept": 0, "systems": []}

    class Client:
        asked = 0

        def post_text(self, *_: object, dry_run: str | None = None) -> dict[str, Any]:
            self.asked += dry_run is None
            if self.asked == 2:
                raise Unreachable("http://there", "connection lost")
            return nothing

    with pytest.raises(Unreachable) as lost:
        inventory_file.import_all(
            cast(api_client.Client, Client()), inventory_file.parts_of(body, "json"), lambda _, parts: parts
        )
    assert "connection lost; 2 systems are stored, those from a2.east.example.com on may be" in str(
        lost.value
    )


SECONDS = {
    "Automated": {"idle": 1800.0, "running": 3600.0},
    "Manual": {"running": 1800.0},
    "Broken": {"idle": 0.0},
}


def test_usage__of_groups__is_shown_in_shares(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/system-usage", Answer({"position": 3, "groups": [{"key": "big", "seconds": SECONDS}]}))
    result = run("usage", "--by", "pool", "--since", "2026-01-01 12:00")
    assert result.stdout.splitlines()[-1].split() == ["big", "2h", "0m", "75.0%", "25.0%"]
    query = server.asked[0].query
    assert (query["group_by"], query["since"]) == (["pool"], ["2026-01-01T12:00:00+00:00"])


def test_usage__with_a_step__a_line_for_each_step_of_each_group(server: LoopbackServer, run: Run) -> None:
    steps = [
        {"since": f"2026-01-0{day}T00:00:00Z", "until": f"2026-01-0{day + 1}T00:00:00Z", "seconds": SECONDS}
        for day in (1, 2)
    ]
    groups = [{"key": "ada", "seconds": SECONDS, "steps": steps}]
    server.on("GET", "/system-usage", Answer({"position": 3, "groups": groups}))
    given = ("usage", "--group-by", "owner", "--step", "day", "--since", "2026-01-01")
    lines = run(*given).stdout.splitlines()[-2:]
    assert [line.split()[:4] for line in lines] == [
        ["2026-01-01", "00:00:00", "ada", "2h"],
        ["2026-01-02", "00:00:00", "ada", "2h"],
    ]
    query = server.asked[0].query
    assert (query["group_by"], query["step"]) == (["owner"], ["day"])
    assert json.loads(run(*given, "--json").stdout)["groups"] == groups
    assert run("usage", "--log", "--step", "day").exit_code == 2
    assert run("usage", "--report", "--by", "owner").exit_code == 2


def test_history__with_a_limit__counts_its_lines(server: LoopbackServer, run: Run) -> None:
    differences = [{"property": name, "from": None, "to": "x"} for name in ("location", "owner")]
    change = {
        "position": 4,
        "at": "2026-01-01T00:00:00Z",
        "actor": "ada",
        "reason": "",
        "changes": differences,
    }
    server.on("GET", "/systems/a.b/history", Answer({"position": 9, "changes": [change], "next": None}))
    shown = run("system", "history", "a.b", "--limit", "1")
    assert len(shown.stdout.splitlines()) == 3 and "Showing 1; use --all" in shown.stderr
    assert run("system", "history", "a.b", "--limit", "2").stderr == ""


def test_usage__of_a_system__an_interval_a_line(server: LoopbackServer, run: Run) -> None:
    interval = {"condition": "Automated", "usage": "running", "recipe_id": 12, "since_position": 4}
    moments = {"since": "2026-01-01T00:00:00Z", "until": "2026-01-01T00:01:15Z"}
    server.on("GET", "/systems/a.b/usage", Answer({"position": 9, "intervals": [{**interval, **moments}]}))
    words = run("system", "usage", "a.b").stdout.splitlines()[-1].split()
    assert words[2:6] == ["1m", "15s", "Automated", "running"]


@pytest.mark.parametrize("option", ["--since", "--until"])
def test_usage__no_time__is_wrong_usage(server: LoopbackServer, run: Run, option: str) -> None:
    assert run("usage", option, "lately").exit_code == 2
    assert not server.asked


def test_usage__of_the_log__shows_the_share_of_each_user(server: LoopbackServer, run: Run) -> None:
    share = {"day": "2026-01-01", "actor": "eve", "event_count": 7, "size_bytes": 3 << 29}
    server.on("GET", "/log-usage", Answer({"position": 3, "shares": [share]}))
    result = run("usage", "--log", "--since", "2026-01-01 12:00")
    assert result.stdout.splitlines()[-1].split() == ["2026-01-01", "eve", "1.5", "GiB", "7"]
    assert server.asked[0].query["since"] == ["2026-01-01T12:00:00+00:00"]
    assert run("usage", "--log", "--until", "2026-01-01").exit_code == 2


by_usage = st.dictionaries(st.sampled_from(USAGE.states), st.floats(0.001, 1e9), min_size=1)


@given(st.dictionaries(st.sampled_from(CONDITIONS), by_usage, min_size=1))
def test_shares__whatever_was_done__add_up_and_have_a_column(seconds: dict[str, dict[str, float]]) -> None:
    found = shares({"seconds": seconds})
    assert sum(found.values()) == pytest.approx(1.0)
    assert set(found) <= set(SHARES)


VIEW = {"permission": "view", "everybody": True}
SUBMIT = {"permission": "submit", "group": "qa", "maximum_effective_priority": "Low"}
RESERVE = {"permission": "reserve", "user": "bob"}
POOL, SYSTEM = "/pools/big/access-policy", "/systems/a.b/access-policy"


def there(server: LoopbackServer, path: str, **more: Any) -> None:
    """Answer existing objects for all paths."""
    found = {"entries": [VIEW, SUBMIT, RESERVE], **more}
    server.on("GET", path, Answer(found, headers={"ETag": '"3"'}))
    server.on("PUT", path, Answer({"changed": True}))


def put(server: LoopbackServer, path: str) -> Any:
    (asked,) = server.asked_for("PUT", path)
    assert asked.headers["If-Match"] == '"3"'
    return asked.json()


def test_show__of_a_system__shows_the_entries_and_the_active_pool(server: LoopbackServer, run: Run) -> None:
    there(server, SYSTEM, active_pool="big")
    server.on("GET", "/systems/a.b", Answer({"pools": []}))
    shown = run("policy", "show", "a.b")
    assert run("policy", "show", "--system", "a.b").stdout == shown.stdout
    assert run("policy", "show", "a.b", "--system", "a.b").exit_code == 2
    assert shown.stdout.splitlines()[2:] == [
        "view        everybody",
        "submit      group qa   Low",
        "reserve     user bob",
    ]
    assert "policy of pool big applies" in shown.stderr
    assert json.loads(run("policy", "show", "--system", "a.b", "--json").stdout)["active_pool"] == "big"
    server.on("GET", POOL, Answer({"entries": []}))
    assert "grants no permissions" in run("policy", "show", "--pool", "big").stdout


def test_show__of_a_system_whose_pools_grant_submit__names_them(server: LoopbackServer, run: Run) -> None:
    there(server, SYSTEM, active_pool=None)
    there(server, POOL)
    server.on("GET", "/pools/silent/access-policy", Answer({"entries": [VIEW]}))
    server.on("GET", "/systems/a.b", Answer({"pools": ["silent", "big"]}))
    printed = run("policy", "show", "--system", "a.b").stderr
    assert "submit is granted by big together" not in printed and "submit is granted by pool big" in printed
    server.on("GET", "/systems/a.b", Answer({"pools": ["silent"]}))
    assert run("policy", "show", "--system", "a.b").stderr == ""


def test_help__of_grant_and_revoke__names_every_permission(run: Run) -> None:
    for command in ("grant", "revoke"):
        printed = run("policy", command, "--help").stdout
        assert [permission for permission in PERMISSIONS if permission not in printed] == []


# arguments, entries in the PUT
EDITS: list[tuple[str, list[dict[str, Any]]]] = [
    (
        "grant view reserve --user eve --group ops",
        [
            *(VIEW, SUBMIT, RESERVE),
            {"permission": "view", "user": "eve"},
            {"permission": "view", "group": "ops"},
            {"permission": "reserve", "user": "eve"},
            {"permission": "reserve", "group": "ops"},
        ],
    ),
    # Another maximum replaces the present one.
    (
        "grant submit --group qa --maximum high",
        [VIEW, RESERVE, {**SUBMIT, "maximum_effective_priority": "High"}],
    ),
    ("grant view --everybody", [SUBMIT, RESERVE, VIEW]),
    ("revoke submit --group qa", [VIEW, RESERVE]),
    ("revoke view reserve --everybody --user bob", [SUBMIT]),
    # A group differs from a user of the same name.
    ("revoke reserve --group bob", [VIEW, SUBMIT, RESERVE]),
]


@pytest.mark.parametrize(("arguments", "entries"), EDITS, ids=[row[0] for row in EDITS])
def test_edit__of_a_pool_or_a_system__puts_the_whole_as_it_is_then(
    server: LoopbackServer, run: Run, arguments: str, entries: list[dict[str, Any]]
) -> None:
    there(server, POOL)
    there(server, SYSTEM, active_pool="big")
    edited = run("policy", *arguments.split(), "--pool", "big")
    assert (edited.stdout, put(server, POOL)) == ("access policy of pool big changed\n", {"entries": entries})
    run("policy", *arguments.split(), "--system", "a.b")
    assert put(server, SYSTEM) == {"entries": entries, "active_pool": "big"}


@pytest.mark.parametrize(("arguments", "pool"), [("use a.b small", "small"), ("use a.b", None)])
def test_use__a_pool_or_none__leaves_the_entries(
    server: LoopbackServer, run: Run, arguments: str, pool: str | None
) -> None:
    there(server, SYSTEM, active_pool="big")
    run("policy", *arguments.split())
    assert put(server, SYSTEM) == {"entries": [VIEW, SUBMIT, RESERVE], "active_pool": pool}


@pytest.mark.parametrize(
    ("given", "place", "path", "body"),
    [
        ({"entries": [VIEW]}, "--pool big", POOL, {"entries": [VIEW]}),
        ({"entries": [VIEW]}, "--system a.b", SYSTEM, {"entries": [VIEW], "active_pool": "big"}),
        (
            {"entries": [], "active_pool": None, "position": 7},
            "--system a.b",
            SYSTEM,
            {"entries": [], "active_pool": None},
        ),
    ],
)
def test_set__from_a_file__as_show_gives_it(
    server: LoopbackServer, run: Run, given: dict[str, Any], place: str, path: str, body: dict[str, Any]
) -> None:
    there(server, path, active_pool="big")
    run("policy", "set", "-", *place.split(), input=json.dumps(given))
    assert put(server, path) == body


@pytest.mark.parametrize("content", ["{", "[]", '{"entries": {}}'])
def test_set__file_wrong__nothing_is_asked(server: LoopbackServer, run: Run, content: str) -> None:
    assert run("policy", "set", "-", "--pool", "big", input=content).exit_code == 1
    assert server.asked == []


def test_loan__to_a_user_until_a_time__is_sent_in_utc(server: LoopbackServer, run: Run) -> None:
    server.on("PUT", "/systems/a.b/loan", Answer({"user": "bob"}))
    options = ("--user", "bob", "--until", "2126-12-24T18:00")
    assert run("system", "loan", "a.b", *options).stdout == "a.b is on loan to bob\n"
    assert server.asked[0].json() == {"user": "bob", "until": "2126-12-24T18:00:00+00:00"}
    run("system", "loan", "a.b")
    assert server.asked[1].json() == {}


def test_partitions_of_systems__one_partition__has_also_a_lab_that_the_read_lacks() -> None:
    """The systems of a file then stay in its order, in one part."""

    class Client:
        def get(self, _: str) -> dict[str, Any]:
            return {"partitions": [{"name": "default", "lab_controllers": ["east"]}]}

    partition_of = inventory_file.partitions_of_systems(cast(api_client.Client, Client()))
    assert [partition_of("a.lab", lab) for lab in ("east", "west", "")] == ["default"] * 3


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("form", ["json", "csv"])
def test_parts__of_several_partitions__each_of_one_with_the_places_of_its_systems(form: str) -> None:
    labs = ["east", "west", "east", "", "east"]
    systems = [{"fqdn": f"a{place}.lab", "lab_controller": lab} for place, lab in enumerate(labs)]
    table = "\n".join(["fqdn,lab_controller", *(",".join(system.values()) for system in systems)])
    body = json.dumps({"systems": systems}) if form == "json" else table
    parts = inventory_file.parts_of(
        body.encode(), form, lambda fqdn, lab: "gpu" if (lab or "west") == "west" else "default"
    )
    assert [part.places for part in parts] == [(0, 2), (4,), (1, 3)]
    assert [part.names for part in parts] == [("a0.lab", "a2.lab"), ("a4.lab",), ("a1.lab", "a3.lab")]
    assert all(part.content.decode().count(".lab") == len(part.names) for part in parts)
    where = "systems[1].owner" if form == "json" else "row 3, column owner"
    located = inventory_file._located_in_file(Fault(where, "is unknown"), parts[2])
    assert located.where == ("systems[3].owner" if form == "json" else "row 5, column owner")
