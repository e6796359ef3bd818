"""Control characters for terminals are refused in new texts, everywhere."""

from __future__ import annotations

import json

import pytest

from api.intake.json_text import parse_json, refuse_duplicate_keys
from api.intake.words import one_line, printable
from api.intake.xml_text import parse_xml
from domain.errors import Fault, FaultyInput
from tests.intake.jobs import job_document, read_json

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
