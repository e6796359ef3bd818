"""The connection of a command, from flags, variables, the login file, and the connection file.

`up` writes the connection file into its data folder: the URL, the token, and the user of the server process.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from api.client.login_file import Logins
from domain.errors import Fault, FaultyInput, LabledgerError
from runtime.embedded.home import make_folder, write_private
from runtime.settings import Settings, default_data

NO_LOGINS = Logins()


@dataclass(frozen=True)
class Connection:
    """The URL of an API, and the token for it, None for requests without authentication.

    `token_from` is the origin of the token, for messages. `login_ends` is only set for a login. `server_uid`
    is the user of the server process, if the connection file is for this URL.
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
        """Return the connection for the settings. URL and token are found separately.

        Each comes from the settings, else from the data folder if the user named it, else from the last
        login, else from the default data folder. `folder_named` is whether the user named the folder, even
        if it is the default one. The token of a login or of a folder is only sent to the URL that it belongs
        to. Raises NoConnectionFile if the named folder has no connection file and no URL is set: a server
        that is found elsewhere would be the wrong one.
        """
        file = connection_file(settings.data)
        kept = cls._kept(file)
        named = settings.data != default_data() if folder_named is None else folder_named
        if kept is None and settings.url is None and named:
            raise NoConnectionFile(f"{file} cannot be read: is this the data folder of a `labledger up`?")
        last_login = logins.kept[0].url if logins.kept else None
        folder = kept.url if kept else None
        found = (folder or last_login) if named else (last_login or folder)
        url = (settings.url or found or f"http://127.0.0.1:{settings.port}").rstrip("/")
        is_of_folder = kept is not None and kept.url == url
        uid = kept.server_uid if kept and is_of_folder and not (settings.url and settings.token) else None
        if settings.token:
            return cls(url, settings.token, "--token or LABLEDGER_TOKEN", server_uid=uid)
        of_folder = replace(kept, token_from=str(file)) if kept and kept.token and is_of_folder else None
        login = logins.at(url)
        if login and not (named and of_folder):
            return cls(url, login.token, f"the login of {login.user}", login.expires_at, uid)
        return of_folder or cls(url, None, server_uid=uid)

    def save(self, data: Path) -> None:
        """Write the file, readable only for the owner of the data, with the user of this process.

        A token in the file stays if this connection has none.
        """
        file = connection_file(data)
        kept = self._kept(file)
        token = self.token or (kept.token if kept else None)
        make_folder(data)
        write_private(file, json.dumps({"url": self.url, "token": token, "server_uid": os.geteuid()}) + "\n")

    @classmethod
    def _kept(cls, file: Path) -> Connection | None:
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            return cls(str(content["url"]), content["token"], server_uid=content.get("server_uid"))
        except FileNotFoundError:
            return None
        except PermissionError:
            # The folder of another user is no error, because URL and token may come from elsewhere.
            return None
        except (ValueError, KeyError, TypeError):
            raise BadConnectionFile([Fault(str(file), 'must contain {"url": …, "token": …}')]) from None


def connection_file(data: Path) -> Path:
    return data / "connection.json"


class BadConnectionFile(FaultyInput):
    """The connection file cannot be used."""


class NoConnectionFile(LabledgerError):
    """No readable connection file."""
