"""Recipe, recipe set and system as folded from the records of a log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from replay.audit.locks import NO_LOCKS, Locks
from replay.audit.rights import ANY_SUBMITTER, OPEN, Entries, Rights, Submitter
from replay.audit.tables import DEFAULT_PARTITION, SET_PLACED


class Distro(NamedTuple):
    """The distro to install; a custom one (`tree_id` None) is available in every lab."""

    tree_id: int | None
    arch: str = ""
    family: str = ""
    version: str = ""


@dataclass(frozen=True, eq=False)
class OwnRequirements:
    """The requirements of a recipe. A `distro` of None means that nothing can be installed.

    Recipes of one world with the same requirements share one object. Equal host requirements have equal
    numbers.
    """

    number: int
    host_requires: str
    distro: Distro | None

    @cached_property
    def forced(self) -> str | None:
        """Return the name of the system that the requirement forces, in lower case, or None."""
        try:
            named = json.loads(self.host_requires)["force"]
        except (LookupError, TypeError, ValueError):
            return None
        return named.casefold() if isinstance(named, str) else None


class SystemClaim(NamedTuple):
    """The claim of a waiting recipe to a busy system; `since` is the recorded time of its event."""

    system: str
    forced: bool
    since: Any


class Recipe(NamedTuple):
    """A recipe. A guest has a `host_id`, and the system of its host.

    `locks` are the declared ones. `held` are those that it has, None until its set gets its locks.
    `partition` is the number of its partition, which never changes.
    """

    recipe_id: int
    set_id: int
    host_id: int | None
    requirements: OwnRequirements
    submitter: Submitter = ANY_SUBMITTER
    locks: Locks = NO_LOCKS
    partition: int = DEFAULT_PARTITION
    state: str = "new"
    system: str | None = None
    lab: str | None = None
    held: Locks | None = None
    claim: SystemClaim | None = None

    @property
    def subject(self) -> str:
        return f"recipe/{self.recipe_id}"

    @property
    def is_guest(self) -> bool:
        return self.host_id is not None

    @property
    def awaits_locks(self) -> bool:
        """Return whether its set has all its systems, but not its locks."""
        return self.state == "waiting" and self.held is None

    @property
    def has_started(self) -> bool:
        return self.state in SET_PLACED and not self.awaits_locks

    def with_state(
        self, state: str, system: str | None, lab: str | None, held: Locks | None = None
    ) -> Recipe:
        return Recipe(*self[:7], state, system, lab, held, self.claim)


class Submitted(NamedTuple):
    """The facts of a submission that admission needs. Many sets share one object."""

    owner: str
    submitter: str
    group: str | None
    queue: str
    tasks: tuple[str, ...]
    operations: tuple[str, ...]
    reasons: tuple[str, ...]


class RecipeSet(NamedTuple):
    set_id: int
    priority: str
    submission: int
    recipe_ids: tuple[int, ...]
    # The time at which the database recorded the submission.
    recorded_at: Any = None
    job_id: int = 0
    submitted: Submitted | None = None
    # Documents with the id of a job or set, and the states in which it must end.
    depends_on: tuple[Mapping[str, Any], ...] = ()
    partition: int = DEFAULT_PARTITION
    preemptible: bool = False


class System(NamedTuple):
    """A system.

    `described` is the position at which anything but its usage last changed. `policy` is its own policy, None
    if it never had one; `rights` combine it with the policies of its pools. `user` is the person with a
    reservation of it.
    """

    fqdn: str
    lab: str
    owner: str
    condition: str
    inventory: Mapping[str, Any]
    described: int
    policy: Entries | None = None
    borrower: str | None = None
    rights: Rights = OPEN
    usage: str = "idle"
    recipe_id: int | None = None
    draining: bool = False
    user: str | None = None
    occupied: bool = False

    @property
    def subject(self) -> str:
        return f"system/{self.fqdn}"

    @property
    def reserved(self) -> bool:
        return self.user is not None

    @property
    def takes_recipes(self) -> bool:
        """Return whether recipes that do not force it may have it, unless a person has it."""
        return self.condition == "Automated" and not self.draining and not self.occupied

    def with_usage(self, usage: str, recipe_id: int | None) -> System:
        return System(*self[:9], usage, recipe_id, *self[11:])
