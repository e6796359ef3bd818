"""`labledger submit --queue --partition`: the options, and what a service does with them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from api.intake.xml_job import read_xml
from api.intake.xml_text import parse_xml
from cli.arguments.declarations import DeclarationOptions
from cli.jobs.additions import with_declarations
from tests.cli.loopback import Answer, LoopbackServer
from tests.harness.running import SAMPLES, Running

Run = Callable[..., Result]

SMOKE = SAMPLES / "kernel-smoke.xml"
GIVEN = DeclarationOptions(queue="root.a&b", partition="west")
EMPTY_LAB = "lab.empty.example.com"
OWN = 'xmlns:ll="urn:labledger:job"'
QUEUES = {"queues": [{"name": "kernel", "queues": [{"name": "net"}]}]}


def document_of(content: bytes) -> dict[str, Any]:
    """Return the document of a job in XML, whose names need not exist."""
    document, walk = read_xml(parse_xml(content), "job", content)
    assert not walk.faults
    return document


def job_xml(inside: str) -> bytes:
    requires = '<distroRequires><distro_name op="=" value="F"/></distroRequires><hostRequires/>'
    disk = '<partitions><partition name="home" size="5"/></partitions>'
    recipe = f'<recipe>{requires}{disk}<task name="/t"/></recipe>'
    return f"<job {OWN}>\n{inside}\n<recipeSet>{recipe}</recipeSet>\n</job>".encode()


# What stands in a job, and the lines of the file that the options change.
INSIDE = [
    ("", [4]),
    ("<ll:queue>mine</ll:queue>", [2, 4]),
    ("<ll:partition>east</ll:partition><ll:queue>mine</ll:queue >", [2]),
    ("<ll:queue>\nmi\nne\n</ll:queue>\n<ll:partition>east</ll:partition>", [2, 3, 4, 5, 6]),
]


@pytest.mark.parametrize(("inside", "changed"), INSIDE)
def test_xml__queue_and_partition_of_options__replace_those_of_the_job(
    inside: str, changed: list[int]
) -> None:
    content = job_xml(inside)
    result = with_declarations(content, False, GIVEN)
    before, after = document_of(content), document_of(result)
    assert after == {**before, "queue": "root.a&b", "partition": "west"}
    lines = zip(content.split(b"\n"), result.split(b"\n"), strict=True)
    assert [number for number, (old, new) in enumerate(lines, start=1) if old != new] == changed


def test_xml__one_of_both__leaves_the_other_as_it_is() -> None:
    content = job_xml("<ll:queue>mine</ll:queue><ll:partition>east</ll:partition>")
    after = document_of(with_declarations(content, False, DeclarationOptions(partition="west")))
    assert (after["queue"], after["partition"]) == ("mine", "west")


@pytest.mark.parametrize("own", [{}, {"queue": "mine", "partition": 3}])
def test_json__queue_and_partition_of_options__replace_those_of_each_job(own: dict[str, Any]) -> None:
    jobs = {"jobs": [{**own, "recipe_sets": []}] * 2}
    document = json.loads(with_declarations(json.dumps(jobs).encode(), True, GIVEN))
    assert [(job["queue"], job["partition"]) for job in document["jobs"]] == [("root.a&b", "west")] * 2


def test_workflow__queue_and_partition__are_in_its_job(run: Run) -> None:
    minimal = ("--distro", "RHEL-9.6", "--arch", "x86_64", "--task", "/t")
    options = ("--queue", "root.kernel", "--partition", "west")
    as_xml = document_of(run("workflow", *minimal, *options).stdout.encode())
    as_json = json.loads(run("workflow", *minimal, *options, "--json").stdout)
    for job in (as_xml, as_json):
        assert (job["queue"], job["partition"]) == ("root.kernel", "west")


@pytest.mark.parametrize("option", ["--queue", "--partition"])
def test_submit__blank_option__is_a_usage_error(run: Run, option: str) -> None:
    result = run("submit", str(SMOKE), option, " ")
    assert (result.exit_code, "must not be empty" in result.stderr) == (2, True)


# The location of a fault, and what the command shows in its place. The disk of a recipe has other partitions.
LOCATIONS = [
    ("queue", "--queue"),
    ("jobs[1].queue", "--queue"),
    ("line 2, column 1: queue", "--queue"),
    ("line 2, column 1: jobs[0].partition", "--partition"),
    *((place, place) for place in ("recipeSet[1]/recipe[1]/partitions/partition", "recipe_sets[0].queue")),
]


@pytest.mark.parametrize(("where", "shown"), LOCATIONS)
def test_submit__fault_of_an_option__names_it_also_if_the_file_had_one(
    server: LoopbackServer, run: Run, tmp_path: Path, where: str, shown: str
) -> None:
    file = tmp_path / "job.xml"
    file.write_bytes(job_xml("<ll:queue>mine</ll:queue>"))
    server.on("POST", "/jobs", Answer({"title": "Wrong", "errors": [{"where": where, "message": "no"}]}, 422))
    result = run("submit", str(file), "--queue", "root.x", "--partition", "y")
    assert f"  {shown}: no\n" in result.stderr


@pytest.fixture
def other(real: Run, service: Running, tmp_path: Path) -> Iterator[str]:
    """Return the name of a partition with an empty lab; `default` has the queues of QUEUES meanwhile."""
    file = tmp_path / "configuration.json"

    def apply(name: str, **sections: Any) -> None:
        file.write_text(json.dumps(sections))
        assert real("partition", "apply", str(file), "--partition", name).exit_code == 0

    apply("default", queues=QUEUES)
    for arguments in (("lab-controller", "put", EMPTY_LAB), ("partition", "put", "other")):
        assert real(*arguments).exit_code == 0
    apply("other", lab_controllers=[EMPTY_LAB])
    yield "other"
    for arguments in (("start", "other"), ("drain", "other"), ("remove", "other", "--force")):
        real("partition", *arguments)
    # A lab in no partition cannot be deleted.
    apply("default", lab_controllers=[EMPTY_LAB])
    apply("default")
    assert real("lab-controller", "delete", EMPTY_LAB).exit_code == 0


def test_submit__queue_of_the_option__wins_over_the_file(
    real: Run, service: Running, other: str, tmp_path: Path
) -> None:
    file = tmp_path / "job.xml"
    own = '<queue xmlns="urn:labledger:job">root.kernel.net</queue>\n</job>'
    file.write_text(SMOKE.read_text().replace("</job>", own))
    with service.client() as client:
        for options, queue in ((), "root.kernel.net"), (("--queue", "default"), "root.default"):
            (line,) = real("submit", str(file), *options, "--json").stdout.splitlines()
            job = json.loads(line)
            shown = client.get(f"/jobs/{job['job_id']}", params={"min_position": job["position"]}).json()
            assert (shown["queue"], shown["partition"]) == (queue, "default")
            real("cancel", str(job["job_id"]))


def test_submit__partition_of_the_option__holds_for_each_file(
    real: Run, service: Running, other: str
) -> None:
    result = real("submit", str(SMOKE), str(SAMPLES / "guests.xml"), "--partition", other, "--json")
    jobs = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(jobs) == 2
    with service.client() as client:
        for job in jobs:
            shown = client.get(f"/jobs/{job['job_id']}", params={"min_position": job["position"]}).json()
            assert shown["partition"] == other


# Options, what `submit` prints after "submitted", and the facts of the job and its parts.
PLACES = [
    ("--queue kernel.net", " to root.kernel.net: ", ["  queue: root.kernel.net"]),
    ("--queue default", ": ", ["  queue: root.default"]),
    (
        "--partition other",
        " to root.default of partition other: ",
        ["  partition: other", "  queue: root.default"],
    ),
]


@pytest.mark.parametrize(("options", "printed", "facts"), PLACES)
def test_job__in_a_queue_of_a_partition__is_shown_with_both(
    real: Run, service: Running, other: str, options: str, printed: str, facts: list[str]
) -> None:
    line = real("submit", str(SMOKE), *options.split()).stdout
    found = re.fullmatch(r"job (\d+) submitted(.*?: )recipe set (\d+), recipe (\d+) \(.*\)\n", line)
    assert found is not None and found[2] == printed, line
    with service.client() as client:
        client.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    for command, number in (("job", found[1]), ("recipe-set", found[3]), ("recipe", found[4])):
        shown = real(command, number).stdout.splitlines()
        assert [each for each in shown if each.startswith(("  partition:", "  queue:"))] == facts
    real("cancel", found[1])


# Options, and what the command prints.
REFUSED = [
    ("--queue kernel.nett", '"root.kernel.nett" in partition default; did you mean root.kernel.net?'),
    ("--partition nope", '  --partition: there is no partition "nope"; the partitions are default, other'),
    ("--partition other --queue kernel.net", '--queue: there is no queue "root.kernel.net"'),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_submit__option_with_an_unknown_name__is_refused_and_named(
    real: Run, other: str, options: str, message: str
) -> None:
    result = real("submit", str(SMOKE), *options.split())
    assert result.exit_code == 1
    assert message in result.stderr, result.stderr


def test_submit__unknown_queue_of_a_file__is_refused_with_its_line(real: Run, tmp_path: Path) -> None:
    in_xml, in_json, several = (tmp_path / name for name in ("job.xml", "job.json", "jobs.json"))
    own = '\n <queue xmlns="urn:labledger:job">nope</queue></job>'
    in_xml.write_text(SMOKE.read_text().replace("</job>", own))
    before, _, _ = in_xml.read_text().partition("<queue")
    document = document_of(SMOKE.read_bytes())
    in_json.write_text(json.dumps({"queue": "nope", **document}))
    several.write_text(json.dumps({"jobs": [document, {"queue": "nope", **document}]}))
    column = several.read_text().index('"queue"') + 1
    for file, where in (
        (in_xml, f"  line {before.count(chr(10)) + 1}, column 2: queue: "),
        (in_json, "  line 1, column 2: queue: "),
        (several, f"  line 1, column {column}: jobs[1].queue: "),
    ):
        refused = real("submit", str(file)).stderr
        assert f'{where}there is no queue "root.nope"' in refused, refused


def test_submit__queue_of_the_option_is_a_parent__is_in_another_one_with_a_warning(
    real: Run, other: str
) -> None:
    result = real("submit", str(SMOKE), "--queue", "kernel")
    assert result.exit_code == 0
    message = 'the job names "kernel", but the placement rules put it into root.default'
    reason = "rule provided: root.kernel is a parent, and only leaves take jobs"
    assert f"  --queue: {message}: {reason}\n" in result.stderr
    real("cancel", result.stdout.split()[1])


def test_submit__partition_that_takes_no_jobs__is_refused(real: Run, other: str) -> None:
    real("partition", "drain", other)
    result = real("submit", str(SMOKE), "--partition", other)
    assert result.exit_code == 1
    assert "partition other is draining" in result.stderr, result.stderr
