"""Placement: the queue of a job, by the rules of its partition (design 6.2).

A rule leads to a queue: the one that the job names, the queue of the job's owner, group or tag, or a fixed
one. A name that does not begin with `root` is below the queue of the parent rule, or below root. The first
rule that leads to an active leaf to which the owner may submit decides. If no rule does, the job is in
`root.default`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from domain.errors import unknown_name
from domain.intake_states import ACTIVE
from domain.queues.document import is_path
from domain.queues.tree import DEFAULT_QUEUE, ROOT, Grantees, QueueTree, is_from_root, parent_of

PROVIDED: Final = "provided"
USER_RULE: Final = "user"
GROUP_RULE: Final = "group"
FIXED: Final = "fixed"
TAG: Final = "tag"
RULES: Final = (PROVIDED, USER_RULE, GROUP_RULE, FIXED, TAG)
_NAMING_PATHS: Final = (PROVIDED, FIXED)
TAGS: Final = ("product", "retention_tag")
"""The fields of a job that a rule may name as tags."""

_DOT: Final = "_dot_"
"""The text for a dot in the name of a user, group or tag, because dots separate the names of a path."""


class RuleFilter(NamedTuple):
    """The users and groups that a rule is for, or with `allow` false, those that it is not for."""

    who: Grantees
    allow: bool = True

    def passes(self, job: SubmittedJob) -> bool:
        return self.who.include(job.owner, job.is_member) == self.allow


class PlacementRule(NamedTuple):
    """A rule. `value` is the path of a fixed queue, or the name of a tag."""

    rule: str
    value: str | None = None
    create: bool = False
    parent: PlacementRule | None = None
    filter: RuleFilter | None = None

    def __str__(self) -> str:
        return self.rule if self.value is None else f"{self.rule} {self.value}"


DEFAULT_RULES: Final = (PlacementRule(PROVIDED),)
"""The rules of a configuration without any."""


class SubmittedJob(NamedTuple):
    """The facts of a job that rules read: its owner, its own group, its queue and tags.

    `is_member` returns whether the owner is in a group.
    """

    owner: str
    is_member: Callable[[str], bool] = lambda _: False
    group: str | None = None
    queue: str | None = None
    tags: Mapping[str, str] = {}


NO_QUEUE: Final = "no queue"
FORBIDDEN: Final = "forbidden"
CLOSED: Final = "closed"


class RuleObstacle(NamedTuple):
    """The obstacle for which a rule leads to no queue of a job.

    `kind` is NO_QUEUE for a rule that leads to no leaf, FORBIDDEN if the user may not submit to the leaf, and
    CLOSED if the leaf takes no jobs.
    """

    text: str
    kind: str = NO_QUEUE


RuleResults = tuple[tuple[str, RuleObstacle], ...]
"""Rules, each with its obstacle."""


class ChosenQueue(NamedTuple):
    """The queue of a job, the rule that leads to it, and the rules before that one."""

    path: str
    rule: str
    before: RuleResults = ()

    @property
    def why_not_named(self) -> str | None:
        """Return why no rule leads to the queue that the job names, None if the rule `provided` does."""
        if self.rule == PROVIDED:
            return None
        obstacles = dict.fromkeys(reason.text for rule, reason in self.before if rule == PROVIDED)
        if not obstacles:
            return f"no rule {PROVIDED} comes before rule {self.rule}"
        return f"rule {PROVIDED}: {'; '.join(obstacles)}"


class NoSuchQueue(NamedTuple):
    """The path of the queue that a job names, which does not exist and may not be created, and why."""

    path: str
    text: str


class NoChosenQueue(NamedTuple):
    """The obstacles of all rules."""

    results: RuleResults

    @property
    def is_forbidden(self) -> bool:
        """Return whether rules lead to leaves, and the user may submit to none of these."""
        kinds = {reason.kind for _, reason in self.results}
        return FORBIDDEN in kinds and CLOSED not in kinds


def dynamic_queues(tree: QueueTree, rules: tuple[PlacementRule, ...], job: SubmittedJob) -> list[str]:
    """Return the dynamic queues to which rules lead that may not create them.

    Such a queue exists while it has unfinished jobs.
    """
    paths = [_path_of(rule, job) for rule in (*DEFAULT_RULES, *rules) if not rule.create]
    found = dict.fromkeys(path for path in paths if isinstance(path, str))
    return [path for path in found if path not in tree.by_path and tree.takes_dynamic(parent_of(path))]


def choose_queue(
    tree: QueueTree, rules: tuple[PlacementRule, ...], job: SubmittedJob, existing: Collection[str] = ()
) -> ChosenQueue | NoSuchQueue | NoChosenQueue:
    """Return the queue of a job, the missing queue that it names, or the obstacles of all rules.

    `existing` has the existing ones of the job's `dynamic_queues`.
    """
    missing = _missing_queue(tree, rules, job, existing)
    if missing is not None:
        return NoSuchQueue(missing, _absence(tree, missing))
    results: list[tuple[str, RuleObstacle]] = []
    for rule in (*rules, PlacementRule(FIXED, DEFAULT_QUEUE)):
        path = _path_of(rule, job)
        found = path if isinstance(path, RuleObstacle) else _open_leaf(tree, path, job, rule, existing)
        if isinstance(found, str):
            return ChosenQueue(found, str(rule), tuple(results))
        results.append((str(rule), found))
    return NoChosenQueue(tuple(results))


def open_leaves(tree: QueueTree, job: SubmittedJob) -> list[str]:
    """Return the leaves of the configuration that take jobs and to which the job's owner may submit."""
    provided = PlacementRule(PROVIDED)
    return [path for path in tree.by_path if isinstance(_open_leaf(tree, path, job, provided), str)]


def _missing_queue(
    tree: QueueTree, rules: tuple[PlacementRule, ...], job: SubmittedJob, existing: Collection[str]
) -> str | None:
    """Return the path of the queue that a job names if it neither exists nor may be created."""
    if job.queue is None:
        return None
    provided = [rule for rule in rules if rule.rule == PROVIDED] or [*DEFAULT_RULES]
    paths = [(rule, _path_of(rule._replace(filter=None), job)) for rule in provided]
    named = [(rule, path) for rule, path in paths if isinstance(path, str)]
    for rule, path in named:
        if path in tree.by_path or path in existing or _may_create(tree, rule, path, job):
            return None
    return named[0][1] if named else job.queue


def _may_create(tree: QueueTree, rule: PlacementRule, path: str, job: SubmittedJob) -> bool:
    is_for_job = rule.filter is None or rule.filter.passes(job)
    return rule.create and is_for_job and tree.takes_dynamic(parent_of(path)) and is_path(path)


def _path_of(rule: PlacementRule, job: SubmittedJob) -> str | RuleObstacle:
    """Return the path to which a rule leads, or the obstacle."""
    if rule.filter is not None and not rule.filter.passes(job):
        return RuleObstacle(f"its filter excludes {job.owner}")
    named = _NAMED[rule.rule](rule, job)
    if isinstance(named, RuleObstacle):
        return named
    if rule.rule in _NAMING_PATHS and is_from_root(named):
        return named
    parent = ROOT if rule.parent is None else _path_of(rule.parent, job)
    return parent if isinstance(parent, RuleObstacle) else f"{parent}.{named}"


def _provided(_: PlacementRule, job: SubmittedJob) -> str | RuleObstacle:
    return RuleObstacle("the job names no queue") if job.queue is None else job.queue


def _own_group(_: PlacementRule, job: SubmittedJob) -> str | RuleObstacle:
    return RuleObstacle("the job is for no group") if job.group is None else _as_name(job.group)


def _fixed(rule: PlacementRule, _: SubmittedJob) -> str | RuleObstacle:
    assert rule.value is not None, "a fixed rule has a value"
    return rule.value


def _tagged(rule: PlacementRule, job: SubmittedJob) -> str | RuleObstacle:
    assert rule.value is not None, "a rule of a tag names it"
    tag = job.tags.get(rule.value)
    return RuleObstacle(f"the job has no {rule.value}") if not tag else _as_name(tag)


_NAMED: Final[Mapping[str, Callable[[PlacementRule, SubmittedJob], str | RuleObstacle]]] = {
    PROVIDED: _provided,
    USER_RULE: lambda _, job: _as_name(job.owner),
    GROUP_RULE: _own_group,
    FIXED: _fixed,
    TAG: _tagged,
}


def _as_name(text: str) -> str:
    return text.replace(".", _DOT)


def _open_leaf(
    tree: QueueTree, path: str, job: SubmittedJob, rule: PlacementRule, existing: Collection[str] = ()
) -> str | RuleObstacle:
    """Return the path if it is that of a leaf for a job, otherwise the obstacle."""
    queue, parent = tree.by_path.get(path), parent_of(path)
    if queue is None and not tree.takes_dynamic(parent):
        return RuleObstacle(_absence(tree, path))
    if queue is None and not is_path(path):
        return RuleObstacle(f"no queue can have the path {path}")
    if queue is None and not rule.create and path not in existing:
        return RuleObstacle(f"{_absence(tree, path)}, and the rule may not create it")
    if queue is not None and not queue.is_leaf:
        return RuleObstacle(f"{path} is a parent, and only leaves take jobs")
    if not tree.may_submit(path, job.owner, job.is_member):
        return RuleObstacle(f"{job.owner} may not submit to {path}", FORBIDDEN)
    closed = next((each for each in tree.upward(path) if each.state != ACTIVE), None)
    if closed is not None:
        return RuleObstacle(f"{closed.path} is {closed.state} and takes no new jobs", CLOSED)
    return path


def _absence(tree: QueueTree, path: str) -> str:
    """Return why the configuration has no queue of this path: it never existed, or it vanished."""
    vanished = tree.vanished_above(path)
    if vanished is None:
        return unknown_name("queue", path)
    return f"the configuration no longer names {vanished}, which is draining"
