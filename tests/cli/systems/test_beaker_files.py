"""Commands about CSV files of Beaker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from api.intake.beaker_columns import EXPORTED, KINDS
from api.rest.contract.inputs.beaker import ROWS
from tests.cli.loopback import Answer, LoopbackServer
from tests.harness.running import Running

Run = Callable[..., Result]


def done(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


def test_export__of_every_kind_imported_again__changes_nothing(
    real: Run, tmp_path: Path, service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {kind: tmp_path / f"{kind}.csv" for kind in EXPORTED}
    for kind, file in files.items():
        assert done(real("export", "beaker", kind, str(file))) == f"exported to {file}\n"
    monkeypatch.setattr("api.client.calls.PAGE_SIZE", 2)
    pages = tmp_path / "pages.csv"
    done(real("export", "beaker", "system", str(pages)))
    assert pages.read_bytes() == files["system"].read_bytes()
    before = service.end()
    text = done(real("import", "beaker", *map(str, files.values())))
    assert text.startswith("systems: 0 created, 0 changed, ") and "groups: 0 created, 0 changed, " in text
    assert service.events(before) == []


def test_import__dry_run__shows_the_changes_warnings_and_what_is_left_out(
    real: Run, tmp_path: Path, service: Running
) -> None:
    fqdn = "arm-02.east.example.com"
    file, install = tmp_path / "system.csv", tmp_path / "install.csv"
    file.write_text(f"csv_type,fqdn,location,cc\nsystem,{fqdn},rack 77,a@b.c\n")
    install.write_text(f"csv_type,fqdn,arch\ninstall,{fqdn},x86_64\n")
    before = service.end()
    shown = real("import", "beaker", str(file), str(install), "--dry-run")
    assert "rack 77" in done(shown) and "systems: 0 created, 1 changed, 0 unchanged" in shown.stdout
    assert "warning: system.csv, line 2, column cc: is not imported: mail about a system" in shown.stderr
    assert "not imported: 1 row of kind install: systems have no install options" in shown.stderr
    assert service.events(before) == []
    # An import counts: a lab has thousands of properties.
    assert done(real("import", "beaker", str(file))).splitlines() == [
        "systems: 0 created, 1 changed, 0 unchanged"
    ]
    file.write_bytes(b"\xff")
    refused = real("import", "beaker", str(file))
    assert refused.exit_code == 1 and "system.csv: is not UTF-8 at byte 0" in refused.stderr
    assert real("export", "beaker", "user_group", "--pool", "big").exit_code == 2


def test_power__imported_and_exported__is_there_without_its_secret(
    real: Run, tmp_path: Path, service: Running
) -> None:
    fqdn = "arm-02.east.example.com"
    header = "csv_type,fqdn,power_address,power_user,power_passwd,power_id,power_type"
    file = tmp_path / "power.csv"
    file.write_text(f"{header}\npower,{fqdn},bmc-arm-02,root,hush-hush,4,apc_snmp\n")
    for arguments in (("--dry-run",), ("--json",), ()):
        shown = real("import", "beaker", str(file), *arguments)
        assert "hush-hush" not in done(shown) + shown.stderr
    assert "systems: 0 created, 0 changed, 1 unchanged" in shown.stdout
    exported = done(real("export", "beaker", "power", "--lab-controller", "lab.east.example.com"))
    assert f"power,{fqdn},bmc-arm-02,root,,4,apc_snmp" in exported.splitlines()
    assert "bmc-arm-02" not in done(
        real("export", "beaker", "power", "--lab-controller", "lab.west.example.com")
    )
    assert "only the present power settings exist" in real("export", "beaker", "power", "--as-of", "1").output
    before = service.end()
    file.write_text(exported)
    assert " 0 changed, " in done(real("import", "beaker", str(file)))
    assert service.events(before) == []
    done(real("system", "power", "unset", fqdn))


def test_import__a_partition_fails__prints_its_systems_and_exits_with_1(
    run: Run, server: LoopbackServer, tmp_path: Path
) -> None:
    failed = {"fqdn": "b", "type": "about:blank", "title": "Conflict", "status": 409, "detail": "busy"}
    systems = [{"fqdn": "a", "status": 200, "outcome": "changed", "changes": []}, failed]
    answer = {"position": 7, "dry_run": False, "systems": systems, "groups": [], "warnings": []}
    server.on("POST", "/imports/beaker", Answer({**answer, "not_imported": []}))
    file = tmp_path / "system.csv"
    file.write_text("csv_type,fqdn\nsystem,a\nsystem,b\n")
    result = run("import", "beaker", str(file))
    assert result.exit_code == 1
    assert "not imported: busy" in result.output
    assert "systems: 0 created, 1 changed, 0 unchanged, 1 not imported" in result.output


def test_columns__of_each_kind__are_the_fields_that_are_validated() -> None:
    assert {kind: set(model.model_fields) for kind, model in ROWS.items()} == {
        kind: set(declared.columns) for kind, declared in KINDS.items()
    }
    for declared in KINDS.values():
        assert set(declared.exported) <= {*declared.columns, *declared.ignored}
        assert set(declared.required) <= set(declared.columns)
