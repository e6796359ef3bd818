"""Every setting, read in one place: flags, then `LABLEDGER_*`, then defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from domain.errors import Fault, FaultyInput

PREFIX = "LABLEDGER_"
LOG_LEVELS = ("debug", "info", "warning", "error")


def default_data() -> Path:
    if os.geteuid() == 0:
        return Path("/var/lib/labledger")
    share = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(share) / "labledger"


def _folder(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _text(text: str) -> str:
    if text != text.strip() or not text:
        raise ValueError("must be a word without spaces around it")
    return text


def _whole(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text) if text.strip("-").isdecimal() else least - 1
        if not least <= number <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return parse


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 < seconds < float("inf"):
        raise ValueError("must be a number of seconds above 0")
    return seconds


def _url(*schemes: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if urlsplit(text).scheme not in schemes:
            raise ValueError(f"must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
        return text

    return parse


def _origins(text: str) -> tuple[str, ...]:
    origins = tuple(part.strip() for part in text.split(",") if part.strip())
    for origin in origins:
        if origin != "*" and (urlsplit(origin).scheme not in ("http", "https") or urlsplit(origin).path):
            raise ValueError("must be origins such as https://lab.example.com, with commas between")
    return origins


def _log_level(text: str) -> str:
    if text.lower() not in LOG_LEVELS:
        raise ValueError(f"must be one of {', '.join(LOG_LEVELS)}")
    return text.lower()


def _read_by(parse: Callable[[str], Any], about: str, *, secret: bool = False) -> dict[str, Any]:
    """A secret is not repeated when something is wrong with it."""
    return {"parse": parse, "about": about, "secret": secret}


_DATABASE = _url("postgresql", "postgres")


@dataclass(frozen=True)
class Settings:
    data: Path = field(
        default_factory=default_data,
        metadata=_read_by(_folder, "folder of the embedded PostgreSQL and the connection file"),
    )
    database_url: str | None = field(
        default=None,
        metadata=_read_by(
            _DATABASE, "database of the services; without it `up` runs its own PostgreSQL", secret=True
        ),
    )
    owner_database_url: str | None = field(
        default=None,
        metadata=_read_by(
            _DATABASE, "the same as the owner of the tables, for migrations; else as services", secret=True
        ),
    )
    url: str | None = field(
        default=None, metadata=_read_by(_url("http", "https"), "the API, for the command line")
    )
    token: str | None = field(
        default=None, metadata=_read_by(_text, "who the command line is to the API", secret=True)
    )
    host: str = field(default="127.0.0.1", metadata=_read_by(_text, "address the API listens on"))
    port: int = field(
        default=8080, metadata=_read_by(_whole(0, 65535), "port of the API; 0 lets `up` choose a free one")
    )
    api_workers: int = field(default=1, metadata=_read_by(_whole(1, 64), "processes that serve the API"))
    cors_origins: tuple[str, ...] = field(
        default=(), metadata=_read_by(_origins, "whose web pages may use the API: origins with commas, or *")
    )
    requests_per_second: int = field(
        default=1000,
        metadata=_read_by(_whole(0, 10**6), "how often one token may ask each process; 0: no bound"),
    )
    position_wait_seconds: float = field(
        default=5.0, metadata=_read_by(_seconds, "how long a read waits for its `min_position`, at most")
    )
    long_poll_seconds: float = field(
        default=60.0, metadata=_read_by(_seconds, "how long a lab controller may wait for a command, at most")
    )
    log_level: str = field(default="info", metadata=_read_by(_log_level, f"one of {', '.join(LOG_LEVELS)}"))
    consistency_seconds: float = field(
        default=10.0, metadata=_read_by(_seconds, "how often the scheduler looks for what no event announces")
    )
    ready_seconds: float = field(
        default=60.0, metadata=_read_by(_seconds, "how long `up` waits for the API to be ready")
    )
    stop_seconds: float = field(
        default=5.0, metadata=_read_by(_seconds, "how long `up` lets each process stop by itself")
    )

    @classmethod
    def read(cls, environ: Mapping[str, str] | None = None, **flags: object) -> Settings:
        """A flag that is None was not given. Everything that is wrong is told at once."""
        given, faults = {}, []
        for setting in fields(cls):
            where, raw = _raw(setting, os.environ if environ is None else environ, flags)
            try:
                if raw is not None:
                    given[setting.name] = setting.metadata["parse"](raw)
            except ValueError as error:
                shown = "" if setting.metadata["secret"] else f", not {raw!r}"
                faults.append(Fault(where, f"{error}{shown}"))
        if faults:
            raise BadSettings(faults)
        return cls(**given)

    @property
    def migration_url(self) -> str | None:
        return self.owner_database_url or self.database_url

    def environment(self) -> dict[str, str]:
        """The variables from which another process reads these very settings."""
        values = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        return {variable(name): _written(value) for name, value in values.items() if value is not None}


def _written(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def variable(name: str) -> str:
    return PREFIX + name.upper()


def _raw(
    setting: Field[Any], environ: Mapping[str, str], flags: Mapping[str, object]
) -> tuple[str, str | None]:
    """Where a setting was given, and its text. An empty variable counts as not set."""
    flag = flags.get(setting.name)
    if flag is not None:
        return f"--{setting.name.replace('_', '-')}", str(flag)
    return variable(setting.name), environ.get(variable(setting.name)) or None


class BadSettings(FaultyInput):
    """A setting is wrong."""
