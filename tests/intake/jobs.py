"""Jobs to read, and names for them to use."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import replay
from api.intake import read_job
from domain.directory.name_index import NameIndex
from domain.errors import FaultyInput
from domain.job.spec import JobSpec

SAMPLES = Path(replay.__path__[0], "samples")

KNOWN = NameIndex(
    users=frozenset({"alice", "bob", "carol"}),
    groups={"kernel-qe": frozenset({"alice", "bob"}), "net-qe": frozenset({"carol"})},
    pools=frozenset({"big", "small", "storage", "arm"}),
    arches=frozenset({"x86_64", "aarch64"}),
    keys=frozenset({"HVM", "NFS"}),
    lab_controllers=frozenset({"lab.east.example.com", "lab.west.example.com"}),
    systems=frozenset({"arm-04.east.example.com"}),
    power_types=frozenset({"ipmi", "redfish"}),
)


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def job_xml(
    job: str = "", in_job: str = "", recipe_set: str = "", recipe: str = "", in_recipe: str = "",
    host: str = "<hostRequires/>", distro: str = '<distroRequires><name value="F"/></distroRequires>',
    task: str = '<task name="/t"/>',
) -> bytes:  # fmt: skip
    """A small job on one line for each element, with something put into it."""
    return "\n".join(
        [
            f"<job {job}>{in_job}",
            f"<recipeSet {recipe_set}>",
            f"<recipe {recipe}>{in_recipe}",
            distro,
            host,
            task,
            "</recipe></recipeSet></job>",
        ]
    ).encode()


def job_document(**fields: Any) -> dict[str, Any]:
    """The same as JSON; `recipe` adds fields to the recipe."""
    recipe = {
        "distro_requires": {"element": "name", "value": "F"},
        "host_requires": {},
        "tasks": [{"name": "/t"}],
    }
    recipe |= fields.pop("recipe", {})
    return {"recipe_sets": [{"recipes": [recipe]}], **fields}


def read_xml(body: bytes, submitter: str = "alice", *, is_admin: bool = False) -> JobSpec:
    return read_job(body, "application/xml", KNOWN, submitter, is_admin).spec


def read_json(document: Any, submitter: str = "alice", *, is_admin: bool = False) -> JobSpec:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_job(body, "application/json; charset=utf-8", KNOWN, submitter, is_admin).spec


def warnings_of(body: Any, submitter: str = "alice", **how: Any) -> list[tuple[str, str]]:
    """Bytes that begin like XML are read as XML, anything else as JSON."""
    if isinstance(body, bytes) and body.startswith(b"<"):
        read = read_job(body, "application/xml", KNOWN, submitter, False, **how)
    else:
        read = read_job(json.dumps(body).encode(), "application/json", KNOWN, submitter, False, **how)
    return [(warning.where, warning.message) for warning in read.warnings]


def faults_of(body: Any, submitter: str = "alice", *, is_admin: bool = False) -> list[tuple[str, str]]:
    """Return what is wrong, warnings included. Bytes that begin like XML are XML, anything else JSON."""
    is_xml = isinstance(body, bytes) and body.startswith(b"<")
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "application/xml" if is_xml else "application/json"
    with pytest.raises(FaultyInput) as refused:
        read_job(content, kind, KNOWN, submitter, is_admin, strict=True)
    assert type(refused.value) is FaultyInput
    return [(short(fault.where, is_xml=is_xml), fault.message) for fault in refused.value.faults]


def short(where: str, *, is_xml: bool) -> str:
    """Return a place by line and element alone: `line 5, column 3: a/b[2]` as `line 5, <b>`."""
    where = re.sub(r", column \d+", "", where)
    path = (
        r"^(line \d+): (?:\S*/)?([^/\[]+)(?:\[\d+\])?$"
        if is_xml
        else r"(, line \d+): (?:\S*/)?([^/\[]+)(?:\[\d+\])?$"
    )
    return re.sub(path, r"\1, <\2>", where)
