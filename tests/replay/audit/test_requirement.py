"""Requirements as the audit reads and matches them, independently of the domain."""

from __future__ import annotations

from typing import Any

import pytest

from replay.audit import UnknownLeaf
from replay.audit.facts import facts_of
from replay.audit.requirement import judge
from tests.replay.audit.moves import assigned, grant, idle, only, place, queued, start
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

SYSTEM: dict[str, Any] = {
    "fqdn": "A1.example.com",
    "type": "Machine",
    "memory_mb": 4096,
    "hypervisor": "",
    "arches": ["x86_64"],
    "pools": ["Net"],
    "cpu": {"processors": 8, "flags": ["vmx", "SSE4_2"]},
    "devices": [
        {"type": "network", "driver": "e1000", "vendor_id": "14E4"},
        {"type": "storage", "driver": "ahci", "description": None},
    ],
    "disks": [{"size_bytes": 10**12}, {"size_bytes": None}],
    "key_values": {"Rack": ["7", "b2"], "NETS": []},
    "last_inventoried_at": "2026-10-01T23:00:00-02:00",
}


FACTS = facts_of(SYSTEM)


def leaf(element: str, op: str, value: object) -> dict[str, Any]:
    return {"element": element, "op": op, "value": value}


def device(op: str, **attributes: str) -> dict[str, Any]:
    return {"element": "device", "op": op, **attributes}


def key(op: str, name: str, *value: object) -> dict[str, Any]:
    return {"element": "key_value", "op": op, "key": name, **({"value": value[0]} if value else {})}


def disk(op: str, size: int, units: str = "GB") -> dict[str, Any]:
    return {"disk": [{"element": "size", "op": op, "value": size, "units": units}]}


BIG, SMALL, UNKNOWN = leaf("memory", ">", 4095), leaf("memory", "<", 4096), leaf("numa_node_count", "==", 2)


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        # Case is ignored.
        (leaf("system_type", "==", "machine"), True),
        (leaf("hostname", "==", "a1.EXAMPLE.com"), True),
        (leaf("hostname", "!=", "a1.example.com"), False),
        ({"force": "a1.example.com"}, True),
        ({"force": "a2.example.com"}, False),
        # A pattern matches the whole text; other characters match themselves.
        (leaf("hostname", "like", "a_.%"), True),
        (leaf("hostname", "like", "a"), False),
        (leaf("hostname", "like", "a1?example%"), False),
        (leaf("memory", "like", "4%"), True),
        (leaf("memory", ">=", 4096), True),
        (leaf("memory", "<=", 4095), False),
        (leaf("hypervisor", "==", ""), True),
        # Sets; the empty name matches an empty set.
        (leaf("pool", "==", "net"), True),
        (leaf("pool", "!=", "net"), False),
        (leaf("pool", "==", ""), False),
        (leaf("pool", "!=", ""), True),
        (leaf("arch", "!=", "s390x"), True),
        (leaf("arch", "==", ""), False),
        # Flags by a pattern.
        (leaf("cpu/flag", "==", "VMX"), True),
        (leaf("cpu/flag", "!=", "vmx"), False),
        (leaf("cpu/flag", "like", "sse%"), True),
        (leaf("cpu_count", ">", "7"), True),
        (leaf("cpu/cores", "!=", 3), None),
        # A single device satisfies all attributes; its type is no pattern; a missing attribute does not
        # match.
        (device("==", type="NETWORK", vendor_id="14e4"), True),
        (device("==", type="network", driver="ahci"), False),
        (device("!=", type="network", driver="ahci"), True),
        (device("like", type="network", driver="e%"), True),
        (device("like", type="net%"), False),
        (device("!=", description="raid"), True),
        ({"not": [device("==")]}, True),
        # A single disk satisfies all conditions; the size of the other one is not recorded.
        (disk(">=", 1000), True),
        (disk(">", 1000), None),
        (disk("<", 932, "GiB"), True),
        ({"disk": []}, True),
        ({"disk": [{"element": "size", "op": "like", "value": "1000%"}]}, True),
        (leaf("diskcount", "==", 2), True),
        # Keys: numbers are compared as numbers, text as text; `!=` requires that no value matches.
        (key("==", "rack", "07"), True),
        (key(">", "RACK", 6), True),
        (key("like", "rack", "B_"), True),
        (key("!=", "rack", "B2"), False),
        (key("!=", "rack", "8"), True),
        (key("==", "rack"), True),
        (key("==", "nets"), False),
        (key("!=", "nets"), True),
        # Days are in UTC.
        (leaf("system/last_inventoried", "==", "2026-10-02"), True),
        (leaf("system/last_inventoried", ">", "2026-10-02"), False),
        (leaf("system/last_inventoried", "!=", ""), True),
        # Missing properties, also under `not`, unless the other condition decides.
        (UNKNOWN, None),
        ({"not": [UNKNOWN]}, None),
        ({"and": [UNKNOWN, BIG]}, None),
        ({"and": [UNKNOWN, SMALL]}, False),
        ({"or": [UNKNOWN, SMALL]}, None),
        ({"or": [UNKNOWN, BIG]}, True),
        ({"not": [BIG, SMALL]}, True),
        # Empty conditions, also nested.
        ({"or": [{"and": []}, SMALL]}, False),
        ({"not": [{"or": []}]}, True),
        ({"and": []}, True),
        ({"or": []}, True),
        ({"not": []}, True),
    ],
)
def test_judge__one_form__answers_as_the_language_has_it(form: dict[str, Any], answer: bool | None) -> None:
    assert judge(form, FACTS) is answer


@pytest.mark.parametrize(
    "form",
    [
        leaf("cpu/colour", "==", 2),
        leaf("cpu/hyper", "like", "t%"),
        leaf("cpu/hyper", "==", "perhaps"),
        leaf("auto_prov", "==", "no"),
        leaf("auto_prov", "!=", "true"),
        leaf("system/added", "~", "2026-01-01"),
        leaf("system/compatible_with_distro", "==", "RedHatEnterpriseLinux6"),
        {"element": "system/compatible_with_distro", "arch": "x86_64", "osmajor": "A", "colour": "red"},
        leaf("size", ">", 1),
        leaf("memory", "~", 1),
        leaf("system_type", ">", "Machine"),
        leaf("system/last_inventoried", ">", ""),
        key(">", "rack"),
        device("==", colour="red"),
        device(">", driver="a"),
        leaf("pool", ">", "n"),
        {"element": "memory", "op": "==", "value": 1, "units": "GB"},
        disk(">", 1, "furlongs"),
        {"disk": [leaf("memory", ">", 1)]},
        {"disk": [{"disk": []}]},
        {"disk": [{"force": "a"}]},
        {"and": [], "or": []},
        {},
    ],
)
def test_judge__unknown_question__is_not_passed_in_silence(form: dict[str, Any]) -> None:
    with pytest.raises(UnknownLeaf):
        judge(form, FACTS)


def test_judge__system_without_properties__sets_are_empty_and_the_rest_is_unknown() -> None:
    bare = facts_of({})
    assert judge(leaf("cpu/flag", "!=", "vmx"), bare) is True
    assert judge(device("==", driver="e1000"), bare) is False
    assert judge(leaf("diskcount", "==", 0), bare) is True
    assert judge({"not": [{"disk": []}]}, bare) is None
    assert judge(leaf("system/last_inventoried", "==", ""), bare) is True
    assert judge(leaf("system/last_inventoried", "<", "2026-10-01"), bare) is None


def test_like__many_wildcards__answers_at_once() -> None:
    assert judge(leaf("hostname", "like", "%a" * 60 + "%b"), facts_of({"fqdn": "a" * 250})) is False


TEAPOT = {"element": "teapot", "op": "==", "value": "brown"}


@pytest.mark.parametrize(
    "form",
    [
        TEAPOT,
        {"and": [TEAPOT]},
        {"xor": []},
        {"element": "memory", "op": "~", "value": 1},
        {"element": "memory", "op": "=="},
        {"element": "memory", "op": "==", "value": "much"},
        {"force": 1},
        {"and": 1},
        [],
        "arch",
    ],
)
def test_readable_requirements__requirement_that_nobody_knows__is_the_only_finding(form: Any) -> None:
    """The recipe waits before others, gets a system and holds one: none of that is judged."""
    story = opening()
    story.queue(5, {5: form}, "Urgent")
    story.decide(place(5, "b"))
    story.job(6, {6: form, 7: only("c")}, "Urgent")
    story.decide([*grant(7, "c", "lab-2"), assigned(6, "lab-2")])
    story.complete(1, "a")
    story.decide(place(2, "a"))
    story.complete(5, "b")
    story.decide([idle("b")])
    assert_caught(story, "understood", "recipe/5")


def test_usable_grant__job_with_unknown_requirement__is_still_checked() -> None:
    story = opening()
    story.queue(5, {5: TEAPOT})
    story.job(6, {6: only("b"), 7: TEAPOT})
    story.decide([*grant(6, "b"), assigned(7)])
    story.job(8, {8: only("a")})
    story.decide([*grant(8, "c", "lab-2"), *start(8, "c")])
    story.decide([queued(2)])
    assert_caught(story, "usable_grant", "recipe/8", "system/c", beside={"understood", "legal_transitions"})


def test_usable_grant__of_a_policy_with_other_rules__is_not_judged() -> None:
    def jumps(policy: int) -> Story:
        story = opening()
        story.queue(5, {5: only("a")}, "Low")
        story.complete(1, "a")
        story.decide(place(5, "a"), policy=policy)
        return story

    assert jumps(1).violations() == []
    assert_caught(jumps(2), "nobody_jumped", "recipe/5", "recipe/2")
    assert_caught(jumps(3), "nobody_jumped", "recipe/5", "recipe/2")
