"""Commands about CSV files of Beaker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from api.intake.beaker_columns import EXPORTED, KINDS
from api.rest.contract.inputs.beaker import ROWS
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
    file, power = tmp_path / "system.csv", tmp_path / "power.csv"
    file.write_text(f"csv_type,fqdn,location,cc\nsystem,{fqdn},rack 77,a@b.c\n")
    power.write_text(f"csv_type,fqdn,power_type\npower,{fqdn},ipmilan\n")
    before = service.end()
    shown = real("import", "beaker", str(file), str(power), "--dry-run")
    assert "rack 77" in done(shown) and "systems: 0 created, 1 changed, 0 unchanged" in shown.stdout
    assert "warning: system.csv, line 2, column cc: is not imported: no mail is sent" in shown.stderr
    assert "not imported: 1 row of kind power: power settings are checked" in shown.stderr
    assert service.events(before) == []
    file.write_bytes(b"\xff")
    refused = real("import", "beaker", str(file))
    assert refused.exit_code == 1 and "system.csv: is not UTF-8 at byte 0" in refused.stderr
    assert real("export", "beaker", "user_group", "--pool", "big").exit_code == 2


def test_columns__of_each_kind__are_the_fields_that_are_validated() -> None:
    assert {kind: set(model.model_fields) for kind, model in ROWS.items()} == {
        kind: set(declared.columns) for kind, declared in KINDS.items()
    }
    for declared in KINDS.values():
        assert set(declared.exported) <= {*declared.columns, *declared.ignored}
        assert set(declared.required) <= set(declared.columns)
