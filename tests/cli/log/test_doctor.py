"""`labledger doctor` without a database."""

from __future__ import annotations

import json
from collections.abc import Callable

from click.testing import Result

from tests.harness.running import free_port

Run = Callable[..., Result]


def test_doctor__without_a_database__fails_as_other_commands_and_prints_no_report(run: Run) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    other = run("replay", "verify", env={"LABLEDGER_DATABASE_URL": f"postgresql://{nowhere}/none"})
    for arguments in (("doctor", "--json"), ("doctor", "--log", "--json")):
        for environment in ({}, {"LABLEDGER_DATABASE_URL": f"postgresql://{nowhere}/none"}):
            result = run(*arguments, env=environment)
            assert (result.exit_code, result.stdout) == (other.exit_code, "") == (1, "")
            problem = json.loads(result.stderr.splitlines()[-1])
            assert problem["title"]
            if not environment:
                assert "on the machine of the database" in problem["advice"]
