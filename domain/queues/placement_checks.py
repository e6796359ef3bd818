"""Checks of placement rules against the queue tree of their configuration.

A stored configuration is not checked again: one from before these checks stays in force.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from domain.document_checks import items_of, without_faults
from domain.errors import unknown_name
from domain.queues.document import is_path
from domain.queues.placement import FIXED, PROVIDED, PlacementRule
from domain.queues.placement_document import rules_from_json
from domain.queues.tree import ROOT, QueueTree, is_from_root, parent_of
from domain.requirements.findings import Path, Report


def check_rules(document: Any, tree: QueueTree, path: Path, report: Report) -> None:
    """Report the rules of a section `placement` that can never lead to a queue, or never create one.

    Rules with other faults are left to `rules_from_json`.
    """
    for place, item in items_of(document, path, _ignore):
        for rule in without_faults(partial(rules_from_json, [item], ()), _ignore) or ():
            _check_rule(rule, tree, place, report)


def _ignore(path: Path, message: str) -> None:
    """Leave a fault to the reader of the section."""


def _check_rule(rule: PlacementRule, tree: QueueTree, path: Path, report: Report) -> None:
    if not _check_parents(rule, tree, path, report):
        return
    queue_path = _fixed_path(rule)
    if queue_path is not None:
        _check_fixed(queue_path, rule, tree, path, report)
    elif rule.rule == PROVIDED:
        if rule.create and not any(map(tree.takes_dynamic, tree.by_path)):
            report((*path, "create"), "has no effect: no queue has a template")
    elif rule.create:
        above = ROOT if rule.parent is None else _fixed_path(rule.parent)
        if above is not None and not tree.takes_dynamic(above):
            report((*path, "create"), f"has no effect: {above} has no template")


def _check_parents(rule: PlacementRule, tree: QueueTree, path: Path, report: Report) -> bool:
    """Return whether queues can be below the queue of each parent rule; report the first fault."""
    if rule.parent is None or _is_whole(rule):
        return True
    place = (*path, "parent")
    if not _check_parents(rule.parent, tree, place, report):
        return False
    above = _fixed_path(rule.parent)
    if above is None:
        return True
    queue = tree.by_path.get(above)
    if queue is None:
        report((*place, "value"), unknown_name("queue", above))
    elif queue.is_leaf:
        report((*place, "value"), f"{above} is a leaf, so no queue can be below it")
    return queue is not None and not queue.is_leaf


def _check_fixed(queue_path: str, rule: PlacementRule, tree: QueueTree, path: Path, report: Report) -> None:
    """Report a fixed queue that is a parent, or that neither the tree has nor a job could create."""
    queue = tree.by_path.get(queue_path)
    if queue is not None and not queue.is_leaf:
        report((*path, "value"), f"{queue_path} is a parent, and only leaves take jobs")
    if queue is not None:
        return
    above = parent_of(queue_path)
    if not tree.takes_dynamic(above):
        without = f", and {above} has no template" if rule.create and above in tree.by_path else ""
        report((*path, "value"), f"{unknown_name('queue', queue_path)}{without}")
    elif not is_path(queue_path):
        report((*path, "value"), f"no queue can have the path {queue_path}")


def _fixed_path(rule: PlacementRule) -> str | None:
    """Return the path to which a rule leads for every job, None if it depends on the job."""
    if rule.rule != FIXED:
        return None
    if _is_whole(rule):
        return rule.value
    above = ROOT if rule.parent is None else _fixed_path(rule.parent)
    return None if above is None else f"{above}.{rule.value}"


def _is_whole(rule: PlacementRule) -> bool:
    """Return whether a rule is fixed to a path from the root, so that its parent rule does not matter."""
    return rule.rule == FIXED and is_from_root(rule.value or "")
