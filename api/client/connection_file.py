"""Which server is asked, and as whom: by flags and variables, the login file, and the connection file.

`up` leaves URL and token in the connection file of its data folder.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from api.client.login_file import Logins
from api.embedded.home import make_folder, write_private
from api.settings import Settings, default_data
from domain.errors import Fault, FaultyInput, LabledgerError

NO_LOGINS = Logins()


@dataclass(frozen=True)
class Connection:
    """How to reach an API; without a token as nobody in particular. `token_from` is for people."""

    url: str
    token: str | None
    token_from: str = field(default="", compare=False)

    @classmethod
    def load(cls, settings: Settings, logins: Logins = NO_LOGINS) -> Connection:
        """What flags and variables say wins over logins, they over the file, each of the two for itself.

        The token of a login or of a connection file is never sent to a URL that is not its own.
        NoConnectionFile is raised where a folder was named that has none, and no URL: a server that is found
        elsewhere would not be the one that was meant.
        """
        file = connection_file(settings.data)
        kept = cls._kept(file)
        if kept is None and settings.url is None and settings.data != default_data():
            raise NoConnectionFile(f"{file} cannot be read: is this the data folder of a `labledger up`?")
        last_login = logins.kept[0].url if logins.kept else None
        own = kept.url if kept else last_login or f"http://127.0.0.1:{settings.port}"
        url = (settings.url or own).rstrip("/")
        if settings.token:
            return cls(url, settings.token, "--token or LABLEDGER_TOKEN")
        if login := logins.at(url):
            return cls(url, login.token, f"the login of {login.user} until {login.expires_at}")
        token = kept.token if kept and kept.url == url else None
        return cls(url, token, str(file) if token else "")

    def save(self, data: Path) -> None:
        """Readable by the owner of the data only. A token already there stays if this brings none."""
        file = connection_file(data)
        kept = self._kept(file)
        token = self.token or (kept.token if kept else None)
        make_folder(data)
        write_private(file, json.dumps({"url": self.url, "token": token}) + "\n")

    @classmethod
    def _kept(cls, file: Path) -> Connection | None:
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            return cls(str(content["url"]), content["token"])
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
