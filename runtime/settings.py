"""All settings: from flags, otherwise from environment variables `LABLEDGER_*`, otherwise defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from domain.errors import Fault, FaultyInput
from domain.job.retention_tags import DEFAULT_TAGS, RetentionTag
from domain.notifications.kinds import DEFAULT_KINDS
from runtime import setting_values as values

PREFIX = "LABLEDGER_"
LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("people", "json")
# Maximum of the request parameter `wait_seconds`.
MAX_WAIT_SECONDS: Final = 60
# The HTTP server stops waiting for the rest of a body after this time.
MAX_REQUEST_SECONDS: Final = 60
MAX_ID: Final = 2**30
# Minimum of both limits on bodies: the maximum length of the body of one request.
MIN_BODY_BYTES: Final = 16 * 2**20

# The commands that read a setting.
UP: Final = "up"
MIGRATE: Final = "migrate"
SERVE: Final = "serve"
SCHEDULER: Final = "scheduler"
PROJECTOR: Final = "projector"
NOTIFIER: Final = "notifier"
COMMANDS: Final = "commands"
FIRST_TOKEN: Final = "token first"
REBUILD: Final = "replay rebuild"
VERIFY: Final = "replay verify"
DOCTOR: Final = "doctor"
SERVICES: Final = (SERVE, SCHEDULER, PROJECTOR, NOTIFIER)


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
    """Return the field of a setting.

    Messages omit the value of a `secret`. `unset` describes a default that its value does not explain.
    """
    metadata = {"parse": parse, "about": about, "readers": readers, "secret": secret, "unset": unset}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


_DATABASE = values.url("postgresql", "postgres")
_CONNECTION = (
    "from the data folder if you set it, else from `labledger login`, else from the default data folder"
)


@dataclass(frozen=True)
class Settings:
    data: Path = _setting(  # noqa: RUF009  (it makes a field)
        default_data,
        values.path,
        "data folder of `labledger up`, whose server or database the other commands use",
        *(UP, COMMANDS, REBUILD, VERIFY, DOCTOR),
        unset="`/var/lib/labledger` for root, else `~/.local/share/labledger`",
    )
    database_url: str | None = _setting(
        None,
        _DATABASE,
        "URL of the database of the services",
        *(UP, MIGRATE, *SERVICES, FIRST_TOKEN, REBUILD, VERIFY, DOCTOR),
        secret=True,
        unset="`up` runs its own PostgreSQL, which `replay …` uses too; the others require it",
    )
    owner_database_url: str | None = _setting(
        None,
        _DATABASE,
        "URL of the same database as the owner of its tables, for migrations",
        *(UP, MIGRATE, REBUILD, VERIFY, DOCTOR),
        secret=True,
        unset="the URL of the services",
    )
    url: str | None = _setting(
        None, values.url("http", "https"), "URL of the API", COMMANDS, unset=_CONNECTION
    )
    token: str | None = _setting(
        None, values.word, "access token for the API", COMMANDS, secret=True, unset=_CONNECTION
    )
    host: str = _setting("127.0.0.1", values.word, "address the API listens on", UP, SERVE)
    port: int = _setting(
        8080, values.Integer(0, 65535), "port of the API; 0: `up` chooses a free one", UP, SERVE
    )
    api_workers: int = _setting(1, values.Integer(1, 64), "number of processes that serve the API", SERVE)
    cors_origins: tuple[str, ...] = _setting(
        (),
        values.origins,
        "origins of web pages that may use the API, separated by commas, or *",
        SERVE,
        unset="none",
    )
    proxies: tuple[values.Network, ...] = _setting(
        (),
        values.networks,
        "addresses of reverse proxies whose X-Forwarded-For is trusted, separated by commas",
        SERVE,
        unset="none: the address of a client is that of its connection",
    )
    address_days: int = _setting(
        0,
        values.Integer(0, 3650),
        "number of days for which the address of the client of each change is kept, for admins and auditors; "
        "0: none is kept",
        SERVE,
        unset="0",
    )
    record_admin_reads: bool = _setting(
        False,
        values.yes_or_no,
        "record what admins read, as what auditors read: yes or no",
        SERVE,
        unset="no",
    )
    requests_per_second: int = _setting(
        1000,
        values.Integer(0, 10**6),
        "maximum number of requests per second of one user, or lab controller; 0: unlimited",
        SERVE,
    )
    items_per_second: int = _setting(
        1000,
        values.Integer(0, 10**6),
        "maximum number of items per second in updates and registrations of one user, or lab controller; "
        "0: unlimited",
        SERVE,
    )
    retention_tags: tuple[RetentionTag, ...] = _setting(
        DEFAULT_TAGS,
        values.retention_tags,
        "retention tags of jobs, separated by commas: NAME:DAYS, or NAME:DAYS:product for jobs that name a "
        "product; the first is the default of jobs; the results and logs of a job are deleted that number of "
        "days after its end, with 0 never",
        SERVE,
    )
    max_log_bytes_per_day: int = _setting(
        2 * 2**30,
        values.Integer(0, 2**50),
        "quota of each submitter: bytes of log per day (UTC); 0: unlimited",
        SERVE,
    )
    max_unfinished_recipes: int = _setting(
        20_000, values.Integer(0, 10**9), "quota of each submitter: unfinished recipes; 0: unlimited", SERVE
    )
    max_live_tokens: int = _setting(
        100,
        values.Integer(0, 10**9),
        "quota of each user: tokens that were not revoked and have not expired, without those of lab "
        "controllers; 0: unlimited",
        SERVE,
    )
    max_requests_under_way: int = _setting(
        256,
        values.Integer(1, 10**6),
        "maximum number of concurrent requests of one user, or lab controller",
        SERVE,
    )
    max_waiting_reads: int = _setting(
        64,
        values.Integer(1, 10**6),
        "maximum number of reads of one user, or lab controller, that wait for their `min_position`",
        SERVE,
    )
    max_user_body_bytes: int = _setting(
        32 * 2**20,
        values.Integer(MIN_BODY_BYTES, 2**40),
        "maximum number of bytes of concurrent bodies of one user",
        SERVE,
    )
    max_body_bytes: int = _setting(
        128 * 2**20,
        values.Integer(MIN_BODY_BYTES, 2**40),
        "maximum number of bytes of all concurrent bodies",
        SERVE,
    )
    position_wait_seconds: float = _setting(
        5.0, values.seconds, "maximum time that a read waits for its `min_position`", SERVE
    )
    long_poll_seconds: float = _setting(
        60.0,
        values.seconds_upto(MAX_WAIT_SECONDS),
        "maximum time that a lab controller may wait for a command",
        SERVE,
    )
    request_seconds: float = _setting(
        20.0,
        values.seconds_upto(MAX_REQUEST_SECONDS),
        "maximum time for a client to send the head of a request, to send each 64 KiB of its body, "
        "and to read each 64 KiB of the answer",
        SERVE,
    )
    keepalive_seconds: float = _setting(
        75.0, values.seconds, "maximum idle time of a connection between requests", SERVE
    )
    log_level: str = _setting(
        "info", values.one_of(*LOG_LEVELS), f"minimum level to log: {', '.join(LOG_LEVELS)}", UP, *SERVICES
    )
    log_format: str | None = _setting(
        None,
        values.one_of(*LOG_FORMATS),
        "format of the log: `people`, or `json` (one object per line)",
        UP,
        *SERVICES,
        unset="`people` on a terminal, else `json`",
    )
    access_log: bool | None = _setting(
        None, values.yes_or_no, "log each request: yes or no", UP, SERVE, unset="no under `up`, else yes"
    )
    lease_seconds: float = _setting(
        10.0, values.seconds_from(3), "time after which a hanging scheduler loses its lease", SCHEDULER
    )
    consistency_seconds: float = _setting(
        10.0, values.seconds, "interval of the scheduler's consistency loop", SCHEDULER
    )
    id_start: int = _setting(
        1,
        values.Integer(1, MAX_ID),
        "first id of the jobs, recipe sets, recipes and tasks of a new database",
        UP,
        MIGRATE,
    )
    id_step: int = _setting(
        1, values.Integer(1, MAX_ID), "difference of one such id to the next, in a new database", UP, MIGRATE
    )
    ready_seconds: float = _setting(
        60.0, values.seconds, "time without progress after which `up` stops waiting for readiness", UP
    )
    stop_seconds: float = _setting(
        10.0,
        values.seconds,
        "maximum time for a process to finish its work when it is stopped",
        *(UP, SERVE, SCHEDULER),
    )

    group_table: Path | None = _setting(  # noqa: RUF009  (it makes a field)
        None,
        values.path,
        "TOML file with the groups for each group of the identity provider and of LDAP",
        SERVE,
        unset="memberships are changed only by people",
    )
    ldap_urls: tuple[str, ...] = _setting(
        (),
        values.ldap_servers,
        "LDAP servers of one directory, tried in turn, separated by commas: ldap://HOST:PORT with STARTTLS, "
        "ldaps://… with TLS, or ldap-plain://… without",
        SERVE,
        unset="no LDAP",
    )
    ldap_bind_dn: str | None = _setting(
        None, values.word, "DN as which the service reads LDAP", SERVE, unset="anonymous"
    )
    ldap_password: str | None = _setting(None, str, "password of that DN", SERVE, secret=True, unset="none")
    ldap_user_base: str | None = _setting(
        None, values.word, "DN below which the people are in LDAP", SERVE, unset="required with LDAP"
    )
    ldap_user_filter: str = _setting(
        "(objectClass=person)", values.word, "filter of the people in LDAP", SERVE
    )
    ldap_user_name: str = _setting("uid", values.ldap_attribute, "attribute with the name of the user", SERVE)
    ldap_group_base: str | None = _setting(
        None, values.word, "DN below which the groups are in LDAP", SERVE, unset="required with LDAP"
    )
    ldap_group_filter: str = _setting(
        "(cn=*)",
        values.word,
        "filter of the groups in LDAP",
        SERVE,
    )
    ldap_group_name: str = _setting(
        "cn", values.ldap_attribute, "attribute with the name of a group, as the group table has it", SERVE
    )
    ldap_members: tuple[str, ...] = _setting(
        ("member", "uniqueMember", "memberUid"),
        values.ldap_attributes,
        "attributes with the members of a group, by DN or by the name of the user, separated by commas",
        SERVE,
    )
    ldap_sync_seconds: float = _setting(900.0, values.seconds_from(10), "interval of the LDAP sync", SERVE)
    ldap_timeout_seconds: int = _setting(
        10, values.Integer(1, 300), "maximum time for each answer of an LDAP server", SERVE
    )
    ldap_max_removed_percent: int = _setting(
        20,
        values.Integer(0, 100),
        "share of the people of LDAP that may lose rights in one sync; 5 people always may",
        SERVE,
    )
    oidc_issuer: str | None = _setting(
        None,
        values.provider_url,
        "URL of the OpenID Connect provider at which people sign in; needs the client id and the web URL",
        SERVE,
        unset="people log in with passwords only",
    )
    oidc_client_id: str | None = _setting(
        None, values.word, "id of this service at the provider", SERVE, unset="none"
    )
    oidc_client_secret: str | None = _setting(
        None,
        values.word,
        "secret of this service at the provider",
        SERVE,
        secret=True,
        unset="it is a public client",
    )
    oidc_name: str | None = _setting(
        None, str, "name of the provider on the login page", SERVE, unset="the host of the issuer"
    )
    oidc_scopes: tuple[str, ...] = _setting(
        ("openid", "profile"), values.scopes, "scopes to ask the provider for, separated by commas", SERVE
    )
    oidc_user_claim: str = _setting(
        "preferred_username", values.word, "claim that has the name of the user", SERVE
    )
    oidc_groups_claim: str = _setting(
        "groups", values.word, "claim that has the groups of the user, for the group table", SERVE
    )
    oidc_creates_users: bool = _setting(
        True,
        values.yes_or_no,
        "create a user with the role submitter at the first sign-in of a person: yes or no",
        SERVE,
        unset="yes",
    )
    oidc_admins: tuple[str, ...] = _setting(
        (),
        values.user_names,
        "names of admins who may sign in although no sign-in has created them, separated by commas",
        SERVE,
        unset="none",
    )
    oidc_device_admins: bool = _setting(
        False,
        values.yes_or_no,
        "let `labledger login --sso` get tokens with the role admin: yes or no",
        SERVE,
        unset="no",
    )
    smtp_url: str | None = _setting(
        None,
        values.mail_server,
        "mail server of notifications: smtp://USER:PASSWORD@HOST:PORT with STARTTLS, smtps://… with TLS, or "
        "smtp-plain://… without; user and password may be omitted",
        NOTIFIER,
        secret=True,
        unset="no mail is sent",
    )
    mail_from: str = _setting(
        "labledger@localhost", values.mail_address, "address from which notifications come by mail", NOTIFIER
    )
    notifications: tuple[str, ...] = _setting(
        DEFAULT_KINDS,
        values.notification_kinds,
        "kinds of notification that people get by mail unless they choose others, separated by commas, or "
        "`none`; `lab-silent` only admins",
        SERVE,
        NOTIFIER,
    )
    end_near_seconds: float = _setting(
        1800.0,
        values.seconds,
        "how long before the end of a kept system its user is notified, but not before half of the time",
        NOTIFIER,
    )
    web_url: str | None = _setting(
        None,
        values.url("http", "https"),
        "URL of the service for people, for links in notifications and for the way back from the provider",
        NOTIFIER,
        SERVE,
        unset="no links",
    )
    webhook_networks: tuple[values.Network, ...] = _setting(
        (),
        values.networks,
        "networks that are not public, but that webhooks of all people may use, separated by commas",
        NOTIFIER,
        unset="none",
    )
    ca_file: Path | None = _setting(  # noqa: RUF009  (it makes a field)
        None,
        values.certificates,
        "file with certificates of further authorities, in PEM, that sign the certificates of mail servers, "
        "webhooks, LDAP servers and the identity provider",
        NOTIFIER,
        SERVE,
        unset="those of the system alone",
    )
    traceback: bool = _setting(
        False, values.yes_or_no, "show a traceback for an unexpected error: yes or no", COMMANDS, unset="no"
    )

    @classmethod
    def read(cls, environ: Mapping[str, str] | None = None, **flags: object) -> Settings:
        """Return the settings. A flag that is None was not given. Raises BadSettings with all faults."""
        given, faults = {}, []
        for setting in fields(cls):
            where, raw = _raw(setting, os.environ if environ is None else environ, flags)
            try:
                if raw is not None:
                    given[setting.name] = setting.metadata["parse"](raw)
            except ValueError as error:
                value = "" if setting.metadata["secret"] else f", not {raw!r}"
                faults.append(Fault(where, f"{error}{value}"))
        if given.get("oidc_issuer"):
            faults += [
                Fault(variable(name), f"must be set, because {variable('oidc_issuer')} is")
                for name in ("oidc_client_id", "web_url")
                if given.get(name) is None
            ]
            # Browsers drop the cookies of a sign-in without TLS.
            if (web_url := given.get("web_url")) is not None and not values.is_safe_url(web_url):
                where = variable("web_url")
                faults.append(
                    Fault(where, f"must begin with https://, because {variable('oidc_issuer')} is set")
                )
        if faults:
            raise BadSettings(faults)
        return cls(**given)

    @property
    def migration_url(self) -> str | None:
        return self.owner_database_url or self.database_url

    def environment(self) -> dict[str, str]:
        """Return the environment variables from which another process reads the same settings."""
        settings = {variable(setting.name): getattr(self, setting.name) for setting in fields(self)}
        return {name: values.setting_text(value) for name, value in settings.items() if value is not None}


def require_url(database_url: str | None) -> str:
    """Return the URL of the database. Raises BadSettings if it is None."""
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
    """Return flag or variable of a setting, and its text; None if it was not given, or is empty."""
    given = flags.get(setting.name)
    if given is not None:
        return flag(setting.name), str(given)
    return variable(setting.name), environ.get(variable(setting.name)) or None


class BadSettings(FaultyInput):
    """Invalid settings."""
