"""The section `queues` of a configuration: a tree that is read and checked as a whole.

    {"submit": {"users": ["*"]},
     "queues": [
       {"name": "kernel", "max": 40, "guaranteed": 20,
        "limits": [{"user": "*", "max": 10}, {"group": "qa", "max": 20, "max_jobs": 5}],
        "queues": [{"name": "storage", "max": 20}, {"name": "net", "max_jobs": 3}]},
       {"name": "people", "template": {"max": 4}, "queues": []}]}

The section has the properties of `root`, but for `max`, which is the number of systems. Without `submit`,
everybody may submit to root. A document that names no queue `default` has this leaf all the same. A queue
with queues below it or with a template is a parent; a template needs the field `queues`, which may be empty.
The caller checks the names of
users and groups, because it has the directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from domain.document_checks import fields_of, items_of, name, one_of, quoted, read_value, truth, whole
from domain.intake_states import ACTIVE, STATES
from domain.queues.tree import (
    DEFAULT_QUEUE,
    EACH,
    EVERYBODY_MAY_SUBMIT,
    FIFO,
    GROUP,
    MAX_NUMBER,
    ORDERS_OF_LEAVES,
    ORDERS_OF_PARENTS,
    ROOT,
    USER,
    Grantees,
    Queue,
    QueueLimit,
    QueueTree,
    Template,
)
from domain.queues.tree_checks import check_tree
from domain.requirements.findings import Path, Report

MAX_DEPTH: Final = 20
MAX_QUEUES: Final = 5_000
MAX_PATH_LENGTH: Final = 255
"""The number of characters of the longest path, which an index of the database has to hold."""

_DEFAULT_NAME: Final = DEFAULT_QUEUE.rpartition(".")[2]

_NUMBERS: Final = ("max", "guaranteed", "max_jobs")
_TEMPLATE_FIELDS: Final = (*_NUMBERS, "order")
_OWN_FIELDS: Final = (
    "limits",
    "submit",
    "admin",
    "order",
    "priority_offset",
    "fence",
    "state",
    "template",
    "queues",
)
_ROOT_FIELDS: Final = ("guaranteed", "max_jobs", *_OWN_FIELDS)
_QUEUE_FIELDS: Final = ("name", *_NUMBERS, *_OWN_FIELDS)


def tree_from_json(document: Any, path: Path, report: Report) -> QueueTree:
    """Return the tree of a section; report every fault. A tree with a fault is only for further checks."""
    if isinstance(document, Mapping) and "max" in document:
        report((*path, "max"), "cannot be set for root: it is the number of its systems")
        document = {field: value for field, value in document.items() if field != "max"}
    given = fields_of(document, _ROOT_FIELDS, path, report)
    # A document that does not name `default` has this queue all the same.
    has_default = any(_name_of(child) == _DEFAULT_NAME for child in _list_of(given.get("queues")))
    reader = _Reader(report, 0 if has_default else 1)
    root = reader.queue(ROOT, given, path, 1)
    check_tree(root, path, report)
    if "submit" not in given:
        root = root._replace(submit=EVERYBODY_MAY_SUBMIT)
    if all(child.path != DEFAULT_QUEUE for child in root.children):
        root = root._replace(children=(*root.children, Queue(DEFAULT_QUEUE)))
    return QueueTree(root)


def tree_to_json(tree: QueueTree) -> dict[str, Any]:
    """Return the section in canonical form: with all properties that differ from their defaults."""
    return _written(tree.root)


def queue_from_json(queue_path: str, properties: Mapping[str, Any]) -> Queue:
    """Return a queue without children from stored properties, which have no faults."""
    return _Reader(_refuse, 0).queue(queue_path, {**properties, "queues": []}, (), 1)


def _refuse(path: Path, message: str) -> None:
    raise AssertionError(f"a stored document has no faults: {path} {message}")


def grantees_from_json(document: Any, path: Path, report: Report) -> Grantees:
    """Return the users and groups of a right, sorted; report every fault."""
    given = fields_of(document, ("users", "groups"), path, report)
    users, groups = (
        [
            read_value(name, raw, place, report)
            for place, raw in items_of(given.get(field, []), (*path, field), report)
        ]
        for field in ("users", "groups")
    )
    return Grantees(*(tuple(sorted({each for each in names if each})) for names in (users, groups)))


def grantees_to_json(grantees: Grantees) -> dict[str, list[str]]:
    """Return the users and groups of a right, without empty lists."""
    return {kind: list(names) for kind, names in grantees._asdict().items() if names}


class _Reader:
    """Reads queues, and counts them. Mutable."""

    def __init__(self, report: Report, count: int) -> None:
        self._report = report
        self._count = count

    def queue(self, queue_path: str, given: Mapping[str, Any], path: Path, depth: int) -> Queue:
        """Return a queue with those below it; report every fault of them."""
        self._count += 1
        if self._count == MAX_QUEUES + 1:
            self._report(path, f"is one queue too many: at most {MAX_QUEUES} are allowed")
        if self._count > MAX_QUEUES:
            return Queue(queue_path)
        template = given.get("template")
        is_parent = queue_path == ROOT or bool(given.get("queues")) or template is not None
        orders = ORDERS_OF_PARENTS if is_parent else ORDERS_OF_LEAVES
        self._require_parent(queue_path, given, path)
        return Queue(
            path=queue_path,
            **self._numbers(given, path),
            limits=self._limits(given.get("limits", []), (*path, "limits")),
            submit=grantees_from_json(given.get("submit", {}), (*path, "submit"), self._report),
            admin=grantees_from_json(given.get("admin", {}), (*path, "admin"), self._report),
            order=self._value(one_of(*orders), given, "order", path, FIFO),
            priority_offset=self._value(_offset, given, "priority_offset", path, 0),
            fence=self._value(truth, given, "fence", path, False),
            state=self._value(one_of(*STATES), given, "state", path, ACTIVE),
            template=None if template is None else self._template(template, (*path, "template")),
            children=tuple(self._children(queue_path, given.get("queues", []), (*path, "queues"), depth)),
        )

    def _require_parent(self, queue_path: str, given: Mapping[str, Any], path: Path) -> None:
        """Report a template of a leaf, and queues or a template of `root.default`."""
        if queue_path == DEFAULT_QUEUE and (given.get("template") is not None or given.get("queues")):
            self._report(path, "must have no queues and no template: it takes the jobs without another queue")
        elif given.get("template") is not None and queue_path != ROOT and "queues" not in given:
            reason = "is for parents only: add the field queues, with an empty list for dynamic queues alone"
            self._report((*path, "template"), reason)

    def _children(self, parent: str, document: Any, path: Path, depth: int) -> Iterator[Queue]:
        first: dict[str, Path] = {}
        for place, item in items_of(document, path, self._report):
            given = fields_of(item, _QUEUE_FIELDS, place, self._report)
            found = read_value(_queue_name, given.get("name", ""), (*place, "name"), self._report)
            if found is None:
                found = ""
            elif found in first:
                self._report((*place, "name"), f"{quoted(found)} occurs twice below {parent}")
            first.setdefault(found, place)
            if len(f"{parent}.{found}") > MAX_PATH_LENGTH:
                self._report((*place, "name"), f"makes a path longer than {MAX_PATH_LENGTH} characters")
            elif depth == MAX_DEPTH:
                self._report(place, f"is deeper than {MAX_DEPTH} levels")
            else:
                yield self.queue(f"{parent}.{found}", given, place, depth + 1)

    def _numbers(self, given: Mapping[str, Any], path: Path) -> dict[str, Any]:
        least = {"max": 0, "guaranteed": 0, "max_jobs": 1}
        return {
            field: self._value(_or_none(least[field]), given, field, path, None)
            for field in _NUMBERS
            if field in given
        }

    def _template(self, document: Any, path: Path) -> Template:
        given = fields_of(document, _TEMPLATE_FIELDS, path, self._report)
        order = self._value(one_of(*ORDERS_OF_LEAVES), given, "order", path, FIFO)
        return Template(**self._numbers(given, path), order=order)

    def _limits(self, document: Any, path: Path) -> tuple[QueueLimit, ...]:
        found: dict[tuple[str, str], QueueLimit] = {}
        for place, item in items_of(document, path, self._report):
            given = fields_of(item, (USER, GROUP, "max", "max_jobs"), place, self._report)
            kinds = [kind for kind in (USER, GROUP) if given.get(kind) is not None]
            if len(kinds) != 1:
                self._report(place, "must have either a user or a group")
                continue
            whose = read_value(name, given[kinds[0]], (*place, kinds[0]), self._report)
            numbers = self._numbers(given, place)
            if not any(given.get(field) is not None for field in ("max", "max_jobs")):
                self._report(place, "must have max or max_jobs")
            if whose is None:
                continue
            if (kinds[0], whose) in found:
                self._report(place, f"{kinds[0]} {quoted(whose)} occurs twice")
            found[kinds[0], whose] = QueueLimit(kinds[0], whose, **numbers)
        return tuple(found[key] for key in sorted(found))

    def _value(
        self, read: Callable[[Any], Any], given: Mapping[str, Any], field: str, path: Path, default: Any
    ) -> Any:
        if field not in given:
            return default
        found = read_value(read, given[field], (*path, field), self._report)
        return default if found is None else found


def _or_none(least: int) -> Callable[[Any], int | None]:
    return lambda raw: None if raw is None else whole(raw, least, MAX_NUMBER)


def _offset(raw: Any) -> int:
    return whole(raw, -MAX_NUMBER, MAX_NUMBER)


def _list_of(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else []


def _name_of(document: Any) -> Any:
    """Return the name in the document of a queue, None without one."""
    return document.get("name") if isinstance(document, Mapping) else None


def is_path(path: str) -> bool:
    """Return whether a queue could have a path below the queue above it, by its length and its last name."""
    try:
        _queue_name(path.rpartition(".")[2])
    except ValueError:
        return False
    return len(path) <= MAX_PATH_LENGTH


def _queue_name(raw: Any) -> str:
    """Return the name of a queue. Raises ValueError for any that a path could not have."""
    found = name(raw)
    if "." in found or "/" in found:
        raise ValueError("must have no dot and no slash, because a path of names is a part of addresses")
    if found != found.strip():
        raise ValueError("must not begin or end with a blank")
    if found == EACH:
        raise ValueError(f"must not be {EACH}, which stands for every user or group")
    return found


def _written(queue: Queue) -> dict[str, Any]:
    plain: dict[str, Any] = {} if queue.path == ROOT else {"name": queue.name}
    numbers = {field: value for field in _NUMBERS if (value := getattr(queue, field)) is not None}
    rights = {
        field: grantees_to_json(right)
        for field in ("submit", "admin")
        if (right := getattr(queue, field)) != Grantees() or (queue.path, field) == (ROOT, "submit")
    }
    others: dict[str, Any] = {
        "limits": [limit_to_json(limit) for limit in queue.limits],
        "order": None if queue.order == FIFO else queue.order,
        "priority_offset": queue.priority_offset,
        "fence": queue.fence,
        "state": None if queue.state == ACTIVE else queue.state,
        "template": None if queue.template is None else template_to_json(queue.template),
        "queues": [_written(child) for child in queue.children],
    }
    given = {field: value for field, value in others.items() if value not in (None, 0, False, [])}
    if queue.template is not None:
        given.setdefault("queues", [])
    return {**plain, **numbers, **rights, **given}


def limit_to_json(limit: QueueLimit) -> dict[str, Any]:
    """Return a limit of a queue, without absent numbers."""
    numbers = {"max": limit.max, "max_jobs": limit.max_jobs}
    return {limit.kind: limit.name, **{field: value for field, value in numbers.items() if value is not None}}


def template_to_json(template: Template) -> dict[str, Any]:
    """Return a template, without the fields that have their defaults."""
    values = {field: value for field, value in template._asdict().items() if value is not None}
    return {field: value for field, value in values.items() if (field, value) != ("order", FIFO)}
