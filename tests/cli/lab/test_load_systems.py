"""`lab load` of systems against a real service: new systems are added, all or none of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

from tests.harness.running import SAMPLES, Running

Run = Callable[..., Result]

REGISTERED = "arm-02.east.example.com"


def load(real: Run, file: Path, *systems: dict[str, Any]) -> Result:
    file.write_text(json.dumps({"systems": systems}))
    return real("lab", "load", str(file), "--json")


def systems_of(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    section: dict[str, Any] = json.loads(result.stdout)["sections"][-1]
    return section


def sample() -> dict[str, Any]:
    lab = json.loads((SAMPLES / "lab.json").read_text())
    return next(system for system in lab["systems"] if system["fqdn"] == REGISTERED)


def test_load__registered_system_with_other_properties__stays_as_it_is(
    real: Run, tmp_path: Path, service: Running
) -> None:
    before = service.end()
    changed = {**sample(), "memory_mb": 1234, "condition": "Broken"}
    section = systems_of(load(real, tmp_path / "lab.json", changed))
    assert section == {"section": "systems", "added": 0, "changed": 0, "kept": 1}
    assert service.events(before) == []


def test_load__several_systems_are_wrong__all_are_reported_and_none_is_stored(
    real: Run, tmp_path: Path, service: Running
) -> None:
    before = service.end()
    new = {**sample(), "fqdn": "new.east.example.com"}
    wrong = {**new, "fqdn": "b", "owner": "nobody"}, {"fqdn": "c"}
    result = load(real, tmp_path / "lab.json", sample(), new, *wrong)
    assert result.exit_code == 1
    places = {fault["where"] for fault in json.loads(result.stderr)["errors"]}
    assert places == {"systems[2].owner", "systems[3].lab_controller", "systems[3].owner"}
    assert service.events(before) == []
