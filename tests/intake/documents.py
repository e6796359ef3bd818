"""A strategy for JSON jobs of every shape, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Documents = st.SearchStrategy[dict[str, Any]]
CONTROL_CHARACTERS = (*range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
CONTROL = "".join(map(chr, [*range(0x20), *CONTROL_CHARACTERS, 0xFFFE, 0xFFFF]))


def text(*, least: int = 0, lines: bool = False) -> st.SearchStrategy[str]:
    left_out = CONTROL.translate({ord(mark): None for mark in "\t\n\r"}) if lines else CONTROL
    return st.text(st.characters(codec="utf-8", exclude_characters=left_out), min_size=least, max_size=8)


LINE = text()
NAME = text(least=1)
LINES = text(lines=True)
ROLE = st.none() | NAME
OPTIONS = st.sampled_from(["", "console=ttyS0 quiet", "a='b c'", '!x="<&>"', " é  "])
FOREIGN = st.sampled_from(
    [
        '<a xmlns="urn:x"/>',
        "<x:a xmlns:x='urn:x' x:b='1' c='\"'>\n <x:b/> <d>t</d>\n</x:a>",
        '<a xmlns="urn:x"><b xmlns=""/><c><d/></c></a>',
        '<a xmlns="urn:x"><!-- gone --><![CDATA[<&>]]>&#65;&#13;\ttail</a>\n',
        '<x:a xmlns:x="urn:x" xmlns:y="urn:y" xml:lang="de"><y:b y:c="&#10;"/>é</x:a>',
    ]
)

_TEXT_LEAF = st.fixed_dictionaries(
    {
        "element": st.sampled_from(["hostname", "hypervisor", "system/name"]),
        "op": st.sampled_from(["=", "!=", "like", ">"]),
        "value": NAME,
    }
)
_NUMBER_LEAF = st.fixed_dictionaries(
    {
        "element": st.sampled_from(["memory", "cpu_count", "cpu/sockets", "system/numanodes", "diskcount"]),
        "value": st.integers(-5, 2**31 - 1),
    },
    optional={"op": st.sampled_from(["=", "==", "!=", ">=", "<"])},
)
_OTHER_LEAF = st.sampled_from(
    [
        {"element": "system_type", "value": "Laptop"},
        {"element": "arch", "op": "!=", "value": "x86_64"},
        {"element": "pool", "value": ""},
        {"element": "pool", "op": "!=", "value": "big"},
        {"element": "system/last_inventoried", "op": ">", "value": "2026-01-31"},
        {"element": "key_value", "key": "HVM"},
        {"element": "key_value", "key": "NFS", "op": ">", "value": "3"},
        {"element": "device", "op": "!=", "type": "NETWORK", "description": 'a "b" <c>'},
        {"element": "system/owner", "value": "BOB"},
        {"element": "labcontroller", "op": "like", "value": "lab.%"},
        {"element": "hostlabcontroller", "op": "!=", "value": "lab.east.example.com"},
        {"element": "system/powertype", "value": "ipmi"},
        {"element": "system/status", "op": "!=", "value": "Broken"},
        {"element": "system/added", "op": "like", "value": "2026-%"},
        {"element": "system/compatible_with_distro", "arch": "aarch64", "osmajor": "F", "osminor": "0"},
        {"element": "auto_prov", "value": "1"},
        {"element": "cpu/hyper", "op": "!=", "value": "0"},
        {"element": "cpu/speed", "op": ">", "value": 2593.75},
        {"element": "diskspace", "op": ">=", "value": 2, "units": "TiB"},
        {"disk": []},
        {"disk": [{"not": [{"element": "size", "op": ">", "value": 400, "units": "GiB"}]}]},
        {},
    ]
)
_DISTRO_LEAF = st.fixed_dictionaries(
    {
        "element": st.sampled_from(["name", "distro_family", "variant", "arch", "tag", "virt"]),
        "op": st.sampled_from(["==", "!=", "like"]),
        "value": NAME,
    }
)


def _joined(leaf: Documents) -> Documents:
    return st.recursive(
        leaf,
        lambda inner: st.builds(
            lambda word, children: {word: children},
            st.sampled_from(["and", "or", "not"]),
            st.lists(inner, max_size=3),
        ),
        max_leaves=5,
    )


HOST_REQUIRES = _joined(_TEXT_LEAF | _NUMBER_LEAF | _OTHER_LEAF) | st.just(
    {"force": "arm-04.east.example.com"}
)
DISTRO_REQUIRES = _joined(_DISTRO_LEAF)

DISTRO = st.fixed_dictionaries(
    {
        "arch": st.sampled_from(["x86_64", "aarch64"]),
        "osmajor": NAME,
        "tree_url": NAME,
        "kernel_url": NAME,
        "initrd_url": NAME,
    },
    optional={"osminor": NAME, "name": NAME, "variant": NAME, "image_url": NAME},
)
FETCH = st.fixed_dictionaries({"url": NAME}, optional={"subdir": LINE})
PARAMS = st.dictionaries(NAME, LINES, max_size=2)
TASK = st.fixed_dictionaries({"name": NAME}, optional={"role": ROLE, "params": PARAMS, "fetch": FETCH})
FETCHED = st.fixed_dictionaries({"fetch": FETCH}, optional={"params": PARAMS})
PARTITION = st.fixed_dictionaries(
    {"name": NAME, "size_gb": st.integers(1, 2**31 - 1)},
    optional={"type": st.sampled_from(["part", "lvm"]), "fs": NAME},
)
LOCK_NAMES = {
    "pool": st.sampled_from(["big", " small ", "$pools"]),
    "Node": st.sampled_from(["arm-04.east.example.com", "$system"]),
}


def _lock(level: str) -> st.SearchStrategy[Any]:
    names = st.lists(LOCK_NAMES.get(level, NAME.filter(str.strip)), min_size=1, max_size=2)
    kinds = ["None", "UnknownShared", "AllShared", "UnknownExclusive", "AllExclusive"]
    return st.sampled_from(kinds) | st.builds(
        lambda kind, names: {kind: names}, st.sampled_from(["Shared", "Exclusive"]), names
    )


def _level_locks(level: str) -> st.SearchStrategy[Any]:
    return _lock(level) | st.lists(_lock(level), min_size=2, max_size=2)


LOCKS = st.fixed_dictionaries(
    {},
    optional={
        **{level: _level_locks(level) for level in ("pool", "guest", "Node", "system_resource", "network")},
        "whole_lab": st.booleans(),
    },
)
STATES = st.lists(st.sampled_from(["completed", "cancelled", "aborted"]), max_size=2)
DEPENDS_ON = st.lists(
    st.fixed_dictionaries({"job": st.sampled_from([1, 2**31 - 1])}, optional={"states": STATES})
    | st.fixed_dictionaries({"recipe_set": st.just(7)}),
    max_size=2,
)
REASONS = st.lists(NAME | st.just("rate-limit:3:switch"), max_size=2)
ADMISSION = {"depends_on": DEPENDS_ON, "reasons": REASONS}
REQUIRED = {"host_requires": HOST_REQUIRES, "tasks": st.lists(TASK | FETCHED, min_size=1, max_size=2)}
OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "whiteboard": LINES,
    "role": ROLE,
    "kernel_options": OPTIONS,
    "kernel_options_post": OPTIONS,
    "ks_meta": OPTIONS,
    "autopick": st.fixed_dictionaries(
        {},
        optional={
            "random": st.booleans(),
            "pools": st.lists(st.sampled_from(["big", "small", "arm"]), unique=True),
        },
    ),
    "watchdog": st.sampled_from([{}, {"panic": None}, {"panic": "ignore"}]),
    "packages": st.lists(NAME, max_size=2),
    "ks_appends": st.lists(LINES, max_size=2),
    "repos": st.lists(st.fixed_dictionaries({"name": NAME, "url": NAME}), max_size=2),
    "partitions": st.lists(PARTITION, max_size=2),
    "kickstart": st.none() | LINES,
    "reservesys": st.fixed_dictionaries(
        {},
        optional={
            "duration_seconds": st.integers(1, 356_400),
            "when": st.sampled_from(["always", "onwarn", "onfail", "onabort"]),
        },
    ),
    "locks": LOCKS,
}


def _recipes(required: dict[str, Any], optional: dict[str, Any]) -> Documents:
    return st.fixed_dictionaries(
        {**REQUIRED, **required, "distro_requires": DISTRO_REQUIRES}, optional={**OPTIONAL, **optional}
    ) | st.fixed_dictionaries({**REQUIRED, **required, "distro": DISTRO}, optional={**OPTIONAL, **optional})


GUEST = _recipes({"guestargs": OPTIONS}, {"guestname": st.none() | NAME})
RECIPE = _recipes({}, {"guests": st.lists(GUEST, max_size=2)})
RECIPE_SET = st.fixed_dictionaries(
    {"recipes": st.lists(RECIPE, min_size=1, max_size=2)},
    optional={
        "priority": st.sampled_from(["Low", "Medium", "Normal", "High", "Urgent"]),
        "preemptible": st.booleans(),
        **ADMISSION,
    },
)
JOB = st.fixed_dictionaries(
    {"recipe_sets": st.lists(RECIPE_SET, min_size=1, max_size=2)},
    optional={
        "whiteboard": LINES,
        "user": st.just("alice"),
        "group": st.just("kernel-qe"),
        "retention_tag": st.sampled_from(["scratch", "60Days"]),
        "notify": st.lists(st.sampled_from(["a@b.c", "é@<x>"]), max_size=2),
        "foreign": st.lists(FOREIGN, max_size=2),
        **ADMISSION,
    },
)
