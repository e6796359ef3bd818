"""Imports of Beaker's CSV files: what they change, what they refuse, and what they leave out."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import httpx

from tests.harness.running import Running
from tests.rest.actions import EAST, by_people
from tests.rest.systems.tables_with import tables_with

PATH = "/imports/beaker"
SECRET = "swordfish-of-beaker"
POWER_COLUMNS = ("fqdn", "power_address", "power_user", "power_passwd", "power_id", "power_type")
SYSTEM_COLUMNS = (
    *("fqdn", "lender", "location", "mac_address", "memory", "model", "serial", "vendor"),
    *("arch", "lab_controller", "owner", "status", "type", "cc"),
)


def table(kind: str, columns: Sequence[str], *rows: Sequence[str]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["csv_type", *columns], *([kind, *row] for row in rows)])
    return text.getvalue()


def post(
    client: httpx.Client, *, key: str | None = None, dry_run: bool = False, **files: str
) -> httpx.Response:
    body = {"files": [{"name": f"{name}.csv", "text": text} for name, text in files.items()]}
    headers = {} if key is None else {"Idempotency-Key": key}
    asked = {"dry_run": "true"} if dry_run else {}
    return client.post(PATH, json=body, headers=headers, params=asked)


def done(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def faults(answer: httpx.Response) -> list[tuple[str, str]]:
    assert answer.status_code == 422, answer.text
    return [(fault["where"], fault["message"]) for fault in answer.json()["errors"]]


def outcomes(answer: dict[str, Any]) -> list[str]:
    return [system["outcome"] for system in answer["systems"]]


def test_files__of_every_kind__become_properties_and_the_same_again_changes_nothing(
    client: httpx.Client, service: Running
) -> None:
    fqdn, other = "bkr-1.east.example.com", "bkr-2.east.example.com"
    files = {
        "keys": table(
            "keyvalue",
            ("fqdn", "key", "key_value", "deleted"),
            (fqdn, "HVM", "1", "False"),
            (fqdn, "MODULE", "e1000", "False"),
            (fqdn, "MODULE", "ahci", "False"),
        ),
        "systems": table(
            "system",
            SYSTEM_COLUMNS,
            (
                *(fqdn, "IBM", "rack 1, unit 2", "00:16:3e:00:00:01", "8192", "R640", "S1", "Dell"),
                *("x86_64,i386", EAST, "bob", "Manual", "Machine", "a@example.com"),
            ),
            (other, "", "", "", "", "", "", "", "", EAST, "", "", "", ""),
        ),
        "labinfo": table("labinfo", ("fqdn", "weight", "dimensions"), (fqdn, "12.5", "1U")),
        "exclude": table(
            "exclude",
            ("fqdn", "arch", "family", "update", "excluded"),
            (fqdn, "x86_64", "RedHatEnterpriseLinux6", "3", "True"),
        ),
        "pools": table("system_pool", ("fqdn", "pool", "deleted"), (fqdn, "big", "False")),
        "groups": table("user_group", ("user", "group", "deleted"), ("bob", "beaker-new", "False")),
        "power": table("power", POWER_COLUMNS, (fqdn, "bmc-bkr-1", "root", SECRET, "", "ipmi-lan")),
        "install": table("install", ("fqdn", "arch", "ks_meta"), (fqdn, "x86_64", "a=b")),
    }
    before = service.end()
    preview = done(post(client, dry_run=True, **files))
    assert preview["dry_run"] and outcomes(preview) == ["created", "created"]
    assert by_people(service, before) == []
    first = done(post(client, key="bkr-all", **files))
    # The time at which a system was added differs.
    assert outcomes(first) == outcomes(preview) and first["groups"] == preview["groups"]
    assert first["groups"][0]["outcome"] == "created"
    assert first["warnings"] == [
        {
            "where": "systems.csv, line 2, column cc",
            "message": "is not imported: mail about a system goes to its owner only",
        },
        {
            "where": "power.csv, line 2, column power_type",
            "message": 'no other system has the power type "ipmi-lan"; did you mean ipmilan?',
        },
    ]
    assert [(each["kind"], each["rows"]) for each in first["not_imported"]] == [("install", 1)]
    assert {"property": "power.secret", "from": None, "to": "(not shown)"} in first["systems"][0]["changes"]
    power = client.get(f"/systems/{fqdn}/power").json()
    assert (power["address"], power["user"], power["has_secret"]) == ("bmc-bkr-1", "root", True)
    found = client.get(f"/systems/{fqdn}", params={"min_position": service.end()}).json()
    expected = {
        "location": "rack 1, unit 2",
        "lender": "IBM",
        "memory_mb": 8192,
        "arches": ["x86_64", "i386"],
        "owner": "bob",
        "condition": "Manual",
        "type": "Machine",
        "pools": ["big"],
        "key_values": {
            "HVM": ["1"],
            "MODULE": ["e1000", "ahci"],
            "mac_address": ["00:16:3e:00:00:01"],
            "labinfo.weight": ["12.5"],
            "labinfo.dimensions": ["1U"],
        },
        "excluded_families": [{"arch": "x86_64", "family": "RedHatEnterpriseLinux6", "version": "3"}],
    }
    assert {name: found[name] for name in expected} == expected
    new = client.get(f"/systems/{other}").json()
    assert (new["condition"], new.get("type")) == ("Broken", None)
    assert client.get("/groups/beaker-new").json()["members"] == ["bob"]
    assert tables_with(service, SECRET) == ["secret.power_settings"]
    then = service.end()
    # The lost answer is given again; a new request finds nothing to change.
    assert done(post(client, key="bkr-all", **files)) == first
    again = done(post(client, **files))
    assert outcomes(again) == ["unchanged", "unchanged"]
    assert again["groups"][0]["outcome"] == "unchanged"
    assert by_people(service, then) == []
    client.delete("/groups/beaker-new").raise_for_status()
    for name in (fqdn, other):
        client.delete(f"/systems/{name}").raise_for_status()


def test_errors_and_warnings__of_cells_and_columns__name_file_line_and_column(
    client: httpx.Client, machine: str, service: Running
) -> None:
    before = service.end()
    refused = post(
        client,
        systems="csv_type,fqdn,memory,status,colour\n"
        f"system,{machine},-1,automated,red\nsystem,-,1,Broken,red\n"
        f"system,{machine},1\ninventory,{machine},1,Manual,red\n",
        keys=f"csv_type,fqdn,key\nkeyvalue,{machine},a b\n",
        broken='csv_type,fqdn\nsystem,"a\n',
        empty="",
        power=table("power", POWER_COLUMNS, (machine, "", "", f"{SECRET}\n", "", "")),
    )
    kinds = "system, labinfo, keyvalue, exclude, system_pool, user_group, power, install"
    found = dict(faults(refused))
    assert found.pop("systems.csv, line 2, column status").startswith("must be ")
    assert found.pop("keys.csv, line 2, column key").startswith("must be a name: ")
    assert found == {
        "systems.csv, line 2, column memory": "must be a whole number",
        "systems.csv, line 3, column fqdn": "must be a host name",
        "systems.csv, line 4": "has 3 cells, but line 1 has 5",
        "systems.csv, line 5, column csv_type": f'"inventory" is none of {kinds}',
        "keys.csv, line 2, column key_value": "is missing, but rows of kind keyvalue require it",
        "broken.csv, line 2": "unexpected end of data",
        "empty.csv, line 1": "has no column csv_type: the first line names the columns",
        "power.csv, line 2, column power_address": "must not be empty",
        "power.csv, line 2, column power_passwd": "must not have control characters",
        "power.csv, line 2, column power_type": "must not be empty",
    }
    assert SECRET not in refused.text
    taken = done(post(client, dry_run=True, systems=f"csv_type,fqdn,vendr\nsystem,{machine},Dell\n"))
    (warning,) = taken["warnings"]
    assert warning["where"] == "systems.csv, line 1, column vendr"
    assert warning["message"].startswith("is not imported: system has no such column")
    assert outcomes(taken) == ["unchanged"]
    assert post(client).status_code == 422
    assert by_people(service, before) == []
