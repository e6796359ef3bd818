"""An import of the maximum number of systems by a real service."""

from __future__ import annotations

import time

import httpx
import pytest

from api.use_cases.import_beaker import MAX_SYSTEMS
from tests.harness.pool import ServerPool
from tests.harness.running import running
from tests.intake.beaker_lab import beaker_lab

LABS = ("lab.one.example.com", "lab.two.example.com")
SECRET = "swordfish"
IMPORT_SECONDS = 300.0


def put_names(client: httpx.Client) -> None:
    """Add the names that the files use."""
    for user in ("ada", "bob", "eve"):
        client.put(f"/users/{user}", json={"roles": ["submitter"]}).raise_for_status()
    for group in ("ops", "qa"):
        client.put(f"/groups/{group}", json={"owners": ["admin"], "members": []}).raise_for_status()
    for lab in LABS:
        client.put(f"/lab-controllers/{lab}", json={}).raise_for_status()
    client.put("/pools/net", json={"owner_group": "ops"}).raise_for_status()


@pytest.mark.soak
def test_import__of_the_maximum_number_of_systems__is_one_answer_and_changes_nothing_twice(
    servers: ServerPool,
) -> None:
    with (
        servers.databases("embedded").fresh() as database,
        running(database) as service,
        service.client() as client,
    ):
        put_names(client)
        files = beaker_lab(MAX_SYSTEMS, LABS)
        files["power"] = files["power"].replace(",root,,", f",root,{SECRET},")
        body = {"files": [{"name": name, "text": text} for name, text in files.items()]}
        for outcome in ("created", "unchanged"):
            began = time.monotonic()
            answer = client.post("/imports/beaker", json=body, timeout=IMPORT_SECONDS)
            print(f"{outcome}: {time.monotonic() - began:.1f} s")
            assert answer.status_code == 200, answer.text[:1_000]
            systems = answer.json()["systems"]
            assert len(systems) == MAX_SYSTEMS
            assert {system["outcome"] for system in systems} == {outcome}
        settings = client.get("/power-settings", params={"limit": 1}).json()["power_settings"]
        assert [each["has_secret"] for each in settings] == [True]
