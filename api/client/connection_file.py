"""The connection file: `up` leaves URL and token in the data folder, the command line finds them there."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from api.embedded.home import make_folder, write_private
from api.settings import Settings, default_data
from domain.errors import Fault, FaultyInput, LabledgerError


@dataclass(frozen=True)
class Connection:
    """How to reach an API; without a token as nobody in particular."""

    url: str
    token: str | None

    @classmethod
    def load(cls, settings: Settings) -> Connection:
        """What flags and variables say wins over the file, each of the two for itself.

        The file's token is never sent to a URL that is not the file's. Raises NoConnectionFile where a folder
        was named that has none, and no URL: a server found elsewhere would not be the one that was meant.
        """
        file = connection_file(settings.data)
        kept = cls._kept(file)
        if kept is None and settings.url is None and settings.data != default_data():
            raise NoConnectionFile(f"{file} cannot be read: is this the data folder of a `labledger up`?")
        url = settings.url or (kept.url if kept else f"http://127.0.0.1:{settings.port}")
        token = kept.token if kept and kept.url == url else None
        return cls(url, settings.token or token)

    def save(self, data: Path) -> None:
        """Readable by the owner of the data only. A token already there stays if this brings none."""
        file = connection_file(data)
        kept = self._kept(file)
        token = self.token or (kept.token if kept else None)
        make_folder(data)
        write_private(file, json.dumps({**asdict(self), "token": token}) + "\n")

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
