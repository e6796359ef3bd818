"""The tree of queues of a partition: `root`, parents and leaves, with their limits and rights (design 6.2).

A queue is named by its path, such as `root.kernel.storage`. A set counts under its leaf and all queues above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

ROOT: Final = "root"
DEFAULT_QUEUE: Final = "root.default"

FIFO: Final = "fifo"
FAIR: Final = "fair"
PRIORITY: Final = "priority"
ORDERS_OF_PARENTS: Final = (FIFO, FAIR, PRIORITY)
ORDERS_OF_LEAVES: Final = (FIFO, FAIR)

EACH: Final = "*"
"""The name in a limit that stands for each user, or for each group."""


class Grantees(NamedTuple):
    """The users and groups that have a right; `*` among the users stands for everybody."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def include(self, user: str, groups: tuple[str, ...]) -> bool:
        return EACH in self.users or user in self.users or any(group in self.groups for group in groups)


class QueueLimit(NamedTuple):
    """The maximum of systems and of jobs for one user or group, or for each of them; None without one."""

    kind: str
    name: str
    max: int | None = None
    max_jobs: int | None = None


class Template(NamedTuple):
    """The properties of dynamic children of a parent."""

    max: int | None = None
    guaranteed: int | None = None
    max_jobs: int | None = None
    order: str = FIFO


class Queue(NamedTuple):
    """A queue with its properties, and the queues below it, in the order of the document.

    `max` and `guaranteed` are numbers of systems, `max_jobs` is a number of jobs with something placed; None
    stands for no limit and no guarantee. The rights hold for all queues below, too.
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
    template: Template | None = None
    children: tuple[Queue, ...] = ()

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def is_leaf(self) -> bool:
        """Return whether the queue takes jobs; a parent without children has a template for some."""
        return not self.children and self.template is None


class QueueTree:
    """The queues of a partition by path. Immutable."""

    def __init__(self, root: Queue) -> None:
        self.root = root

    @cached_property
    def by_path(self) -> Mapping[str, Queue]:
        """Return all queues by path, parents before their children."""
        return {queue.path: queue for queue in _walk(self.root)}

    def line_of(self, path: str) -> tuple[Queue, ...]:
        """Return the queues from a queue up to the root. Raises KeyError for an unknown path."""
        parts = path.split(".")
        return tuple(self.by_path[".".join(parts[:length])] for length in range(len(parts), 0, -1))

    def may_submit(self, path: str, user: str, groups: tuple[str, ...]) -> bool:
        """Return whether a user may submit to a queue: by a right of it, or of a queue above it."""
        return any(
            right.include(user, groups)
            for queue in self.line_of(path)
            for right in (queue.submit, queue.admin)
        )


def _walk(queue: Queue) -> Iterator[Queue]:
    yield queue
    for child in queue.children:
        yield from _walk(child)


EVERYBODY_MAY_SUBMIT: Final = Grantees((EACH,))

WITHOUT_CONFIGURATION: Final = QueueTree(
    Queue(ROOT, submit=EVERYBODY_MAY_SUBMIT, children=(Queue(DEFAULT_QUEUE),))
)
"""The tree of a partition whose configuration names no queues."""
