"""Imports of Beaker's CSV files: commits, interrupted and repeated requests, rights, and round trips."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

from api.intake import beaker_export
from api.intake.beaker_columns import EXPORTED, KINDS, USER_GROUP
from api.intake.beaker_csv import BeakerRow
from api.rest.contract.inputs.beaker import BeakerFiles
from api.rest.resources.beaker_imports import read_rows
from api.use_cases import import_beaker as import_beaker_module
from api.use_cases.change_partition import configure_partition
from api.use_cases.change_system import register_system
from api.use_cases.commit import commit
from api.use_cases.create_partition import create_partition
from api.use_cases.import_beaker import BeakerImported, BeakerInput, import_beaker, preview_beaker
from api.use_cases.import_systems import document_of
from api.use_cases.ports import WriteParts
from domain.admission.configuration import stored_configuration
from domain.errors import FaultyInput, NotPermitted
from domain.system.events import SystemRegistered
from store.requests import AppendRequest, Committed, Conflict
from tests.in_process.environment import Environment
from tests.use_cases.town import LAB, OTHER_LAB, Town, as_admin, by, furnish

KEYED = {"command_id": "key", "digest": b"d" * 32}
ADDED_AT = "2026-01-01T00:00:00Z"


def given(**files: str) -> BeakerInput:
    documents = [{"name": f"{name}.csv", "text": text} for name, text in files.items()]
    found, faults = read_rows(BeakerFiles.model_validate({"files": documents}))
    return BeakerInput(found.rows, faults, ADDED_AT)


def outcomes(done: BeakerImported) -> dict[str, str]:
    return {fqdn: found.outcome for fqdn, found in done.systems.items()}


@pytest.fixture
def parted(town: Town) -> Town:
    """Return a town whose other lab is in a second partition."""
    town.ask(create_partition, as_admin(), "gpu")
    wanted = stored_configuration({"lab_controllers": [OTHER_LAB]})
    town.ask(configure_partition, as_admin(), "gpu", wanted)
    return town


SYSTEMS = (
    "csv_type,fqdn,lab_controller,location,owner\r\n"
    f"system,a,{LAB},rack 1,\r\n"
    f"system,n,{LAB},rack 2,ada\r\n"
    f"system,x,{OTHER_LAB},rack 3,\r\n"
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


def test_import__second_partition_fails__the_repeated_request_does_the_rest_once(
    parted: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(
        parts: WriteParts, decide: Callable[[], Awaitable[AppendRequest | None]]
    ) -> Committed | None:
        request = await decide()
        if request is not None and "system/x" in request.changed:
            raise Conflict("the service was killed")
        return await commit(parts, decide)

    files = given(systems=SYSTEMS, groups=GROUPS)
    with monkeypatch.context() as patch:
        patch.setattr(import_beaker_module, "commit", refuse)
        with pytest.raises(Conflict):
            parted.ask(import_beaker, as_admin(**KEYED), files)
    half = parted.log.end()
    done = parted.ask(import_beaker, as_admin(**KEYED), files)
    assert outcomes(done) == {"a": "changed", "n": "created", "x": "created"}
    assert done.groups["new"].outcome == "created"
    assert {subject for subject, _ in parted.since(half)} == {"system/x"}
    end = parted.log.end()
    assert parted.ask(import_beaker, as_admin(**KEYED), files) == done
    assert parted.log.end() == end
    with pytest.raises(FaultyInput, match="was used for another request"):
        parted.ask(import_beaker, as_admin(command_id="key", digest=b"e" * 32), files)


def test_import__by_a_submitter__own_systems_and_groups_only(town: Town) -> None:
    town.happens("system/own", SystemRegistered(LAB, "ada", "Manual", {}))
    mine = "csv_type,fqdn,location,secret\nsystem,own,rack 9,True\n"
    assert outcomes(town.ask(import_beaker, by("ada"), given(mine=mine))) == {"own": "changed"}
    assert [entry.permission for entry in town.state("system/own").access_policy] == ["reserve", "submit"]
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
    (change,) = town.ask(import_beaker, as_admin(), shown).systems["c"].changes
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


def exported(town: Town, fqdns: Sequence[str]) -> dict[str, str]:
    """Return the files of systems and of groups, by kind."""
    directory = town.services().feed.directory
    states = {fqdn: town.state(f"system/{fqdn}") for fqdn in sorted(fqdns)}
    systems = [
        {**document_of(state), "fqdn": fqdn, "pools": directory.pools_of(fqdn)}
        for fqdn, state in states.items()
    ]
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
    files = exported(town, fqdns)
    assert all(text.count("\r\n") > 1 for text in files.values())
    with environment.scene() as scene:
        empty = furnish(scene)
        done = empty.ask(import_beaker, as_admin(), given(**files))
        assert outcomes(done) == dict.fromkeys(fqdns, "created")
        assert exported(empty, fqdns) == files
    assert set(outcomes(town.ask(import_beaker, as_admin(), given(**files))).values()) == {"unchanged"}


def beaker_lab(count: int) -> dict[str, str]:
    """Return the files that Beaker exports of a lab with `count` systems."""
    dice = random.Random(20)
    columns = KINDS["system"].exported
    systems, labinfo, keys, excludes, pools = [], [], [], [], []
    for number in range(count):
        fqdn = f"host-{number:05}.lab.example.com"
        vendor, model = dice.choice((("HPE", "DL360 Gen10"), ("Dell", "R640"), ("Lenovo", "SR650, V2")))
        cells = {
            "fqdn": fqdn,
            "lender": dice.choice(("", "Partner, Inc")),
            "location": f"row {number // 40}, unit {number % 40}",
            "mac_address": f"52:54:00:00:{number // 256:02x}:{number % 256:02x}",
            "memory": str(dice.choice((16_384, 65_536, 262_144))),
            "model": model,
            "serial": f"SN{number:06}",
            "vendor": vendor,
            "arch": dice.choice(("x86_64", "i386,x86_64", "aarch64")),
            "lab_controller": dice.choice((LAB, OTHER_LAB)),
            "owner": dice.choice(("ada", "bob", "eve")),
            "status": dice.choice(("Automated", "Manual", "Broken", "Removed")),
            "type": dice.choice(("Machine", "Prototype", "Laptop")),
        }
        systems.append([cells.get(column, "") for column in columns])
        labinfo.append([fqdn, "1500.00", "", "1U", f"{dice.randrange(40)}.0", "", ""])
        keys += [[fqdn, "DISKSPACE", str(dice.randrange(10**6)), "False"], [fqdn, "MODULE", "ixgbe", "False"]]
        excludes.append([fqdn, "x86_64", "RedHatEnterpriseLinux6", dice.choice(("", "3")), "True"])
        pools += [[fqdn, "net", "False"]] if dice.random() < 0.3 else []
    tables = {
        "system": systems,
        "labinfo": labinfo,
        "keyvalue": keys,
        "exclude": excludes,
        "system_pool": pools,
    }
    members = {"user_group": [["ada", "ops", "False"], ["bob", "qa", "False"]]}
    return {kind: table(kind, found) for kind, found in {**tables, **members}.items()}


def table(kind: str, found: Sequence[Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["csv_type", *KINDS[kind].exported], *([kind, *row] for row in found)])
    return text.getvalue()


@pytest.mark.soak
def test_lab_of_beaker__imported_and_exported__is_the_same_bytes(town: Town) -> None:
    files = beaker_lab(500)
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
