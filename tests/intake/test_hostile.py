"""Jobs that are refused (hostile, broken or changed documents), and unusual ones that are accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial

import pytest
from lxml import etree

from api.intake import read_job
from api.intake.xml_writer import write_job
from domain.errors import FaultyInput, Unreadable
from domain.job.retention_tags import RetentionTag, RetentionTags
from domain.job.spec import JobSpec
from domain.requirements import KeyValue, from_text
from tests.intake.elements import ELEMENTS, SHORT
from tests.intake.jobs import NAMES, SAMPLES, job_document, job_xml, read_json, read_xml
from tests.intake.rich import RICH
from tests.intake.schema import is_valid

BOMB = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))

HOSTILE_XML = {
    "empty": b"",
    "blank": b"  \n ",
    "not XML": b"hello",
    "cut off": b"<job><whiteboard>",
    "NUL": b"<job>\0</job>",
    "Latin-1": "<job><whiteboard>é</whiteboard></job>".encode("latin-1"),
    "UTF-16": "<job/>".encode("utf-16"),
    "DTD": b"<!DOCTYPE job><job/>",
    "external DTD": b'<!DOCTYPE job SYSTEM "http://127.0.0.1:9/job.dtd"><job/>',
    "external entity": b'<!DOCTYPE job [<!ENTITY x SYSTEM "file:///etc/passwd">]><job>&x;</job>',
    "parameter entity": b'<!DOCTYPE job [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><job/>',
    "billion laughs": f'<!DOCTYPE job [<!ENTITY l0 "ha">{BOMB}]><job>&l9;</job>'.encode(),
    "laughs in an attribute": f'<!DOCTYPE job [<!ENTITY l0 "ha">{BOMB}]><job user="&l9;"/>'.encode(),
    "undeclared entity": b"<job><whiteboard>&x;</whiteboard></job>",
    "deep": b"<job>" * 60 + b"</job>" * 60,
    "very deep": b"<job>" * 50_000 + b"</job>" * 50_000,
    "many elements": b"<job>" + b"<x/>" * 100_000 + b"</job>",
    "attribute twice": b'<job user="a" user="b"/>',
    "control character": b"<job><whiteboard>\x07</whiteboard></job>",
    "50 MB": b"<job>" + b" " * 50_000_000 + b"</job>",
}


@pytest.mark.parametrize("body", HOSTILE_XML.values(), ids=HOSTILE_XML)
def test_xml__hostile__is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable) as refused:
        read_xml(body)
    assert len(refused.value.faults) == 1
    assert "root:" not in str(refused.value)


HOSTILE_JSON = {
    "empty": b"",
    "not JSON": b"hello",
    "cut off": b'{"a": [',
    "NaN": b'{"a": NaN}',
    "NUL": b'{"a": "\0"}',
    "Latin-1": '{"a": "é"}'.encode("latin-1"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "deep": b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}",
    "very deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "many objects": b'{"a": [' + b"{}," * 100_000 + b"{}]}",
    "huge number": b'{"a": ' + b"9" * 100_000 + b"}",
    "lone surrogate": b'{"a\\ud800": 1}',
    "noncharacter": b'{"a": "\\uffff"}',
    "noncharacter, not escaped": '{"a": "\ufffe"}'.encode(),
    "50 MB": b'{"a": "' + b" " * 50_000_000 + b'"}',
}


@pytest.mark.parametrize("body", HOSTILE_JSON.values(), ids=HOSTILE_JSON)
def test_json__hostile__is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable) as refused:
        read_json(body)
    assert len(refused.value.faults) == 1


@pytest.mark.parametrize(("body", "where"), [(b'{\n "a": 1,\n oops}', "line 3, column 2")])
def test_json__broken__says_where(body: bytes, where: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_json(body)
    assert refused.value.faults[0].where == where


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b'{\n"a": 1,\n"b": {"a": 2},\n"a": 2}', "line 4"),
        (b"{" + b"".join(b'"%d":1,' % n for n in range(90_000)) + b'"89999":1}', "line 1"),
        (b'{"\\ud800": 1,\n"\\ud800": 1}', "line 2"),
    ],
    ids=["in two objects", "among many", "lone surrogate"],
)
def test_json__equal_keys__are_a_fault(body: bytes, where: str) -> None:
    with pytest.raises(FaultyInput) as refused:
        read_json(body)
    assert not isinstance(refused.value, Unreadable)
    assert [fault.where for fault in refused.value.faults] == [where]


def test_xml__broken__says_where() -> None:
    with pytest.raises(Unreadable) as refused:
        read_xml(b"<job>\n<whiteboard>\n</job>")
    assert refused.value.faults[0].where == "line 3"


def test_xml__declares_another_encoding__is_read_as_utf_8() -> None:
    body = b"<?xml version='1.0' encoding='iso-8859-1'?>" + job_xml(in_job="<whiteboard>é</whiteboard>")
    assert read_xml(body).whiteboard == "é"


def test_comments_and_instructions__anywhere__are_ignored() -> None:
    body = job_xml(in_job="<whiteboard>a<!-- b -->c<?d e?></whiteboard><!-- f -->", in_recipe="<!-- g -->")
    assert read_xml(body).whiteboard == "ac"


@pytest.mark.parametrize("body", [b"<jobs/>", b'<job xmlns="urn:x"/>'])
def test_xml__other_root__is_a_fault(body: bytes) -> None:
    with pytest.raises(FaultyInput) as refused:
        read_xml(body)
    assert not isinstance(refused.value, Unreadable)
    assert refused.value.faults[0].where == "line 1"


def test_json__not_an_object__is_a_fault() -> None:
    with pytest.raises(FaultyInput) as refused:
        read_json(b"[]")
    assert not isinstance(refused.value, Unreadable)


VALID_JOBS = {
    **{path.name: path.read_bytes() for path in sorted(SAMPLES.glob("*.xml"))},
    **{name: body for name, (body, *_) in ELEMENTS.items()},
    "rich": RICH,
}

# Parts of the messages for faults that a schema cannot express, such as unknown names.
NOT_IN_SCHEMA = (
    "twice",
    "there is no",
    "needs a product",
    "takes no product",
    "retention_tag",
    "must be an email address",
    "must not be empty",
    "has no effect",
)


def changed_jobs(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the change and the changed job for each of `CHANGES` and each element below the root."""
    tree = etree.fromstring(body)
    for number, element in list(enumerate(tree.iter()))[1:]:
        for name, change in CHANGES.items():
            yield f"{name} {element.tag}", _changed(tree, number, change)
        for attribute in element.attrib:
            change = partial(rename, name=str(attribute))
            yield f"rename {attribute} of {element.tag}", _changed(tree, number, change)


def _changed(tree: etree._Element, number: int, change: Callable[[etree._Element], None]) -> bytes:
    copy = deepcopy(tree)
    change(list(copy.iter())[number])
    return etree.tostring(copy)


def rename(element: etree._Element, name: str) -> None:
    element.set(f"{name}_", element.attrib.pop(name))


def leave_out(element: etree._Element) -> None:
    element.getparent().remove(element)


def double(element: etree._Element) -> None:
    element.addnext(deepcopy(element))


def move_up(element: etree._Element) -> None:
    parent = element.getparent()
    if parent.getparent() is not None:
        parent.getparent().append(element)


def move_to_the_end(element: etree._Element) -> None:
    element.getparent().append(element)


def move_into_itself(element: etree._Element) -> None:
    element.append(deepcopy(element))


def put_text(element: etree._Element) -> None:
    element.text = "text"


CHANGES = {
    change.__name__: change
    for change in (leave_out, double, move_up, move_to_the_end, move_into_itself, put_text)
}


def faults(body: bytes) -> list[str]:
    try:
        read_job(body, "application/xml", NAMES, "alice", False, strict=True)
    except FaultyInput as wrong:
        return [fault.message for fault in wrong.faults]
    return []


@pytest.mark.parametrize("body", VALID_JOBS.values(), ids=VALID_JOBS)
def test_job__changed_anywhere__faults_agree_with_the_schema(body: bytes) -> None:
    counts = {True: 0, False: 0}
    for change, job in changed_jobs(body):
        found = faults(job)
        if is_valid(job):
            assert all(any(word in message for word in NOT_IN_SCHEMA) for message in found), (change, found)
        else:
            assert found, change
        counts[is_valid(job)] += 1
    assert counts[True] and counts[False]


EMPTY_ATTRIBUTES = 'user="" group="" retention_tag="" product=""'


def test_attributes__empty__mean_absent() -> None:
    written = job_xml(job=EMPTY_ATTRIBUTES, recipe='role=""', task='<task name="/t" role=""/>')
    assert read_xml(written) == read_xml(job_xml())
    assert is_valid(written)


def test_json_fields__empty__mean_absent() -> None:
    task = {"name": "/t", "role": ""}
    empty = dict.fromkeys(("user", "group", "retention_tag", "product"), "")
    assert read_json(job_document(recipe={"role": "", "tasks": [task]}, **empty)) == read_json(job_document())


def test_retention_tag__not_among_those_of_the_service__is_a_fault() -> None:
    tags = RetentionTags([RetentionTag("week", 7), RetentionTag("kept", 0, needs_product=True)])

    def read(attributes: str) -> JobSpec:
        return read_job(job_xml(job=attributes), "text/xml", NAMES, "alice", False, tags=tags).spec

    assert (read("").retention_tag, read('retention_tag=""').retention_tag) == ("week", "week")
    assert read('retention_tag="KEPT" product="p"').retention_tag == "kept"
    with pytest.raises(FaultyInput, match="must be one of week, kept"):
        read('retention_tag="scratch"')
    with pytest.raises(FaultyInput, match="needs a product"):
        read('retention_tag="kept"')


def test_job__written_as_xml_and_read_again__has_the_same_retention_tag() -> None:
    tags = RetentionTags([RetentionTag("week", 7), RetentionTag("scratch", 30)])

    def read(body: bytes) -> JobSpec:
        return read_job(body, "text/xml", NAMES, "alice", False, tags=tags).spec

    for tag in ("week", "scratch"):
        written = write_job(read(job_xml(job=f'retention_tag="{tag}"')).document, tags.default)
        assert (b"retention_tag" in written, read(written).retention_tag) == (tag == "scratch", tag)


def test_minor_version__empty__is_zero() -> None:
    written = SHORT.replace('major="M"', 'major="M" minor=""')
    assert read_xml(job_xml(distro=written)) == read_xml(job_xml(distro=SHORT))


def test_key_value__in_system__is_the_key_value() -> None:
    written = job_xml(host='<hostRequires><system><key_value key="HVM"/></system></hostRequires>')
    (recipe,) = read_xml(written).recipe_sets[0].recipes
    assert KeyValue("HVM", "==") in from_text(recipe.host_requires).children  # type: ignore[union-attr]
    assert is_valid(written)


@pytest.mark.parametrize(("word", "is_random"), [("True", True), ("False", False)])
def test_autopick__random_with_a_capital__is_read(word: str, is_random: bool) -> None:
    written = job_xml(in_recipe=f'<autopick random="{word}"/>')
    assert read_xml(written).recipe_sets[0].recipes[0].autopick_random is is_random
    assert is_valid(written)


def test_task_parameter__given_twice__counts_as_given_last() -> None:
    params = "".join(f'<param name="{name}" value="{value}"/>' for name, value in ("A1", "B2", "A3"))
    written = job_xml(task=f'<task name="/t"><params>{params}</params></task>')
    (task,) = read_xml(written).recipe_sets[0].recipes[0].tasks
    assert dict(task.params) == {"A": "3", "B": "2"}
    assert is_valid(written)


def test_comments__in_a_foreign_element__are_kept_and_others_removed() -> None:
    kept = '<x:note xmlns:x="urn:x">a<!-- b --><x:c><!--d--></x:c></x:note>'
    written = job_xml(in_job=f"<!-- e --><whiteboard>f<!-- g -->h</whiteboard><!-- i -->{kept}")
    document = read_xml(written).document
    assert document["foreign"] == [kept]
    assert document["whiteboard"] == "fh"
    again = write_job(document)
    assert kept.encode() in again
    assert read_xml(again).document == document
    with pytest.raises(FaultyInput, match="unexpected text"):
        read_xml(job_xml(in_job="<!-- a -->text<!-- b -->"))
