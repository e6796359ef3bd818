"""The JSON of answers about things known by name, about tokens, the log and the service itself."""

from __future__ import annotations

from typing import Any

from api.rest.contract.answers import Answer, ListAnswer, ReadAnswer, Shape
from api.rest.contract.inputs import DistroTree, Group, LabController, Pool, User
from api.rest.contract.values import Id, Time


class _Named(Shape):
    name: str


class _Put(Answer):
    """Both are false where it was so already."""

    added: bool
    changed: bool


class _Removed(Answer):
    removed: bool


class NamedUser(User, _Named):
    pass


class UserShown(ReadAnswer, NamedUser):
    pass


class UserList(ListAnswer):
    users: list[NamedUser]


class UserPut(_Put, NamedUser):
    pass


class NamedGroup(Group, _Named):
    pass


class GroupShown(ReadAnswer, NamedGroup):
    pass


class GroupList(ListAnswer):
    groups: list[NamedGroup]


class GroupPut(_Put, NamedGroup):
    pass


class NamedPool(Pool, _Named):
    pass


class PoolShown(ReadAnswer, NamedPool):
    pass


class PoolList(ListAnswer):
    pools: list[NamedPool]


class PoolPut(_Put, NamedPool):
    pass


class PoolMember(Answer):
    pool: str
    fqdn: str
    member: bool


class ListedLabController(LabController):
    """`silent` and `last_heard_at`: whether it reports, and when it last did, which is known of now alone."""

    fqdn: str
    silent: bool
    last_heard_at: Time | None


class LabControllerShown(ReadAnswer, ListedLabController):
    pass


class LabControllerList(ListAnswer):
    lab_controllers: list[ListedLabController]


class LabControllerPut(_Put, LabController):
    fqdn: str


class LabControllerChanged(Answer):
    fqdn: str
    changed: bool


class ListedTree(DistroTree):
    id: Id


class DistroTreeShown(ReadAnswer, ListedTree):
    pass


class DistroTreeList(ListAnswer):
    distro_trees: list[ListedTree]


class DistroTreePut(_Put, ListedTree):
    pass


class NamedRemoved(_Removed):
    name: str


class LabControllerRemoved(_Removed):
    fqdn: str


class DistroTreeRemoved(_Removed):
    id: Id


class TokenMade(Answer):
    """`token` is answered this once: null where the same Idempotency-Key came before."""

    token_id: str
    token: str | None


class ListedToken(Shape):
    token_id: str
    user: str
    role: str
    lab_controller: str | None
    created_at: Time
    expires_at: Time | None
    revoked: bool


class TokenList(ListAnswer):
    tokens: list[ListedToken]


class TokenShown(ReadAnswer, ListedToken):
    pass


class TokenRevoked(Answer):
    """`revoked` is false where it was revoked before."""

    token_id: str
    revoked: bool


class LoggedIn(Answer):
    user: str
    role: str
    token: str
    token_id: str
    expires_at: Time


class Whoami(Answer):
    user: str
    role: str
    lab_controller: str | None
    token_id: str


class PasswordSet(Answer):
    user: str


class LoggedEvent(Shape):
    """One event; the fields from `now` on are those of decisions. `version` is that of its subject."""

    position: int
    topic: str
    version: int
    subject: str
    at: Time
    recorded_at: Time
    actor: str
    cause: str
    basis: int | None
    commit_end: int
    data: dict[str, Any]
    now: Time | None = None
    epoch: int | None = None
    policy_version: int | None = None
    number: int | None = None


class EventPage(Answer):
    """`next`: the position to go on after."""

    events: list[LoggedEvent]
    next: int | None


class RecordedRead(Shape):
    read_id: int
    recorded_at: Time
    user: str
    role: str
    token_id: str
    method: str
    path: str
    query: str
    request_id: str


class ReadList(Answer):
    """`next`: the read to go on after."""

    reads: list[RecordedRead]
    next: int | None


class Alive(Shape):
    alive: bool


class Ready(Shape):
    ready: bool
    checks: dict[str, Any]
