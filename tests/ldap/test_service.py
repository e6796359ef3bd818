"""A running service that syncs with a real LDAP server by itself, and when an admin asks."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import running
from tests.harness.waiting import wait_until
from tests.ldap.slapd import Slapd, group, person
from tests.pages.browser import PASSWORD, Browser


@pytest.mark.soak
def test_service__person_leaves_ldap__token_and_membership_end(
    servers: ServerPool, directory: Slapd, tmp_path: Path
) -> None:
    table = tmp_path / "groups.toml"
    table.write_text('[ldap]\nkernel = ["kernel-qe"]\n')
    settings = {**directory.settings, "LABLEDGER_GROUP_TABLE": str(table)}
    with (
        servers.databases("embedded").fresh() as database,
        running(database, **settings) as service,
    ):
        # The first sync, of the loop, is that at the start.
        wait_until(lambda: service.json("ldap", "show")["succeeded_at"], "the first sync")
        service.do("group", "put", "kernel-qe")
        service.do("user", "put", "eve")
        directory.set(group("kernel"), member=[person("ann"), person("eve")])
        planned = service.json("ldap", "sync", "--dry-run")
        assert planned["dry_run"] and planned["registered"] == ["ann"] and planned["found"] == ["eve"]
        assert "joins" in service.labledger("ldap", "sync")
        assert service.json("group", "show", "kernel-qe")["members"] == ["ann", "eve"]
        token = service.labledger("token", "create", "eve").strip()
        with service.client(token) as eve:
            assert eve.get("/jobs").status_code == 200
            directory.delete(person("eve"))
            directory.set(group("kernel"), member=[person("ann")])
            assert service.json("ldap", "sync")["left"] == ["eve"]
            assert eve.get("/jobs").status_code == 401
        assert service.json("user", "show", "eve")["ldap"] == "left"
        assert service.json("group", "show", "kernel-qe")["members"] == ["ann"]
        assert "nothing changes" in service.labledger("ldap", "sync")
        directory.stop()
        assert "LDAP cannot be read" in service.labledger("ldap", "sync", status=1)
        with service.client() as admin:
            answer = admin.post("/ldap-sync")
            assert answer.status_code == 502 and "Connection refused" in answer.json()["detail"]
            metrics = admin.get("/metrics").text
            assert "labledger_ldap_sync_failed 1.0" in metrics
            assert re.search(r"\nlabledger_ldap_sync_age_seconds [0-9.]*[1-9]", metrics)
            admin.put("/users/admin/password", json={"password": PASSWORD}).raise_for_status()
        with closing(Browser(service.url)) as browser:
            assert browser.log_in("admin", PASSWORD).status_code == 303
            page = browser.get("/ui/users/eve").text
            assert "no longer has the user" in page and "<dd>none</dd>" in page
