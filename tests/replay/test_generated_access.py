"""Generated groups, pools and policies: as many as requested, and no user is excluded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from domain.access.policy import Policy, policy_of
from domain.access.submit_rights import Submitter, submit_rights
from domain.priority import Priority
from replay.workload.generated_access import with_access, without_policies
from replay.workload.generated_lab import generate_lab

LAB = generate_lab(7, 3, 400)
RULED = with_access(LAB, 7, 50, 20, 0.5)


def policies(lab: dict[str, Any], system: dict[str, Any]) -> tuple[Policy | None, list[Policy]]:
    """Return the policy of a system, and those of its pools."""
    of_pools = {pool["name"]: policy_of(pool.get("access_policy", ())) for pool in lab["pools"]}
    own = system.get("access_policy")
    return None if own is None else policy_of(own), [of_pools[name] for name in system["pools"]]


def test_access__of_a_seed__is_the_same_and_as_much_as_asked_for() -> None:
    assert json.dumps(with_access(LAB, 7, 50, 20, 0.5)) == json.dumps(RULED)
    assert with_access(LAB, 8, 50, 20, 0.5) != RULED
    assert (len(RULED["pools"]), len(RULED["groups"])) == (50, 20)
    ruled = [any(own or () for own in (found[0], *found[1])) for found in _found()]
    assert sum(ruled) == 200
    assert sum("access_policy" in system for system in RULED["systems"]) in range(10, 40)
    strip = {"pools", "access_policy"}
    for before, after in zip(LAB["systems"], RULED["systems"], strict=True):
        assert {k: before[k] for k in before if k not in strip} == {
            k: after[k] for k in after if k not in strip
        }


def _found() -> list[tuple[Policy | None, list[Policy]]]:
    return [policies(RULED, system) for system in RULED["systems"]]


def test_access__of_every_system__lets_everybody_submit_and_some_group_before_others() -> None:
    groups = [group["name"] for group in RULED["groups"]]
    found = set()
    for own, pools in _found():
        judged = submit_rights(own, pools, "nobody")
        everybody = judged.maximum(Submitter("somebody", None))
        assert everybody is not None
        best = max(judged.maximum(Submitter("somebody", group)) or 0 for group in groups)
        assert best == Priority.Urgent
        found.add(everybody)
    assert found == {Priority.Low, Priority.Medium, Priority.Normal, Priority.High, Priority.Urgent}


def test_access__names_in_it__are_all_there() -> None:
    groups = {group["name"] for group in RULED["groups"]}
    pools = {pool["name"] for pool in RULED["pools"]}
    assert {pool["owner_group"] for pool in RULED["pools"]} <= groups
    assert {name for system in RULED["systems"] for name in system["pools"]} <= pools
    named = {
        entry["group"]
        for one in (*RULED["pools"], *RULED["systems"])
        for entry in one.get("access_policy", ())
        if "group" in entry
    }
    assert named <= groups and len(named) == 20


@pytest.mark.parametrize(("pools", "groups", "share"), [(1, 0, 1.0), (3, 1, 0.0), (1, 2, 0.1), (2, 30, 1.0)])
def test_access__of_few_or_many__is_sound(pools: int, groups: int, share: float) -> None:
    lab = with_access(LAB, 1, pools, groups, share)
    assert (len(lab["pools"]), len(lab["groups"])) == (pools, groups)
    ruled = [own or any(of_pools) for own, of_pools in (policies(lab, system) for system in lab["systems"])]
    assert sum(map(bool, ruled)) == round(400 * share)


def test_without_policies__of_any_lab__has_none() -> None:
    assert "access_policy" not in json.dumps(without_policies(LAB))
