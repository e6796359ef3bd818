"""Content of an installation, and its systemd units."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import fields
from pathlib import Path

import pytest

from runtime.settings import MIGRATE, SERVICES, Settings, variable
from tests.harness.packaging import TOP, package_files, packages

BUILD = "from setuptools import setup; setup()"


def test_installation__every_file_of_the_packages__is_part_of_it(tmp_path: Path) -> None:
    arguments = ["-W", "ignore", "-c", BUILD, "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run([sys.executable, *arguments], cwd=TOP, check=True)
    assert package_files(TOP) - package_files(tmp_path) == set()
    assert {path.parts[0] for path in package_files(TOP)} == set(packages())


FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "systemd"
SERVICE_FILES = sorted(FOLDER.glob("*.service"))
UNITS = [*SERVICE_FILES, FOLDER / "labledger.target"]
INSTALLED = "/opt/labledger/bin/labledger"
SETTINGS = {variable(setting.name): setting for setting in fields(Settings)}

Unit = dict[str, dict[str, list[str]]]


def read(path: Path) -> Unit:
    """Return the values in order, by section and key."""
    unit: Unit = defaultdict(lambda: defaultdict(list))
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            unit[section][key].append(value)
    return unit


def variables(environment: Path) -> dict[str, str]:
    lines = [line for line in environment.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def command_of(unit: Unit) -> list[str]:
    (line,) = unit["Service"]["ExecStart"]
    return shlex.split(line)


def test_units__together__are_one_for_each_process_and_a_target() -> None:
    processes = {command_of(read(path))[1] for path in SERVICE_FILES}
    assert processes == {MIGRATE, *SERVICES}
    wanted = read(FOLDER / "labledger.target")["Unit"]["Wants"][0].split()
    assert sorted(wanted) == [path.name for path in SERVICE_FILES]


@pytest.mark.parametrize("path", SERVICE_FILES, ids=lambda path: path.stem)
def test_service__its_command__is_one_with_flags_that_it_has(path: Path) -> None:
    program, process, *flags = command_of(read(path))
    assert program == INSTALLED
    assert path.stem == f"labledger-{process}"
    shown = subprocess.run(
        [sys.executable, "-m", "cli", process, *flags, "--help"], capture_output=True, text=True, check=True
    )
    assert f"Usage: labledger {process}" in shown.stdout


@pytest.mark.parametrize("path", SERVICE_FILES, ids=lambda path: path.stem)
def test_service__its_environment__has_only_settings_that_it_reads_and_all_required_ones(path: Path) -> None:
    unit = read(path)
    process = command_of(unit)[1]
    (file,) = unit["Service"]["EnvironmentFile"]
    given = variables(FOLDER / Path(file).name)
    assert given.keys() <= SETTINGS.keys()
    assert all(SETTINGS[name].metadata["readers"] for name in given)
    settings = Settings.read(given)
    assert settings.migration_url if process == MIGRATE else settings.database_url
    assert "owner" not in file or process == MIGRATE, "no service needs to know the owner"


@pytest.mark.parametrize("path", SERVICE_FILES, ids=lambda path: path.stem)
def test_service__asked_to_stop__has_the_time_to_finish(path: Path) -> None:
    unit = read(path)["Service"]
    if command_of(read(path))[1] == MIGRATE:
        return
    assert float(unit["TimeoutStopSec"][0]) > Settings.read({}).stop_seconds
    assert unit["Restart"] == ["always"]


def test_services__systemd_restrictions__are_the_same_for_all() -> None:
    """Compare the rights of all services: they are equal, so that a missing right is added to all at once."""
    rights = [path.read_text().partition("# Rights")[2] for path in SERVICE_FILES]
    assert len(set(rights)) == 1
    assert "NoNewPrivileges=yes" in rights[0]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd-analyze")
def test_units__by_systemd__are_in_order(tmp_path: Path) -> None:
    here = shutil.which("true")
    assert here is not None
    for path in UNITS:
        (tmp_path / path.name).write_text(path.read_text().replace(INSTALLED, here))
    names = [str(tmp_path / path.name) for path in UNITS]
    done = subprocess.run(["systemd-analyze", "verify", *names], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
