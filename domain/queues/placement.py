"""Placement: the queue of a job, by the rules of its partition (design 6.2).

    [{"rule": "provided"},
     {"rule": "user", "create": true, "parent": {"rule": "fixed", "value": "root.people"},
      "filter": {"allow": true, "groups": ["qa"]}},
     {"rule": "tag", "value": "product"}]

A rule names a queue: the one that the job names, that of its user, its group, a fixed one, or that of a tag
of the job. A name that is not a path is below the queue of the parent rule, or below root. The first rule
that leads to an active leaf to which the user may submit decides, otherwise it is `root.default`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from domain.admission.checks import fields_of, items_of, name, one_of, read_value, truth
from domain.queues.tree import DEFAULT_QUEUE, ROOT, Grantees, Queue, QueueTree
from domain.requirements.findings import Path, Report

PROVIDED: Final = "provided"
USER: Final = "user"
GROUP: Final = "group"
FIXED: Final = "fixed"
TAG: Final = "tag"
RULES: Final = (PROVIDED, USER, GROUP, FIXED, TAG)
TAGS: Final = ("product", "retention_tag")
"""The fields of a job that a rule may name as tags."""

_FIELDS: Final = ("rule", "value", "create", "parent", "filter")
_DOT: Final = "_dot_"
"""The text for a dot of a user's name, because dots separate the names of a path."""


class Filter(NamedTuple):
    """The users and groups that a rule is for, or with `allow` false, those that it is not for."""

    who: Grantees
    allow: bool = True

    def passes(self, job: QueuedJob) -> bool:
        return self.who.include(job.user, job.groups) == self.allow


class PlacementRule(NamedTuple):
    """A rule. `value` is the path of a fixed queue, or the name of a tag."""

    rule: str
    value: str | None = None
    create: bool = False
    parent: PlacementRule | None = None
    filter: Filter | None = None

    def __str__(self) -> str:
        return self.rule if self.value is None else f"{self.rule} {self.value}"


class QueuedJob(NamedTuple):
    """The facts of a job that rules read: its user with all groups, its own group, queue and tags."""

    user: str
    groups: tuple[str, ...] = ()
    group: str | None = None
    queue: str | None = None
    tags: Mapping[str, str] = {}


class Placed(NamedTuple):
    """The queue of a job; `is_new` if it is a dynamic queue that does not exist yet."""

    path: str
    is_new: bool = False


class Unplaced(NamedTuple):
    """The reasons for which no rule placed a job, each with the rule."""

    reasons: tuple[tuple[str, str], ...]


class Queues(NamedTuple):
    """The tree, the paths of dynamic queues that exist, and the queues that take no jobs."""

    tree: QueueTree
    dynamic: frozenset[str] = frozenset()
    inactive: frozenset[str] = frozenset()

    def exists(self, path: str) -> bool:
        return path in self.tree.by_path or path in self.dynamic


def place(queues: Queues, rules: tuple[PlacementRule, ...], job: QueuedJob) -> Placed | Unplaced:
    """Return the queue of a job, or why there is none for it."""
    reasons: list[tuple[str, str]] = []
    for rule in (*rules, _LAST):
        path = _path_of(rule, job)
        found = path if isinstance(path, _Reason) else _placed(queues, path, job, create=rule.create)
        if isinstance(found, Placed):
            return found
        reasons.append((str(rule), found.text))
    return Unplaced(tuple(reasons))


_LAST: Final = PlacementRule(FIXED, DEFAULT_QUEUE)


class _Reason(NamedTuple):
    text: str


def _path_of(rule: PlacementRule, job: QueuedJob) -> str | _Reason:
    """Return the path that a rule names."""
    if rule.filter is not None and not rule.filter.passes(job):
        return _Reason("it is not for this user")
    named = _NAMED[rule.rule](rule, job)
    if isinstance(named, _Reason):
        return named
    if named == ROOT or named.startswith(f"{ROOT}."):
        return named
    parent = ROOT if rule.parent is None else _path_of(rule.parent, job)
    return parent if isinstance(parent, _Reason) else f"{parent}.{named}"


def _provided(_: PlacementRule, job: QueuedJob) -> str | _Reason:
    return _Reason("the job names no queue") if job.queue is None else job.queue


def _own_group(_: PlacementRule, job: QueuedJob) -> str | _Reason:
    return _Reason("the job is for no group") if job.group is None else _as_name(job.group)


def _fixed(rule: PlacementRule, _: QueuedJob) -> str | _Reason:
    assert rule.value is not None, "a fixed rule has a value"
    return rule.value


def _tagged(rule: PlacementRule, job: QueuedJob) -> str | _Reason:
    assert rule.value is not None, "a rule of a tag names it"
    tag = job.tags.get(rule.value)
    return _Reason(f"the job has no {rule.value}") if not tag else _as_name(tag)


_NAMED: Final[Mapping[str, Callable[[PlacementRule, QueuedJob], str | _Reason]]] = {
    PROVIDED: _provided,
    USER: lambda _, job: _as_name(job.user),
    GROUP: _own_group,
    FIXED: _fixed,
    TAG: _tagged,
}


def _as_name(text: str) -> str:
    return text.replace(".", _DOT)


def _placed(queues: Queues, path: str, job: QueuedJob, *, create: bool) -> Placed | _Reason:
    """Return the place of a job in the queue of a path, or why it cannot be there."""
    parent = path.rpartition(".")[0]
    is_new = not queues.exists(path)
    if is_new and not create:
        return _Reason(f"there is no queue {path}")
    if is_new and not _takes_children(queues.tree.by_path.get(parent)):
        return _Reason(f"there is no queue {path}, and {parent or path} takes no dynamic queues")
    queue = queues.tree.by_path.get(path)
    if queue is not None and not queue.is_leaf:
        return _Reason(f"{path} is a parent, and only leaves take jobs")
    # A dynamic queue has the rights of its parent.
    if not queues.tree.may_submit(path if queue is not None else parent, job.user, job.groups):
        return _Reason(f"{job.user} may not submit to {path}")
    closed = next((each for each in _upward(path) if each in queues.inactive), None)
    if closed is not None:
        return _Reason(f"{closed} takes no new jobs")
    return Placed(path, is_new)


def _takes_children(parent: Queue | None) -> bool:
    return parent is not None and parent.template is not None


def _upward(path: str) -> Iterator[str]:
    """Yield a path and those of all queues above it."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def rules_from_json(document: Any, path: Path, report: Report) -> tuple[PlacementRule, ...]:
    """Return the rules of a section `placement`; report every fault."""
    found = (_rule(item, place, report) for place, item in items_of(document, path, report))
    return tuple(rule for rule in found if rule is not None)


def _rule(document: Any, path: Path, report: Report) -> PlacementRule | None:
    given = fields_of(document, _FIELDS, path, report)
    rule = read_value(one_of(*RULES), given.get("rule"), (*path, "rule"), report)
    value = _value_of(rule, given, path, report)
    create = read_value(truth, given.get("create", False), (*path, "create"), report)
    parent = _rule(given["parent"], (*path, "parent"), report) if "parent" in given else None
    only = _filter(given["filter"], (*path, "filter"), report) if "filter" in given else None
    return None if rule is None else PlacementRule(rule, value, bool(create), parent, only)


def _value_of(rule: str | None, given: Mapping[str, Any], path: Path, report: Report) -> str | None:
    readers: Mapping[str | None, Callable[[Any], str]] = {FIXED: name, TAG: one_of(*TAGS)}
    if rule in readers:
        return read_value(readers[rule], given.get("value", ""), (*path, "value"), report)
    if "value" in given:
        report((*path, "value"), f"is only for the rules {FIXED} and {TAG}")
    return None


def _filter(document: Any, path: Path, report: Report) -> Filter:
    given = fields_of(document, ("allow", "users", "groups"), path, report)
    allow = read_value(truth, given.get("allow", True), (*path, "allow"), report)
    users, groups = (
        tuple(
            found
            for place, raw in items_of(given.get(field, []), (*path, field), report)
            if (found := read_value(name, raw, place, report)) is not None
        )
        for field in ("users", "groups")
    )
    return Filter(Grantees(users, groups), allow is not False)
