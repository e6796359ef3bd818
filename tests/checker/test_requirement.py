"""The evaluator of requirements, leaf by leaf, and who is viable."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.checker import UnknownLeaf, could_run
from tests.checker.requirement import judge

SYSTEM: dict[str, Any] = {
    "fqdn": "A1.example.com",
    "type": "Machine",
    "memory_mb": 4096,
    "hypervisor": "",
    "arches": ["x86_64"],
    "pools": ["Net"],
    "excluded_families": [{"arch": "x86_64", "family": "RedHatEnterpriseLinux6", "version": None}],
}
TREE = {"arch": "x86_64", "family": "Fedora", "version": "40", "urls": {}}


def leaf(element: str, op: str, value: object) -> dict[str, Any]:
    return {"element": element, "op": op, "value": value}


BIG, SMALL, UNKNOWN = leaf("memory", ">", 4095), leaf("memory", "<", 4096), leaf("numa_node_count", "==", 2)


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        # Case does not count.
        (leaf("system_type", "==", "machine"), True),
        (leaf("hostname", "==", "a1.EXAMPLE.com"), True),
        (leaf("hostname", "!=", "a1.example.com"), False),
        ({"force": "a1.example.com"}, True),
        ({"force": "a2.example.com"}, False),
        # A pattern covers the whole; its other signs are themselves.
        (leaf("hostname", "like", "a_.%"), True),
        (leaf("hostname", "like", "a"), False),
        (leaf("hostname", "like", "a1?example%"), False),
        (leaf("memory", "like", "4%"), True),
        (leaf("memory", ">=", 4096), True),
        (leaf("memory", "<=", 4095), False),
        (leaf("hypervisor", "==", ""), True),
        # Sets, and the empty name that stands for none.
        (leaf("pool", "==", "net"), True),
        (leaf("pool", "!=", "net"), False),
        (leaf("pool", "==", ""), False),
        (leaf("pool", "!=", ""), True),
        (leaf("arch", "!=", "s390x"), True),
        # Not known, also under `not`, unless the other side decides.
        (UNKNOWN, None),
        ({"not": [UNKNOWN]}, None),
        ({"and": [UNKNOWN, BIG]}, None),
        ({"and": [UNKNOWN, SMALL]}, False),
        ({"or": [UNKNOWN, SMALL]}, None),
        ({"or": [UNKNOWN, BIG]}, True),
        ({"not": [BIG, SMALL]}, True),
        # Nothing is asked.
        ({"and": []}, True),
        ({"or": []}, True),
        ({"not": []}, True),
    ],
)
def test_judge__one_form__answers_as_the_language_has_it(form: dict[str, Any], answer: bool | None) -> None:
    assert judge(form, SYSTEM) is answer


@pytest.mark.parametrize(
    "form",
    [
        leaf("cpu/flag", "==", "vmx"),
        leaf("memory", "~", 1),
        leaf("pool", "like", "n%"),
        {"element": "memory", "op": "==", "value": 1, "units": "GB"},
        {"disk": [leaf("size", ">", 1)]},
        {"and": [], "or": []},
        {},
    ],
)
def test_judge__unknown_question__is_not_passed_in_silence(form: dict[str, Any]) -> None:
    with pytest.raises(UnknownLeaf):
        judge(form, SYSTEM)


def recipe(**fields: Any) -> dict[str, Any]:
    return {"host_requires": json.dumps(BIG), "distro_tree_id": 1, "distro": None, **fields}


OWN = {"arch": "x86_64", "osmajor": "Fedora", "osminor": "0"}


@pytest.mark.parametrize(
    ("asked", "tree", "answer"),
    [
        (recipe(), TREE, True),
        (recipe(host_requires=json.dumps(SMALL)), TREE, False),
        (recipe(host_requires=json.dumps(UNKNOWN)), TREE, False),
        (recipe(), {**TREE, "arch": "s390x"}, False),
        (recipe(), {**TREE, "family": "RedHatEnterpriseLinux6"}, False),
        # The tree was removed; none was found.
        (recipe(), None, False),
        (recipe(distro_tree_id=None), None, False),
        # A distro of one's own.
        (recipe(distro_tree_id=None, distro=OWN), None, True),
        (recipe(distro_tree_id=None, distro={**OWN, "arch": "s390x"}), None, False),
        (recipe(distro_tree_id=None, distro={**OWN, "osmajor": "RedHatEnterpriseLinux6"}), None, False),
    ],
)
def test_could_run__recipe_and_tree__requirement_arch_and_exclusions_count(
    asked: dict[str, Any], tree: dict[str, Any] | None, answer: bool
) -> None:
    assert could_run(asked, SYSTEM, tree) is answer


@pytest.mark.parametrize(("version", "answer"), [("40", False), ("41", True), (None, False)])
def test_could_run__exclusion_of_one_version__is_of_that_version(version: str | None, answer: bool) -> None:
    row = {"arch": "x86_64", "family": "Fedora", "version": version}
    assert could_run(recipe(), {**SYSTEM, "excluded_families": [row]}, TREE) is answer
