"""A question for the weight of a set: declared locks, beside the locks of placed recipes, at an age.

    {"locks": {"system": {"Exclusive": ["a"]}}, "running": [{"system": {"Shared": ["a"]}}],
     "whole_lab": false, "base_value": 1, "age_ticks": 0, "coefficient": 30}

No field is required. `base_value` and `coefficient` are by default those of the configuration, and so are the
values of the cells. Own names such as `$system` are unknown names here, since no recipe is placed.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from domain.admission.configuration import MAX_NUMBER, thousandths
from domain.contention.documents import raising, read_locks
from domain.contention.held_sums import HeldSums
from domain.contention.locks import UNKNOWN, WHOLE_LAB, Locks
from domain.contention.own_names import unplaced
from domain.contention.weights import (
    WeightSettings,
    aged_weight,
    shown_cells,
    shown_thousandths,
    shown_weight,
    static_weight,
)
from domain.document_checks import fields_of, items_of, read_value, truth, whole
from domain.requirements.findings import Path, Report

FIELDS: Final = ("locks", "running", WHOLE_LAB, "base_value", "age_ticks", "coefficient")


class WeightQuestion(NamedTuple):
    """Declared locks, the locks of placed recipes, an age, and the settings with those of the question."""

    locks: Locks
    running: tuple[Locks, ...]
    age_ticks: int
    settings: WeightSettings


def read_question(document: Any, settings: WeightSettings) -> WeightQuestion:
    """Return the question of a document, with `settings` for missing fields. Raises FaultyInput."""
    return raising(lambda report: _question(document, settings, report))


def _question(document: Any, settings: WeightSettings, report: Report) -> WeightQuestion:
    given = fields_of(document, FIELDS, (), report)

    def value(field: str, default: Any, read: Any) -> Any:
        # A faulty value is None, and the report makes the caller discard the question.
        return read_value(read, given[field], (field,), report) if field in given else default

    locks = _locks(given.get("locks", {}), ("locks",), report)
    running = items_of(given.get("running", []), ("running",), report)
    return WeightQuestion(
        Locks(locks.levels, locks.whole_lab or value(WHOLE_LAB, False, truth)),
        tuple([_locks(form, path, report) for path, form in running]),
        # An age below 0 counts as 0, like the age of a set after the clock stepped back.
        value("age_ticks", 0, lambda raw: whole(raw, -MAX_NUMBER, MAX_NUMBER)),
        settings._replace(
            base=value("base_value", settings.base, thousandths),
            coefficient=value("coefficient", settings.coefficient, lambda raw: whole(raw, 1, MAX_NUMBER)),
        ),
    )


def _locks(form: Any, path: Path, report: Report) -> Locks:
    return unplaced(read_locks(form, path, report), guests=UNKNOWN)


def weigh(question: WeightQuestion) -> dict[str, Any]:
    """Return the weight, the weight before ageing, and the value of the worst cell of each level."""
    cells = HeldSums(question.running).worst_cells(question.locks)
    settings = question.settings
    static = static_weight(cells, settings)
    aged = aged_weight(static, question.age_ticks, settings.coefficient)
    return {
        "weight": shown_weight(aged, settings.coefficient),
        "static_weight": shown_thousandths(static),
        "cells": shown_cells(cells, settings),
    }
