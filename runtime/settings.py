"""Every setting, read in one place: flags, then `LABLEDGER_*`, then defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from domain.errors import Fault, FaultyInput
from domain.job.retention import DEFAULT_TAGS, RetentionTag
from runtime import setting_values as values

PREFIX = "LABLEDGER_"
LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("people", "json")
# What `wait_seconds` may ask for.
MAX_WAIT_SECONDS: Final = 60
# The server gives up waiting for the rest of a body by itself then.
MAX_REQUEST_SECONDS: Final = 60
# The longest body of one request.
MIN_BODY_BYTES: Final = 16 * 2**20

# Who reads a setting.
UP: Final = "up"
MIGRATE: Final = "migrate"
SERVE: Final = "serve"
SCHEDULER: Final = "scheduler"
PROJECTOR: Final = "projector"
COMMANDS: Final = "commands"
FIRST_TOKEN: Final = "token first"
REBUILD: Final = "replay rebuild"
VERIFY: Final = "replay verify"
SERVICES: Final = (SERVE, SCHEDULER, PROJECTOR)


def default_data() -> Path:
    if os.geteuid() == 0:
        return Path("/var/lib/labledger")
    share = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(share) / "labledger"


def _setting(
    default: Any,
    parse: Callable[[str], Any],
    about: str,
    *readers: str,
    secret: bool = False,
    unset: str = "",
) -> Any:
    """A secret is not repeated when something is wrong with it. `unset`: what holds then, in words, where the
    default does not tell.
    """
    metadata = {"parse": parse, "about": about, "readers": readers, "secret": secret, "unset": unset}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


_DATABASE = values.url("postgresql", "postgres")
_KEPT = "what `labledger login`, else `up`, has kept"


@dataclass(frozen=True)
class Settings:
    data: Path = _setting(  # noqa: RUF009  (it makes a field)
        default_data,
        values.folder,
        "data folder of `labledger up`: its PostgreSQL, the connection file",
        UP,
        COMMANDS,
        REBUILD,
        VERIFY,
        unset="`/var/lib/labledger` for root, else `~/.local/share/labledger`",
    )
    database_url: str | None = _setting(
        None,
        _DATABASE,
        "database of the services",
        UP,
        MIGRATE,
        *SERVICES,
        FIRST_TOKEN,
        REBUILD,
        VERIFY,
        secret=True,
        unset="`up` runs its own PostgreSQL, and `replay …` takes that; the others must be told",
    )
    owner_database_url: str | None = _setting(
        None,
        _DATABASE,
        "the same database as the owner of its tables, for migrations",
        UP,
        MIGRATE,
        REBUILD,
        VERIFY,
        secret=True,
        unset="as the services",
    )
    url: str | None = _setting(None, values.url("http", "https"), "the API", COMMANDS, unset=_KEPT)
    token: str | None = _setting(
        None, values.word, "who you are to the API", COMMANDS, secret=True, unset=_KEPT
    )
    host: str = _setting("127.0.0.1", values.word, "address the API listens on", UP, SERVE)
    port: int = _setting(
        8080, values.Whole(0, 65535), "port of the API; 0 lets `up` choose a free one", UP, SERVE
    )
    api_workers: int = _setting(1, values.Whole(1, 64), "processes that serve the API", SERVE)
    cors_origins: tuple[str, ...] = _setting(
        (),
        values.origins,
        "whose web pages may use the API: origins with commas between, or *",
        SERVE,
        unset="nobody's",
    )
    proxies: tuple[values.Network, ...] = _setting(
        (),
        values.networks,
        "reverse proxies whose X-Forwarded-For tells where requests come from: addresses with commas between",
        SERVE,
        unset="none: requests come from who connects",
    )
    requests_per_second: int = _setting(
        1000,
        values.Whole(0, 10**6),
        "how many requests a second one user, or one lab controller, may send to each process that serves; "
        "0: no bound",
        SERVE,
    )
    retention_tags: tuple[RetentionTag, ...] = _setting(
        DEFAULT_TAGS,
        values.retention_tags,
        "retention tags of jobs, with commas between: NAME:DAYS, where 0 days are for ever, or "
        "NAME:DAYS:product for jobs that name a product; the first is that of jobs without a tag; "
        "nothing is deleted by them yet",
        SERVE,
    )
    max_log_bytes_per_day: int = _setting(
        2 * 2**30,
        values.Whole(0, 2**50),
        "quota of each submitter: bytes of log on one day (UTC); 0: none",
        SERVE,
    )
    max_unfinished_recipes: int = _setting(
        20_000,
        values.Whole(0, 10**9),
        "quota of each submitter: recipes that have not finished; 0: none",
        SERVE,
    )
    max_live_tokens: int = _setting(
        100,
        values.Whole(0, 10**9),
        "quota of each user: tokens that neither were revoked nor expired, those of lab controllers apart; "
        "0: none",
        SERVE,
    )
    max_requests_under_way: int = _setting(
        256,
        values.Whole(1, 10**6),
        "maximum number of requests of one user, or lab controller, under way in each process that serves",
        SERVE,
    )
    max_waiting_reads: int = _setting(
        64,
        values.Whole(1, 10**6),
        "maximum number of reads of one user, or lab controller, that wait for their `min_position`",
        SERVE,
    )
    max_user_body_bytes: int = _setting(
        32 * 2**20,
        values.Whole(MIN_BODY_BYTES, 2**40),
        "maximum number of bytes of bodies of one user under way in each process that serves",
        SERVE,
    )
    max_body_bytes: int = _setting(
        128 * 2**20,
        values.Whole(MIN_BODY_BYTES, 2**40),
        "maximum number of bytes of all bodies under way in each process that serves",
        SERVE,
    )
    position_wait_seconds: float = _setting(
        5.0, values.seconds, "how long a read waits for its `min_position`, at most", SERVE
    )
    long_poll_seconds: float = _setting(
        60.0,
        values.seconds_upto(MAX_WAIT_SECONDS),
        "how long a lab controller may wait for a command, at most",
        SERVE,
    )
    request_seconds: float = _setting(
        20.0,
        values.seconds_upto(MAX_REQUEST_SECONDS),
        "how long a client may take for the head of a request, each 64 KiB of its body, "
        "and to take as much of the answer",
        SERVE,
    )
    keepalive_seconds: float = _setting(
        75.0, values.seconds, "how long a connection may be idle between requests", SERVE
    )
    log_level: str = _setting(
        "info", values.one_of(*LOG_LEVELS), f"least level logged: {', '.join(LOG_LEVELS)}", UP, *SERVICES
    )
    log_format: str | None = _setting(
        None,
        values.one_of(*LOG_FORMATS),
        "how it is logged: for `people`, or `json`, one object a line",
        UP,
        *SERVICES,
        unset="`people` on a terminal, else `json`",
    )
    access_log: bool | None = _setting(
        None,
        values.yes_or_no,
        "whether each request is logged: yes or no",
        UP,
        SERVE,
        unset="no under `up`, else yes",
    )
    lease_seconds: float = _setting(
        10.0, values.seconds_from(3), "how long a scheduler that hangs keeps others from deciding", SCHEDULER
    )
    consistency_seconds: float = _setting(
        10.0, values.seconds, "how often the scheduler looks for what no event announces", SCHEDULER
    )
    ready_seconds: float = _setting(
        60.0, values.seconds, "how long `up` waits for everything to be ready while nothing moves", UP
    )
    stop_seconds: float = _setting(
        10.0,
        values.seconds,
        "how long a process may take to finish what it is in when told to stop",
        UP,
        SERVE,
    )

    traceback: bool = _setting(
        False,
        values.yes_or_no,
        "whether a failure that nobody foresaw shows where it happened: yes or no",
        COMMANDS,
        unset="no",
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
        found = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        return {variable(name): values.written(value) for name, value in found.items() if value is not None}


def require_url(database_url: str | None) -> str:
    """Return the URL of the database, which each part but `up` needs. Raises BadSettings without one."""
    if database_url is None:
        raise BadSettings([Fault(variable("database_url"), "must be set")])
    return database_url


def variable(name: str) -> str:
    return PREFIX + name.upper()


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _raw(
    setting: Field[Any], environ: Mapping[str, str], flags: Mapping[str, object]
) -> tuple[str, str | None]:
    """Where a setting was given, and its text. An empty variable counts as not set."""
    given = flags.get(setting.name)
    if given is not None:
        return flag(setting.name), str(given)
    return variable(setting.name), environ.get(variable(setting.name)) or None


class BadSettings(FaultyInput):
    """A setting is wrong."""
