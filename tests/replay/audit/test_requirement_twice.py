"""The two implementations of the requirement language agree on any requirement and system."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.requirements import Columns, evaluate, from_text
from domain.requirements.host import HOST
from domain.requirements.vocabulary import DISK as DISK_WORDS
from domain.requirements.vocabulary import SYSTEM
from replay.audit.elements import DISK_ELEMENTS, SYSTEM_ELEMENTS
from replay.audit.facts import DEVICE_ATTRIBUTES, facts_of
from replay.audit.requirement import judge

# A small set of texts, so that conditions often hold; with case, wildcards, digits, and letters that fold to
# two.
TEXTS = st.sampled_from(
    ["", "a", "A", "b", "ab", "a.b", "straße", "STRASSE", "7", "07", "-3", "x7", "%", "a_b"]
)
PATTERNS = st.sampled_from(
    ["", "%", "_", "a%", "%a", "%a%b", "_%b", "a_b", "STRA%", "%ss_", "7%", "%%b", "a.b", "0_", "2026-10-%"]
)
# The empty name is not a pattern where it stands for an empty set.
NO_NAME = PATTERNS.filter(bool)
WHOLE = st.integers(-2, 10)
ORDER = st.sampled_from(["==", "=", "!=", ">", ">=", "<", "<="])
EQUALITY = st.sampled_from(["==", "!="])
DAYS = st.sampled_from(["2026-09-30", "2026-10-01", "2026-10-02"])
MOMENTS = st.sampled_from(["2026-10-01T00:30:00+02:00", "2026-10-01T23:30:00Z", "2026-10-01T23:30:00-01:00"])
TYPES = st.sampled_from(["Machine", "laptop", "Prototype"])
CONDITIONS = st.sampled_from(["Automated", "manual", "Broken"])

Forms = st.SearchStrategy[dict[str, Any]]


def leaf(*elements: str, op: Any, value: Any, **more: Any) -> Forms:
    fields = {"element": st.sampled_from(elements), "op": op, "value": value}
    return st.fixed_dictionaries(fields, optional=more)


def text_leaf(*elements: str) -> Forms:
    return leaf(*elements, op=ORDER, value=TEXTS) | leaf(*elements, op=st.just("like"), value=PATTERNS)


def number_leaf(*elements: str) -> Forms:
    written = WHOLE | WHOLE.map(str)
    return leaf(*elements, op=ORDER, value=written) | leaf(*elements, op=st.just("like"), value=PATTERNS)


def key_leaf() -> Forms:
    key = {"element": st.sampled_from(["key_value", "system/key_value"]), "key": TEXTS}
    return st.one_of(
        st.fixed_dictionaries({**key, "op": ORDER, "value": TEXTS | WHOLE}),
        st.fixed_dictionaries({**key, "op": st.just("like"), "value": PATTERNS}),
        st.fixed_dictionaries({**key, "op": EQUALITY | st.just("other")}),
        st.fixed_dictionaries({**key, "op": st.just("other"), "value": TEXTS | WHOLE}),
    )


def device_leaf() -> Forms:
    fields = {"element": st.just("device"), "op": EQUALITY | st.just("like")}
    return st.fixed_dictionaries(fields, optional=dict.fromkeys(DEVICE_ATTRIBUTES, TEXTS | PATTERNS))


def joined(forms: Forms) -> Forms:
    return st.builds(
        lambda word, inner: {word: inner}, st.sampled_from(["and", "or", "not"]), st.lists(forms, max_size=3)
    )


UNITS = st.sampled_from(["bytes", "B", "kB", "KiB", "MB"])


def size_leaf(*elements: str) -> Forms:
    in_bytes = leaf(*elements, op=ORDER, value=st.integers(0, 3), units=UNITS)
    return in_bytes | leaf(*elements, op=st.just("like"), value=PATTERNS)


SIZES = st.one_of(
    size_leaf("size", "sector_size", "phys_sector_size"),
    leaf("model", op=EQUALITY, value=TEXTS),
    leaf("model", op=st.just("like"), value=PATTERNS),
)
DISKS = st.builds(
    lambda inner: {"disk": inner}, st.lists(st.recursive(SIZES, joined, max_leaves=3), max_size=2)
)
DECIMALS = st.sampled_from(["2500", 2500, 2500.5, "2500.50", 0])
TRUTHS = st.sampled_from(["true", "False", "1", "0", True, False])
PEOPLE = ("system/owner", "system/user", "system/loaned")
PLACES = ("system/lender", "system/vendor", "system/model", "system/location", "system/serial")
COMPATIBLE = st.fixed_dictionaries(
    {"element": st.just("system/compatible_with_distro"), "arch": TEXTS, "osmajor": TEXTS},
    optional={"osminor": TEXTS},
)
LEAVES = st.one_of(
    text_leaf("hostname", "system/name", "host", "hypervisor", "system/hypervisor"),
    text_leaf("labcontroller", "hostlabcontroller", "system/powertype", *PEOPLE, *PLACES),
    text_leaf("cpu/vendor", "cpu/model_name"),
    number_leaf("memory", "system/memory", "numa_node_count", "system/numanodes", "diskcount"),
    number_leaf("cpu/processors", "cpu_count", "cpu/cores", "cpu/sockets"),
    number_leaf("cpu/family", "cpu/model", "cpu/stepping"),
    leaf("cpu/speed", op=ORDER, value=DECIMALS),
    leaf("cpu/speed", op=st.just("like"), value=PATTERNS | st.sampled_from(["2500", "25%", "%.5"])),
    leaf("cpu/hyper", op=EQUALITY, value=TRUTHS),
    leaf("auto_prov", op=st.just("=="), value=st.sampled_from(["true", "yes", True])),
    leaf("system_type", "system/type", op=EQUALITY, value=TYPES),
    leaf("system_type", op=st.just("like"), value=PATTERNS | st.just("%machine")),
    leaf("system/status", op=EQUALITY, value=CONDITIONS),
    leaf("system/status", op=st.just("like"), value=PATTERNS | st.just("%a%")),
    leaf("system/last_inventoried", "system/added", op=ORDER, value=DAYS),
    leaf("system/last_inventoried", "system/added", op=st.just("like"), value=NO_NAME),
    leaf("system/last_inventoried", op=EQUALITY, value=st.just("")),
    leaf("arch", "system/arch", "pool", "group", "cpu/flag", op=EQUALITY, value=TEXTS),
    leaf("arch", "system/arch", "pool", "group", "cpu/flag", op=st.just("like"), value=NO_NAME),
    leaf("arch", "system/arch", "pool", "group", op=st.just("other"), value=NO_NAME),
    size_leaf("diskspace"),
    COMPATIBLE,
    key_leaf(),
    device_leaf(),
    DISKS,
)
FORMS = st.recursive(LEAVES, joined, max_leaves=6) | st.builds(
    lambda fqdn: {"force": fqdn}, TEXTS.filter(bool)
)

NAMES = st.none() | st.lists(TEXTS, max_size=3)
SOME = st.none() | WHOLE
TEXT = st.none() | TEXTS
BYTES = st.sampled_from([None, 0, 1, 2000, 2048])
CPU = {
    **dict.fromkeys(("processors", "cores", "sockets", "family", "model", "stepping"), SOME),
    **dict.fromkeys(("vendor", "model_name"), TEXT),
    "speed_mhz": st.sampled_from([None, 0.0, 2500.0, 2500.5]),
    "hyper": st.sampled_from([None, True, False]),
    "flags": NAMES,
}
DISK = {"model": TEXT, **dict.fromkeys(("size_bytes", "sector_size", "phys_sector_size"), BYTES)}
EXCLUSION = st.fixed_dictionaries({"arch": TEXTS, "family": TEXTS}, optional={"version": TEXT})
SYSTEMS = st.fixed_dictionaries(
    {"fqdn": TEXTS},
    optional={
        "type": TYPES,
        "condition": CONDITIONS,
        **dict.fromkeys(("lab_controller", "owner", "user", "loaned_to", "power_type", "hypervisor"), TEXT),
        **dict.fromkeys(("lender", "vendor", "model", "location", "serial"), TEXT),
        "memory_mb": SOME,
        "numa_nodes": SOME,
        "arches": NAMES,
        "pools": NAMES,
        "added_at": st.none() | MOMENTS,
        "last_inventoried_at": st.none() | MOMENTS,
        "cpu": st.none() | st.fixed_dictionaries({}, optional=CPU),
        "key_values": st.none() | st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2), max_size=3),
        "devices": st.none()
        | st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(DEVICE_ATTRIBUTES, TEXT)), max_size=2),
        "disks": st.none() | st.lists(st.fixed_dictionaries({}, optional=DISK), max_size=2),
        "excluded_families": st.none() | st.lists(EXCLUSION, max_size=2),
    },
)


def said_by_the_scheduler(text: str, system: dict[str, Any]) -> bool | None:
    columns = Columns()
    columns.put(0, system)
    held = evaluate(from_text(text), columns)
    return True if held.true else None if held.unknown else False


@settings(max_examples=150)
@given(FORMS, st.lists(SYSTEMS, min_size=1, max_size=4))
def test_requirement__any_that_a_job_may_have__both_say_the_same(
    form: dict[str, Any], systems: list[dict[str, Any]]
) -> None:
    reading = HOST.examine(form)
    assert not reading.findings, reading.findings
    for system in systems:
        answer = judge(json.loads(reading.text), facts_of(system))
        assert answer is said_by_the_scheduler(reading.text, system)


@given(FORMS, SYSTEMS)
def test_requirement__as_it_was_written__means_the_same(form: dict[str, Any], system: dict[str, Any]) -> None:
    """Spellings, units, numbers as text and empty conditions mean the same as in the job language."""
    kept = HOST.examine({"and": [form, ANY_TYPE]}) if "force" not in form else HOST.examine(form)
    system = {"type": "Machine", **system}
    assert judge(form, facts_of(system)) is judge(json.loads(kept.text), facts_of(system))


ANY_TYPE = {"element": "system_type", "op": "like", "value": "%"}


def test_elements__in_every_spelling__are_those_that_jobs_may_use() -> None:
    assert set(SYSTEM_ELEMENTS) == set(SYSTEM.elements)
    assert set(DISK_ELEMENTS) == set(DISK_WORDS.elements)


@pytest.mark.parametrize("element", sorted({words.spellings[0]: words for words in SYSTEM.elements.values()}))
def test_element__with_operators_that_jobs_may_use__is_understood(element: str) -> None:
    operators = set(SYSTEM.elements[element].operators)
    assert set(SYSTEM_ELEMENTS[element].ops) >= operators
