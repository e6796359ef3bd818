"""Locks, dependencies and reasons of options, added to the jobs in files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cli.arguments.declarations import DeclarationOptions
from cli.jobs.additions import with_declarations
from domain.contention.documents import locks_from_json
from tests.cli.loopback import Answer, LoopbackServer
from tests.harness.running import SAMPLES, Running
from tests.intake.jobs import read_json, read_xml

Run = Callable[..., Result]

EXCLUSIVE = locks_from_json({"network": {"Exclusive": ["vlan-12"]}}, "locks")
ADDED = DeclarationOptions([EXCLUSIVE], [{"job": 1, "states": ["completed"]}], ["a note & more"])
OPTIONS = (
    *("--lock", "network=exclusive:vlan-12", "--depends-on", "job=1:completed"),
    *("--reason", "a note & more"),
)

REQUIRES = '<distroRequires><distro_name op="=" value="RHEL-9.6"/></distroRequires><hostRequires/>'
TASK = '<task name="/t"/>'
# Its locks, comments and attributes stand on several lines.
JOB = f"""<?xml version='1.0' encoding='utf-8'?>
<job group="a
b" xmlns:ll="urn:labledger:job">
  <!-- <recipe></recipe> -->
  <whiteboard>\u00e9 &gt;</whiteboard>
  <recipeSet>
    <recipe role=">">{REQUIRES}{TASK}</recipe>
    <recipe>
      <ll:locks>
        <ll:lock level="pool" kind="AllShared"/>
        <ll:lock level="Network" kind="Shared"><ll:name>vlan-12</ll:name><ll:name>vlan-13</ll:name></ll:lock>
      </ll:locks >
      {REQUIRES}{TASK}
      <guestrecipe guestargs="x">{REQUIRES}{TASK}
        <ll:locks><ll:lock level="guest" kind="AllShared"/></ll:locks>
      </guestrecipe>
    </recipe>
    <recipe><ll:locks
      />{REQUIRES}{TASK}</recipe>
    <ll:reason>of the set</ll:reason>
  </recipeSet>
  <ll:reason>of the job</ll:reason>
</job>
"""


def test_xml__locks_of_recipes__are_merged_and_all_else_stays() -> None:
    content = JOB.replace('group="a\nb"', "").encode()
    before = read_xml(content).document
    result = with_declarations(content, False, ADDED)
    job = read_xml(result).document
    first, second, third = job["recipe_sets"][0]["recipes"]
    assert first["locks"] == third["locks"] == {"network": {"Exclusive": ["vlan-12"]}}
    assert second["locks"] == {
        "pool": "AllShared",
        "network": [{"Shared": ["vlan-13"]}, {"Exclusive": ["vlan-12"]}],
    }
    assert job["depends_on"] == [{"job": 1, "states": ["completed"]}]
    assert job["reasons"] == ["of the job", "a note & more"]
    # All other parts are as before.
    for recipe in (*job["recipe_sets"][0]["recipes"], *before["recipe_sets"][0]["recipes"]):
        recipe.pop("locks", None)
    assert job == {**before, "depends_on": job["depends_on"], "reasons": job["reasons"]}


def test_xml__faults_of_the_job__are_in_the_same_lines_as_before() -> None:
    result = with_declarations(JOB.encode(), False, ADDED)
    assert result.count(b"\n") == JOB.count("\n")
    before, after = JOB.encode().splitlines(), result.splitlines()
    changed = [number for number, lines in enumerate(zip(before, after, strict=True), start=1)
               if lines[0] != lines[1]]  # fmt: skip
    # The end of the first recipe, the lines of the locks of the others, and the end of the job.
    assert changed == [7, 9, 10, 11, 12, 18, 19, 23]


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"<job>", b"<job/>", b"<job><recipeSet><recipe/></recipeSet></job>", b"<other></other>"),
        b'<job colour="red"></job>',
        JOB.replace('kind="AllShared"', 'kind="Odd"').encode(),
        b"<!DOCTYPE job []><job></job>",
    ],
)
def test_xml__faulty__stays_as_it_is(content: bytes) -> None:
    assert with_declarations(content, False, ADDED) == content


def recipe_document(**more: Any) -> dict[str, Any]:
    requires = {"distro_requires_xml": "<distroRequires/>", "host_requires_xml": "<hostRequires/>"}
    return {**requires, "tasks": [{"name": "/t"}], **more}


def test_json__one_job__has_the_same_declarations_as_xml() -> None:
    guest = recipe_document(guestargs="x")
    job = {
        "reasons": ["own"],
        "recipe_sets": [{"recipes": [recipe_document(locks={"Node": "AllShared"}, guests=[guest])]}],
    }
    read = read_json(with_declarations(json.dumps(job).encode(), True, ADDED)).document
    assert read["reasons"] == ["own", "a note & more"]
    assert read["depends_on"] == [{"job": 1, "states": ["completed"]}]
    (host,) = read["recipe_sets"][0]["recipes"]
    assert host["locks"] == {"system": "AllShared", "network": {"Exclusive": ["vlan-12"]}}
    assert not host["guests"][0].get("locks")


def test_json__several_jobs__each_gets_them() -> None:
    jobs = {"jobs": [{"recipe_sets": [{"recipes": [recipe_document()]}]}] * 2}
    document = json.loads(with_declarations(json.dumps(jobs).encode(), True, ADDED))
    for job in document["jobs"]:
        assert job["reasons"] == ["a note & more"]
        assert job["recipe_sets"][0]["recipes"][0]["locks"] == {"network": {"Exclusive": ["vlan-12"]}}


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b'{"reasons": [], "reasons": []}'),
        b'{"recipe_sets": [{"recipes": [{"locks": {"pool": "Odd"}}]}]}',
    ],
)
def test_json__faulty__stays_as_it_is(content: bytes) -> None:
    assert with_declarations(content, True, ADDED) == content


@pytest.mark.parametrize(
    "document", [{"jobs": [3]}, {"recipe_sets": 3}, {"recipe_sets": [3]}, {"recipe_sets": [{"recipes": 3}]}]
)
def test_json__parts_of_another_shape__stay_for_the_server_to_refuse(document: Any) -> None:
    result = json.loads(with_declarations(json.dumps(document).encode(), True, ADDED))
    assert {name: result[name] for name in document} == document


def test_submit__several_jobs_of_a_file__a_line_for_each(
    server: LoopbackServer, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({"jobs": [{"recipe_sets": []}] * 2}))
    warnings = [{"where": "line 1", "message": "odd"}]
    jobs = [{"job_id": n, "recipe_set_ids": [n], "recipe_ids": [n], "warnings": warnings} for n in (5, 6)]
    server.on("POST", "/jobs", Answer({"position": 9, "jobs": jobs}, status=201))
    result = run("submit", str(file), *OPTIONS)
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == [
        "job 5 submitted",
        "job 6 submitted",
    ]
    assert result.stderr.count("line 1: odd") == 2
    (asked,) = server.asked_for("POST", "/jobs")
    assert [job["depends_on"] for job in asked.json()["jobs"]] == [[{"job": 1, "states": ["completed"]}]] * 2


def test_submit__without_options__sends_the_bytes_of_the_file(server: LoopbackServer, run: Run) -> None:
    job = {"job_id": 5, "recipe_set_ids": [5], "recipe_ids": [5]}
    server.on("POST", "/jobs", Answer(job, status=201))
    file = SAMPLES / "kernel-smoke.xml"
    run("submit", str(file))
    run("submit", str(file), *OPTIONS)
    plain, changed = server.asked_for("POST", "/jobs")
    assert plain.body == file.read_bytes()
    assert read_xml(changed.body).document["reasons"] == ["a note & more"]


def test_submit__to_a_service__stores_what_the_options_say(
    real: Run, service: Running, tmp_path: Path
) -> None:
    first = json.loads(real("submit", str(SAMPLES / "guests.xml"), "--json").stdout)["job_id"]
    options = ("--lock", "network=exclusive:vlan-12", "--depends-on", f"job={first}", "--reason", "night")
    made = json.loads(real("submit", str(SAMPLES / "guests.xml"), *options, "--json").stdout)
    with service.client() as client:
        subject = f"recipe-set/{made['recipe_set_ids'][0]}"
        (event, *_) = client.get("/events", params={"subject": subject}).json()["events"]
    assert event["data"]["profile"] == {"network": {"Exclusive": ["vlan-12"]}}
    assert event["data"]["depends_on"] == [{"job": first, "states": ["completed", "aborted"]}]
    assert event["data"]["reasons"] == ["night"]
    for number in (first, made["job_id"]):
        real("cancel", str(number))


# Options, the location of the fault, and its message.
BLAMED = [
    ("--lock pool=Shared:nope", "--lock", 'there is no pool "nope"'),
    ("--depends-on job=999999", "--depends-on", "there is no job 999999"),
    ("--strict --reason rate-limit:0:x", "--reason", "is taken as a note"),
]


@pytest.mark.parametrize(("options", "where", "message"), BLAMED)
@pytest.mark.parametrize("is_json", [False, True])
def test_submit__faulty_option__is_named_in_place_of_a_line(
    real: Run, tmp_path: Path, options: str, where: str, message: str, is_json: bool
) -> None:
    file = SAMPLES / "guests.xml"
    if is_json:
        document = read_xml(file.read_bytes()).document
        file = tmp_path / "job.json"
        file.write_text(json.dumps(document))
    result = real("submit", str(file), *options.split())
    assert (result.exit_code, "line" in result.stderr) == (1, False)
    assert f"  {where}: " in result.stderr and message in result.stderr


def test_submit__file_with_such_declarations__its_lines_are_named(
    server: LoopbackServer, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "job.xml"
    file.write_text(JOB)
    fault = {"where": "line 6, column 5: recipeSet[1]/recipe[1]/locks", "message": "no such name"}
    server.on("POST", "/jobs", Answer({"title": "Wrong", "errors": [fault]}, 422))
    result = run("submit", str(file), "--lock", "pool=Shared:nope")
    assert f"  {fault['where']}: no such name" in result.stderr
