"""Placement: the queue of a job, by the rules of its partition (design 6.2).

    [{"rule": "provided"},
     {"rule": "user", "create": true, "parent": {"rule": "fixed", "value": "root.people"},
      "filter": {"allow": true, "groups": ["qa"]}},
     {"rule": "tag", "value": "product"}]

A rule leads to a queue: the one that the job names, the queue of the job's owner, group or tag, or a fixed
one. A name that does not begin with `root` is below the queue of the parent rule, or below root. The first
rule that leads to an active leaf to which the owner may submit decides. If no rule does, the job is in
`root.default`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple

from domain.document_checks import fields_of, items_of, name, one_of, read_value, truth
from domain.errors import unknown_name
from domain.intake_states import ACTIVE
from domain.queues.document import grantees_from_json, grantees_to_json, is_path
from domain.queues.tree import DEFAULT_QUEUE, ROOT, Grantees, QueueTree, parent_of
from domain.requirements.findings import Path, Report

PROVIDED: Final = "provided"
USER_RULE: Final = "user"
GROUP_RULE: Final = "group"
FIXED: Final = "fixed"
TAG: Final = "tag"
RULES: Final = (PROVIDED, USER_RULE, GROUP_RULE, FIXED, TAG)
_NAMING_PATHS: Final = (PROVIDED, FIXED)
TAGS: Final = ("product", "retention_tag")
"""The fields of a job that a rule may name as tags."""

_FIELDS: Final = ("rule", "value", "create", "parent", "filter")
_DOT: Final = "_dot_"
"""The text for a dot in the name of a user, group or tag, because dots separate the names of a path."""

# A rule and its parent rules name the parts of one path, so there are never more than a tree has levels.
_MAX_PARENT_RULES: Final = 20


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
    if rule.rule in _NAMING_PATHS and (named == ROOT or named.startswith(f"{ROOT}.")):
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


def rules_from_json(document: Any, path: Path, report: Report) -> tuple[PlacementRule, ...]:
    """Return the rules of a section `placement`, the default rules for an empty one; report every fault."""
    found = (_rule(item, place, report) for place, item in items_of(document, path, report))
    return tuple(rule for rule in found if rule is not None) or DEFAULT_RULES


def rules_to_json(rules: tuple[PlacementRule, ...]) -> list[dict[str, Any]]:
    """Return the section in canonical form: rules with the fields that differ from their defaults."""
    return list(map(_rule_to_json, rules))


def _rule_to_json(rule: PlacementRule) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "rule": rule.rule,
        "value": rule.value,
        "create": rule.create or None,
        "parent": None if rule.parent is None else _rule_to_json(rule.parent),
        "filter": None if rule.filter is None else _filter_to_json(rule.filter),
    }
    return {field: value for field, value in fields.items() if value is not None}


def _filter_to_json(each: RuleFilter) -> dict[str, Any]:
    return {"allow": each.allow, **grantees_to_json(each.who)}


def _rule(document: Any, path: Path, report: Report, depth: int = 0) -> PlacementRule | None:
    given = fields_of(document, _FIELDS, path, report)
    rule = read_value(one_of(*RULES), given.get("rule"), (*path, "rule"), report)
    value = _value_of(rule, given, path, report)
    create = read_value(truth, given.get("create", False), (*path, "create"), report)
    parent = None
    if given.get("parent") is not None and depth == _MAX_PARENT_RULES:
        report((*path, "parent"), f"is deeper than {_MAX_PARENT_RULES} rules")
    elif given.get("parent") is not None:
        parent = _rule(given["parent"], (*path, "parent"), report, depth + 1)
    only = _filter(given["filter"], (*path, "filter"), report) if given.get("filter") is not None else None
    return None if rule is None else PlacementRule(rule, value, bool(create), parent, only)


def _value_of(rule: str | None, given: Mapping[str, Any], path: Path, report: Report) -> str | None:
    readers: Mapping[str | None, Callable[[Any], str]] = {FIXED: name, TAG: one_of(*TAGS)}
    if rule in readers:
        return read_value(readers[rule], given.get("value", ""), (*path, "value"), report)
    if given.get("value") is not None:
        report((*path, "value"), f"is only for the rules {FIXED} and {TAG}")
    return None


def _filter(document: Any, path: Path, report: Report) -> RuleFilter:
    given = fields_of(document, ("allow", "users", "groups"), path, report)
    allow = read_value(truth, given.get("allow", True), (*path, "allow"), report)
    people = {field: given[field] for field in ("users", "groups") if field in given}
    return RuleFilter(grantees_from_json(people, path, report), allow is not False)
