"""The packages of an installation, and their files."""

from __future__ import annotations

import shutil
from configparser import ConfigParser
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FOR_DEVELOPERS = {".md"}
PROJECT_FILES = ("setup.cfg", "pyproject.toml", "README.md", "LICENSE")


def packages() -> list[str]:
    """Return the top-level packages that setup.cfg installs."""
    config = ConfigParser()
    config.read(TOP / "setup.cfg")
    return [pattern.rstrip("*") for pattern in config["options.packages.find"]["include"].split()]


def package_files(folder: Path) -> set[Path]:
    """Return the files of the packages below a folder, without those that are only for developers."""
    return {
        path.relative_to(folder)
        for package in packages()
        for path in (folder / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in FOR_DEVELOPERS
    }


def copy_sources(folder: Path) -> None:
    """Copy the sources of a wheel: a build in the checkout would leave files there, and include old ones."""
    for package in packages():
        shutil.copytree(TOP / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file in PROJECT_FILES:
        shutil.copy(TOP / file, folder / file)
