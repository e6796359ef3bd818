"""The job language in XML, as tables of elements and the fields of the document that they fill."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from api.intake.locations import local_name
from api.intake.xml_own import DependsOnElement, LocksElement, own
from api.intake.xml_record import ChildElement, Record, Spread
from api.intake.xml_requirement import DISTRO_REQUIRES, HOST_REQUIRES
from api.intake.xml_shapes import Attribute, Flag, ListOf, Pairs, Shape, Text
from api.intake.xml_walk import Walk
from domain.errors import Fault, FaultyInput

_YES_OR_NO: Final = {
    word: word.lower() in ("true", "1")
    for word in ("true", "false", "True", "False", "TRUE", "FALSE", "1", "0")
}

_AUTOPICK: Final = Record(
    {"random": "random"}, {"pool": ChildElement("pools", Text(), many=True)}, values={"random": _YES_OR_NO}
)

_TASK: Final = Record(
    {"name": "name", "role": "role"},
    {
        "fetch": ChildElement("fetch", Record({"url": "url", "subdir": "subdir"})),
        "params": ChildElement("params", Pairs("param", "name", "value")),
    },
)

_DISTRO: Final = Record(
    {},
    {
        "tree": Spread({"url": "tree_url"}),
        "kernel": Spread({"url": "kernel_url"}),
        "initrd": Spread({"url": "initrd_url"}),
        "image": ChildElement("image_url", Attribute("url")),
        "arch": Spread({"value": "arch"}),
        "osversion": Spread({"major": "osmajor", "minor": "osminor"}),
        "name": ChildElement("name", Attribute("value")),
        "variant": ChildElement("variant", Attribute("value")),
    },
)

_PARTITION: Final = Record(
    {"name": "name", "size": "size_gb", "type": "type", "fs": "fs"}, numbers=("size_gb",)
)
_RESERVESYS: Final = Record({"duration": "duration_seconds", "when": "when"}, numbers=("duration_seconds",))

# The common attributes and elements of recipes and guest recipes.
_ATTRIBUTES: Final = {
    name: name for name in ("whiteboard", "role", "kernel_options", "kernel_options_post", "ks_meta")
}
_CHILDREN: Final = {
    "autopick": ChildElement("autopick", _AUTOPICK),
    "watchdog": ChildElement("watchdog", Record({"panic": "panic"})),
    "packages": ChildElement("packages", ListOf("package", Attribute("name"))),
    "ks_appends": ChildElement("ks_appends", ListOf("ks_append", Text(verbatim=True))),
    "repos": ChildElement("repos", ListOf("repo", Record({"name": "name", "url": "url"}))),
    "distroRequires": ChildElement("distro_requires", DISTRO_REQUIRES),
    "distro": ChildElement("distro", _DISTRO),
    "hostRequires": ChildElement("host_requires", HOST_REQUIRES),
    "partitions": ChildElement("partitions", ListOf("partition", _PARTITION)),
    "kickstart": ChildElement("kickstart", Text(verbatim=True)),
    "task": ChildElement("tasks", _TASK, many=True),
    "reservesys": ChildElement("reservesys", _RESERVESYS),
    own("locks"): ChildElement("locks", LocksElement(_YES_OR_NO)),
}

_GUEST: Final = Record({"guestname": "guestname", "guestargs": "guestargs", **_ATTRIBUTES}, _CHILDREN)

_RECIPE: Final = Record(_ATTRIBUTES, {"guestrecipe": ChildElement("guests", _GUEST, many=True), **_CHILDREN})

# The common elements of jobs and recipe sets.
_ADMISSION: Final = {
    own("depends-on"): ChildElement("depends_on", DependsOnElement(), many=True),
    own("reason"): ChildElement("reasons", Text(verbatim=True), many=True),
}

_RECIPE_SET: Final = Record(
    {"priority": "priority", "key": "key"},
    {
        **_ADMISSION,
        own("preemptible"): ChildElement("preemptible", Flag()),
        "recipe": ChildElement("recipes", _RECIPE, many=True),
    },
)

JOB: Final = Record(
    {name: name for name in ("user", "group", "retention_tag", "product", "key", "open")},
    {
        "whiteboard": ChildElement("whiteboard", Text()),
        "notify": ChildElement("notify", ListOf("cc", Text())),
        own("partition"): ChildElement("partition", Text()),
        own("queue"): ChildElement("queue", Text()),
        **_ADMISSION,
        "recipeSet": ChildElement("recipe_sets", _RECIPE_SET, many=True),
    },
    values={"open": _YES_OR_NO},
    foreign="foreign",
)

# Root element -> its shape.
_ROOTS: Final[dict[str, Shape]] = {
    "job": JOB,
    "distroRequires": DISTRO_REQUIRES,
    "hostRequires": HOST_REQUIRES,
}

# The names of missing fields in messages about XML.
_WORDS: Final = {
    "recipe_sets": "<recipeSet>",
    "recipes": "<recipe>",
    "tasks": "<task>",
    "distro_requires": "<distroRequires>",
    "distro": "<distro>",
    "host_requires": "<hostRequires>",
    "size_gb": 'attribute "size"',
    "tree_url": '<tree url="…">',
    "kernel_url": '<kernel url="…">',
    "initrd_url": '<initrd url="…">',
    "arch": '<arch value="…">',
    "osmajor": '<osversion major="…">',
    **{name: f'attribute "{name}"' for name in ("name", "url", "guestargs")},
}


# Attributes that only a job in an export of results has.
_RESULT_ATTRIBUTES: Final = ("id", "result", "status")
_RESULTS_MESSAGE: Final = "this is the XML of results, not of a job to run: submit the job's own XML"


def read_xml(root: etree._Element, expected: str, body: bytes) -> tuple[dict[str, Any], Walk]:
    """Return the document of a tree parsed from `body`, with locations of its parts and structural faults."""
    if root.tag != expected:
        message = f"the root element is <{local_name(root)}>, not <{expected}>"
        raise FaultyInput([Fault("line 1", message)])
    if expected == "job" and any(name in root.attrib for name in _RESULT_ATTRIBUTES):
        raise FaultyInput([Fault("line 1", _RESULTS_MESSAGE)])
    walk = Walk(_WORDS, body)
    document = _ROOTS[expected].read(root, walk)
    walk.locations.set_root(document, root)
    return document, walk
