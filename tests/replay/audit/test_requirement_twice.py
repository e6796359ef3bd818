"""The requirement language was written down twice: both must say the same of any requirement and system."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.requirements import Columns, evaluate, from_text
from domain.requirements.host import HOST
from replay.audit.facts import DEVICE_ATTRIBUTES, facts_of
from replay.audit.requirement import judge

# Few texts, so that systems are often as asked; case, wildcards, digits and letters that fold to two.
TEXTS = st.sampled_from(
    ["", "a", "A", "b", "ab", "a.b", "straße", "STRASSE", "7", "07", "-3", "x7", "%", "a_b"]
)
PATTERNS = st.sampled_from(
    ["", "%", "_", "a%", "%a", "%a%b", "_%b", "a_b", "STRA%", "%ss_", "7%", "%%b", "a.b", "0_"]
)
WHOLE = st.integers(-2, 10)
ORDER = st.sampled_from(["==", "=", "!=", ">", ">=", "<", "<="])
EQUALITY = st.sampled_from(["==", "!="])
DAYS = st.sampled_from(["2026-09-30", "2026-10-01", "2026-10-02"])
MOMENTS = st.sampled_from(["2026-10-01T00:30:00+02:00", "2026-10-01T23:30:00Z", "2026-10-01T23:30:00-01:00"])
TYPES = st.sampled_from(["Machine", "laptop", "Prototype"])

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
    key = {"element": st.just("key_value"), "key": TEXTS}
    return st.one_of(
        st.fixed_dictionaries({**key, "op": ORDER, "value": TEXTS | WHOLE}),
        st.fixed_dictionaries({**key, "op": st.just("like"), "value": PATTERNS}),
        st.fixed_dictionaries({**key, "op": EQUALITY}),
    )


def device_leaf() -> Forms:
    fields = {"element": st.just("device"), "op": EQUALITY | st.just("like")}
    return st.fixed_dictionaries(fields, optional=dict.fromkeys(DEVICE_ATTRIBUTES, TEXTS | PATTERNS))


def joined(forms: Forms) -> Forms:
    return st.builds(
        lambda word, inner: {word: inner}, st.sampled_from(["and", "or", "not"]), st.lists(forms, max_size=3)
    )


UNITS = st.sampled_from(["bytes", "B", "kB", "KiB", "MB"])
SIZES = st.one_of(
    leaf("size", op=ORDER, value=st.integers(0, 3), units=UNITS),
    leaf("size", op=st.just("like"), value=PATTERNS),
)
DISKS = st.builds(
    lambda inner: {"disk": inner}, st.lists(st.recursive(SIZES, joined, max_leaves=3), max_size=2)
)
LEAVES = st.one_of(
    text_leaf("hostname", "system/name", "hypervisor", "system/hypervisor"),
    number_leaf("memory", "system/memory", "numa_node_count", "system/numanodes", "diskcount"),
    number_leaf("cpu/processors", "cpu_count", "cpu/cores", "cpu/sockets"),
    leaf("system_type", "system/type", op=EQUALITY, value=TYPES),
    leaf("system_type", op=st.just("like"), value=PATTERNS | st.just("%machine")),
    leaf("system/last_inventoried", op=ORDER, value=DAYS),
    leaf("system/last_inventoried", op=EQUALITY, value=st.just("")),
    leaf("arch", "system/arch", "pool", "cpu/flag", op=EQUALITY, value=TEXTS),
    leaf("cpu/flag", op=st.just("like"), value=PATTERNS),
    key_leaf(),
    device_leaf(),
    DISKS,
)
FORMS = st.recursive(LEAVES, joined, max_leaves=6) | st.builds(
    lambda fqdn: {"force": fqdn}, TEXTS.filter(bool)
)

NAMES = st.none() | st.lists(TEXTS, max_size=3)
SOME = st.none() | WHOLE
SYSTEMS = st.fixed_dictionaries(
    {"fqdn": TEXTS},
    optional={
        "type": TYPES,
        "hypervisor": st.none() | TEXTS,
        "memory_mb": SOME,
        "numa_nodes": SOME,
        "arches": NAMES,
        "pools": NAMES,
        "last_inventoried_at": st.none() | MOMENTS,
        "cpu": st.none()
        | st.fixed_dictionaries(
            {}, optional={"processors": SOME, "cores": SOME, "sockets": SOME, "flags": NAMES}
        ),
        "key_values": st.none() | st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2), max_size=3),
        "devices": st.none()
        | st.lists(
            st.fixed_dictionaries({}, optional=dict.fromkeys(DEVICE_ATTRIBUTES, st.none() | TEXTS)),
            max_size=2,
        ),
        "disks": st.none()
        | st.lists(
            st.fixed_dictionaries({}, optional={"size_bytes": st.sampled_from([None, 0, 1, 2000, 2048])}),
            max_size=2,
        ),
    },
)


def said_by_the_scheduler(text: str, system: dict[str, Any]) -> bool | None:
    columns = Columns()
    columns.put(0, system)
    held = evaluate(from_text(text), columns)
    return True if held.true else None if held.unknown else False


@settings(max_examples=400)
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
    """Spellings, units, numbers in text, and what asks nothing are as the job language has them."""
    kept = HOST.examine({"and": [form, ANY_TYPE]}) if "force" not in form else HOST.examine(form)
    system = {"type": "Machine", **system}
    assert judge(form, facts_of(system)) is judge(json.loads(kept.text), facts_of(system))


ANY_TYPE = {"element": "system_type", "op": "like", "value": "%"}
