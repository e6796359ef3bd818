"""Rights of owners on jobs, groups and pools, and of admins of queues on jobs.

Others: `rest.routes` (roles), `system_rights` (systems).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

from api.use_cases.ports import RequestContext, WriteParts
from domain.directory.events import UserRemoved
from domain.directory.partition_queues import is_in_group, partition_queues
from domain.directory.partitions import identities
from domain.directory.roles import ADMIN, SUBMITTER
from domain.directory.state import Directory, DirectoryEntry
from domain.errors import WORDS, NotPermitted, Unknown, display_name, display_subject
from domain.job.state import Job, folded
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet

Part = TypeVar("Part", RecipeSet, Recipe)


class OwnRecipe(NamedTuple):
    """A recipe that the caller may change, and its job."""

    recipe: Recipe
    job: Job


# The fields of a group whose users may change the pools of the group.
PEOPLE = ("members", "owners")


def own_job(parts: WriteParts, request: RequestContext, job_id: int) -> Job:
    """Return the present job. Blocking. Raises Unknown, NotPermitted for a caller who may not change it."""
    job = _job(parts, job_id)
    if not request.is_admin and not _owns(parts.feed.directory, request.actor, job):
        raise NotPermitted(f"job {job_id} belongs to {_owner_of_job(parts, job)}")
    return job


def own_or_administered_job(parts: WriteParts, request: RequestContext, job_id: int) -> Job:
    """Return the present job. Blocking.

    Raises Unknown, and NotPermitted for a caller who may neither change the job nor administers its queue.
    """
    job = _job(parts, job_id)
    if not _own_or_administered(parts, request, [job]):
        belongs = f"job {job_id} belongs to {_owner_of_job(parts, job)}"
        raise NotPermitted(
            f"{belongs}; only its owner, submitter and group, and the admins of"
            f" queue {job.queue} or of a queue above, may cancel, close or review it, or change its priority"
        )
    return job


def own_or_administered_jobs(
    parts: WriteParts, request: RequestContext, job_ids: Collection[int]
) -> Collection[int]:
    """Return the jobs to which `own_or_administered_job` gives the right, by two queries. Blocking."""
    if request.is_admin:
        return job_ids
    events = parts.log.load({f"job/{job_id}": 0 for job_id in job_ids})
    jobs = (folded(job_id, events[f"job/{job_id}"]) for job_id in job_ids)
    found = [job for job in jobs if job is not None]
    return [job.job_id for job in _own_or_administered(parts, request, found)]


def _own_or_administered(parts: WriteParts, request: RequestContext, jobs: Collection[Job]) -> list[Job]:
    """Return those of the jobs that the caller may change, or whose queue the caller administers."""
    directory = parts.feed.directory
    own: list[Job] = []
    others: list[Job] = []
    for job in jobs:
        is_own = request.is_admin or _owns(directory, request.actor, job)
        (own if is_own else others).append(job)
    numbers = parts.aggregates.partitions([job.subject for job in others])
    administered = (
        job for job in others if _administers(directory, request.actor, job, numbers[job.subject])
    )
    return [*own, *administered]


def _owner_of_job(parts: WriteParts, job: Job) -> str:
    """Return the owner, with the day of the removal if that user was removed. Blocking."""
    if parts.feed.directory.had("user", job.owner, job.since):
        return job.owner
    subject = f"user/{job.owner}"
    events = parts.log.load({subject: 0})[subject]
    later = (each for each in events if each.position > job.since)
    removal = next((each for each in later if isinstance(each.event, UserRemoved)), None)
    if removal is None:
        return job.owner
    return f"an earlier user {job.owner}, removed on {removal.recorded_at:%Y-%m-%d}"


def _job(parts: WriteParts, job_id: int) -> Job:
    subject = f"job/{job_id}"
    job = folded(job_id, parts.log.load({subject: 0})[subject])
    if job is None:
        raise Unknown(display_name("job", job_id))
    return job


def _administers(directory: Directory, user: str, job: Job, number: int) -> bool:
    """Return whether the user is an admin of the job's queue, by the present queues of its partition."""
    # A removed partition has no queues, and another one may have its name.
    name = next((each.name for each in identities(directory) if each.number == number), None)
    if name is None:
        return False
    tree = partition_queues(directory, name).tree
    return tree.may_administer(job.queue, user, partial(is_in_group, directory, user))


def _owns(directory: Directory, user: str, job: Job) -> bool:
    """Return whether the user owns, submitted or shares the job, and has existed since its submission."""
    if user in (job.owner, job.submitter) and directory.had("user", user, job.since):
        return True
    is_same_group = job.group is not None and directory.had("group", job.group, job.since)
    return is_same_group and user in _people(directory, job.group, "members")


def own_or_administered_set(parts: WriteParts, request: RequestContext, recipe_set_id: int) -> RecipeSet:
    """Return the present recipe set. Blocking. Raises the errors of `own_or_administered_job`."""
    found = _part(parts, "recipe-set", recipe_set_id, RecipeSet)
    own_or_administered_job(parts, request, found.job_id)
    return found


def own_or_administered_recipe(parts: WriteParts, request: RequestContext, recipe_id: int) -> Recipe:
    """Return the present recipe. Blocking. Raises the errors of `own_or_administered_job`."""
    found = _part(parts, "recipe", recipe_id, Recipe)
    own_or_administered_job(parts, request, found.job_id)
    return found


def own_recipe(parts: WriteParts, request: RequestContext, recipe_id: int) -> OwnRecipe:
    """Return the present recipe and its job. Blocking. Raises Unknown, or NotPermitted as `own_job` does."""
    found = _part(parts, "recipe", recipe_id, Recipe)
    return OwnRecipe(found, own_job(parts, request, found.job_id))


def _part(parts: WriteParts, kind: str, number: int, state: type[Part]) -> Part:
    subject = f"{kind}/{number}"
    found = parts.aggregates.load([subject]).get(subject)
    if not isinstance(found, state):
        raise Unknown(display_name(kind, number))
    return found


def require_self(request: RequestContext, user: str, action: str) -> None:
    """Raise NotPermitted unless the caller is the user or an admin."""
    if request.actor != user:
        require_admin(request, action)


def require_admin(request: RequestContext, action: str) -> None:
    if not request.is_admin:
        raise NotPermitted(f"only an admin may {action}")


def require_may_submit(directory: Directory, request: RequestContext) -> None:
    """Raise NotPermitted unless the caller is an admin, or a user with a role that submits jobs.

    The token of a lab controller has another role, and its user need not have one of these.
    """
    if not request.is_admin and not {ADMIN, SUBMITTER} & set(directory.roles_of(request.actor)):
        raise NotPermitted(
            f"user {request.actor} needs the role {SUBMITTER} or {ADMIN} to submit or cancel jobs"
        )


def may_put(
    directory: Directory,
    request: RequestContext,
    kind: str,
    before: DirectoryEntry | None,
    document: Mapping[str, Any],
) -> None:
    """Raise NotPermitted unless the caller may register or change the entry.

    The owners of a group may change it. The members and owners of a pool's group may change the pool, and its
    owners may give the pool to another group. Only admins may register something new.
    """
    if request.is_admin:
        return
    if before is None or kind not in ("group", "pool"):
        raise NotPermitted(f"only an admin may {'change' if before else 'register'} a {WORDS[kind]}")
    if kind == "group":
        if request.actor not in before.document["owners"]:
            raise NotPermitted("only its owners may change a group")
        return
    group = before.document["owner_group"]
    if request.actor not in _people(directory, group, *PEOPLE):
        raise NotPermitted(f"the pool belongs to {_owner(group)}")
    is_given_away = document["owner_group"] != group
    if is_given_away and request.actor not in _people(directory, group, "owners"):
        raise NotPermitted(f"only the owners of {_owner(group)} may give the pool to another group")


def require_own_pool(directory: Directory, request: RequestContext, pool: str) -> None:
    """Raise NotPermitted unless the caller is an admin, or in the group that owns the pool."""
    entry = directory.get("pool", pool)
    group = entry.document["owner_group"] if entry else None
    if not request.is_admin and request.actor not in _people(directory, group, *PEOPLE):
        raise NotPermitted(f"pool {pool} belongs to {_owner(group)}")


def owned_by(directory: Directory, request: RequestContext, pool: str) -> Iterator[str]:
    """Yield the subject of the group that owns the pool, unless the caller is an admin."""
    entry = directory.get("pool", pool)
    if entry is not None and entry.document["owner_group"] and not request.is_admin:
        yield f"group/{entry.document['owner_group']}"


def _owner(group: str | None) -> str:
    return f"group {group}" if group else "nobody"


def _people(directory: Directory, group: str | None, *fields: str) -> tuple[str, ...]:
    entry = directory.get("group", group) if group else None
    return tuple(name for field in fields for name in entry.document[field]) if entry else ()


def require_own_lab(reporting: str | None, subject: str, lab_controller: str | None) -> None:
    """Raise NotPermitted unless the `reporting` lab controller is that of the subject, or None (an admin)."""
    if reporting not in (None, lab_controller):
        raise NotPermitted(f"{display_subject(subject)} is in the lab of {lab_controller}")
