"""URL and token of a command, from options, environment, logins, or the file that `labledger up` writes."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from api.client.login_file import Logins
from domain.errors import Fault, FaultyInput, LabledgerError
from runtime.embedded.home import make_folder, write_private
from runtime.settings import Settings, default_data

NO_LOGINS = Logins()
# The path of a page, but not the host `ui`.
_PAGE = re.compile(r"(?<=[^:/])/ui(/.*)?$")


@dataclass(frozen=True)
class Connection:
    """The URL of a server, and the token for it, None for requests without authentication.

    `token_from` names the source of the token in messages. `login_ends` is the expiry of the token if it is
    from the login file. `server_uid` is the user id of the server process, from the file.
    """

    url: str
    token: str | None
    token_from: str = field(default="", compare=False)
    login_ends: str | None = field(default=None, compare=False)
    server_uid: int | None = field(default=None, compare=False)

    @classmethod
    def load(
        cls, settings: Settings, logins: Logins = NO_LOGINS, *, folder_named: bool | None = None
    ) -> Connection:
        """Return the connection. Its URL and its token may come from different sources.

        The order of both is: settings, data folder if the user named it, logins, default data folder. The URL
        of the logins is that of the latest one. A token of a login or folder is used only with its own URL.
        `folder_named`: whether the user named the folder, even if it is the default one. Raises
        NoConnectionFile if the named folder has no connection file and no URL is set, because any other
        server would be the wrong one.
        """
        file = connection_file(settings.data)
        saved = cls._read(file)
        is_named = settings.data != default_data() if folder_named is None else folder_named
        if saved is None and settings.url is None and is_named:
            raise NoConnectionFile(f"{file} cannot be read: is this the data folder of a `labledger up`?")
        login_url = logins.entries[0].url if logins.entries else None
        folder_url = saved.url if saved else None
        saved_url = (folder_url or login_url) if is_named else (login_url or folder_url)
        url = _of_api(settings.url or saved_url or f"http://127.0.0.1:{settings.port}")
        is_of_folder = saved is not None and saved.url == url
        uid = saved.server_uid if saved and is_of_folder and not (settings.url and settings.token) else None
        if settings.token:
            return cls(url, settings.token, "--token or LABLEDGER_TOKEN", server_uid=uid)
        of_folder = replace(saved, token_from=str(file)) if saved and saved.token and is_of_folder else None
        login = logins.at(url)
        if login and not (is_named and of_folder):
            return cls(url, login.token, f"the login of {login.user}", login.expires_at, uid)
        return of_folder or cls(url, None, server_uid=uid)

    def save(self, data: Path) -> None:
        """Write the file, readable only for its owner, with the user id of this process as `server_uid`.

        If this connection has no token, the token in the file stays.
        """
        file = connection_file(data)
        saved = self._read(file)
        token = self.token or (saved.token if saved else None)
        make_folder(data)
        write_private(file, json.dumps({"url": self.url, "token": token, "server_uid": os.geteuid()}) + "\n")

    @classmethod
    def _read(cls, file: Path) -> Connection | None:
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            return cls(str(content["url"]), content["token"], server_uid=content.get("server_uid"))
        except FileNotFoundError:
            return None
        except PermissionError:
            # The folder may belong to another user; URL and token may have other sources.
            return None
        except (ValueError, KeyError, TypeError):
            raise BadConnectionFile([Fault(str(file), 'must contain {"url": …, "token": …}')]) from None


def _of_api(url: str) -> str:
    """Return the URL of the server, also for the address of one of its pages."""
    return _PAGE.sub("", url).rstrip("/")


def connection_file(data: Path) -> Path:
    return data / "connection.json"


class BadConnectionFile(FaultyInput):
    """The connection file cannot be used."""


class NoConnectionFile(LabledgerError):
    """No readable connection file."""
