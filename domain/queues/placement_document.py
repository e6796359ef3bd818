"""The section `placement` of a configuration.

[{"rule": "provided"},
 {"rule": "user", "create": true, "parent": {"rule": "fixed", "value": "root.people"},
  "filter": {"allow": true, "groups": ["qa"]}},
 {"rule": "tag", "value": "product"}]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from domain.document_checks import fields_of, items_of, name, one_of, read_value, truth
from domain.queues.document import grantees_from_json, grantees_to_json
from domain.queues.placement import DEFAULT_RULES, FIXED, RULES, TAG, TAGS, PlacementRule, RuleFilter
from domain.requirements.findings import Path, Report

_FIELDS: Final = ("rule", "value", "create", "parent", "filter")
# A rule and its parent rules name the parts of one path, so there are never more than a tree has levels.
_MAX_PARENT_RULES: Final = 20


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
