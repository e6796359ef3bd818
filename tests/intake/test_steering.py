"""Characters that steer a terminal: refused in new texts, wherever they stand."""

from __future__ import annotations

import pytest

from api.intake.json_text import parse_json, refuse_equal_keys
from api.intake.words import one_line, printable
from api.intake.xml_text import parse_xml
from domain.errors import FaultyInput

# A C1 control (CSI), a bidirectional override, an isolate, a line separator, DEL.
STEERING = ["\x9b", "\u202e", "\u2066", "\u2028", "\x7f"]
# A right-to-left mark and a soft hyphen change nothing but what belongs to the text.
HARMLESS = "\u05d0\u200f\xad \t"


@pytest.mark.parametrize("character", STEERING)
def test_text__with_a_character_that_steers__is_refused_by_its_name(character: str) -> None:
    for check in (printable, one_line):
        with pytest.raises(ValueError, match=f"U\\+{ord(character):04X}"):
            check(f"a{character}b")


def test_text__of_other_scripts__is_taken() -> None:
    assert printable(HARMLESS) == HARMLESS


@pytest.mark.parametrize("character", STEERING)
@pytest.mark.parametrize("written", ["{}", "&#x{:X};", "&#{};"], ids=["itself", "hexadecimal", "decimal"])
@pytest.mark.parametrize(
    "place", ["<job>\n<a>{}</a></job>", '<job>\n<a b="{}"/></job>', "<job>\n<a/>{}</job>"]
)
def test_xml__with_such_a_character__names_the_line(character: str, written: str, place: str) -> None:
    text = character if written == "{}" else written.format(ord(character))
    with pytest.raises(FaultyInput) as refused:
        parse_xml(place.format(text).encode())
    (fault,) = refused.value.faults
    assert fault.where == "line 2" and f"U+{ord(character):04X}" in fault.message


def test_xml__with_it_in_a_comment__is_taken_as_comments_are_dropped() -> None:
    assert parse_xml("<job><!-- \u202e --></job>".encode()).tag == "job"


@pytest.mark.parametrize("character", STEERING)
@pytest.mark.parametrize("written", ["{}", "\\u{:04x}"], ids=["itself", "escaped"])
def test_json__with_such_a_character__is_refused(character: str, written: str) -> None:
    text = character if written == "{}" else written.format(ord(character))
    with pytest.raises(FaultyInput) as refused:
        parse_json(f'{{"recipe_sets": [{{"priority": "{text}"}}]}}'.encode())
    (fault,) = refused.value.faults
    assert (fault.where, fault.message[-6:]) == ("recipe_sets[0].priority", f"U+{ord(character):04X}")


def test_json__with_equal_keys__names_the_line_of_the_second() -> None:
    with pytest.raises(FaultyInput) as refused:
        refuse_equal_keys('{"a": {"b": 1,\n"c": 2},\n"a": 3}')
    (fault,) = refused.value.faults
    assert (fault.where, fault.message) == ("line 3", '"a" stands twice in one object')


def test_json__with_equal_keys_in_different_objects__is_taken() -> None:
    refuse_equal_keys('[{"a": 1}, {"a": {"a": 2}}]')


def test_json__nested_without_end__is_refused() -> None:
    with pytest.raises(FaultyInput, match="nested too deeply"):
        refuse_equal_keys("[" * 100_000 + "]" * 100_000)
