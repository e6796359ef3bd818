"""Child processes: messages in both directions, errors that they report, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from domain.errors import Unknown
from runtime.processes.child import Child, ChildEnded, ChildFailed, python_module
from tests.harness.programs import TOP
from tests.harness.waiting import wait_until

URL = "postgresql://127.0.0.1:1/nothing"
ECHO = "tests.runtime.echo"
# The tests are not installed, unlike the modules that children run.
IMPORTABLE = {"PYTHONPATH": os.pathsep.join([str(TOP), os.environ.get("PYTHONPATH", "")])}


@pytest.fixture
def child() -> Iterator[Child]:
    with closing(Child("echoes", URL, ECHO, environment=IMPORTABLE, errors=[Unknown])) as child:
        yield child


def test_message__any_size__comes_back_as_it_was(child: Child) -> None:
    for payload in (b"", b"\n\0", os.urandom(3_000_000)):
        child.send({"text": "ü\n"}, payload)
        message = child.receive()
        assert (message.content["text"], message.payload) == ("ü\n", payload)
    assert message.content["url"] == URL


def test_error__of_an_expected_type__is_raised_as_that(child: Child) -> None:
    child.send({"raise": "Unknown"})
    with pytest.raises(Unknown, match="recipe 3"):
        child.receive()


def test_error__of_another_type__is_raised_as_child_failed_with_its_name(child: Child) -> None:
    child.send({"raise": "Refused"})
    with pytest.raises(ChildFailed, match="the process that echoes: Refused: recipe 3"):
        child.receive()


def exits(child: Child) -> None:
    child.send({"exit": 3})


ENDS: list[tuple[Callable[[Child], None], str]] = [
    (exits, "ended with exit status 3"),
    (Child.kill, "was killed by signal 9"),
    (Child.end_input, "ended with exit status 0"),
]


@pytest.mark.parametrize(("end", "how"), ENDS)
def test_receive__child_has_ended__says_how(child: Child, end: Callable[[Child], None], how: str) -> None:
    end(child)
    with pytest.raises(ChildEnded, match=f"the process that echoes {how} before it was done"):
        child.receive()
    assert child.has_ended


def test_send__child_has_ended__is_refused(child: Child) -> None:
    child.kill()
    wait_until(lambda: child.has_ended)
    with pytest.raises(ChildEnded, match="signal 9"):
        child.send({})


def test_close__child_hangs__leaves_nothing(child: Child) -> None:
    os.kill(child.pid, signal.SIGSTOP)
    child.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_child__working_directory_has_packages_of_the_same_names__imports_the_installed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("domain", "runtime", "tests"):
        (tmp_path / f"{package}.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    with closing(Child("echoes", URL, ECHO, environment=IMPORTABLE)) as child:
        child.send({"text": "here"})
        assert child.receive().content["text"] == "here"


def test_child__ctrl_c_in_the_terminal__is_in_another_session(child: Child) -> None:
    assert os.getsid(child.pid) == child.pid != os.getsid(0)


@pytest.mark.parametrize(("closed", "status"), [(0, 0), (1, 1)])
def test_child__its_parent_is_gone__ends_without_a_word(closed: int, status: int) -> None:
    process = subprocess.Popen(
        python_module(ECHO, "greet"),
        env={**os.environ, **IMPORTABLE, "LABLEDGER_DATABASE_URL": URL},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    pipe = (process.stdin, process.stdout)[closed]
    assert pipe is not None
    pipe.close()
    if closed == 0:
        process.stdin = None
    _, words = process.communicate(timeout=30)
    assert (process.returncode, words) == (status, b"")
