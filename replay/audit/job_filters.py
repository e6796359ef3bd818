"""Job filters: the rule that applies to a recipe set, and its predicate, by plain search (design 5.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from replay.audit.tables import URGENCY
from replay.audit.values import RecipeSet, Submitted

Rule = Mapping[str, Any]


def applying(rules: Mapping[str, Rule], recipe_set: RecipeSet) -> tuple[str, Rule] | None:
    """Return the first rule that matches a set and is not CONTINUE, with its name."""
    for name, rule in _in_order(rules):
        predicate = rule.get("predicate")
        is_matching = predicate is None or matches(predicate, recipe_set, rule["watermark"])
        if is_matching and rule["action"] != "CONTINUE":
            return name, rule
    return None


def _in_order(rules: Mapping[str, Rule]) -> Iterable[tuple[str, Rule]]:
    return sorted(rules.items(), key=lambda row: (row[1]["priority"], row[1]["watermark"], row[0]))


def matches(form: Mapping[str, Any], recipe_set: RecipeSet, watermark: int) -> bool:
    """Return whether a predicate holds for a set."""
    ((word, inner), *others) = form.items()
    if not others and word in ("and", "or", "not"):
        children = inner if isinstance(inner, list | tuple) else [inner]
        found = [matches(child, recipe_set, watermark) for child in children]
        return {"and": all(found), "or": any(found), "not": not all(found)}[word]
    return _compare(form["field"], form["op"], form["value"], recipe_set, watermark)


def _compare(field: str, op: str, value: Any, recipe_set: RecipeSet, watermark: int) -> bool:
    facts = _values(field, recipe_set)
    if op == "!=":
        return not _compare(field, "=", value, recipe_set, watermark)
    operands = value if op == "in" else [value]
    wanted = [_operand(field, operand, watermark) for operand in operands]
    return any(_OPERATORS[op](fact, operand) for fact in facts for operand in wanted)


def _values(field: str, recipe_set: RecipeSet) -> Collection[Any]:
    submitted = recipe_set.submitted or Submitted("", "", None, "", (), (), ())
    return {
        "job_id": (recipe_set.job_id,),
        "user": (submitted.owner,),
        "submitter": (submitted.submitter,),
        "group": (submitted.group or "",),
        "priority": (-URGENCY[recipe_set.priority],),
        "task": submitted.tasks,
        "operation": submitted.operations,
        "reason": submitted.reasons,
    }[field]


def _operand(field: str, value: Any, watermark: int) -> Any:
    if field == "priority":
        return -URGENCY[value]
    return watermark if field == "job_id" and value == "watermark" else value


def _is_like(text: str, pattern: str) -> bool:
    """Return whether a whole text is like a pattern: `%` is any text, `_` one character."""
    regular = "".join({"%": ".*", "_": "."}.get(letter, re.escape(letter)) for letter in pattern)
    return re.fullmatch(regular, text, re.DOTALL) is not None


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda fact, operand: bool(fact == operand),
    "in": lambda fact, operand: bool(fact == operand),
    "<": lambda fact, operand: bool(fact < operand),
    "<=": lambda fact, operand: bool(fact <= operand),
    ">": lambda fact, operand: bool(fact > operand),
    ">=": lambda fact, operand: bool(fact >= operand),
    "like": _is_like,
}
