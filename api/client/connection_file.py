"""The server and the user of a command, from flags, variables, the login file, and the connection file.

`up` leaves URL, token and its user in the connection file of its data folder.
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
    """How to reach an API; without a token as nobody in particular.

    `token_from` is for people; `login_ends` is only known of a login; `server_uid` is the user of the server,
    where the connection file names this URL.
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
        """What was said wins over what was kept: URL and token each for itself, then a folder that was named,
        then the last login, and the default folder where none of them is.

        `folder_named` is whether somebody said which folder, also where it is the default one. The token of a
        login or of a folder is never sent to a URL that is not its own. NoConnectionFile is raised where a
        folder was named that has none, and no URL: a server that is found elsewhere would not be the one that
        was meant.
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
        """Write the file for the owner of the data only, with the user of this process as the server's.

        A token already there stays if this brings none.
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
            # Somebody else's data, which is no fault of one who brings URL and token along.
            return None
        except (ValueError, KeyError, TypeError):
            raise BadConnectionFile([Fault(str(file), 'must hold {"url": …, "token": …}')]) from None


def connection_file(data: Path) -> Path:
    return data / "connection.json"


class BadConnectionFile(FaultyInput):
    """The connection file cannot be used."""


class NoConnectionFile(LabledgerError):
    """There is no connection file that could be read."""
