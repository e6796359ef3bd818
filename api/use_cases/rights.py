"""Whose a job, a group or a pool is. What a role may do at all stands in the table of routes, what a person
may do with a system in `system_rights`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from api.services import Request, Services
from domain.directory.state import Entry
from domain.errors import NotPermitted, Unknown
from domain.job.state import Job, folded
from domain.names import WORDS, called
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet

Part = TypeVar("Part", RecipeSet, Recipe)

# Of a group that owns something.
PEOPLE = ("members", "owners")


def own_job(services: Services, request: Request, job_id: int) -> Job:
    """As it is now. Blocking.

    Raises Unknown, or NotPermitted for who is neither admin, nor its owner or submitter, nor in its group.
    """
    subject = f"job/{job_id}"
    job = folded(job_id, services.log.load({subject: 0})[subject])
    if job is None:
        raise Unknown(called("job", job_id))
    if not request.is_admin and not _owns(services, request.actor, job):
        raise NotPermitted(f"job {job_id} belongs to {job.owner}")
    return job


def _owns(services: Services, user: str, job: Job) -> bool:
    """Who bears the name of its owner, submitter or group since it was submitted."""
    directory = services.feed.directory
    if user in (job.owner, job.submitter) and directory.had("user", user, job.since):
        return True
    group_had_it = job.group is not None and directory.had("group", job.group, job.since)
    return group_had_it and user in _people(services, job.group, "members")


def own_recipe_set(services: Services, request: Request, recipe_set_id: int) -> RecipeSet:
    """As it is now. Blocking. Raises Unknown, or NotPermitted as its job does."""
    return _of_own_job(services, request, "recipe-set", recipe_set_id, RecipeSet)


def own_recipe(services: Services, request: Request, recipe_id: int) -> Recipe:
    """The same for a recipe."""
    return _of_own_job(services, request, "recipe", recipe_id, Recipe)


def _of_own_job(services: Services, request: Request, kind: str, number: int, state: type[Part]) -> Part:
    subject = f"{kind}/{number}"
    found = services.aggregates.load([subject]).get(subject)
    if not isinstance(found, state):
        raise Unknown(called(kind, number))
    own_job(services, request, found.job_id)
    return found


def require_oneself(request: Request, user: str, what: str) -> None:
    """Raises NotPermitted for who is neither the user nor an admin."""
    if not request.is_admin and request.actor != user:
        raise NotPermitted(f"only an admin {what}")


def require_admin(request: Request, what: str) -> None:
    """Raises NotPermitted for who is none."""
    if not request.is_admin:
        raise NotPermitted(f"only an admin {what}")


def may_put(
    services: Services, request: Request, kind: str, before: Entry | None, document: Mapping[str, Any]
) -> None:
    """Raises NotPermitted for who is no admin, and owns nothing of what a PUT changes.

    The owners of a group say who is in it, the people of a pool's group put the pool, and the owners of that
    group give it to another one. What is new is made by admins.
    """
    if request.is_admin:
        return
    if before is None or kind not in ("group", "pool"):
        raise NotPermitted(f"only an admin {'changes' if before else 'makes'} a {WORDS[kind]}")
    if kind == "group":
        if request.actor not in before.document["owners"]:
            raise NotPermitted("only the owners of a group change it")
        return
    group = before.document["owner_group"]
    if request.actor not in _people(services, group, *PEOPLE):
        raise NotPermitted(f"the pool belongs to {_owner(group)}")
    given = document["owner_group"] != group
    if given and request.actor not in _people(services, group, "owners"):
        raise NotPermitted(f"only the owners of {_owner(group)} give the pool to another group")


def require_own_pool(services: Services, request: Request, pool: str) -> None:
    """Raises NotPermitted for who is neither admin nor of the people of the group that owns the pool."""
    entry = services.feed.directory.get("pool", pool)
    group = entry.document["owner_group"] if entry else None
    if not request.is_admin and request.actor not in _people(services, group, *PEOPLE):
        raise NotPermitted(f"pool {pool} belongs to {_owner(group)}")


def owned_by(services: Services, request: Request, pool: str) -> Iterator[str]:
    """The group of whose people somebody must be who changes a pool and is no admin."""
    entry = services.feed.directory.get("pool", pool)
    if entry is not None and entry.document["owner_group"] and not request.is_admin:
        yield f"group/{entry.document['owner_group']}"


def _owner(group: str | None) -> str:
    return f"group {group}" if group else "nobody"


def _people(services: Services, group: str | None, *fields: str) -> tuple[str, ...]:
    entry = services.feed.directory.get("group", group) if group else None
    return tuple(name for field in fields for name in entry.document[field]) if entry else ()


def require_own_lab(asking: str | None, subject: str, lab_controller: str | None) -> None:
    """Raises NotPermitted when `asking`, a lab controller (None: an admin), is not that of the subject."""
    if asking not in (None, lab_controller):
        raise NotPermitted(f"{subject} is in the lab of {lab_controller}")
