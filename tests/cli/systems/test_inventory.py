"""`labledger systems export` and `import`, `system history`, with files, against a real service."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import Result

from api import client as api_client
from api.client import Unreachable, inventory_file
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
        ("a.csv", b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_import__file_of_another_kind__says_what_is_wrong(
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
            cast(api_client.Client, Client()),
            inventory_file.parts_of(body, "json"),
            lambda _, parts: parts,
        )
    assert "connection lost; the first 2 systems are stored, those from a2.east.example.com on may be" in str(
        lost.value
    )
