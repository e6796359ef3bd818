"""The tree of queues of a partition: `root`, parents and leaves, with their limits and rights (design 6.2).

A queue is named by its path, such as `root.kernel.storage`. A set counts under its leaf and all queues above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from domain.intake_states import ACTIVE, DRAINING, STOPPED

ROOT: Final = "root"
DEFAULT_QUEUE: Final = "root.default"

MAX_NUMBER: Final = 1_000_000
"""The largest number of systems or jobs that a property may have."""

FIFO: Final = "fifo"
FAIR: Final = "fair"
PRIORITY: Final = "priority"
ORDERS_OF_PARENTS: Final = (FIFO, FAIR, PRIORITY)
ORDERS_OF_LEAVES: Final = (FIFO, FAIR)

EACH: Final = "*"
"""The name that stands for each user or group in a limit, and for everybody in a right."""

USER: Final = "user"
GROUP: Final = "group"


class Grantees(NamedTuple):
    """The users and groups that have a right; `*` among the users stands for everybody."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def include(self, user: str, is_member: Callable[[str], bool]) -> bool:
        """Return whether a user has the right; `is_member` returns whether the user is in a group."""
        return EACH in self.users or user in self.users or any(map(is_member, self.groups))


class QueueLimit(NamedTuple):
    """The maximum of systems and of jobs for one user or group, or for each of them; None is no maximum.

    The limit of a user counts the jobs that the user owns, that of a group the jobs submitted for the group.
    """

    kind: str
    name: str
    max: int | None = None
    max_jobs: int | None = None


class Template(NamedTuple):
    """The properties of the dynamic queues below a parent."""

    max: int | None = None
    guaranteed: int | None = None
    max_jobs: int | None = None
    order: str = FIFO


class Queue(NamedTuple):
    """A queue with its properties, and the queues below it, in the order of the document.

    `max` and `guaranteed` are numbers of systems, `max_jobs` is a number of jobs with systems; None
    stands for no limit and no guarantee. The rights and the state hold for all queues below, too.
    """

    path: str
    max: int | None = None
    guaranteed: int | None = None
    max_jobs: int | None = None
    limits: tuple[QueueLimit, ...] = ()
    submit: Grantees = Grantees()
    admin: Grantees = Grantees()
    order: str = FIFO
    priority_offset: int = 0
    fence: bool = False
    state: str = ACTIVE
    template: Template | None = None
    children: tuple[Queue, ...] = ()

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def is_leaf(self) -> bool:
        """Return whether the queue takes jobs. A parent without children has a template for dynamic ones."""
        return not self.children and self.template is None


@dataclass(frozen=True)
class QueueTree:
    """The queues of a partition. `vanished` are queues of earlier configurations, each without children.

    Jobs may still be in a vanished queue. It keeps its maxima and limits, is `fifo`, and takes no new jobs.
    """

    root: Queue
    vanished: tuple[Queue, ...] = ()

    @cached_property
    def by_path(self) -> Mapping[str, Queue]:
        """Return the queues of the configuration by path, parents before their children."""
        return {queue.path: queue for queue in _walk(self.root)}

    @cached_property
    def _vanished_by_path(self) -> Mapping[str, Queue]:
        return {queue.path: queue for queue in self.vanished}

    @cached_property
    def has_maxima(self) -> bool:
        """Return whether any queue has a maximum; in the tree without a configuration none has."""
        return any(map(_has_maximum, (*self.by_path.values(), *self.vanished)))

    @cached_property
    def has_maxima_of_systems(self) -> bool:
        """Return whether any queue has a maximum of systems, of its own or for users and groups."""
        return any(map(_has_maximum_of_systems, (*self.by_path.values(), *self.vanished)))

    @cached_property
    def stopped(self) -> frozenset[str]:
        """Return the paths of the queues whose own state is stopped, without the queues below these."""
        return frozenset(path for path, queue in self.by_path.items() if queue.state == STOPPED)

    def find(self, path: str) -> Queue | None:
        """Return the properties of a queue; those of its parent's template for a dynamic one.

        Return None for a queue that no configuration has named, and that is not dynamic.
        """
        queue = self.by_path.get(path)
        if queue is not None:
            return queue
        parent = self.by_path.get(parent_of(path))
        if parent is not None and parent.template is not None:
            return Queue(path, **parent.template._asdict())
        vanished = self._vanished_by_path
        above = vanished.get(parent_of(path))
        if path not in vanished and above is not None and above.template is not None:
            return Queue(path, **above.template._asdict(), state=DRAINING)
        return vanished.get(path)

    def vanished_above(self, path: str) -> str | None:
        """Return the lowest queue from a path up to the root that has vanished, None without one.

        A vanished queue whose parent has a template is a dynamic one, and takes jobs.
        """
        above = (each for each in paths_upward(path) if each in self._vanished_by_path)
        is_gone = (
            each for each in above if each not in self.by_path and not self.takes_dynamic(parent_of(each))
        )
        return next(is_gone, None)

    def takes_dynamic(self, path: str) -> bool:
        """Return whether jobs may create queues below a queue."""
        queue = self.by_path.get(path)
        return queue is not None and queue.template is not None

    def upward(self, path: str) -> list[Queue]:
        """Return the queues from a queue up to the root, without unknown ones."""
        found = map(self.find, paths_upward(path))
        return [queue for queue in found if queue is not None]

    def may_submit(self, path: str, user: str, is_member: Callable[[str], bool]) -> bool:
        """Return whether a user may submit to a queue: by a right of it, or of a queue above it."""
        return any(
            right.include(user, is_member)
            for queue in self.upward(path)
            for right in (queue.submit, queue.admin)
        )

    def may_administer(self, path: str, user: str, is_member: Callable[[str], bool]) -> bool:
        """Return whether a user is an admin of a queue: by a right of it, or of a queue above it."""
        return any(queue.admin.include(user, is_member) for queue in self.upward(path))


def parent_of(path: str) -> str:
    """Return the path of the queue above a queue, an empty text for root."""
    return path.rpartition(".")[0]


def is_from_root(path: str) -> bool:
    """Return whether a path begins at root; others are below a queue that a rule or a user implies."""
    return path == ROOT or path.startswith(f"{ROOT}.")


def paths_upward(path: str) -> Iterator[str]:
    """Yield the path of a queue, and those of all queues above it up to the root."""
    while path:
        yield path
        path = parent_of(path)


def _has_maximum_of_systems(queue: Queue) -> bool:
    in_template = None if queue.template is None else queue.template.max
    given = queue.max, in_template, *(limit.max for limit in queue.limits)
    return any(each is not None for each in given)


def _has_maximum(queue: Queue) -> bool:
    given = (queue, queue.template) if queue.template else (queue,)
    return bool(queue.limits) or any(each.max is not None or each.max_jobs is not None for each in given)


def _walk(queue: Queue) -> Iterator[Queue]:
    yield queue
    for child in queue.children:
        yield from _walk(child)


EVERYBODY_MAY_SUBMIT: Final = Grantees((EACH,))

WITHOUT_CONFIGURATION: Final = QueueTree(
    Queue(ROOT, submit=EVERYBODY_MAY_SUBMIT, children=(Queue(DEFAULT_QUEUE),))
)
"""The tree of a partition whose configuration names no queues."""
