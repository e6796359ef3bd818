"""The connection file that `up` writes for the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from api.client import connection_file as connection_module
from api.client.connection_file import BadConnectionFile, Connection, NoConnectionFile, connection_file
from runtime.settings import Settings

URL = "http://127.0.0.1:8080"


def settings(data: Path, **flags: object) -> Settings:
    return Settings.read({}, data=data, **flags)


def test_load__saved_before__finds_url_and_token(tmp_path: Path) -> None:
    Connection("http://127.0.0.1:9", "ll_kept").save(tmp_path)
    assert Connection.load(settings(tmp_path)) == Connection("http://127.0.0.1:9", "ll_kept")


def test_load__token_given__wins_over_the_file(tmp_path: Path) -> None:
    Connection(URL, "ll_kept").save(tmp_path)
    assert Connection.load(settings(tmp_path, token="ll_given")).token == "ll_given"


def test_load__other_url_given__does_not_send_it_the_token(tmp_path: Path) -> None:
    Connection(URL, "ll_kept").save(tmp_path)
    assert Connection.load(settings(tmp_path, url="http://elsewhere.example.com")).token is None


def test_load__no_folder_named_and_no_file__is_the_default_address_without_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "default_data", lambda: tmp_path)
    assert Connection.load(settings(tmp_path)) == Connection(URL, None)


def test_load__folder_named_without_file__says_so(tmp_path: Path) -> None:
    with pytest.raises(NoConnectionFile, match=str(tmp_path)):
        Connection.load(settings(tmp_path))
    assert Connection.load(settings(tmp_path, url=URL)) == Connection(URL, None)


def test_load__broken_file__says_which(tmp_path: Path) -> None:
    connection_file(tmp_path).write_text("[]")
    with pytest.raises(BadConnectionFile, match=r"connection\.json"):
        Connection.load(settings(tmp_path))


def test_save__file__is_for_its_owner_alone(tmp_path: Path) -> None:
    Connection(URL, "ll_kept").save(tmp_path / "new" / "data")
    assert connection_file(tmp_path / "new" / "data").stat().st_mode & 0o777 == 0o600


def test_load__url_of_the_file__knows_the_user_of_its_server(tmp_path: Path) -> None:
    Connection(URL, "ll_kept").save(tmp_path)
    assert Connection.load(settings(tmp_path)).server_uid == os.geteuid()
    assert Connection.load(settings(tmp_path, token="ll_given")).server_uid == os.geteuid()
    assert Connection.load(settings(tmp_path, url="http://elsewhere.example.com")).server_uid is None


def test_load__file_of_an_older_version__names_no_user(tmp_path: Path) -> None:
    connection_file(tmp_path).write_text('{"url": "http://127.0.0.1:8080", "token": "ll_kept"}')
    assert Connection.load(settings(tmp_path)).server_uid is None


def test_save__no_token_this_time__keeps_the_one_there(tmp_path: Path) -> None:
    Connection(URL, "ll_kept").save(tmp_path)
    Connection("http://127.0.0.1:9", None).save(tmp_path)
    assert Connection.load(settings(tmp_path)) == Connection("http://127.0.0.1:9", "ll_kept")
