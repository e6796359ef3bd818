"""The login file: tokens that `labledger login` saves, one for each server and sent only to that server."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from domain.errors import Fault, FaultyInput
from runtime.embedded.home import make_folder, write_private


@dataclass(frozen=True)
class SavedLogin:
    """A token of a user, issued by the server at this URL."""

    url: str
    user: str
    token: str
    token_id: str
    expires_at: str


@dataclass(frozen=True)
class Logins:
    """All logins of a user, latest first."""

    entries: tuple[SavedLogin, ...] = ()

    @classmethod
    def load(cls, file: Path | None = None) -> Logins:
        file = file or login_file()
        try:
            rows = json.loads(file.read_text(encoding="utf-8"))["logins"]
            return cls(tuple(SavedLogin(**row) for row in rows))
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return cls()
        except (ValueError, KeyError, TypeError):
            raise BadLoginFile(
                [Fault(str(file), 'must contain {"logins": […]}; delete it to start without logins')]
            ) from None

    def at(self, url: str) -> SavedLogin | None:
        return next((login for login in self.entries if login.url == url), None)

    def with_(self, login: SavedLogin) -> Logins:
        return Logins((login, *self.without(login.url).entries))

    def without(self, url: str) -> Logins:
        return Logins(tuple(login for login in self.entries if login.url != url))

    def save(self, file: Path | None = None) -> Path:
        """Write the file, readable only for its owner."""
        file = file or login_file()
        make_folder(file.parent)
        rows: list[dict[str, Any]] = [asdict(login) for login in self.entries]
        write_private(file, json.dumps({"logins": rows}, indent=1) + "\n")
        return file


def config_folder() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "labledger"


def login_file() -> Path:
    return config_folder() / "logins.json"


class BadLoginFile(FaultyInput):
    """The login file cannot be used."""
