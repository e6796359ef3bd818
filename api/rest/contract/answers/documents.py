"""Answers about users, groups, pools, lab controllers and distro trees."""

from __future__ import annotations

from api.rest.contract.answers.common import Answer, AnswerPart, ListAnswer, ReadAnswer
from api.rest.contract.inputs.documents import DistroTree, Group, LabControllerFields, Pool, User
from api.rest.contract.values import Id, LdapState, Time


class _Named(AnswerPart):
    name: str


class _Put(Answer):
    """`added` and `changed` are both false if the request changed nothing."""

    added: bool
    changed: bool


class _Removed(Answer):
    removed: bool


class NamedUser(User, _Named):
    pass


class ListedUser(NamedUser):
    """`ldap`: `present` for a person of LDAP, `left` after the person has left it, null for all others."""

    ldap: LdapState | None


class UserShown(ReadAnswer, ListedUser):
    pass


class UserList(ListAnswer):
    users: list[ListedUser]


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
    description: str = ""


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


class ListedLabController(LabControllerFields):
    """`silent`: the lab controller has not contacted the service for long, so its systems get no recipes.

    `never_heard`: silent since its registration. `last_heard_at`: its last contact, null in answers about
    the past. `broken_after` consecutive provisioning failures make a system Broken (0: no number does).
    By `max_extension_seconds` in all, people may extend one recipe, reservation or loan. `partition`: null if
    the lab is in none.
    """

    fqdn: str
    partition: str | None
    broken_after: int
    max_extension_seconds: int
    silent: bool
    never_heard: bool
    last_heard_at: Time | None


class LabControllerShown(ReadAnswer, ListedLabController):
    pass


class LabControllerList(ListAnswer):
    lab_controllers: list[ListedLabController]


class LabControllerPut(_Put, LabControllerFields):
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


class PersonRemoved(NamedRemoved):
    """`named_in`: partitions whose configurations still name it, which prevents a new one of that name."""

    named_in: list[str]


class LabControllerRemoved(_Removed):
    fqdn: str


class DistroTreeRemoved(_Removed):
    id: Id
