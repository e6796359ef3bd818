"""Events of directory entries. A `…Registered` or `…Changed` event has the whole new document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from domain.endings import EndingEvent
from domain.events import Event, event
from domain.system.failures import BROKEN_AFTER


class DirectoryEvent(Event):
    """Base of the events of the directory."""


class DirectoryEnding(DirectoryEvent, EndingEvent):
    """Base of the events of the directory that end something."""


@event("user.registered", version=2)
class UserRegistered(DirectoryEvent):
    """`roles` of the user; a login that asks for no role gets the first one.

    Null if the user was registered before users had roles: then the roles are those of the user's tokens.
    """

    roles: Sequence[str] | None = ("submitter",)
    email: str | None = None

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        return {"roles": None, "email": None} if version == 1 else super().upcast(data, version)


@event("user.changed")
class UserChanged(UserRegistered):
    pass


@event("user.password-set")
class UserPasswordSet(DirectoryEvent):
    """`password_id` is the id of the hash, which is stored beside the log (docs/decisions/0013)."""

    password_id: str


@event("user.found-in-ldap")
class UserFoundInLdap(DirectoryEvent):
    """LDAP has the user: when it no longer has, the user loses all rights."""


@event("user.left-ldap")
class UserLeftLdap(DirectoryEnding):
    """LDAP no longer has the user, who has no roles, tokens and password from now on; jobs stay."""


@event("user.notifications-changed")
class UserNotificationsChanged(DirectoryEvent):
    """The whole new choice of the user: the kinds of notification (`domain.notifications.kinds`) by channel.

    `mail` is null for the defaults of the service. `webhook_id` is the id of the URL and secret of the
    webhook, which are stored beside the log; null without a webhook.
    """

    mail: Sequence[str] | None
    webhook: Sequence[str]
    webhook_id: str | None


@event("user.removed", version=2)
class UserRemoved(DirectoryEnding):
    """The user was removed; a later registration of the name is another user."""


@event("group.registered")
class GroupRegistered(DirectoryEvent):
    owners: Sequence[str]
    members: Sequence[str]


@event("group.changed")
class GroupChanged(GroupRegistered):
    pass


@event("group.removed", version=2)
class GroupRemoved(DirectoryEnding):
    pass


@event("pool.registered", version=2)
class PoolRegistered(DirectoryEvent):
    owner_group: str | None
    description: str = ""

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        return data if version == 1 else super().upcast(data, version)


@event("pool.changed", version=2)
class PoolChanged(PoolRegistered):
    pass


@event("pool.system-added")
class PoolSystemAdded(DirectoryEvent):
    system: str


@event("pool.system-removed", version=2)
class PoolSystemRemoved(DirectoryEnding):
    system: str


@event("pool.access-policy-changed")
class PoolAccessPolicyChanged(DirectoryEvent):
    """`entries` are the whole new policy, in the form of `domain.access.policy`."""

    entries: Sequence[Mapping[str, Any]]


@event("pool.removed", version=2)
class PoolRemoved(DirectoryEnding):
    """The pool was removed, after one event for each of its systems."""


@event("lab-controller.registered", version=2)
class LabControllerRegistered(DirectoryEvent):
    """`broken_after` consecutive provisioning failures make a system Broken; 0: never.

    If `silent`, systems of the lab get no recipes until the lab controller is heard. Events before policy
    version 5 have no `silent`, because systems then got recipes without a contact.
    """

    enabled: bool
    broken_after: int = BROKEN_AFTER
    silent: bool = False

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        return data if version == 1 else super().upcast(data, version)


@event("lab-controller.changed")
class LabControllerChanged(DirectoryEvent):
    broken_after: int


@event("lab-controller.extensions-limited")
class LabControllerExtensionsLimited(DirectoryEvent):
    """People may extend a recipe, a reservation or a loan of the lab by at most this in all."""

    max_extension_seconds: int


@event("lab-controller.enabled")
class LabControllerEnabled(DirectoryEvent):
    pass


@event("lab-controller.disabled", version=2)
class LabControllerDisabled(DirectoryEnding):
    pass


@event("lab-controller.silent")
class LabControllerSilent(DirectoryEvent):
    """The lab controller has stopped reporting: systems of its lab get no recipes until it is heard."""


@event("lab-controller.heard")
class LabControllerHeard(DirectoryEvent):
    """The lab controller reports, for the first time or again."""


@event("lab-controller.items-rejected")
class LabControllerItemsRejected(DirectoryEvent):
    """The registration of this instance of the lab controller has these refused items, and perhaps more.

    Each of `items` has a `system`, null if the item names none, and a `reason`.
    """

    instance: str
    items: Sequence[Mapping[str, Any]]
    has_more: bool


@event("lab-controller.partition-changed")
class LabControllerPartitionChanged(DirectoryEvent):
    """The lab belongs to the partition of this number from now on, to none if it is 0.

    `systems` are its systems then, which the scheduler of that partition reads by subject.
    """

    partition: int
    systems: Sequence[str]


@event("lab-controller.removed", version=2)
class LabControllerRemoved(DirectoryEnding):
    pass


@event("distro-tree.registered")
class DistroTreeRegistered(DirectoryEvent):
    """`urls` are the URLs of the tree by lab controller; a lab without URLs does not have the tree."""

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


@event("distro-tree.removed", version=2)
class DistroTreeRemoved(DirectoryEnding):
    """The tree was removed. After it, older logs have `distro-tree.changed` for a new registration."""


@event("token.created", version=2)
class TokenCreated(DirectoryEvent):
    """`digest` is the token's SHA-256 in hex, `expires_at` an RFC 3339 time or null; no token is stored."""

    HIDDEN: ClassVar[frozenset[str]] = frozenset({"digest"})
    user: str
    role: str
    lab_controller: str | None
    digest: str
    expires_at: str | None = None

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # Tokens of version 1 had no end.
        return data if version == 1 else super().upcast(data, version)


@event("token.revoked", version=2)
class TokenRevoked(DirectoryEnding):
    pass


@event("partition.created")
class PartitionCreated(DirectoryEvent):
    """`number` is that of the partition in the log, which no other partition ever has."""

    number: int


@event("partition.removed", version=2)
class PartitionRemoved(DirectoryEnding):
    pass


@event("partition.configured")
class PartitionConfigured(DirectoryEvent):
    """`configuration` is the whole new configuration, in the canonical form of `domain.admission`."""

    configuration: Mapping[str, Any]


@event("partition.state-changed", version=2)
class PartitionStateChanged(DirectoryEnding):
    """`state` is active, draining or stopped (`domain.directory.partition_states`).

    An event that makes it active ends nothing, and has no reason.
    """

    state: str


@event("partition.job-filter-put")
class PartitionJobFilterPut(DirectoryEvent):
    """`document` is the whole new job filter of this name, in canonical form, with its watermark."""

    name: str
    document: Mapping[str, Any]


@event("partition.job-filter-removed", version=2)
class PartitionJobFilterRemoved(DirectoryEnding):
    name: str


@event("maintenance-window.added")
class MaintenanceWindowAdded(DirectoryEvent):
    """A window drains its systems from `lead_seconds` before `starts_at` until `ends_at`.

    They are `systems` or, if that is null, those with all of the other properties that are not null. Times
    are RFC 3339. `has_all_rights`: the window was added by an admin, otherwise it covers only systems that
    `added_by` may edit.
    """

    # Some systems are hidden from some readers of the event.
    HIDDEN: ClassVar[frozenset[str]] = frozenset({"systems"})
    reason: str
    starts_at: str
    ends_at: str
    lead_seconds: int
    systems: Sequence[str] | None
    pool: str | None
    lab_controller: str | None
    location: str | None
    added_by: str
    added_at: str
    has_all_rights: bool


@event("maintenance-window.moved")
class MaintenanceWindowMoved(DirectoryEvent):
    starts_at: str
    ends_at: str
    lead_seconds: int


@event("maintenance-window.ended")
class MaintenanceWindowEnded(DirectoryEnding):
    """A person has ended the window before `ends_at`, perhaps before it started."""

    ended_at: str


REMOVED = (
    UserRemoved,
    GroupRemoved,
    PoolRemoved,
    LabControllerRemoved,
    DistroTreeRemoved,
    PartitionRemoved,
)
"""Events after which the name is free until it is registered again."""
