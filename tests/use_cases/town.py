"""Use cases with the requests of certain users, for the tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from api.parts import Parts
from api.use_cases.ports import RequestContext
from domain.directory import events as directory_events
from domain.events import Change, Event, Stamp
from domain.partition_numbers import partition_of
from domain.system.events import SystemRegistered
from store.requests import AppendRequest, require_committed
from tests.in_process.environment import BEGINNING, Instance
from tests.random_histories.labs import tree

Answer = TypeVar("Answer")

LAB, OTHER_LAB = "lab-1", "lab-2"
TREE = tree(1, [LAB])


def as_admin(**more: Any) -> RequestContext:
    return RequestContext("root", "test", is_admin=True, role="admin", **more)


def by(user: str, **more: Any) -> RequestContext:
    """Return the request of a user who is not an admin."""
    return RequestContext(user, "test", role="submitter", **more)


class Town:
    """A log with users, groups, a pool and systems; `ask` runs a use case for a request."""

    def __init__(self, scene: Instance) -> None:
        self.scene = scene
        self.log = scene.log

    def ask(
        self,
        use_case: Callable[..., Awaitable[Answer]],
        request: RequestContext,
        *args: Any,
        process: int = 0,
        **more: Any,
    ) -> Answer:
        return self.scene.apis[process].ask(lambda services, _: use_case(services, request, *args, **more))

    def services(self, process: int = 0) -> Parts:
        return self.scene.apis[process].services

    def document_of(self, kind: str, name: str) -> Any:
        """Return the document of an object, None without one."""
        self.scene.api.catch_up()
        entry = self.services().feed.directory.get(kind, name)
        return None if entry is None else dict(entry.document)

    def state(self, subject: str) -> Any:
        """Return the present state of a subject."""
        return self.services().aggregates.load([subject])[subject]

    def version(self, subject: str) -> int:
        return len(self.log.load({subject: 0})[subject])

    def happens(self, subject: str, event: Event) -> None:
        """Append an event without a use case, as in an older log; all processes read it."""
        self.append(subject, event)
        for process in self.scene.apis:
            process.catch_up()

    def append(self, subject: str, event: Event) -> None:
        """Append an event that no process has read yet."""
        version = self.version(subject)
        change = Change(subject, event, Stamp(BEGINNING, "admin", "request/test"))
        (outcome,) = self.log.append(
            [
                AppendRequest(
                    f"test/{subject}/{version}",
                    (change,),
                    {subject: version},
                    partition=partition_of([subject]),
                )
            ]
        )
        require_committed(outcome)

    def since(self, position: int) -> list[tuple[str, str]]:
        """Return subject and topic of the events after a position."""
        found, _ = self.log.select(position, self.log.end(), 10_000)
        return [(recorded.subject, recorded.event.TOPIC) for recorded in found]


def furnish(scene: Instance) -> Town:
    """Add users, groups, a pool and systems: root is the admin, ada owns the group `qa` with the member bob.

    Eve is in no group, the pool `net` belongs to `qa`, and the distro tree 1 is in one of the two labs.
    """
    scene.put(
        [
            ("user/root", directory_events.UserRegistered(roles=["admin"])),
            *((f"user/{name}", directory_events.UserRegistered()) for name in ("ada", "bob", "eve")),
            ("token/root", directory_events.TokenCreated("root", "admin", None, "d-root")),
            ("group/qa", directory_events.GroupRegistered(owners=["ada"], members=["bob"])),
            ("group/ops", directory_events.GroupRegistered(owners=["root"], members=[])),
            *(
                (f"lab-controller/{lab}", directory_events.LabControllerRegistered(True))
                for lab in (LAB, OTHER_LAB)
            ),
            ("distro-tree/1", directory_events.DistroTreeRegistered(**TREE)),
            ("pool/net", directory_events.PoolRegistered(owner_group="qa")),
            *(
                (f"system/{name}", SystemRegistered(LAB, "root", "Manual", {"type": "Machine"}))
                for name in ("a", "b")
            ),
            ("pool/net", directory_events.PoolSystemAdded(system="a")),
        ]
    )
    return Town(scene)
