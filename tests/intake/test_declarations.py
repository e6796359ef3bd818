"""Declared locks, dependencies and reasons of a job: what is stored, and every fault at its place."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from api.intake import PartitionRules, mentioned_in, read_job
from api.intake.declarations import reported_locks
from api.intake.limits import MAX_MENTIONED
from api.intake.xml_writer import write_job
from domain.admission.dependencies import JOB, RECIPE_SET, Dependency
from domain.contention.documents import locks_from_json, raising
from domain.contention.operation_rows import read_rows
from domain.contention.operations import SHIPPED, OperationTable
from domain.contention.own_names import OWN_NAMES
from domain.errors import FaultyInput
from tests.intake.jobs import NAMES, exists, faults_of, job_document, job_xml, read_json, read_xml
from tests.intake.schema import is_valid

OWN = 'xmlns="urn:labledger:job"'
RECIPE = "recipe_sets[0].recipes[0]"
HOST = "arm-04.east.example.com"


@pytest.mark.parametrize("name", sorted(OWN_NAMES))
def test_reported_locks__own_name__is_a_fault_with_its_place(name: str) -> None:
    with pytest.raises(FaultyInput) as raised:
        reported_locks({"Node": [{"Exclusive": ["a", f" {name}"]}, "AllShared"], "network": "AllShared"})
    (fault,) = raised.value.faults
    assert fault.where == "locks.Node[0].Exclusive[1]"
    assert fault.message.startswith("must be a real name that the recipe holds")


def test_reported_locks__other_names__are_taken_literally() -> None:
    found = reported_locks({"network": {"Shared": ["$sytem"]}})
    assert found == locks_from_json({"network": {"Shared": ["$sytem"]}}, "locks")


def locks_xml(text: str, attributes: str = "") -> bytes:
    return job_xml(in_recipe=f"<locks {OWN} {attributes}>{text}</locks>")


def lock(level: str, kind: str, *names: str) -> str:
    inner = "".join(f"<name>{name}</name>" for name in names)
    return f'<lock level="{level}" kind="{kind}">{inner}</lock>'


def task_xml(name: str, **params: str) -> str:
    inner = "".join(f'<param name="{param}" value="{value}"/>' for param, value in params.items())
    return f'<task name="{name}"><params>{inner}</params></task>'


LOCKS: dict[str, tuple[bytes, dict[str, Any], dict[str, Any] | None]] = {
    # Name of the row: XML, JSON, and the stored form if it differs (None: nothing is stored).
    "nothing": (locks_xml(""), {}, None),
    "kinds of None": (locks_xml(lock("pool", "None")), {"pool": "None"}, None),
    "unnamed kinds": (
        locks_xml(lock("pool", "AllShared") + lock("network", "UnknownExclusive")),
        {"pool": "AllShared", "network": "UnknownExclusive"},
        {"pool": "AllShared", "network": "UnknownExclusive"},
    ),
    "names, sorted and without blanks around them": (
        locks_xml(lock("network", "Exclusive", "vlan-12", " vlan-11\n", "vlan-12")),
        {"network": {"Exclusive": ["vlan-12", " vlan-11 ", "vlan-12"]}},
        {"network": {"Exclusive": ["vlan-11", "vlan-12"]}},
    ),
    "Ganeti's levels": (
        locks_xml(lock("Node", "Shared", HOST) + lock("NodeRes", "Shared", "san")),
        {"Node": {"Shared": [HOST]}, "NodeRes": {"Shared": ["san"]}},
        {"system": {"Shared": [HOST]}, "system_resource": {"Shared": ["san"]}},
    ),
    "own names": (
        locks_xml(lock("system", "Exclusive", "$system") + lock("pool", "Shared", "$pools", "big")),
        {"system": {"Exclusive": ["$system"]}, "pool": {"Shared": ["$pools", "big"]}},
        {"system": {"Exclusive": ["$system"]}, "pool": {"Shared": ["$pools", "big"]}},
    ),
    "two locks at one level": (
        locks_xml(lock("network", "AllShared") + lock("network", "Exclusive", "a")),
        {"network": ["AllShared", {"Exclusive": ["a"]}]},
        {"network": ["AllShared", {"Exclusive": ["a"]}]},
    ),
    "the whole lab": (locks_xml("", 'whole_lab="1"'), {"whole_lab": True}, {"whole_lab": True}),
    "not the whole lab": (locks_xml("", 'whole_lab="false"'), {"whole_lab": False}, None),
}


@pytest.mark.parametrize(("body", "form", "stored"), LOCKS.values(), ids=LOCKS)
def test_locks__as_xml_or_json__are_kept(
    body: bytes, form: dict[str, Any], stored: dict[str, Any] | None
) -> None:
    spec = read_xml(body)
    assert is_valid(body)
    assert spec == read_json(job_document(recipe={"locks": form}))
    (recipe,) = spec.recipe_sets[0].recipes
    assert recipe.locks == locks_from_json(form, "locks")
    assert spec.document["recipe_sets"][0]["recipes"][0].get("locks") == stored
    assert read_xml(write_job(spec.document)) == read_json(spec.document) == spec


def test_locks__of_a_guest__are_its_own() -> None:
    guest = {"distro_requires": {}, "host_requires": {}, "tasks": [{"name": "/t"}], "guestargs": ""}
    spec = read_json(job_document(recipe={"guests": [{**guest, "locks": {"pool": "AllShared"}}]}))
    (host,) = spec.recipe_sets[0].recipes
    assert not any(any(level) for level in host.locks.levels)
    assert host.guests[0].locks == locks_from_json({"pool": "AllShared"}, "locks")
    assert read_xml(write_job(spec.document)) == spec


ADMISSION_XML = job_xml(
    in_job=f'<depends-on {OWN} job="1" states="aborted completed completed"/><reason {OWN}> a  b</reason>'
    f"<reason {OWN}>rate-limit:3:san</reason>",
).replace(
    b"</recipeSet></job>",
    f"""</recipeSet><recipeSet><depends-on {OWN} recipe_set="-1" states=" "/><depends-on {OWN} job="1"/>
    <reason {OWN}>late</reason><recipe><distroRequires/><hostRequires/><task name="/t"/></recipe></recipeSet>
    </job>""".encode(),
)


def test_dependencies_and_reasons__of_job_and_set__are_kept() -> None:
    spec = read_xml(ADMISSION_XML)
    assert is_valid(ADMISSION_XML)
    assert spec.depends_on == (Dependency(JOB, 1, ("completed", "aborted")),)
    assert spec.reasons == (" a  b", "rate-limit:3:san")
    first, second = spec.recipe_sets
    assert (first.depends_on, first.reasons) == ((), ())
    assert second.depends_on == (Dependency(RECIPE_SET, -1), Dependency(JOB, 1))
    assert second.reasons == ("late",)
    ended = ["completed", "aborted"]
    assert spec.document["depends_on"] == [{"job": 1, "states": ended}]
    assert spec.document["recipe_sets"][1]["depends_on"] == [
        {"recipe_set": -1, "states": ended},
        {"job": 1, "states": ended},
    ]
    assert read_xml(write_job(spec.document)) == read_json(spec.document) == spec


@pytest.mark.parametrize("empty", [None, []])
def test_declarations__empty__leave_no_trace(empty: Any) -> None:
    plain, recipe = read_json(job_document()), {"locks": None if empty is None else {}}
    document = job_document(depends_on=empty, reasons=empty, recipe=recipe)
    document["recipe_sets"][0] |= {"depends_on": empty, "reasons": empty}
    assert read_json(document) == plain
    assert {"locks", "depends_on", "reasons"}.isdisjoint(plain.document)


KINDS = "None, Shared, UnknownShared, AllShared, Exclusive, UnknownExclusive, AllExclusive"
LEVELS = "pool, guest, system, system_resource, network"
OPERATIONS = ", ".join(row.operation for row in SHIPPED.rows)
XML_FAULTS: list[tuple[bytes, str, str]] = [
    (
        job_xml(in_recipe="<locks/>"),
        "<locks>",
        f"<locks> needs the namespace: write <locks {OWN}>",
    ),
    (locks_xml("", 'whole="1"'), "<locks>", 'unknown attribute "whole"; did you mean whole_lab?'),
    (locks_xml("", 'whole_lab="yes"'), "<locks>", "whole_lab: must be true or false"),
    (locks_xml("x"), "<locks>", "unexpected text"),
    (locks_xml("<lok/>"), "<lok>", "unknown element <lok> in <locks>; did you mean <lock>?"),
    (locks_xml('<lock kind="None"/>'), "<lock>", 'has no attribute "level"'),
    (locks_xml('<lock level="pool"/>'), "<lock>", 'has no attribute "kind"'),
    (
        locks_xml('<lock level="pool" kind="None" knd=""/>'),
        "<lock>",
        'unknown attribute "knd"; did you mean kind?',
    ),
    (locks_xml(lock("pool", "Shared")), "<lock>", "has no <name>"),
    (locks_xml(lock("pool", "Shared", "big", " ")), "<name>", "must not be empty"),
    (locks_xml(lock("guest", "AllShared", "g")), "<lock>", 'takes no names; write "AllShared"'),
    (
        locks_xml(lock("whole_lab", "AllShared")),
        "<lock>",
        'the lock on the whole lab is <locks whole_lab="true">',
    ),
    (
        locks_xml(lock("netwrk", "AllShared")),
        "<lock>",
        f"unknown level; must be one of {LEVELS}; did you mean network?",
    ),
    (
        locks_xml(lock("network", "Exclusiv", "a")),
        "<lock>",
        f"unknown kind; must be one of {KINDS}; did you mean Exclusive?",
    ),
    (
        locks_xml(lock("Node", "AllShared") + "\n" + lock("system", "AllExclusive")),
        "<lock>",
        'the level "system" is given twice, by its name or by an alias',
    ),
    (
        locks_xml(lock("network", "AllShared") * 3),
        "<lock>",
        "a list must have two locks",
    ),
    (locks_xml(lock("pool", "Shared", "bigg")), "<name>", 'there is no pool "bigg"; did you mean big?'),
    (
        locks_xml(lock("Node", "Shared", HOST.upper())),
        "<name>",
        f'there is no system "{HOST.upper()}"',
    ),
    (job_xml(in_job=f'<depends-on {OWN} job="2"/>'), "<depends-on>", "job: there is no job 2"),
    (
        job_xml(in_job=f'<depends-on {OWN} recipe_set="8"/>'),
        "<depends-on>",
        "recipe_set: there is no recipe set 8",
    ),
    (
        job_xml(in_job=f'<depends-on {OWN} job="x"/>'),
        "<depends-on>",
        "job: must be a whole number from -2147483647 to 2147483647",
    ),
    (
        job_xml(in_job=f'<depends-on {OWN} job="0"/>'),
        "<depends-on>",
        "job: must not be 0: nothing can depend on itself",
    ),
    (
        job_xml(in_job=f'<depends-on {OWN} job="1" state="x"/>'),
        "<depends-on>",
        'unknown attribute "state"; did you mean states?',
    ),
    (
        job_xml(in_job=f'<depends-on {OWN} job="1" states="completed running"/>'),
        "<depends-on>",
        "states[1]: must be one of completed, cancelled, aborted",
    ),
    (
        job_xml(in_job=f"<depends-on {OWN}/>"),
        "<depends-on>",
        "must have exactly one of job and recipe_set",
    ),
    (
        job_xml(in_job=f'<depends-on {OWN} recipe_set="-1"/>'),
        "<depends-on>",
        "recipe_set: counts back too far: 0 precede it in its document",
    ),
    (job_xml(in_job=f"<reason {OWN}/>"), "<reason>", "must not be empty"),
    (
        job_xml(in_recipe=f'<depends-on {OWN} job="1"/>'),
        "<depends-on>",
        "unknown element <depends-on> in <recipe>",
    ),
    (
        job_xml(task=task_xml("/t", LABLEDGER_OPERATION="firmware-updat")),
        "<param>",
        f'there is no operation "firmware-updat"; must be one of {OPERATIONS}; did you mean firmware-update?',
    ),
    (
        job_xml(task=task_xml("/labledger/pool-maintenance", POOL="bigg")),
        "<param>",
        'there is no pool "bigg"; did you mean big?',
    ),
    (
        job_xml(task=task_xml("/labledger/network-change", NETWORK="a&#10;b")),
        "<param>",
        "names a lock: must not contain control characters: U+000A",
    ),
]
# The schema knows neither names nor numbers, and no operations.
UNKNOWN_TO_SCHEMA = ("there is no", "must not", "recipe_set: counts", "names a lock", "given twice", "a list")


@pytest.mark.parametrize(("body", "where", "message"), XML_FAULTS)
def test_xml__one_fault__is_reported_once_at_its_place(body: bytes, where: str, message: str) -> None:
    ((found, words),) = faults_of(body)
    assert (found.partition(", ")[2], words) == (where, message)
    assert is_valid(body) == any(part in message for part in UNKNOWN_TO_SCHEMA)


JSON_FAULTS: list[tuple[Any, str, str]] = [
    (job_document(recipe={"locks": 3}), f"{RECIPE}.locks", "must be an object"),
    (
        job_document(recipe={"locks": {"netwrok": "AllShared"}}),
        f"{RECIPE}.locks.netwrok",
        f"unknown level; must be one of {LEVELS}; did you mean network?",
    ),
    (
        job_document(recipe={"locks": {"network": ["AllShard", "None"]}}),
        f"{RECIPE}.locks.network[0]",
        f"unknown kind; must be one of {KINDS}; did you mean AllShared?",
    ),
    (
        job_document(recipe={"locks": {"network": {"Shard": ["a"]}}}),
        f"{RECIPE}.locks.network.Shard",
        f"unknown kind; must be one of {KINDS}; did you mean Shared?",
    ),
    (
        job_document(recipe={"locks": {"pool": [{"Shared": ["big", "smal"]}, "AllExclusive"]}}),
        f"{RECIPE}.locks.pool[0].Shared[1]",
        'there is no pool "smal"; did you mean small?',
    ),
    (
        job_document(recipe={"locks": {"guest": {"Shared": ["a" * 256]}}}),
        f"{RECIPE}.locks.guest.Shared[0]",
        "must not be longer than 255 characters",
    ),
    (
        job_document(recipe={"locks": {"guest": {"Shared": [str(number) for number in range(1_000)]}}}),
        f"{RECIPE}.locks",
        "must not have more than 1000 names",
    ),
    (job_document(locks={}), "locks", 'unknown field "locks"'),
    (job_document(reason="a"), "reason", 'unknown field "reason"; did you mean reasons?'),
    (job_document(reasons=["a\nb"]), "reasons[0]", "must not contain control characters: U+000A"),
    (job_document(reasons=["a" * 256]), "reasons[0]", "must not be longer than 255 characters"),
    (job_document(reasons=["a"] * 21), "reasons", "must not have more than 20 members"),
    (job_document(depends_on={}), "depends_on", "must be a list"),
    (job_document(depends_on=[3]), "depends_on[0]", "must be an object"),
    (
        job_document(depends_on=[{"job": True}]),
        "depends_on[0].job",
        "must be a whole number from -2147483647 to 2147483647",
    ),
    (job_document(depends_on=[{"job": 1}] * 101), "depends_on", "must not have more than 100 members"),
    (
        job_document(depends_on=[{"job": 1, "stats": []}]),
        "depends_on[0].stats",
        'unknown field "stats"; did you mean states?',
    ),
    (
        job_document(depends_on=[{"job": 1, "recipe_set": 7}]),
        "depends_on[0]",
        "must have exactly one of job and recipe_set",
    ),
    (
        job_document(depends_on=[{"job": 2**31}]),
        "depends_on[0].job",
        "must be a whole number from -2147483647 to 2147483647",
    ),
    (
        job_document(depends_on=[{"job": -1}]),
        "depends_on[0].job",
        "counts back too far: 0 precede it in its submission",
    ),
]


@pytest.mark.parametrize(("document", "where", "message"), JSON_FAULTS)
def test_json__one_fault__is_reported_once_at_its_path(document: Any, where: str, message: str) -> None:
    assert faults_of(document) == [(f"line 1: {where}", message)]


def test_set__dependency_on_itself_or_a_later_one__refused() -> None:
    (plain,) = job_document()["recipe_sets"]
    for number in (0, -2):
        document = {"recipe_sets": [plain, {**plain, "depends_on": [{"recipe_set": number}]}, plain]}
        ((where, _),) = faults_of(document)
        assert where == "line 1: recipe_sets[1].depends_on[0].recipe_set"


def test_faults__of_all_declarations__are_reported_at_once() -> None:
    document = job_document(
        depends_on=[{"job": 9}],
        reasons=[3],
        recipe={"locks": {"pool": "Alles"}, "tasks": [{"name": "/t", "params": {"LABLEDGER_OPERATION": ""}}]},
    )
    assert len(faults_of(document)) == 4


def test_unknown_pool__that_a_message_may_not_show__is_not_suggested() -> None:
    body = json.dumps(job_document(recipe={"locks": {"pool": {"Shared": ["bigg"]}}})).encode()
    visible = replace(NAMES, pools=frozenset({"arm"}))
    with pytest.raises(FaultyInput) as refused:
        read_job(body, "application/json", NAMES, "alice", False, visible=visible, exists=exists)
    (fault,) = refused.value.faults
    assert fault.message == 'there is no pool "bigg"'


def test_unknown_pool__like_an_own_name__the_own_name_is_suggested() -> None:
    body = json.dumps(job_document(recipe={"locks": {"pool": {"Shared": ["$pols"]}}})).encode()
    with pytest.raises(FaultyInput) as refused:
        read_job(body, "application/json", NAMES, "alice", False)
    (fault,) = refused.value.faults
    assert fault.message == 'there is no pool "$pols"; did you mean $pools?'


def test_unknown_pool__of_a_row_of_the_operation_table__names_task_and_operation() -> None:
    rows = [{"operation": "mv", "tasks": ["/lab/mv"], "locks": {"pool": {"Shared": ["gone", "{POOL}"]}}}]
    table = OperationTable(raising(lambda report: read_rows(rows, ("operations",), report)))
    document = job_document(recipe={"tasks": [{"name": "/lab/mv", "params": {"POOL": "other", "A": "gone"}}]})
    with pytest.raises(FaultyInput) as refused:
        read_job(
            json.dumps(document).encode(),
            "application/json",
            NAMES,
            "alice",
            False,
            rules=lambda _: PartitionRules(table),
        )
    task = f"{RECIPE}.tasks[0]"
    assert {fault.where.partition(": ")[2]: fault.message for fault in refused.value.faults} == {
        task: 'task "/lab/mv", operation "mv": there is no pool "gone"',
        f"{task}.params.POOL": 'there is no pool "other"',
    }


def test_mentioned__ids_of_valid_and_faulty_dependencies__are_looked_up() -> None:
    document = job_document(depends_on=[{"job": 5, "states": 3}, {"recipe_set": 6}, {"job": -1}, 3])
    document["recipe_sets"][0]["depends_on"] = [{"job": 8}]
    body = json.dumps(document).encode()
    expected = {("job", 5), ("recipe-set", 6), ("job", 8)}
    assert mentioned_in(body, "application/json") == expected
    assert mentioned_in(ADMISSION_XML, "text/xml") == {("job", 1)}


def test_mentioned__more_than_can_be_looked_up__refused() -> None:
    (plain,) = job_document()["recipe_sets"]
    sets = [
        {**plain, "depends_on": [{"job": 100 * number + each + 1} for each in range(100)]}
        for number in range(MAX_MENTIONED // 100 + 1)
    ]
    body = json.dumps({"recipe_sets": sets}).encode()
    with pytest.raises(FaultyInput, match="depends on 1100 different jobs and recipe sets; 1000 are allowed"):
        read_job(body, "application/json", NAMES, "alice", False, exists=lambda kind, number: True)
