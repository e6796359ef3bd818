"""Sample jobs for the tests of intake, and names for them."""

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

NAMES = NameIndex(
    users=frozenset({"alice", "bob", "carol"}),
    groups={"kernel-qe": frozenset({"alice", "bob"}), "net-qe": frozenset({"carol"})},
    pools=frozenset({"big", "small", "storage", "arm"}),
    arches=frozenset({"x86_64", "aarch64"}),
    keys=frozenset({"HVM", "NFS"}),
    lab_controllers=frozenset({"lab.east.example.com", "lab.west.example.com"}),
    systems=frozenset({"arm-04.east.example.com"}),
    power_types=frozenset({"ipmi", "redfish"}),
)


EXISTING = {("job", 1), ("job", 2**31 - 1), ("recipe-set", 7)}


def exists(kind: str, number: int) -> bool:
    """Return whether a job or recipe set exists on which sample jobs depend."""
    return (kind, number) in EXISTING


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def job_xml(
    job: str = "", in_job: str = "", recipe_set: str = "", recipe: str = "", in_recipe: str = "",
    host: str = "<hostRequires/>", distro: str = '<distroRequires><name value="F"/></distroRequires>',
    task: str = '<task name="/t"/>',
) -> bytes:  # fmt: skip
    """Return a small job in XML, one element per line, with additions."""
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
    """Return the same job as JSON; `recipe` adds fields to the recipe."""
    recipe = {
        "distro_requires": {"element": "name", "value": "F"},
        "host_requires": {},
        "tasks": [{"name": "/t"}],
    }
    recipe |= fields.pop("recipe", {})
    return {"recipe_sets": [{"recipes": [recipe]}], **fields}


def read_xml(body: bytes, submitter: str = "alice", *, is_admin: bool = False) -> JobSpec:
    return read_job(body, "application/xml", NAMES, submitter, is_admin, exists=exists).spec


def read_json(document: Any, submitter: str = "alice", *, is_admin: bool = False) -> JobSpec:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_job(body, "application/json; charset=utf-8", NAMES, submitter, is_admin, exists=exists).spec


def warnings_of(body: Any, submitter: str = "alice", **how: Any) -> list[tuple[str, str]]:
    """Return the warnings of a job: XML if the bytes begin like XML, else JSON."""
    if isinstance(body, bytes) and body.startswith(b"<"):
        read = read_job(body, "application/xml", NAMES, submitter, False, **how)
    else:
        read = read_job(json.dumps(body).encode(), "application/json", NAMES, submitter, False, **how)
    return [(warning.where, warning.message) for warning in read.warnings]


def faults_of(body: Any, submitter: str = "alice", *, is_admin: bool = False) -> list[tuple[str, str]]:
    """Return faults and warnings of a job: XML if the bytes begin like XML, else JSON."""
    is_xml = isinstance(body, bytes) and body.startswith(b"<")
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "application/xml" if is_xml else "application/json"
    with pytest.raises(FaultyInput) as refused:
        read_job(content, kind, NAMES, submitter, is_admin, strict=True, exists=exists)
    assert type(refused.value) is FaultyInput
    return [(short(fault.where, is_xml=is_xml), fault.message) for fault in refused.value.faults]


def short(where: str, *, is_xml: bool) -> str:
    """Return the line and the element of a place: `line 5, column 3: a/b[2]` as `line 5, <b>`."""
    where = re.sub(r", column \d+", "", where)
    path = (
        r"^(line \d+): (?:\S*/)?([^/\[]+)(?:\[\d+\])?$"
        if is_xml
        else r"(, line \d+): (?:\S*/)?([^/\[]+)(?:\[\d+\])?$"
    )
    return re.sub(path, r"\1, <\2>", where)
