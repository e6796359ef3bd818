"""`labledger recipe-set`: locks, weight and worst cells of a set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

RECIPE = {"recipe_id": 12, "state": "queued", "system": None, "whiteboard": "", "reason": "no idle system"}
SET: dict[str, Any] = {
    "position": 40,
    "recipe_set_id": 3,
    "job_id": 7,
    "owner": "ada",
    "group": None,
    "priority": "High",
    "state": "queued",
    "result": "New",
    "recipes": [{**RECIPE, "awaits_locks": False}],
    "locks": {"declared": {"network": {"Exclusive": ["vlan-7"]}}, "held": None},
    "weight": 3.6,
    "static_weight": 4.0,
    "ticks": 3,
    "cells": {"pool": 0.0, "network": 3.0},
    "worst_recipes": {"pool": None, "network": 4},
}
NO_WEIGHT = dict.fromkeys(("weight", "static_weight", "ticks", "cells", "worst_recipes"))


def test_recipe_set__waits__shows_locks_weight_and_whose_lock_it_is(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/recipe-sets/3", Answer(SET))
    said = run("recipe-set", "3", "--wide").stdout
    assert said.startswith("recipe set 3\n  job: 7\n  owner: ada\n  priority: High\n")
    assert "  declared locks: network=Exclusive:vlan-7\n" in said
    assert "held locks" not in said
    assert "  weight: 3.60 (4 before ageing, age 3 ticks)\n" in said
    lines = [line.split() for line in said.splitlines()]
    assert ["network", "3", "4"] in lines and ["pool", "0"] in lines


def test_recipe_set__is_held_back__shows_dependencies_rules_and_reasons(
    server: LoopbackServer, run: Run
) -> None:
    admission = {
        "depends_on": [
            {"job": 2, "states": ["completed"]},
            {"recipe_set": 1, "states": ["completed", "aborted"]},
        ],
        "job_filter": {"name": "night", "action": "PAUSE"},
        "buckets": [{"limit": 3, "label": "storage switch"}],
        "held_back": [{"row": "dependency", "reason": "job 2, its dependency, has not ended"}],
    }
    server.on("GET", "/recipe-sets/3", Answer({**SET, **admission}))
    said = run("recipe-set", "3", "--wide").stdout
    assert "  depends on: job 2, completed\n  depends on: recipe set 1, completed or aborted\n" in said
    assert "  job filter: night (PAUSE)\n  bucket: storage switch, at most 3\n" in said
    assert "\nheld back by  why\n" in said
    assert "\ndependency    job 2, its dependency, has not ended\n" in said


def test_recipe_set__has_started__shows_held_locks_and_no_weight(server: LoopbackServer, run: Run) -> None:
    locks = {"declared": {"system": "UnknownShared"}, "held": {"system": {"Shared": ["a"]}}}
    server.on("GET", "/recipe-sets/3", Answer({**SET, **NO_WEIGHT, "locks": locks}))
    said = run("recipe-set", "3", "--wide").stdout
    assert "  declared locks: system=UnknownShared\n  held locks: system=Shared:a\n" in said
    assert "weight" not in said and "worst cell" not in said
