"""`labledger replay` with an unusable database: the message names the database and the cause."""

from __future__ import annotations

import psycopg.errors
import pytest
from click.testing import CliRunner, Result

from cli import main
from projections.rebuild.rebuild import Rebuild
from runtime.embedded.ports import any_free
from tests.harness.databases import TestDatabase


def replay(database_url: str, *words: str) -> Result:
    return CliRunner(env={"LABLEDGER_DATABASE_URL": database_url}).invoke(main, ["replay", *words])


@pytest.mark.parametrize("words", [("verify",), ("rebuild",), ("rebuild", "--check")])
def test_replay__no_server__names_the_address(words: tuple[str, ...]) -> None:
    port = any_free()
    result = replay(f"postgresql://somebody@127.0.0.1:{port}/labledger", *words)
    assert result.exit_code == 1
    assert "127.0.0.1" in result.output and str(port) in result.output
    assert "LABLEDGER_DATABASE_URL" in result.output


@pytest.mark.parametrize("words", [("rebuild",), ("rebuild", "--check")])
def test_rebuild__disk_is_full__message_names_the_cause(
    words: tuple[str, ...], database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(_: Rebuild) -> int:
        raise psycopg.errors.DiskFull("could not extend file: No space left on device")

    monkeypatch.setattr(Rebuild, "log_end", no_room)
    result = replay(database.owner_url, *words)
    assert result.exit_code == 1
    assert "No space left on device" in result.output
    assert "LABLEDGER_DATABASE_URL" not in result.output
