"""The wheel in a new environment, used as by a person who installed it."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from projections.boards.files import shipped_files
from tests.acceptance.up import up
from tests.harness.folders import public_folder
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.packaging import TOP, copy_sources, package_files
from tests.harness.waiting import wait_until

# Building needs the package index, for the build backend.
pytestmark = pytest.mark.soak
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
PURELIB = "import sysconfig; print(sysconfig.get_path('purelib'))"
PLACES = "import api, bench, cli, store; print(*(module.__file__ for module in (api, bench, cli, store)))"


@pytest.fixture(scope="module")
def environment() -> Iterator[Path]:
    """An environment with the wheel, and with the dependencies of the present one."""
    with public_folder() as folder:
        source, made = folder / "source", folder / "environment"
        source.mkdir()
        copy_sources(source)
        _run(*PIP, "wheel", "-q", "--no-deps", "--wheel-dir", str(folder), str(source))
        (wheel,) = folder.glob("labledger-*.whl")
        venv.create(made, symlinks=True)
        # The .pth files in that folder are not read, so the editable checkout is not in the path.
        (_purelib(made) / "dependencies.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
        _run(*PIP, "--python", str(made), "install", "-q", "--no-deps", "--no-index", str(wheel))
        yield made


def _purelib(environment: Path) -> Path:
    return Path(_run(str(environment / "bin" / "python"), "-c", PURELIB))


def _run(*command: str) -> str:
    """Return the output of a program that runs outside of the checkout."""
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_wheel__in_a_new_environment__has_every_file_of_the_packages(environment: Path) -> None:
    site = _purelib(environment)
    assert package_files(TOP) - package_files(site) == set()
    places = _run(str(environment / "bin" / "python"), "-c", PLACES).split()
    assert all(Path(place).is_relative_to(site) for place in places)


def _open_login(url: str) -> None:
    """Open the login page with its style."""
    with httpx.Client(base_url=url, **LOCAL_HTTP) as client:
        page = client.get("/ui/login")
        assert "<h1>Login</h1>" in page.text
        style = re.search(r'rel="stylesheet" href="([^"]+)"', page.text)
        assert style is not None
        assert client.get(style[1]).headers["content-type"].startswith("text/css")


def test_wheel__in_a_new_environment__runs_the_demo_and_a_job(environment: Path, data: Path) -> None:
    labledger = str(environment / "bin" / "labledger")
    with up(data, "--demo", program=[labledger]) as started:
        wait_until(lambda: "store-01" in started.labledger("systems"), "the demo lab")
        job = data.with_name("job.xml")
        job.write_text(_run(labledger, "sample", "kernel-smoke"), "utf-8")
        assert "completed" in started.labledger("submit", "--wait", str(job))
        _open_login(started.url)
        assert started.stop() == 0


def test_wheel__in_a_new_environment__writes_the_boards_of_grafana(environment: Path, data: Path) -> None:
    _run(str(environment / "bin" / "labledger"), "boards", str(data))
    written = {path.relative_to(data) for path in data.rglob("*") if path.is_file()}
    assert written == {path for path, _ in shipped_files()}
