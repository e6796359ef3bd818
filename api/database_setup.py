"""Setup of a database without a running service: migrations, and the token of the first admin."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime

from api.use_cases.tokens import make_first_token
from runtime.settings import Settings, require_url
from store import migrate as migrations
from store.datastore import probe
from store.event_log import EventLog


def migrate(settings: Settings) -> list[str]:
    """Migrate the database; return the names of the applied migrations."""
    numbering = migrations.Numbering(settings.id_start, settings.id_step)
    return migrations.migrate(require_url(settings.migration_url), numbering=numbering)


def first_admin_token(settings: Settings, keep: Callable[[str], None] = lambda token: None) -> str | None:
    """Create a token of the user admin with `make_first_token`; return None if an admin can log in."""
    url = require_url(settings.database_url)
    probe(url)
    with closing(EventLog(url)) as log:
        return make_first_token(log, datetime.now(UTC), keep)


def log_size(settings: Settings) -> int:
    """Return the number of events in the log."""
    with closing(EventLog(require_url(settings.database_url))) as log:
        return log.end()
