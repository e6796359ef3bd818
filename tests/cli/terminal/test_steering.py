"""Control characters in stored texts: no output passes them to the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from cli.terminal.output import Output, xml

CONTROL_CHARACTERS = "\x9b2J\u202egpj.exe\u2066\u2028\x7f"


def test_json__of_such_a_text__means_it_and_does_not_hold_it(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).document({"whiteboard": CONTROL_CHARACTERS, "é": "ü"})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"whiteboard": CONTROL_CHARACTERS, "é": "ü"}
    assert not set(printed) & set("\x9b\u202e\u2066\u2028\x7f") and "ü" in printed


def test_xml__of_such_a_text__has_references(capsys: pytest.CaptureFixture[str]) -> None:
    xml(f"<whiteboard>{CONTROL_CHARACTERS}</whiteboard>")
    printed = capsys.readouterr().out
    assert printed == "<whiteboard>&#x9B;2J&#x202E;gpj.exe&#x2066;&#x2028;&#x7F;</whiteboard>\n"


def test_taskfile__with_such_a_name__is_refused(run: Callable[..., Result]) -> None:
    result = run(
        "workflow", "--distro", "F", "--arch", "x86_64", "--task", "/t", "--whiteboard", CONTROL_CHARACTERS
    )
    assert result.exit_code == 2 and "U+009B" in result.stderr
