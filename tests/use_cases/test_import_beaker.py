"""Imports of Beaker's CSV files: commits, interrupted and repeated requests, rights, and round trips."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

from api.feed import NotReady
from api.intake import beaker_csv, beaker_export
from api.intake.beaker_columns import EXPORTED, USER_GROUP
from api.intake.beaker_csv import BeakerRow
from api.rest.contract.inputs.beaker import BeakerFiles
from api.rest.resources.beaker_imports import read_rows
from api.rest.resources.power import without_secret
from api.use_cases import beaker_systems, partition_commits
from api.use_cases.beaker_decision import Outcome
from api.use_cases.change_partition import configure_partition
from api.use_cases.change_system import register_system
from api.use_cases.commit import commit
from api.use_cases.create_partition import create_partition
from api.use_cases.import_beaker import BeakerInput, ImportResult, import_beaker, preview_beaker
from api.use_cases.import_systems import document_of
from api.use_cases.ports import WriteParts
from api.use_cases.power import set_power
from domain.admission.configuration import stored_configuration
from domain.errors import FaultyInput, NotPermitted
from domain.system.events import SystemPowerChanged, SystemRegistered
from domain.system_admin.power import PowerSettings
from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.power import power_settings
from store.requests import AppendRequest, Committed
from tests.in_process.environment import Environment
from tests.intake.beaker_lab import beaker_lab
from tests.use_cases.stored_texts import stored_texts
from tests.use_cases.town import LAB, OTHER_LAB, Town, as_admin, by, furnish

KEYED = {"command_id": "key", "digest": b"d" * 32}
ADDED_AT = "2026-01-01T00:00:00Z"


def given(**files: str) -> BeakerInput:
    documents = [{"name": f"{name}.csv", "text": text} for name, text in files.items()]
    found = read_rows(BeakerFiles.model_validate({"files": documents}))
    return BeakerInput(found.rows, found.faults, ADDED_AT)


def outcomes(done: ImportResult) -> dict[str, str]:
    """Return the outcomes of systems. Raises AssertionError if a partition failed."""
    return {fqdn: outcome_of(done, fqdn).outcome for fqdn in done.systems}


def outcome_of(done: ImportResult, fqdn: str) -> Outcome:
    found = done.systems[fqdn]
    assert isinstance(found, Outcome), found
    return found


@pytest.fixture
def parted(town: Town) -> Town:
    """Return a town whose other lab is in a second partition."""
    town.ask(create_partition, as_admin(), "gpu")
    wanted = stored_configuration({"lab_controllers": [OTHER_LAB]})
    town.ask(configure_partition, as_admin(), "gpu", wanted)
    return town


HEADER = "csv_type,fqdn,lab_controller,location,owner"
SYSTEMS = (
    f"{HEADER}\r\nsystem,a,{LAB},rack 1,\r\nsystem,n,{LAB},rack 2,ada\r\nsystem,x,{OTHER_LAB},rack 3,\r\n"
)
GROUPS = "csv_type,user,group\r\nuser_group,eve,qa\r\nuser_group,eve,new\r\n"


def test_systems__of_two_partitions__one_commit_each_and_one_of_groups(parted: Town) -> None:
    before = parted.log.end()
    done = parted.ask(import_beaker, as_admin(), given(systems=SYSTEMS, groups=GROUPS))
    assert outcomes(done) == {"a": "changed", "n": "created", "x": "created"}
    assert {name: found.outcome for name, found in done.groups.items()} == {"qa": "changed", "new": "created"}
    found, _ = parted.log.select(before, parted.log.end(), 100)
    commits: dict[int, list[str]] = {}
    for recorded in found:
        commits.setdefault(recorded.commit_end, []).append(recorded.subject)
    assert [sorted(set(subjects)) for subjects in commits.values()] == [
        ["group/new", "group/qa"],
        ["system/a", "system/n"],
        ["system/x"],
    ]
    assert parted.document_of("group", "qa") == {"owners": ["ada"], "members": ["bob", "eve"]}
    assert (parted.state("system/n").owner, parted.state("system/x").owner) == ("ada", "root")


@pytest.mark.parametrize(("failing", "done"), [("system/x", ["a", "n"]), ("system/a", ["x"])])
def test_import__a_partition_fails__the_answer_says_which_and_a_repetition_does_the_rest_once(
    parted: Town, monkeypatch: pytest.MonkeyPatch, failing: str, done: list[str]
) -> None:
    async def refuse(
        parts: WriteParts, decide: Callable[[], Awaitable[AppendRequest | None]]
    ) -> Committed | None:
        request = await decide()
        if request is not None and failing in request.changed:
            raise DatabaseAway("the database cannot be reached")
        return await commit(parts, decide)

    files = given(systems=SYSTEMS, groups=GROUPS)
    with monkeypatch.context() as patch:
        patch.setattr(partition_commits, "commit", refuse)
        # Nothing is stored: the error itself.
        with pytest.raises(DatabaseAway):
            parted.ask(import_beaker, as_admin(), given(systems=f"{HEADER}\nsystem,{failing[7:]},lab-1,r,\n"))
        half = parted.ask(import_beaker, as_admin(**KEYED), files)
    assert list(half.systems) == ["a", "n", "x"] and half.groups["new"].outcome == "created"
    succeeded = [fqdn for fqdn, answer in half.systems.items() if not isinstance(answer, DatabaseAway)]
    assert succeeded == done
    end = parted.log.end()
    assert half.position == end
    whole = parted.ask(import_beaker, as_admin(**KEYED), files)
    assert outcomes(whole) == {"a": "changed", "n": "created", "x": "created"}
    assert whole.groups["new"].outcome == "created"
    rest = {"a", "n", "x"} - {*done}
    assert {subject for subject, _ in parted.since(end)} == {f"system/{fqdn}" for fqdn in rest}
    end = parted.log.end()
    assert parted.ask(import_beaker, as_admin(**KEYED), files) == whole
    assert parted.log.end() == end
    with pytest.raises(FaultyInput, match="was used for another request"):
        parted.ask(import_beaker, as_admin(command_id="key", digest=b"e" * 32), files)


def test_import__this_process_reads_it_late__is_done(parted: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    async def too_late(_: object, done: Committed | None) -> Committed | None:
        raise NotReady("this process has not read the log yet")

    monkeypatch.setattr("api.use_cases.commit.wait_until_reflected", too_late)
    done = parted.ask(import_beaker, as_admin(), given(systems=SYSTEMS, groups=GROUPS))
    assert outcomes(done) == {"a": "changed", "n": "created", "x": "created"}
    assert done.position == parted.log.end()


def test_import__by_a_submitter__own_systems_and_groups_only(town: Town) -> None:
    town.happens("system/own", SystemRegistered(LAB, "ada", "Manual", {}))
    mine = "csv_type,fqdn,location,secret\nsystem,own,rack 9,True\n"
    assert outcomes(town.ask(import_beaker, by("ada"), given(mine=mine))) == {"own": "changed"}
    # Everybody who may reserve a system may view it, too.
    assert [entry.permission for entry in town.state("system/own").access_policy] == ["submit"]
    members = "csv_type,user,group,deleted\nuser_group,bob,qa,True\nuser_group,eve,qa,False\n"
    town.ask(import_beaker, by("ada"), given(members=members))
    assert town.document_of("group", "qa")["members"] == ["eve"]
    end = town.log.end()
    for files in (
        given(others="csv_type,fqdn,location\nsystem,a,rack 1\n"),
        given(new=f"csv_type,fqdn,lab_controller\nsystem,new,{LAB}\n"),
        given(groups="csv_type,user,group\nuser_group,eve,ops\n"),
    ):
        with pytest.raises(NotPermitted):
            town.ask(import_beaker, by("ada"), files)
    assert town.log.end() == end


def test_rows__that_remove__end_what_is_there_and_change_nothing_twice(town: Town) -> None:
    inventory = {
        "key_values": {"HVM": ["1"], "MODULE": ["a", "b"], "labinfo.weight": ["3"]},
        "excluded_families": [{"arch": "x86_64", "family": "F"}, {"arch": "x86_64", "family": "G"}],
        "vendor": "",
        "arches": [],
    }
    town.happens("system/c", SystemRegistered(LAB, "root", "Manual", inventory))
    files = given(
        keys="csv_type,fqdn,key,key_value,deleted\nkeyvalue,c,HVM,1,True\nkeyvalue,c,MODULE,a,true\n",
        excludes="csv_type,fqdn,arch,family,update,excluded\nexclude,c,x86_64,F,,False\n",
        labinfo="csv_type,fqdn,weight\nlabinfo,c,\n",
        pools="csv_type,fqdn,pool,deleted\nsystem_pool,a,net,True\nsystem_pool,b,net,False\n",
        systems="csv_type,fqdn,vendor,arch,secret,deleted,status_reason\nsystem,c,,,True,True,sold\n",
        hidden="csv_type,user,group,deleted\nuser_group,bob,gone,True\n",
    )
    preview = town.ask(preview_beaker, as_admin(), files)
    before = town.log.end()
    done = town.ask(import_beaker, as_admin(), files)
    assert done.systems == preview.systems and not done.groups
    assert sorted(town.since(before)) == [
        ("pool/net", "pool.system-added"),
        ("pool/net", "pool.system-removed"),
        ("system/c", "system.access-policy-changed"),
        ("system/c", "system.condition-changed"),
        ("system/c", "system.inventory-changed"),
    ]
    left = town.state("system/c")
    assert left.condition == "Removed"
    assert left.inventory["key_values"] == {"MODULE": ["b"]}
    assert left.inventory["excluded_families"] == [{"arch": "x86_64", "family": "G"}]
    # The empty cells equal the empty text and list.
    assert (left.inventory["vendor"], left.inventory["arches"]) == ("", [])
    end = town.log.end()
    assert set(outcomes(town.ask(import_beaker, as_admin(), files)).values()) == {"unchanged"}
    assert town.log.end() == end
    shown = given(systems="csv_type,fqdn,secret\nsystem,c,False\n")
    (change,) = outcome_of(town.ask(import_beaker, as_admin(), shown), "c").changes
    assert change == ("hidden", True, False)


def test_errors__of_all_files__are_all_reported_and_equal_ones_once(town: Town) -> None:
    files = given(
        systems="csv_type,fqdn,owner,lab_controller,memory\n"
        "system,n1,nobody,lab-1,1\nsystem,n2,nobody,lab-9,big\nsystem,n3,nobody,,1\nsystem,n3,ada,lab-1,1\n",
        keys="csv_type,fqdn,key,key_value\nkeyvalue,other,HVM,1\nkeyvalue,a,,1\n",
        pools="csv_type,fqdn,pool\nsystem_pool,a,nets\nsystem_pool,b,nets\n",
        groups="csv_type,user,group\nuser_group,nobody,qa\n",
    )
    before = town.log.end()
    for use_case in (import_beaker, preview_beaker):
        with pytest.raises(FaultyInput) as raised:
            town.ask(use_case, as_admin(), files)
        assert [(fault.where, fault.message) for fault in raised.value.faults] == [
            ("systems.csv, lines 2, 3, column owner", 'there is no user "nobody"'),
            ("systems.csv, line 3, column memory", "must be a whole number"),
            ("systems.csv, line 3, column lab_controller", 'there is no lab controller "lab-9"'),
            ("systems.csv, line 5, column fqdn", "occurs twice"),
            (
                "keys.csv, line 2, column fqdn",
                'there is no system "other"; import its row of kind system, too',
            ),
            ("keys.csv, line 3, column key", "must not be empty"),
            ("pools.csv, lines 2, 3, column pool", 'there is no pool "nets"'),
            ("groups.csv, line 2, column user", 'there is no user "nobody"'),
        ]
    assert town.log.end() == before


POWER_COLUMNS = "csv_type,fqdn,power_address,power_user,power_passwd,power_id,power_type"
SECRET, OTHER_SECRET = "swordfish-4711", "marlin-0815"
UNSHOWN = "(not shown)"


def power_files(*rows: str) -> BeakerInput:
    return given(power="\n".join([POWER_COLUMNS, *(f"power,{row}" for row in rows)]) + "\n")


def test_power__of_new_and_old_systems__is_in_their_commits_and_beside_the_log(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    files = given(
        systems=f"{HEADER}\nsystem,n,{LAB},rack 2,ada\nsystem,a,{LAB},rack 1,\n",
        power=f"{POWER_COLUMNS}\npower,n,bmc-n,,{SECRET},7,ilo\npower,a,bmc-a,root,{SECRET},,drac\n"
        f"power,b,bmc-b,,,,wti\n",
    )
    preview = town.ask(preview_beaker, as_admin(), files)
    before = town.log.end()
    done = town.ask(import_beaker, as_admin(**KEYED), files)
    assert done.systems.keys() == preview.systems.keys() == {"n", "a", "b"}
    assert [*outcome_of(done, "b").changes] == [
        ("power.type", None, UNSHOWN),
        ("power.address", None, UNSHOWN),
    ]
    assert ("power.secret", None, UNSHOWN) in outcome_of(done, "n").changes
    found, _ = town.log.select(before, town.log.end(), 100)
    assert {recorded.commit_end for recorded in found} == {town.log.end()}
    changed = [one.subject for one in found if isinstance(one.event, SystemPowerChanged)]
    assert changed == ["system/n", "system/a", "system/b"]
    assert power_settings(town.log, ["n", "a", "b", "no.such"]) == {
        "n": PowerSettings("ilo", "bmc-n", "7", None, SECRET),
        "a": PowerSettings("drac", "bmc-a", None, "root", SECRET),
        "b": PowerSettings("wti", "bmc-b"),
    }
    end = town.log.end()
    assert town.ask(import_beaker, as_admin(**KEYED), files) == done
    assert set(outcomes(town.ask(import_beaker, as_admin(), files)).values()) == {"unchanged"}
    assert town.log.end() == end
    # An empty secret, as in an export, stays; a column that the file does not have, too.
    kept = given(power="csv_type,fqdn,power_address,power_passwd,power_type\npower,n,bmc-n,,ilo\n")
    assert outcomes(town.ask(import_beaker, as_admin(), kept)) == {"n": "unchanged"}
    new = power_files(f"n,bmc-n,,{OTHER_SECRET},7,ilo")
    shown = town.ask(preview_beaker, as_admin(), new)
    assert [*outcome_of(shown, "n").changes] == [("power.secret", UNSHOWN, UNSHOWN)]
    assert town.ask(import_beaker, as_admin(), new).systems == shown.systems
    texts = stored_texts(town)
    assert any("system.power-changed" in text for text in texts)
    for hidden in (SECRET, OTHER_SECRET, "bmc-n", SECRET.encode().hex(), b"bmc-n".hex()):
        assert not [text for text in texts if hidden in text]
        assert hidden not in repr((done, shown, preview)) + caplog.text


def test_power__with_faults_or_without_rights__nothing_is_changed_or_confirmed(town: Town) -> None:
    town.ask(import_beaker, as_admin(), power_files(f"a,bmc-a,root,{SECRET},,ilo"))
    hide = given(systems="csv_type,fqdn,secret\nsystem,b,True\n")
    town.ask(import_beaker, as_admin(), hide)
    town.ask(import_beaker, as_admin(), power_files(f"b,bmc-b,,{SECRET},,ilo"))
    end = town.log.end()
    faulty = power_files("a,elsewhere,root,,,ilo", "a,bmc-a,root,,,drac", f"no,x,,{SECRET},,ilo", "a,,,,,")
    with pytest.raises(FaultyInput) as raised:
        town.ask(import_beaker, as_admin(), faulty)
    message = "is required with another power_type or power_address, because the system has a secret"
    assert [(fault.where, fault.message) for fault in raised.value.faults] == [
        ("power.csv, lines 2, 3, column power_passwd", message),
        ("power.csv, lines 3, 5, column fqdn", "occurs twice"),
        ("power.csv, line 4, column fqdn", 'there is no system "no"; import its row of kind system, too'),
        ("power.csv, line 5, column power_address", "must not be empty"),
        ("power.csv, line 5, column power_type", "must not be empty"),
    ]
    # The same error for a right guess of a secret and a wrong one.
    for guess in (SECRET, OTHER_SECRET):
        for use_case in (import_beaker, preview_beaker):
            with pytest.raises(NotPermitted):
                town.ask(use_case, by("eve"), power_files(f"a,bmc-a,root,{guess},,ilo"))
    # A hidden system does not exist, whether it has a secret or not.
    with pytest.raises(FaultyInput) as raised:
        town.ask(import_beaker, by("eve"), power_files("b,elsewhere,,,,ilo"))
    assert [fault.message for fault in raised.value.faults] == [
        'there is no system "b"; import its row of kind system, too'
    ]
    new = given(
        systems=f"csv_type,fqdn,lab_controller\nsystem,b,{LAB}\n",
        power=f"{POWER_COLUMNS}\npower,b,elsewhere,,,,ilo\n",
    )
    with pytest.raises(NotPermitted, match="add systems"):
        town.ask(import_beaker, by("eve"), new)
    # What everybody with the right to view the system sees may be in an unchanged row.
    unchanged = town.ask(import_beaker, by("eve"), power_files("a,bmc-a,root,,,ilo"))
    assert outcomes(unchanged) == {"a": "unchanged"}
    assert town.log.end() == end


def test_power__changed_after_it_was_read__is_decided_again(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = power_files(f"a,bmc-a,,{SECRET},,ilo")
    settings = PowerSettings("ilo", "bmc-a", None, None, SECRET)
    reads = 0

    def read(log: EventLog, fqdns: Sequence[str]) -> dict[str, PowerSettings]:
        nonlocal reads
        reads += 1
        found = power_settings(log, fqdns)
        # The first read is that of the validation.
        if reads == 2:
            town.ask(set_power, as_admin(), "a", settings, keeps_secret=False, process=1)
        return found

    monkeypatch.setattr(beaker_systems, "power_settings", read)
    done = town.ask(import_beaker, as_admin(), files)
    assert outcomes(done) == {"a": "unchanged"}
    assert town.version("system/a") == 2


def test_owner__who_gives_a_system_away__may_hide_it_and_set_its_power(town: Town) -> None:
    town.happens("system/own", SystemRegistered(LAB, "ada", "Manual", {}))
    files = given(
        systems="csv_type,fqdn,owner,secret\nsystem,own,bob,True\n",
        power=f"{POWER_COLUMNS}\npower,own,bmc,,{SECRET},,ilo\n",
    )
    assert outcomes(town.ask(import_beaker, by("ada"), files)) == {"own": "changed"}
    assert town.state("system/own").owner == "bob"
    with pytest.raises(NotPermitted):
        town.ask(import_beaker, by("ada"), given(systems="csv_type,fqdn,secret\nsystem,a,True\n"))


def exported(town: Town, fqdns: Sequence[str]) -> dict[str, str]:
    """Return the files of systems and of groups, by kind."""
    directory = town.services().feed.directory
    states = {fqdn: town.state(f"system/{fqdn}") for fqdn in sorted(fqdns)}
    power = power_settings(town.log, fqdns)
    systems: list[dict[str, Any]] = [
        {**document_of(state), "fqdn": fqdn, "pools": directory.pools_of(fqdn)}
        for fqdn, state in states.items()
    ]
    for system in systems:
        settings = power.get(system["fqdn"])
        system["power"] = settings and without_secret(settings)
    groups = [{"name": name, **(town.document_of("group", name) or {})} for name in ("ops", "qa")]
    return {
        kind: beaker_export.header(kind) + beaker_export.rows(kind, groups if kind == USER_GROUP else systems)
        for kind in EXPORTED
    }


WHOLE: Mapping[str, Any] = {
    "lab_controller": LAB,
    "owner": "ada",
    "condition": "Automated",
    "pools": ["net"],
    "type": "Machine",
    "arches": ["x86_64", "i386"],
    "vendor": 'Dell, "Inc"',
    "model": "=R640",
    "location": "row 1, rack 2",
    "memory_mb": 8192,
    "key_values": {
        "MODULE": ["b", "a"],
        "HVM": ["1"],
        "mac_address": ["00:16:3e:00:00:01"],
        "labinfo.weight": ["12.50"],
        "labinfo.cooling": ["1", "2"],
    },
    "excluded_families": [
        {"arch": "x86_64", "family": "F", "version": "3"},
        {"arch": "i386", "family": "G"},
    ],
}


def test_export__imported_into_an_empty_lab__exports_the_same_bytes(
    town: Town, environment: Environment
) -> None:
    town.ask(register_system, as_admin(), {**WHOLE, "fqdn": "w.example.com"})
    bare = {"lab_controller": LAB, "owner": "root", "condition": "Removed", "pools": []}
    town.ask(register_system, as_admin(), {**bare, "fqdn": "z.example.com"})
    fqdns = ("w.example.com", "z.example.com")
    town.ask(import_beaker, as_admin(), power_files('w.example.com,bmc-w,root,,"plug 3, left",wti'))
    files = exported(town, fqdns)
    assert all(text.count("\r\n") > 1 for text in files.values())
    with environment.scene() as scene:
        empty = furnish(scene)
        done = empty.ask(import_beaker, as_admin(), given(**files))
        assert outcomes(done) == dict.fromkeys(fqdns, "created")
        assert exported(empty, fqdns) == files
    assert set(outcomes(town.ask(import_beaker, as_admin(), given(**files))).values()) == {"unchanged"}


@pytest.mark.soak
def test_lab_of_beaker__imported_and_exported__is_the_same_bytes(town: Town) -> None:
    files = beaker_lab(500, (LAB, OTHER_LAB))
    done = town.ask(import_beaker, as_admin(), given(**files))
    assert set(outcomes(done).values()) == {"created"} and len(done.systems) == 500
    assert exported(town, list(done.systems)) == files
    end = town.log.end()
    again = town.ask(import_beaker, as_admin(), given(**files))
    assert set(outcomes(again).values()) == {"unchanged"}
    assert town.log.end() == end


def test_row__of_the_reader__has_file_and_line() -> None:
    (row,) = given(one="csv_type,fqdn,deleted\n\nsystem,a,true\n").rows
    assert row == BeakerRow("system", "one.csv", 3, {"fqdn": "a", "deleted": True})


@pytest.mark.parametrize("row", ["a", "machine,a", "system,a"])
def test_rows__too_many__are_refused_whatever_they_are(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beaker_csv, "MAX_ROWS", 3)
    with pytest.raises(FaultyInput, match="must not have more than 3 rows"):
        given(one="csv_type,fqdn\n" + f"{row}\n" * 2, other="csv_type,fqdn\n" + f"{row}\n" * 2)
