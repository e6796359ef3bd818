"""Systems, their usage, and the idle pool."""

from __future__ import annotations

from typing import Any

from domain.directory import events as directory
from domain.events import Recorded, split_subject
from domain.system import events as system
from domain.system.usage import in_idle_pool
from projections.intervals import Now
from projections.read_models import ReadModels


def system_registered(
    models: ReadModels, recorded: Recorded, event: system.SystemRegistered, now: Now
) -> None:
    fqdn = split_subject(recorded.subject)[1]
    models.systems.put(
        (fqdn,),
        (recorded.version, event.lab_controller, event.owner, event.condition, [], event.inventory),
        now,
    )
    models.system_usage.put((fqdn,), (event.condition, "idle", None), now)
    _index_idle(models, fqdn, now)


def system_usage(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
    fqdn = split_subject(recorded.subject)[1]
    before = models.system_usage.get((fqdn,))
    assert before is not None, f"{fqdn} is unknown"
    recipe_id = getattr(event, "recipe_id", None)
    models.system_usage.put((fqdn,), (before[0], event.USAGE, recipe_id), now)
    _index_idle(models, fqdn, now)


def _index_idle(models: ReadModels, fqdn: str, now: Now) -> None:
    usage, row = models.system_usage.get((fqdn,)), models.systems.get((fqdn,))
    if usage is not None and row is not None and in_idle_pool(*usage[:2]):
        models.idle_pool.put((fqdn,), (row[1],), now)
    else:
        models.idle_pool.end((fqdn,), now)


def pool_system(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
    pool = split_subject(recorded.subject)[1]
    row = models.systems.get((event.system,))
    assert row is not None, f"{event.system} is unknown"
    others = [name for name in row[4] if name != pool]
    added = isinstance(event, directory.PoolSystemAdded)
    models.systems.put((event.system,), (*row[:4], [*others, pool] if added else others, row[5]), now)
