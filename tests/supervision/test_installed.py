"""An installation contains all files of the packages, such as SQL, migrations and samples."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.harness.packaging import TOP, package_files, packages

BUILD = "from setuptools import setup; setup()"


def test_installation__every_file_of_the_packages__is_part_of_it(tmp_path: Path) -> None:
    arguments = ["-W", "ignore", "-c", BUILD, "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run([sys.executable, *arguments], cwd=TOP, check=True)
    assert package_files(TOP) - package_files(tmp_path) == set()
    assert {path.parts[0] for path in package_files(TOP)} == set(packages())
