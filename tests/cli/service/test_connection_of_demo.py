"""The connection file of `labledger up --demo` during its start."""

from __future__ import annotations

from pathlib import Path

from api.client.connection_file import Connection, connection_file
from cli.service.up import connection_folder, publish_connection


def test_new_demo__connection_file__is_in_the_data_folder_only_after_the_lab_is_loaded(
    tmp_path: Path,
) -> None:
    publish_connection(tmp_path)
    assert connection_folder(tmp_path, demo=False) == tmp_path
    # A start that was interrupted keeps the token for the next one.
    for token in ("ll_x", None):
        folder = connection_folder(tmp_path, demo=True)
        Connection("http://127.0.0.1:1", token).save(folder)
        assert not connection_file(tmp_path).exists()
    publish_connection(tmp_path)
    assert "ll_x" in connection_file(tmp_path).read_text("utf-8")
    assert connection_file(tmp_path).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["connection.json"]
    assert connection_folder(tmp_path, demo=True) == tmp_path
