"""Folds of systems, their usage and the idle pool, by the domain's own `evolve`, and of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from domain.access.policy import policy_form, policy_of
from domain.directory import events as directory_events
from domain.directory.documents import document_after
from domain.events import Event, Moment, Recorded, split_subject
from domain.lab_commands.derive import of_system
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
from domain.system.state import Loan, Occupation, Reservation, System, evolve
from domain.system.usage import in_idle_pool, why_unavailable
from projections.fold_commands import put_command
from projections.intervals import Instant
from projections.read_models import ReadModels
from projections.rows import DocumentRow, IdleRow, PersonRow, SystemRow, UsageRow


def put_system(models: ReadModels, recorded: Recorded, event: Event, now: Instant) -> None:
    """Update all rows of a system after any of its events, and add the command that follows."""
    fqdn = split_subject(recorded.subject)[1]
    row = models.systems.get((fqdn,))
    before = _system(models, fqdn, row) if row else None
    after = models.folded_systems[fqdn] = evolve(before, fqdn, event, Moment.of(recorded))
    if before is None or not hasattr(event, "USAGE"):
        models.systems.put((fqdn,), _row(after, row.pools if row else []), now)
        _update_persons(models, after, now)
    _put_usage(models, after, now)
    if before is not None:
        put_command(models, recorded, of_system(before, event), now)


def put_lab_serving(models: ReadModels, recorded: Recorded, event: Event, now: Instant) -> None:
    """Add the idle systems of a lab to the idle pool, or remove all of them, which are disabled then."""
    put_document(models, recorded, event, now)
    lab_controller = split_subject(recorded.subject)[1]
    for (fqdn,), row in models.systems.items():
        if row.lab_controller == lab_controller:
            _put_usage(models, _system(models, fqdn, row), now)


def put_pool_system(models: ReadModels, recorded: Recorded, event: Any, now: Instant) -> None:
    put_document(models, recorded, event, now)
    pool = split_subject(recorded.subject)[1]
    row = models.systems.of((event.system,))
    others = [name for name in row.pools if name != pool]
    added = isinstance(event, directory_events.PoolSystemAdded)
    pools = [*others, pool] if added else others
    models.systems.put((event.system,), row._replace(pools=pools), now)


def _update_persons(models: ReadModels, system: System, now: Instant) -> None:
    """Put the persons of a system. The position of one who still has it does not change."""
    before = models.system_persons.get((system.fqdn,)) or PersonRow(None, None, None, None)
    reserved_by = None if system.reservation is None else system.reservation.user
    loaned_to = None if system.loan is None else system.loan.user
    row = PersonRow(
        reserved_by,
        before.reserved_position if reserved_by == before.reserved_by else _begin(reserved_by, now),
        loaned_to,
        before.loaned_position if loaned_to == before.loaned_to else _begin(loaned_to, now),
    )
    models.system_persons.put((system.fqdn,), row, now)


def _begin(user: str | None, now: Instant) -> int | None:
    return None if user is None else now[0]


def _put_usage(models: ReadModels, system: System, now: Instant) -> None:
    """Put the usage of a system, and add it to the idle pool or remove it."""
    lab_enabled = system.usage == "idle" and _is_serving(models, system.lab_controller)
    unavailable = why_unavailable(system, lab_enabled=lab_enabled)
    row = UsageRow(system.condition, system.usage, system.recipe_id, unavailable)
    models.system_usage.put((system.fqdn,), row, now)
    if in_idle_pool(system, lab_enabled):
        models.idle_pool.put((system.fqdn,), IdleRow(system.lab_controller), now)
    else:
        models.idle_pool.end((system.fqdn,), now)


def _is_serving(models: ReadModels, lab_controller: str) -> bool:
    """Return whether the systems of a lab may get recipes; those of a lab in no partition never do."""
    lab = models.documents.get(("lab-controller", lab_controller))
    if lab is None or lab.document.get("partition", DEFAULT_NUMBER) == EVERYBODY:
        return False
    return bool(lab.document["enabled"]) and not lab.document.get("silent")


def _system(models: ReadModels, fqdn: str, row: SystemRow) -> System:
    """Return the folded state, or one from the rows, which lacks the version and the start of the usage."""
    folded = models.folded_systems.get(fqdn)
    if folded is not None:
        return folded
    condition, usage, recipe_id, _ = models.system_usage.of((fqdn,))
    reservation = None
    if row.reserved_by is not None:
        reservation = Reservation(row.reserved_by, row.reserved_until, row.reserved_distro_tree_id)
    own = row.access_policy
    return System(
        fqdn=fqdn,
        version=0,
        lab_controller=row.lab_controller,
        owner=row.owner,
        condition=condition,
        inventory=row.inventory,
        usage=usage,
        recipe_id=recipe_id,
        draining=row.draining,
        reservation=reservation,
        access_policy=None if own is None else policy_of(own),
        active_pool=row.active_pool,
        loan=None if row.loaned_to is None else Loan(row.loaned_to, row.loaned_until),
        occupied=None if row.occupied is None else Occupation(**row.occupied),
        ticket=row.ticket,
    )


def _row(system: System, pools: Sequence[str]) -> SystemRow:
    user, until, distro_tree_id = None, None, None
    if system.reservation is not None:
        user, until = system.reservation.user, system.reservation.until
        distro_tree_id = system.reservation.distro_tree_id
    loan, own = system.loan, system.access_policy
    return SystemRow(
        lab_controller=system.lab_controller,
        owner=system.owner,
        condition=system.condition,
        draining=system.draining,
        reserved_by=user,
        reserved_until=until,
        reserved_distro_tree_id=distro_tree_id,
        loaned_to=None if loan is None else loan.user,
        loaned_until=None if loan is None else loan.until,
        access_policy=None if own is None else policy_form(own),
        active_pool=system.active_pool,
        pools=pools,
        inventory=system.inventory,
        occupied=None if system.occupied is None else asdict(system.occupied),
        ticket=system.ticket,
    )


def put_document(models: ReadModels, recorded: Recorded, event: Event, now: Instant) -> None:
    key = split_subject(recorded.subject)
    before = models.documents.get(key)
    document = document_after(before.document if before else {}, event)
    models.documents.put(key, DocumentRow(recorded.version, document), now)


def remove_document(models: ReadModels, recorded: Recorded, _: Event, now: Instant) -> None:
    """End the document's interval; queries of the past still find it."""
    models.documents.end(split_subject(recorded.subject), now)
