"""Inputs of the queues and placement rules of a partition. They only describe: the domain validates."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.rest.contract.values import REFUSE_TEXT_AND_BOOLEANS, Flag, Input, OneOf
from domain.intake_states import ACTIVE, STATES
from domain.queues.placement import RULES, TAGS
from domain.queues.tree import FIFO, MAX_NUMBER, ORDERS_OF_LEAVES, ORDERS_OF_PARENTS

_Systems = Annotated[int, Field(ge=0, le=MAX_NUMBER), REFUSE_TEXT_AND_BOOLEANS]
_Jobs = Annotated[int, Field(ge=1, le=MAX_NUMBER), REFUSE_TEXT_AND_BOOLEANS]
_Offset = Annotated[int, Field(ge=-MAX_NUMBER, le=MAX_NUMBER), REFUSE_TEXT_AND_BOOLEANS]


class Grantees(Input):
    """Users and groups; `*` among the users stands for everybody."""

    users: list[str] = Field(default_factory=list)
    groups: list[str] = Field(default_factory=list)


class QueueLimit(Input):
    """A maximum for the jobs that a user owns, or that are submitted for a group; `*` stands for each.

    `max` is a number of systems, `max_jobs` one of jobs with systems.
    """

    user: str | None = None
    group: str | None = None
    max: _Systems | None = None
    max_jobs: _Jobs | None = None


class QueueTemplate(Input):
    """The properties of dynamic queues below a parent."""

    max: _Systems | None = None
    guaranteed: _Systems | None = None
    max_jobs: _Jobs | None = None
    order: Annotated[str, OneOf(ORDERS_OF_LEAVES)] = FIFO


class RootQueue(Input):
    """The queue `root`: rights and limits for all queues, and the queues below it.

    `submit`: the users and groups that may submit to the queue. `admin` includes `submit`; they may also
    cancel the jobs in the queue and change their priority. Both hold for all queues below. Without `submit`,
    everybody may submit to root. `state`: draining takes no new jobs, in a stopped queue no set gets its
    first system either.

    `order`: which queue below is next, or which recipe of a leaf. `fifo`: all stand in one line. `fair`: the
    queue with the fewest used systems for each guaranteed one; in a leaf, after the priorities, the job with
    the fewest systems. `priority`, only of a parent: the queue whose next recipe has the highest effective
    priority, from 1 (Low) to 5 (Urgent), with the `priority_offset` of the queue added; with `fence` the
    offset alone counts.
    """

    guaranteed: _Systems | None = None
    max_jobs: _Jobs | None = None
    limits: list[QueueLimit] = Field(default_factory=list)
    submit: Grantees = Field(default_factory=lambda: Grantees(users=["*"]))
    admin: Grantees = Field(default_factory=Grantees)
    order: Annotated[str, OneOf(ORDERS_OF_PARENTS)] = FIFO
    priority_offset: _Offset = 0
    fence: Flag = False
    state: Annotated[str, OneOf(STATES)] = ACTIVE
    template: QueueTemplate | None = None
    queues: list[ConfiguredQueue] = Field(default_factory=list)


class ConfiguredQueue(RootQueue):
    """A queue below root. With queues below it, or with a template, it is a parent and takes no jobs itself.

    `max` is a number of systems, at most that of the queues above.
    """

    name: str
    max: _Systems | None = None
    submit: Grantees = Field(default_factory=Grantees)


class PlacementFilter(Input):
    """The users and groups that a rule is for; with `allow` false, those that it is not for."""

    allow: Flag = True
    users: list[str] = Field(default_factory=list)
    groups: list[str] = Field(default_factory=list)


class PlacementRule(Input):
    """A rule: the queue that the job names, that of its user, group or tag, or a fixed one.

    `value`: the path of a fixed queue, or the tag. `create`: the rule may create a dynamic queue, below a
    parent with a template. `parent`: the rule for the queue above; without one it is root.
    """

    rule: Annotated[str, OneOf(RULES)]
    value: str | None = Field(None, description=f"a path, or for tags one of {', '.join(TAGS)}")
    create: Flag = False
    parent: PlacementRule | None = None
    filter: PlacementFilter | None = None
