"""The parent of `labledger scheduler`: it keeps a scheduler process for each partition.

It decides nothing. All code is loaded once, here, so that a process that dies is replaced at once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from functools import partial

from api.root_scheduler import run_scheduler
from api.startup import load_with_retries
from domain.errors import Fault, LabledgerError
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from postgres.errors import DatabaseAway
from runtime.processes.logs import set_up_logging
from runtime.processes.stop_request import listening
from runtime.processes.supervisor import Supervisor
from runtime.settings import SCHEDULER, BadSettings, Settings, require_url
from store.migrate import require_migrated
from store.partitions import PartitionReader
from workers.partition_processes import PartitionProcesses

READ_SECONDS = 1.0

logger = logging.getLogger(__name__)


def run_schedulers(settings: Settings, names: Sequence[str]) -> None:
    """Run the schedulers of the named partitions until SIGTERM; of all partitions without names.

    Raises BadSettings if a named partition does not exist at the start.
    """
    url = require_url(settings.database_url)
    stop = listening()
    with closing(PartitionReader(url)) as reader:
        existing = load_with_retries(partial(_load, url, reader, names), stop.is_requested)
        if existing is None:
            return
        supervisor = Supervisor(settings.stop_seconds)
        processes = PartitionProcesses(supervisor, names, partial(_run, settings))
        try:
            processes.follow(existing)
            supervisor.add_check(_regularly(partial(_follow, reader, processes)))
            supervisor.run(stop.is_requested)
        finally:
            supervisor.stop_together()


def _load(url: str, reader: PartitionReader, names: Sequence[str]) -> list[PartitionIdentity]:
    require_migrated(url)
    existing = reader.read()
    _require_existing(names, {identity.name for identity in existing})
    return existing


def _require_existing(names: Sequence[str], existing: Collection[str]) -> None:
    missing = [name for name in dict.fromkeys(names) if name not in existing]
    if missing:
        # Imported here, because it imports the forms of the API, which would slow down every start.
        from api.intake.near_names import suggestion

        raise BadSettings(
            Fault("--partition", f"there is no partition {name}{suggestion(name, existing)}")
            for name in missing
        )


def _follow(reader: PartitionReader, processes: PartitionProcesses) -> None:
    try:
        processes.follow(reader.read())
    except DatabaseAway as error:
        # The schedulers log this, too, and wait for the database.
        logger.debug("partitions not read: %s", error)


def _regularly(check: Callable[[], None]) -> Callable[[], None]:
    """Return a function that calls `check` if the last call ended READ_SECONDS ago."""
    checked_at = time.monotonic()

    def check_if_due() -> None:
        nonlocal checked_at
        if time.monotonic() - checked_at >= READ_SECONDS:
            check()
            checked_at = time.monotonic()

    return check_if_due


def _run(settings: Settings, identity: PartitionIdentity) -> None:
    """Run the scheduler of a partition, in its process, and log the error that ends it."""
    if identity != DEFAULT_PARTITION:
        set_up_logging(settings, f"{SCHEDULER}/{identity.name}")
    try:
        run_scheduler(settings, identity)
    except LabledgerError as error:
        logger.error("%s", error)
        raise SystemExit(1) from None
    except Exception:
        logger.critical("ended by an unexpected error", exc_info=True)
        raise SystemExit(1) from None
