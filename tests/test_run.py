"""`script/test`: its arguments, its help, and its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.__main__ import FAST_TESTS, PYTEST, SLOW_FILES, STATIC, TOP, UsageError, commands_for, main

CLEANS_UP = """
import pathlib, signal, sys, time
def clean_up(*_):
    time.sleep(1)
    pathlib.Path({left!r}).unlink()
    sys.exit(2)
signal.signal(signal.{how}, clean_up)
pathlib.Path({left!r}).touch()
print("begun", flush=True)
time.sleep(60)
"""
RUN = """
import signal, sys
import tests.__main__ as run
signal.signal(signal.SIGINT, signal.default_int_handler)
run.commands_for = lambda arguments: {"slow": ("-c", sys.argv[1])}
sys.exit(run.main([]))
"""


@pytest.mark.parametrize(
    ("how", "send"), [("SIGINT", os.killpg), ("SIGTERM", os.kill)], ids=["Ctrl-C", "terminated"]
)
def test_run__interrupted__waits_for_the_cleanup(
    tmp_path: Path, how: str, send: Callable[[int, int], None]
) -> None:
    left = tmp_path / "left"
    with subprocess.Popen(
        [sys.executable, "-c", RUN, CLEANS_UP.format(left=str(left), how=how)],
        cwd=TOP,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "begun\n":
                break
        assert left.exists()
        send(process.pid, signal.Signals[how])
        process.communicate(timeout=60)
    assert process.returncode == 2
    assert not left.exists()


KILLED = """
import os, signal
from pathlib import Path
def test_killed(servers):
    Path({left!r}).write_text(servers.databases("embedded").fresh().__enter__().owner_url)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_parallel_run__process_killed__its_server_is_stopped(tmp_path: Path) -> None:
    url, test = tmp_path / "url", tmp_path / "test_killed.py"
    test.write_text(KILLED.format(left=str(url)))
    alone = ("-p", "tests.conftest", "-n", "1", "--max-worker-restart=0")
    command = [sys.executable, *PYTEST, *alone, str(test)]
    run = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert "crashed while running" in run.stdout
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url.read_text())


def pytest_of(*arguments: str) -> list[str]:
    return list(commands_for(arguments)["pytest"])


def test_run__no_arguments__checks_and_then_every_test_but_soaks() -> None:
    assert [*commands_for([])] == [*STATIC, "pytest"]
    assert pytest_of()[-2:] == ["-m", "not soak"]


def test_run__options_of_pytest__come_after_the_checks() -> None:
    assert [*commands_for(["-m", "soak", "-x"])] == [*STATIC, "pytest"]
    assert pytest_of("-m", "soak", "-x")[-3:] == ["-m", "soak", "-x"]
    assert "not soak" in pytest_of("-k", "tests")


def test_run__fast__checks_and_tests_of_pure_code() -> None:
    assert [*commands_for(["--fast"])] == [*STATIC, "pytest"]
    assert tuple(pytest_of("--fast", "-x")[-2:]) == FAST_TESTS
    assert "-x" in pytest_of("--fast", "-x")
    assert all((TOP / file).exists() for file in (*FAST_TESTS, *SLOW_FILES))


@pytest.mark.parametrize(
    ("arguments", "is_spread", "has_soaks"),
    [
        (("tests/test_run.py",), False, False),
        (("-x", "tests/test_run.py"), False, False),
        (("tests/docs", "-x"), True, False),
        # A test that is named runs, even if it is a soak.
        (("tests/test_run.py::test_run__interrupted__waits_for_the_cleanup",), False, True),
        (("tests/soak", "-m", "soak"), True, True),
    ],
)
def test_run__paths__are_all_that_runs(arguments: tuple[str, ...], is_spread: bool, has_soaks: bool) -> None:
    assert [*commands_for(arguments)] == ["pytest"]
    command = pytest_of(*arguments)
    assert (("-n" in command), ("not soak" not in command)) == (is_spread, has_soaks)


@pytest.mark.parametrize("arguments", [("nosuch",), ("domain",), ("--fast", "tests/domain")])
def test_run__wrong_arguments__end_with_an_error_and_run_nothing(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError):
        commands_for(arguments)
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("script/test: ") and not printed.out


SCRIPTS = (
    "script/test",
    "script/up",
    "script/lock",
    ".ci/run",
    ".ci/prometheus",
    ".ci/nginx",
    ".ci/grafana-schema",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Scripts of a checkout without an environment."""
    for file in (*SCRIPTS, "script/venv.sh", "tests/__main__.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(TOP / file, tmp_path / file)
    return tmp_path


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_scripts__asked_for_help__print_it_and_do_nothing(checkout: Path, script: str, option: str) -> None:
    before = sorted(checkout.rglob("*"))
    # A relative path, as people type it.
    asked = subprocess.run([script, option], cwd=checkout, check=True, capture_output=True, text=True)
    assert not asked.stderr
    assert len(asked.stdout.splitlines()) >= 2 and "#!" not in asked.stdout
    assert sorted(checkout.rglob("*")) == before


def test_script_up__asked_for_help_before_installation__says_when_it_has_all_options(checkout: Path) -> None:
    asked = subprocess.run(["script/up", "-h"], cwd=checkout, check=True, capture_output=True, text=True)
    assert "Once it is installed, `script/up --help` shows all options" in asked.stdout


def test_script_test__asked_for_help__prints_the_docstring_of_the_module(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = subprocess.run(
        ["script/test", "tests/domain", "--help"], cwd=checkout, check=True, capture_output=True, text=True
    )
    assert main(["--help"]) == 0
    assert asked.stdout == capsys.readouterr().out
