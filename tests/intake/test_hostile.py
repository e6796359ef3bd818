"""Malformed or hostile bodies are refused before they do harm."""

from __future__ import annotations

import pytest

from domain.errors import FaultyInput, Unreadable
from tests.intake.jobs import job_xml, read_json, read_xml

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
    "half a surrogate pair": b'{"a\\ud800": 1}',
    "no character": b'{"a": "\\uffff"}',
    "no character, not escaped": '{"a": "\ufffe"}'.encode(),
    "50 MB": b'{"a": "' + b" " * 50_000_000 + b'"}',
}


@pytest.mark.parametrize("body", HOSTILE_JSON.values(), ids=HOSTILE_JSON)
def test_json__hostile__is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable) as refused:
        read_json(body)
    assert len(refused.value.faults) == 1


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b'{\n "a": 1,\n oops}', "line 3, column 2"),
    ],
)
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
    ids=["in two objects", "among many", "half a surrogate pair"],
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


def test_xml__other_declared_encoding__is_read_as_utf_8() -> None:
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


def test_json__no_object__is_a_fault() -> None:
    with pytest.raises(FaultyInput) as refused:
        read_json(b"[]")
    assert not isinstance(refused.value, Unreadable)
