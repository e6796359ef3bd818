"""What happens to the things that are known by name. Each PUT gives the whole of one, and is one event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.events import Event, event


class DirectoryEvent(Event):
    """Base of the events that the directory is folded from."""


@event("user.registered")
class UserRegistered(DirectoryEvent):
    pass


@event("group.registered")
class GroupRegistered(DirectoryEvent):
    owners: Sequence[str]
    members: Sequence[str]


@event("group.changed")
class GroupChanged(GroupRegistered):
    pass


@event("pool.registered")
class PoolRegistered(DirectoryEvent):
    owner_group: str | None


@event("pool.changed")
class PoolChanged(PoolRegistered):
    pass


@event("pool.system-added")
class PoolSystemAdded(DirectoryEvent):
    system: str


@event("pool.system-removed")
class PoolSystemRemoved(DirectoryEvent):
    system: str


@event("lab-controller.registered")
class LabControllerRegistered(DirectoryEvent):
    enabled: bool


@event("lab-controller.enabled")
class LabControllerEnabled(DirectoryEvent):
    pass


@event("lab-controller.disabled")
class LabControllerDisabled(DirectoryEvent):
    pass


@event("lab-controller.silent")
class LabControllerSilent(DirectoryEvent):
    """It has stopped reporting."""


@event("lab-controller.heard")
class LabControllerHeard(DirectoryEvent):
    """It reports again."""


@event("distro-tree.registered")
class DistroTreeRegistered(DirectoryEvent):
    """`urls` are the tree's places per lab controller; a lab without any does not have the tree."""

    name: str
    family: str
    version: str
    arch: str
    variant: str
    tags: Sequence[str]
    urls: Mapping[str, Sequence[str]]
    added_at: str


@event("distro-tree.changed")
class DistroTreeChanged(DistroTreeRegistered):
    pass


@event("distro-tree.removed")
class DistroTreeRemoved(DirectoryEvent):
    """No lab has it any more."""


@event("token.created")
class TokenCreated(DirectoryEvent):
    """`digest` is the SHA-256 of the token in hex; the token itself is nowhere."""

    user: str
    role: str
    lab_controller: str | None
    digest: str


@event("token.revoked")
class TokenRevoked(DirectoryEvent):
    pass
