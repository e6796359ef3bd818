"""The job language as tables: which element fills which field of the document."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from api.intake.places import line_of, local_name
from api.intake.xml_requirement import DISTRO_REQUIRES, HOST_REQUIRES
from api.intake.xml_shapes import (
    Child,
    Shape,
    attribute,
    listing,
    mapping,
    not_yet,
    record,
    text,
)
from api.intake.xml_walk import Walk
from domain.errors import Fault, FaultyInput

_YES_OR_NO: Final = {
    word: word.lower() in ("true", "1") for word in ("true", "false", "TRUE", "FALSE", "1", "0")
}

_AUTOPICK: Final = record(
    {"random": "random"},
    {"pool": Child("pools", text, many=True)},
    values={"random": _YES_OR_NO},
)

_TASK: Final = record(
    {"name": "name", "role": "role"},
    {
        "params": Child("params", mapping("param", "name", "value")),
        "fetch": Child("fetch", not_yet),
    },
)

_RECIPE: Final = record(
    {
        "whiteboard": "whiteboard",
        "role": "role",
        "kernel_options": "kernel_options",
        "kernel_options_post": "kernel_options_post",
        "ks_meta": "ks_meta",
    },
    {
        "autopick": Child("autopick", _AUTOPICK),
        "watchdog": Child("watchdog", record({"panic": "panic"})),
        "packages": Child("packages", listing("package", attribute("name"))),
        "ks_appends": Child("ks_appends", listing("ks_append", text)),
        "repos": Child("repos", listing("repo", record({"name": "name", "url": "url"}))),
        "distroRequires": Child("distro_requires", DISTRO_REQUIRES),
        "hostRequires": Child("host_requires", HOST_REQUIRES),
        "partitions": Child(
            "partitions",
            listing("partition", record({"name": "name", "size": "size_gb", "type": "type", "fs": "fs"})),
        ),
        "task": Child("tasks", _TASK, many=True),
        "guestrecipe": Child("guests", not_yet, many=True),
        "reservesys": Child("reservesys", not_yet),
        "kickstart": Child("kickstart", not_yet),
        "distro": Child("distro", not_yet),
    },
)

_RECIPE_SET: Final = record({"priority": "priority"}, {"recipe": Child("recipes", _RECIPE, many=True)})

_JOB: Final = record(
    {name: name for name in ("user", "group", "retention_tag", "product")},
    {
        "whiteboard": Child("whiteboard", text),
        "notify": Child("notify", listing("cc", text)),
        "recipeSet": Child("recipe_sets", _RECIPE_SET, many=True),
    },
    foreign="foreign",
)

# Root element -> how it is read.
_ROOTS: Final[dict[str, Shape]] = {
    "job": _JOB,
    "distroRequires": DISTRO_REQUIRES,
    "hostRequires": HOST_REQUIRES,
}

# What those who write XML call a field that the document lacks.
_WORDS: Final = {
    "recipe_sets": "<recipeSet>",
    "recipes": "<recipe>",
    "tasks": "<task>",
    "distro_requires": "<distroRequires>",
    "host_requires": "<hostRequires>",
    "size_gb": 'attribute "size"',
    **{name: f'attribute "{name}"' for name in ("name", "url")},
}


def read_xml(root: etree._Element, expected: str) -> tuple[dict[str, Any], Walk]:
    """The document that a tree stands for, with the places of its parts and the faults of its structure."""
    if root.tag != expected:
        message = f"the root is <{local_name(root)}>, not <{expected}>"
        raise FaultyInput([Fault(f"line {line_of(root)}", message)])
    walk = Walk(_WORDS)
    document = _ROOTS[expected](root, walk)
    walk.places.whole(document, root)
    return document, walk
