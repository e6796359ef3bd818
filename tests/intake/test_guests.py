"""Guest recipes: all parts of a recipe, two more attributes, and their faults."""

from __future__ import annotations

from typing import Any

import pytest

from api.intake import limits
from tests.intake.jobs import faults_of, job_document, job_xml, read_json, read_xml

DISTRO = '<distroRequires><name value="G"/></distroRequires>'
HOST = "<hostRequires/>"
TASK = '<task name="/g"/>'
GUEST = {
    "guestargs": "--ram=1",
    "distro_requires": {"element": "name", "value": "G"},
    "host_requires": {},
    "tasks": [{"name": "/g"}],
}


def guest_xml(attributes: str = 'guestargs="--ram=1"', inside: str = DISTRO + HOST + TASK) -> bytes:
    """Return a job with one guest, which begins on line 4."""
    return job_xml(in_recipe=f"\n<guestrecipe {attributes}>\n{inside}</guestrecipe>")


def guest_document(**fields: Any) -> dict[str, Any]:
    return job_document(recipe={"guests": [{**GUEST, **fields}]})


def test_guest__as_xml_or_json__is_below_its_host() -> None:
    spec = read_xml(guest_xml())
    assert spec == read_json(guest_document())
    ((host,),) = (recipe_set.recipes for recipe_set in spec.recipe_sets)
    (guest,) = host.guests
    assert (guest.guestname, guest.guestargs, guest.tasks[0].name) == (None, "--ram=1", "/g")
    assert (host.guestargs, host.tasks[0].name) == (None, "/t")


def test_guest__with_everything__keeps_it() -> None:
    inside = f"""<kickstart>k</kickstart><watchdog panic="ignore"/><reservesys/><packages><package name="p"/>
    </packages>{DISTRO}<hostRequires><memory value="1"/></hostRequires>{TASK}"""
    spec = read_xml(guest_xml('guestname="g" guestargs="" role="R" whiteboard="w" ks_meta="a=1"', inside))
    (guest,) = spec.document["recipe_sets"][0]["recipes"][0]["guests"]
    assert (guest["guestname"], guest["guestargs"], guest["role"]) == ("g", "", "R")
    assert (guest["kickstart"], guest["watchdog"], guest["packages"]) == ("k", {"panic": "ignore"}, ["p"])
    assert (guest["whiteboard"], guest["ks_meta"]) == ("w", "a=1")
    (guest,) = spec.recipe_sets[0].recipes[0].guests
    assert guest.reservesys == {"duration_seconds": 86_400, "when": "always"}


def test_guest__with_requirements_as_xml_text__is_the_same() -> None:
    texts = {"host_requires_xml": HOST, "distro_requires_xml": DISTRO}
    guest = {name: value for name, value in GUEST.items() if not name.endswith("_requires")} | texts
    assert read_json(job_document(recipe={"guests": [guest]})) == read_json(guest_document())


def test_guest__empty_name__has_no_name() -> None:
    assert read_xml(guest_xml('guestname="" guestargs="--ram=1"')) == read_xml(guest_xml())


@pytest.mark.parametrize(
    ("body", "where", "message"),
    [
        (guest_xml(""), "line 4, <guestrecipe>", 'has no attribute "guestargs"'),
        (
            guest_xml('guestargs="a \'b"'),
            "line 4, <guestrecipe>",
            "guestargs: cannot be split into words: no closing quotation",
        ),
        (guest_xml('guestargs="a" colour="red"'), "line 4, <guestrecipe>", 'unknown attribute "colour"'),
        (guest_xml(inside=DISTRO + TASK), "line 4, <guestrecipe>", "has no <hostRequires>"),
        (guest_xml(inside=DISTRO + HOST), "line 4, <guestrecipe>", "has no <task>"),
        (guest_xml(inside=HOST + TASK), "line 4, <guestrecipe>", "has neither <distroRequires> nor <distro>"),
        (guest_xml(inside=DISTRO + HOST + "<task/>"), "line 5, <task>", 'has no attribute "name"'),
        (
            guest_xml(inside=f"{DISTRO}{HOST}{TASK}\n<guestrecipe/>"),
            "line 6, <guestrecipe>",
            "unknown element <guestrecipe> in <guestrecipe>",
        ),
        (
            guest_xml(inside=f"{DISTRO}{HOST}{TASK}<autopick><pool>huge</pool></autopick>"),
            "line 5, <pool>",
            'there is no pool "huge"',
        ),
    ],
)
def test_guest_in_xml__one_fault__is_reported_once_at_its_line(body: bytes, where: str, message: str) -> None:
    assert faults_of(body) == [(where, message)]


GUESTS = "recipe_sets[0].recipes[0].guests"


@pytest.mark.parametrize(
    ("document", "where", "message"),
    [
        (job_document(recipe={"guests": {}}), GUESTS, "must be a list"),
        (job_document(recipe={"guests": [3]}), f"{GUESTS}[0]", "must be an object"),
        (guest_document(guestargs=None), f"{GUESTS}[0].guestargs", "must be text"),
        (guest_document(guests=[]), f"{GUESTS}[0].guests", 'unknown field "guests"'),
        (guest_document(queue="q"), f"{GUESTS}[0].queue", '"queue" is not supported yet'),
        (guest_document(distro_requires=None), f"{GUESTS}[0]", 'has neither "distro_requires" nor "distro"'),
        (
            guest_document(distro_requires_xml=DISTRO),
            f"{GUESTS}[0].distro_requires_xml",
            'cannot be combined with "distro_requires"',
        ),
        (
            job_document(recipe={"guestargs": ""}),
            "recipe_sets[0].recipes[0].guestargs",
            'unknown field "guestargs"',
        ),
    ],
)
def test_guest_in_json__one_fault__is_reported_once_at_its_path(
    document: Any, where: str, message: str
) -> None:
    assert faults_of(document) == [(f"line 1: {where}", message)]


def with_guests(*counts: int) -> dict[str, Any]:
    """Return a job with this number of guests in the only recipe of each set."""
    (recipe,) = job_document()["recipe_sets"][0]["recipes"]
    return {"recipe_sets": [{"recipes": [{**recipe, "guests": [GUEST] * count}]} for count in counts]}


def test_recipes__as_many_as_a_set_may_have__are_accepted() -> None:
    spec = read_json(with_guests(limits.MAX_RECIPES_IN_SET - 1))
    assert len(spec.recipe_sets[0].recipes[0].guests) == limits.MAX_RECIPES_IN_SET - 1


def test_recipes__more_than_a_set_may_have__are_refused_at_the_set() -> None:
    assert faults_of(with_guests(1, limits.MAX_RECIPES_IN_SET)) == [
        ("line 1: recipe_sets[1]", "has 201 recipes, guests included; 200 are allowed")
    ]


def test_recipes__more_than_a_job_may_have__are_refused_at_the_job() -> None:
    full = limits.MAX_RECIPES_IN_JOB // limits.MAX_RECIPES_IN_SET
    counts = [limits.MAX_RECIPES_IN_SET - 1] * full
    assert len(read_json(with_guests(*counts)).recipe_sets) == full
    assert faults_of(with_guests(*counts, 0)) == [
        ("line 1", "has 2001 recipes, guests included; 2000 are allowed")
    ]
