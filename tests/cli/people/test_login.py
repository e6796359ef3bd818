"""Passwords, logins and tokens against a real service."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click import ClickException
from click.testing import Result

from api.client import Client
from api.client.connection_file import Connection
from api.client.login_file import BadLoginFile, Logins, SavedLogin, login_file
from cli.people.device_login import device_login
from runtime.settings import Settings
from tests.cli.loopback import Answer, LoopbackServer
from tests.cli.pseudo_terminal import terminal
from tests.harness.running import Running

Run = Callable[..., Result]
# The variables of a client without a token.
NOBODY = {"LABLEDGER_TOKEN": None}
PASSWORD = "correct horse battery"
URL = "http://127.0.0.1:9"


@pytest.fixture
def alice(real: Run) -> None:
    """Set a password for alice."""
    assert real("password", "alice", "--stdin", input=f"{PASSWORD}\n").exit_code == 0


@pytest.fixture
def logged_in(real: Run, alice: None) -> None:
    result = real("login", "alice", "--stdin", input=f"{PASSWORD}\n", env=NOBODY)
    assert result.exit_code == 0, result.output


@pytest.mark.usefixtures("logged_in")
def test_login__with_the_password__acts_as_the_user(real: Run, tmp_path: Path) -> None:
    result = real("whoami", env=NOBODY)
    assert result.stdout.startswith("alice, role submitter, at http://127.0.0.1:")
    assert re.search(
        r"by the login of alice until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(UTC\)$", result.stdout.strip()
    )
    (file,) = (tmp_path / "config" / "labledger").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert PASSWORD not in file.read_text()


@pytest.mark.usefixtures("logged_in")
def test_login__token_given__wins(real: Run) -> None:
    assert json.loads(real("whoami", "--json").stdout)["user"] == "admin"


@pytest.mark.usefixtures("alice")
def test_login__wrong_password__keeps_nothing(real: Run) -> None:
    result = real("login", "alice", "--stdin", input="guess\n", env=NOBODY)
    assert (result.exit_code, result.stdout) == (1, "")
    assert real("whoami", env=NOBODY).exit_code == 1


@pytest.mark.usefixtures("logged_in")
def test_logout__logged_in__token_is_revoked_and_deleted(real: Run, tmp_path: Path) -> None:
    (kept,) = Logins.load(tmp_path / "config" / "labledger" / "logins.json").entries
    result = real("logout", env=NOBODY)
    assert result.exit_code == 0, result.output
    assert "labledger login" in real("whoami", env=NOBODY).stderr
    assert real("whoami", "--token", kept.token, env=NOBODY).exit_code == 1
    assert real("logout", env=NOBODY).exit_code == 1


@pytest.mark.usefixtures("logged_in")
def test_password__ones_own__takes_the_current_one(real: Run) -> None:
    wrong = real("password", "--stdin", input="guess\nanother long one\n", env=NOBODY)
    assert wrong.exit_code == 1
    right = real("password", "--stdin", input=f"{PASSWORD}\n{PASSWORD} staple\n", env=NOBODY)
    assert right.exit_code == 0, right.output
    again = real("login", "alice", "--stdin", input=f"{PASSWORD} staple\n", env=NOBODY)
    assert again.exit_code == 0


@pytest.mark.usefixtures("alice")
def test_login__typed_in_a_terminal__is_not_shown(service: Running, tmp_path: Path) -> None:
    variables = {name: value for name, value in service.environment.items() if name != "LABLEDGER_TOKEN"}
    variables |= {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    with terminal("login", "alice", environment=variables, columns=200) as shown:
        shown.wait_for("Password of alice")
        shown.type(f"{PASSWORD}\n")
        assert shown.end() == 0
    assert "logged in as alice" in shown.text and PASSWORD not in shown.text


def test_token__made__is_listed_used_and_revoked(real: Run) -> None:
    made = json.loads(real("token", "create", "alice", "--expires-in", "30d", "--json").stdout)
    assert real("whoami", "--token", made["token"]).stdout.startswith("alice, role submitter")
    listed = real("token", "list", "--all").stdout
    (row,) = (row for row in listed.splitlines() if made["token_id"] in row)
    assert row.split()[1:4] == ["alice", "submitter", "valid"]
    assert made["token"] not in listed
    assert real("token", "revoke", made["token_id"]).stdout == f"token {made['token_id']} revoked\n"
    assert "was already revoked" in real("token", "revoke", made["token_id"]).stdout
    refused = real("queue", "--token", made["token"])
    assert refused.exit_code == 1
    assert "--token or LABLEDGER_TOKEN" in refused.stderr


def test_submitter__without_permission__message_names_the_owner(real: Run) -> None:
    token = real("token", "create", "alice").stdout.strip()
    refused = real("user", "put", "mallory", "--token", token)
    assert refused.exit_code == 1
    assert "admin" in refused.stderr and "labledger whoami" in refused.stderr


def settings(data: Path, **given: str) -> Settings:
    return Settings.read({"LABLEDGER_DATA": str(data)}, **given)


LOGINS = Logins((SavedLogin(URL, "alice", "ll_login", "id", "2100-01-01T00:00:00Z"),))


@pytest.mark.parametrize(("folder_named", "token"), [(True, "ll_folder"), (False, "ll_login")])
def test_connection__of_a_login__comes_after_flags_and_before_the_default_folder(
    tmp_path: Path, folder_named: bool, token: str
) -> None:
    Connection(URL, "ll_folder").save(tmp_path)
    found = Connection.load(settings(tmp_path), LOGINS, folder_named=folder_named)
    assert found.token == token
    given = Connection.load(settings(tmp_path, token="ll_given"), LOGINS, folder_named=folder_named)
    assert given.token == "ll_given"


@pytest.mark.parametrize(("folder_named", "url"), [(True, "http://127.0.0.1:10"), (False, URL)])
def test_connection__login_and_folder_of_two_servers__goes_to_the_one_named_else_to_the_last_login(
    tmp_path: Path, folder_named: bool, url: str
) -> None:
    Connection("http://127.0.0.1:10", "ll_folder").save(tmp_path)
    assert Connection.load(settings(tmp_path), LOGINS, folder_named=folder_named).url == url


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://a.b/ui/jobs?x=1", "http://a.b"),
        ("http://a.b:80/prefix/ui/", "http://a.b:80/prefix"),
        ("http://ui/", "http://ui"),
    ],
)
def test_connection__address_of_a_page__is_that_of_the_server(tmp_path: Path, given: str, url: str) -> None:
    assert Connection.load(settings(tmp_path, url=given)).url == url


def whoami(run: Run, server: LoopbackServer, *arguments: str, **variables: str | None) -> str:
    """Return the token that is sent."""
    server.on("GET", "/whoami", Answer({"user": "x", "role": "admin"}))
    environment = {"LABLEDGER_URL": None, "LABLEDGER_TOKEN": None, "LABLEDGER_DATA": None}
    result = run("whoami", *arguments, env={**environment, **variables})
    assert result.exit_code == 0, result.output
    return server.asked[-1].headers["Authorization"].removeprefix("Bearer ")


def test_order__of_flags_variables_login_and_folder__is_that(
    server: LoopbackServer, run: Run, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        Connection(server.url, f"ll_{name}").save(tmp_path / name)
    login = SavedLogin(server.url, "alice", "ll_login", "id", "2100-01-01T00:00:00Z")
    Logins().with_(login).save(tmp_path / "config" / "labledger" / "logins.json")
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert whoami(run, server, "--token", "ll_flag", "--data", one) == "ll_flag"
    assert whoami(run, server, "--data", one, LABLEDGER_DATA=two, LABLEDGER_TOKEN="ll_variable") == "ll_one"
    assert whoami(run, server, "--data", one, LABLEDGER_URL="http://127.0.0.1:1") == "ll_one"
    assert whoami(run, server, LABLEDGER_TOKEN="ll_variable", LABLEDGER_DATA=two) == "ll_variable"
    assert whoami(run, server, LABLEDGER_DATA=two) == "ll_two"
    assert whoami(run, server, LABLEDGER_URL=server.url) == "ll_login"
    assert whoami(run, server) == "ll_login"


@pytest.mark.usefixtures("alice")
def test_login__overridden_by_a_token__prints_a_warning(real: Run) -> None:
    result = real("login", "alice", "--stdin", input=f"{PASSWORD}\n")
    assert "LABLEDGER_TOKEN overrides this login" in result.stderr
    assert "overrides" not in real("login", "alice", "--stdin", input=f"{PASSWORD}\n", env=NOBODY).stderr


@pytest.mark.usefixtures("logged_in")
def test_not_permitted__by_a_login__advice_is_to_log_out(real: Run) -> None:
    refused = real("user", "put", "mallory", env=NOBODY)
    assert "`labledger logout` to end the login of alice" in refused.stderr


def test_connection__of_a_login__is_where_one_goes_without_a_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("api.client.connection_file.default_data", lambda: tmp_path)
    logins = Logins((SavedLogin(URL, "alice", "ll_login", "id", "2100-01-01T00:00:00Z"),))
    assert Connection.load(settings(tmp_path), logins) == Connection(URL, "ll_login")
    assert Connection.load(settings(tmp_path, url=f"{URL}/"), logins) == Connection(URL, "ll_login")


def test_connection__of_a_login__is_for_its_server_only(tmp_path: Path) -> None:
    logins = Logins((SavedLogin(URL, "alice", "ll_login", "id", "2100-01-01T00:00:00Z"),))
    assert Connection.load(settings(tmp_path, url="http://elsewhere.example.com"), logins).token is None


def test_logins__one_for_each_server__the_last_first(tmp_path: Path) -> None:
    file = tmp_path / "new" / "logins.json"
    first, second = (SavedLogin(f"{URL}{at}", "alice", "t", "id", "2100-01-01T00:00:00Z") for at in (1, 2))
    Logins().with_(first).with_(second).with_(first).save(file)
    assert Logins.load(file).entries == (first, second)
    assert Logins.load(tmp_path / "none").entries == ()


@pytest.mark.parametrize("content", ["", "[]", '{"logins": [{"url": 1}]}'])
def test_logins__invalid_file__is_reported(tmp_path: Path, content: str) -> None:
    file = tmp_path / "logins.json"
    file.write_text(content)
    with pytest.raises(BadLoginFile):
        Logins.load(file)


def test_login_file__by_default__is_in_the_folder_of_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert login_file() == tmp_path / "labledger" / "logins.json"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert login_file() == tmp_path / ".config" / "labledger" / "logins.json"


BEGUN = {
    "device_code": "secret",
    "user_code": "ABCD-EFGH",
    "verification_uri": "https://idp.example.com/device",
    "verification_uri_complete": "https://idp.example.com/device?user_code=ABCD-EFGH",
    "expires_in_seconds": 600,
    "interval_seconds": 5,
}
SIGNED_IN = {
    "user": "carol",
    "role": "auditor",
    "token": "ll_carol",
    "token_id": "id",
    "expires_at": "2100-01-01T00:00:00Z",
}


def device_states(server: LoopbackServer, *states: str) -> list[float]:
    """Script the answers of a device flow; return the list to which the pauses of a login are added."""
    server.on("POST", "/login/device", Answer(BEGUN))
    answers = [Answer({"state": state, "login": SIGNED_IN if state == "done" else None}) for state in states]
    server.on("POST", "/login/device/token", *answers)
    return []


def test_login__sso__prints_where_to_go_and_asks_as_often_as_the_provider_allows(
    server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    pauses = device_states(server, "pending", "slow_down", "pending", "done")
    with Client(server.url) as client:
        assert device_login(client, "auditor", sleep=pauses.append) == SIGNED_IN
    assert pauses == [5, 5, 10, 10]
    sent = server.asked_for("POST", "/login/device/token")
    assert sent[0].json() == {"device_code": "secret", "role": "auditor"}
    shown = capsys.readouterr()
    assert "https://idp.example.com/device" in shown.err and "ABCD-EFGH" in shown.err
    assert "secret" not in shown.out + shown.err


def test_login__sso_and_nobody_decides__ends_when_the_code_expires(server: LoopbackServer) -> None:
    pauses = device_states(server, "pending")
    with Client(server.url) as client, pytest.raises(ClickException, match="expired"):
        device_login(client, None, sleep=pauses.append, clock=lambda: sum(pauses))
    assert sum(pauses) == 600


def test_login__sso_without_an_identity_provider__says_how_to_log_in(
    server: LoopbackServer, run: Run
) -> None:
    server.on("POST", "/login/device", Answer({"title": "Identity provider not found"}, 404))
    result = run("login", "--sso")
    assert result.stderr == "Error: this service takes passwords only; log in without --sso\n"
