"""The configuration of a partition, one document that is checked as a whole.

    {"order": {"assigned_first": "within_priority", "most_overtaken": 8},
     "weights": {"enabled": true, "base": 1,
                 "values": {"none": 0, "degrade": 0.3, "heavy_degrade": 0.5, "maybe": 1.5, "sure": 3},
                 "tick_seconds": 30, "coefficient": 30},
     "locks": {"most_overtaken": 8},
     "limits": {"placed_recipes": null},
     "claims": {"after_ticks": null, "for_ticks": 120},
     "preemption": {"enabled": false, "after_seconds": 30, "again_after_seconds": 15, "most_per_job": 3},
     "operations": [{"operation": "move", "tasks": ["/lab/move"], "locks": {"system": "AllShared"}}],
     "lab_controllers": ["lab-1"],
     "queues": {"queues": [{"name": "kernel", "max": 40}]},
     "placement": [{"rule": "provided"}]}

A document replaces the whole configuration: sections and fields that it leaves out have these defaults.

- `order.most_overtaken` is null without a bound; with 0 nobody is overtaken. `locks.most_overtaken` must have
  a bound, since a set that waits for locks is promised that they come.
- `limits.placed_recipes` is null without a limit. With 0 nothing new is placed.
- `claims.after_ticks` is null if only recipes that force a system claim it; with 0 any recipe may at once.
  The ticks are those of `weights`.
- The base, the five values and the seconds of a tick have at most three decimals and are kept in
  thousandths, as whole numbers, because weights are never compared as floats. All other numbers are whole,
  K included: it is a number of ticks, and ages are whole ticks. None is above `MAX_NUMBER`, so that no
  product of them exceeds 64 bits.
- The five values ascend from `none` to `sure`, since a worse cell must not make a set lighter: only the worst
  cell of a level counts, and further placed recipes only make it worse.
- The rows of `operations` are those of `domain.contention.operation_rows`; the default is none. The order of
  rows and tasks has no meaning.
- `lab_controllers` are the labs that are in this partition and in no other; their order has no meaning.
- `queues` is the section of `domain.queues.document`, `placement` that of `domain.queues.placement`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final, NamedTuple

from domain.contention.documents import raising
from domain.contention.operation_rows import OperationRow, read_rows, row_to_json
from domain.contention.weights import WeightSettings, WeightValues
from domain.document_checks import (
    fields_of,
    is_whole,
    items_of,
    name,
    one_of,
    quoted,
    read_value,
    truth,
    whole,
    without_faults,
)
from domain.queues.document import tree_from_json, tree_to_json
from domain.queues.placement import DEFAULT_RULES, PlacementRule
from domain.queues.placement_checks import check_rules
from domain.queues.placement_document import rules_from_json, rules_to_json
from domain.queues.tree import WITHOUT_CONFIGURATION, QueueTree
from domain.requirements.findings import Path, Report

MAX_NUMBER: Final = 1_000_000

WITHIN_PRIORITY: Final = "within_priority"
ALWAYS: Final = "always"


class OrderSection(NamedTuple):
    """The place of assigned recipes, first within their priority or always, and the bound on overtaking."""

    assigned_first: str = WITHIN_PRIORITY
    max_overtaken: int | None = 8


class LockSection(NamedTuple):
    """The number of times that a set which waits for locks may be overtaken."""

    max_overtaken: int = 8


class LimitSection(NamedTuple):
    """The maximum number of placed host recipes, None without a limit."""

    placed_recipes: int | None = None


class ClaimSection(NamedTuple):
    """The age at which a recipe may claim a busy system, None for never, and the time of the claim, in ticks.

    Claims of recipes that force their system need no age and do not run out.
    """

    after_ticks: int | None = None
    for_ticks: int = 120


class PreemptionSection(NamedTuple):
    """The switch of preemption, the seconds before a set preempts (again), and a bound for each job."""

    is_enabled: bool = False
    after_seconds: int = 30
    again_after_seconds: int = 15
    max_per_job: int = 3


class Configuration(NamedTuple):
    """The configuration of a partition; `Configuration()` has the defaults. Compared by value.

    `operations` are sorted by operation, `lab_controllers` by name; `placement` has an order.
    """

    order: OrderSection = OrderSection()
    weights: WeightSettings = WeightSettings()
    locks: LockSection = LockSection()
    limits: LimitSection = LimitSection()
    claims: ClaimSection = ClaimSection()
    preemption: PreemptionSection = PreemptionSection()
    operations: tuple[OperationRow, ...] = ()
    lab_controllers: tuple[str, ...] = ()
    queues: QueueTree = WITHOUT_CONFIGURATION
    placement: tuple[PlacementRule, ...] = DEFAULT_RULES


class Setting(NamedTuple):
    """A row of the table of settings: the reader of a JSON value, and its inverse."""

    read: Callable[[Any], Any]
    write: Callable[[Any], Any] = lambda value: value


def _whole_from(least: int) -> Callable[[Any], int]:
    return lambda raw: whole(raw, least, MAX_NUMBER)


def _or_null(read: Callable[[Any], int]) -> Callable[[Any], int | None]:
    return lambda raw: None if raw is None else read(raw)


def _lock_overtakings(raw: Any) -> int:
    if raw is None:
        raise ValueError("must have a bound: null is only for order.most_overtaken")
    return whole(raw, 0, MAX_NUMBER)


def thousandths(raw: Any, least: int = 0) -> int:
    """Return a number in thousandths, exactly: a float counts as the decimal that it is written as."""
    if not is_whole(raw) and not isinstance(raw, float):
        raise ValueError("must be a number")
    if not least <= raw <= MAX_NUMBER:
        raise ValueError(f"must be between {least} and {MAX_NUMBER}")
    scaled = Decimal(str(raw)) * 1_000
    if scaled % 1:
        raise ValueError("must have at most three decimals")
    return int(scaled)


def number(thousandths: int) -> int | float:
    """Return thousandths as the number of a document: 3 or 0.3."""
    return thousandths / 1_000 if thousandths % 1_000 else thousandths // 1_000


_DECIMAL: Final = Setting(thousandths, number)


class SettingsTable(NamedTuple):
    """A table of settings and inner sections by their names in documents, in the order of `defaults`."""

    defaults: Any
    rows: Mapping[str, Setting | SettingsTable]


_SECTIONS: Final[Mapping[str, SettingsTable]] = {
    "order": SettingsTable(
        OrderSection(),
        {
            "assigned_first": Setting(one_of(WITHIN_PRIORITY, ALWAYS)),
            "most_overtaken": Setting(_or_null(_whole_from(0))),
        },
    ),
    "weights": SettingsTable(
        WeightSettings(),
        {
            "enabled": Setting(truth),
            "base": _DECIMAL,
            "values": SettingsTable(WeightValues(), dict.fromkeys(WeightValues._fields, _DECIMAL)),
            "tick_seconds": Setting(lambda raw: thousandths(raw, 1), number),
            "coefficient": Setting(_whole_from(1)),
        },
    ),
    "locks": SettingsTable(LockSection(), {"most_overtaken": Setting(_lock_overtakings)}),
    "limits": SettingsTable(LimitSection(), {"placed_recipes": Setting(_or_null(_whole_from(0)))}),
    "claims": SettingsTable(
        ClaimSection(),
        {"after_ticks": Setting(_or_null(_whole_from(0))), "for_ticks": Setting(_whole_from(1))},
    ),
    "preemption": SettingsTable(
        PreemptionSection(),
        {
            "enabled": Setting(truth),
            "after_seconds": Setting(_whole_from(0)),
            "again_after_seconds": Setting(_whole_from(0)),
            "most_per_job": Setting(_whole_from(0)),
        },
    ),
}
_OPERATIONS: Final = "operations"
_LABS: Final = "lab_controllers"
_QUEUES: Final = "queues"
_PLACEMENT: Final = "placement"


def configuration_from_json(document: Any, path: Path, report: Report) -> Configuration | None:
    """Return the configuration of a document; report every fault, and return None if there is one."""

    def read(report: Report) -> Configuration:
        found = _configuration(document, path, report)
        rules = document.get(_PLACEMENT, []) if isinstance(document, Mapping) else []
        check_rules(rules, found.queues, (*path, _PLACEMENT), report)
        return found

    return without_faults(read, report)


def stored_configuration(document: Any) -> Configuration:
    """Return the configuration of a canonical document; raise FaultyInput if it has a fault."""
    return raising(lambda report: _configuration(document, (), report))


def configuration_to_json(configuration: Configuration) -> dict[str, Any]:
    """Return the canonical document, with all fields: equal for configurations of equal content."""
    sections = zip(_SECTIONS.items(), configuration, strict=False)
    return {
        **{title: _written(section, value) for (title, section), value in sections},
        _OPERATIONS: [row_to_json(row) for row in configuration.operations],
        _LABS: list(configuration.lab_controllers),
        _QUEUES: tree_to_json(configuration.queues),
        _PLACEMENT: rules_to_json(configuration.placement),
    }


def _configuration(document: Any, path: Path, report: Report) -> Configuration:
    given = fields_of(document, (*_SECTIONS, _OPERATIONS, _LABS, _QUEUES, _PLACEMENT), path, report)
    sections = [
        _section(section, given.get(title, {}), (*path, title), report)
        for title, section in _SECTIONS.items()
    ]
    rows = read_rows(given.get(_OPERATIONS, []), (*path, _OPERATIONS), report)
    labs = _names(given.get(_LABS, []), (*path, _LABS), report)
    tree = tree_from_json(given.get(_QUEUES, {}), (*path, _QUEUES), report)
    placement = rules_from_json(given.get(_PLACEMENT, []), (*path, _PLACEMENT), report)
    found = Configuration._make([*sections, tuple(sorted(rows)), tuple(sorted(labs)), tree, placement])
    _require_ascending(found.weights.values, (*path, "weights", "values"), report)
    return found


def _names(document: Any, path: Path, report: Report) -> list[str]:
    """Return the names in a list; report each that is no name, or occurs twice."""
    names: dict[str, None] = {}
    for place, raw in items_of(document, path, report):
        found = read_value(name, raw, place, report)
        if found in names:
            report(place, f"{quoted(found)} occurs twice")
        elif found is not None:
            names[found] = None
    return list(names)


def _require_ascending(values: WeightValues, path: Path, report: Report) -> None:
    """Report each value that is less than the one before it; faulty values are None."""
    for (better, least), (worse, value) in pairwise(values._asdict().items()):
        if least is not None and value is not None and value < least:
            reason = "a worse cell must not make a set lighter"
            report((*path, worse), f"must be at least {number(least)}, the value of {better}: {reason}")


def _section(section: SettingsTable, document: Any, path: Path, report: Report) -> Any:
    """Return the values of a section, with defaults for missing fields and None for faulty ones."""
    given = fields_of(document, section.rows, path, report)
    defaults = zip(section.rows.items(), section.defaults, strict=True)
    return section.defaults._make(
        _setting(row, given[field], (*path, field), report) if field in given else default
        for (field, row), default in defaults
    )


def _setting(row: Setting | SettingsTable, raw: Any, path: Path, report: Report) -> Any:
    if isinstance(row, SettingsTable):
        return _section(row, raw, path, report)
    return read_value(row.read, raw, path, report)


def _written(row: Setting | SettingsTable, value: Any) -> Any:
    if isinstance(row, Setting):
        return row.write(value)
    rows = zip(row.rows.items(), value, strict=True)
    return {field: _written(inner, part) for (field, inner), part in rows}
