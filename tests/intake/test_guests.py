"""Guests, and elements that steer the choice of systems."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.intake import limits
from api.intake.json_text import parse_json, refuse_duplicate_keys
from api.intake.words import one_line, printable
from api.intake.xml_text import parse_xml
from domain.errors import Fault, FaultyInput
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
        (guest_document(preemptible=True), f"{GUESTS}[0].preemptible", 'unknown field "preemptible"'),
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


# A C1 control (CSI), a bidirectional override, an isolate, a line separator, DEL.
CONTROL_CHARACTERS = ["\x9b", "\u202e", "\u2066", "\u2028", "\x7f"]
# A right-to-left mark and a soft hyphen affect only their own text.
HARMLESS = "\u05d0\u200f\xad \t"


@pytest.mark.parametrize("character", CONTROL_CHARACTERS)
def test_text__with_a_character_that_steers__is_refused_by_its_name(character: str) -> None:
    for check in (printable, one_line):
        with pytest.raises(ValueError, match=f"U\\+{ord(character):04X}"):
            check(f"a{character}b")


def test_text__of_other_scripts__is_taken() -> None:
    assert printable(HARMLESS) == HARMLESS


@pytest.mark.parametrize("character", CONTROL_CHARACTERS)
@pytest.mark.parametrize("written", ["{}", "&#x{:X};", "&#{};"], ids=["itself", "hexadecimal", "decimal"])
@pytest.mark.parametrize(
    ("place", "where", "field"),
    [
        ("<job>\n <a>{}</a></job>", "line 2, column 2: a", ""),
        ('<job>\n<a/> <a b="{}"/></job>', "line 2, column 6: a[2]", "b: "),
        ("<job>\n<recipeSet><a/>{}</recipeSet></job>", "line 2, column 1: recipeSet[1]", ""),
        ("<job>\n<x:a xmlns:x='x'><!--{}--></x:a></job>", "line 2, column 1: a", ""),
    ],
)
def test_xml__with_such_a_character__names_line_column_and_path(
    character: str, written: str, place: str, where: str, field: str
) -> None:
    text = character if written == "{}" or "<!--" in place else written.format(ord(character))
    with pytest.raises(FaultyInput) as refused:
        parse_xml(place.format(text).encode())
    (fault,) = refused.value.faults
    said = f"{field}must not contain control characters: U+{ord(character):04X}"
    assert (fault.where, fault.message) == (where, said)


def test_xml_in_json__with_such_a_character__names_both_places() -> None:
    document = job_document(
        recipe={"host_requires_xml": '<hostRequires>\n<pool value="\u202e"/></hostRequires>'}
    )
    del document["recipe_sets"][0]["recipes"][0]["host_requires"]
    body = json.dumps(document, ensure_ascii=False).encode()
    with pytest.raises(FaultyInput) as refused:
        read_json(body)
    (fault,) = refused.value.faults
    assert fault.where.startswith("line 1, column ")


def test_xml__with_it_in_a_comment__is_taken_as_comments_are_dropped() -> None:
    assert parse_xml("<job><!-- \u202e --></job>".encode()).tag == "job"


@pytest.mark.parametrize("character", CONTROL_CHARACTERS)
@pytest.mark.parametrize("written", ["{}", "\\u{:04x}"], ids=["itself", "escaped"])
def test_json__with_such_a_character__names_line_column_and_path(character: str, written: str) -> None:
    text = character if written == "{}" else written.format(ord(character))
    with pytest.raises(FaultyInput) as refused:
        parse_json(f'{{"recipe_sets":\n[{{"priority": "{text}", "a{text}": 1}}]}}'.encode())
    in_value, in_key = refused.value.faults
    said = f"must not contain control characters: U+{ord(character):04X}"
    assert in_value == Fault("line 2, column 3: recipe_sets[0].priority", said)
    assert in_key == Fault("line 2, column 2: recipe_sets[0]", f"a key {said}")


def test_json__with_equal_keys__names_the_line_of_the_second() -> None:
    with pytest.raises(FaultyInput) as refused:
        refuse_duplicate_keys('{"a": {"b": 1,\n"c": 2},\n"a": 3}')
    (fault,) = refused.value.faults
    assert (fault.where, fault.message) == ("line 3", '"a" occurs twice in one object')


def test_json__with_equal_keys_in_different_objects__is_taken() -> None:
    refuse_duplicate_keys('[{"a": 1}, {"a": {"a": 2}}]')


def test_json__nested_without_end__is_refused() -> None:
    with pytest.raises(FaultyInput, match="nested too deeply"):
        refuse_duplicate_keys("[" * 100_000 + "]" * 100_000)
