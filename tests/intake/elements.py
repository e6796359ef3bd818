"""Every element of a recipe, as XML and as JSON."""

from __future__ import annotations

from typing import Any

from tests.intake.jobs import job_xml

DISTRO_XML = """<distro><image url="http://i/"/><tree url="http://t/"/><kernel url="http://k/"/>
<initrd url="http://r/"/><arch value="x86_64"/><osversion major="Mine1" minor="2"/><name value="Mine-1.2"/>
<variant value="Lean"/></distro>"""
DISTRO = {
    "arch": "x86_64",
    "osmajor": "Mine1",
    "osminor": "2",
    "name": "Mine-1.2",
    "variant": "Lean",
    "tree_url": "http://t/",
    "kernel_url": "http://k/",
    "initrd_url": "http://r/",
    "image_url": "http://i/",
}
SHORT = """<distro><tree url="t"/><kernel url="k"/><initrd url="i"/><arch value="x86_64"/>
<osversion major="M"/></distro>"""
SHORT_DISTRO = {"arch": "x86_64", "osmajor": "M", "tree_url": "t", "kernel_url": "k", "initrd_url": "i"}

ELEMENTS: dict[str, tuple[bytes, dict[str, Any], dict[str, Any]]] = {
    # Name of the row: XML, JSON, and the stored form if it differs.
    "reservesys": (
        job_xml(in_recipe='<reservesys duration="356400" when="onabort"/>'),
        {"reservesys": {"duration_seconds": 356_400, "when": "onabort"}},
        {},
    ),
    "reservesys of defaults": (
        job_xml(in_recipe="<reservesys/>"),
        {"reservesys": {}},
        {"reservesys": {"duration_seconds": 86_400, "when": "always"}},
    ),
    "kickstart": (
        job_xml(in_recipe="<kickstart>\n lang <![CDATA[<en>]]>\n</kickstart>"),
        {"kickstart": "\n lang <en>\n"},
        {},
    ),
    "blank kickstart": (
        job_xml(in_recipe="<kickstart>\n</kickstart>"),
        {"kickstart": " "},
        {"kickstart": None},
    ),
    "ks_append": (
        job_xml(in_recipe="<ks_appends><ks_append> %post\n</ks_append><ks_append/></ks_appends>"),
        {"ks_appends": [" %post\n", ""]},
        {},
    ),
    "distro": (job_xml(distro=DISTRO_XML), {"distro": DISTRO, "distro_requires": None}, {}),
    "distro of defaults": (
        job_xml(distro=SHORT),
        {"distro": SHORT_DISTRO, "distro_requires": None},
        {"distro": {**SHORT_DISTRO, "osminor": "0"}},
    ),
    "force": (
        job_xml(host='<hostRequires force="arm-04.east.example.com"/>'),
        {"host_requires": {"force": "arm-04.east.example.com"}},
        {},
    ),
    "fetch": (
        job_xml(task='<task name="/t"><fetch url="http://f/" subdir="a/b"/><params/></task>'),
        {"tasks": [{"name": "/t", "fetch": {"url": "http://f/", "subdir": "a/b"}}]},
        {"tasks": [{"name": "/t", "params": {}, "fetch": {"url": "http://f/", "subdir": "a/b"}}]},
    ),
    "fetch without a name": (
        job_xml(task='<task><params/><fetch url="http://f/"/></task>'),
        {"tasks": [{"fetch": {"url": "http://f/"}}]},
        {"tasks": [{"params": {}, "fetch": {"url": "http://f/", "subdir": ""}}]},
    ),
}
