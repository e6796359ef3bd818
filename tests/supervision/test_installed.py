"""What is installed from here is whole: not only in a checkout does it find its SQL."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PACKAGES = ("domain", "projections", "api", "replay", "postgres")
FOR_PEOPLE = {".md"}
BUILD = "from setuptools import setup; setup()"


def test_installation__every_file_of_the_packages__is_part_of_it(tmp_path: Path) -> None:
    arguments = ["-W", "ignore", "-c", BUILD, "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run([sys.executable, *arguments], cwd=TOP, check=True)
    assert files(TOP) - files(tmp_path) == set()


def files(folder: Path) -> set[Path]:
    return {
        path.relative_to(folder)
        for package in PACKAGES
        for path in (folder / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in FOR_PEOPLE
    }
