"""The pins in the lock files, compared with setup.cfg; `script/lock --check` resolves the ranges anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOP = Path(__file__).parent.parent
PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)")
LOCKS = {"requirements.lock": (), "requirements-test.lock": ("test",)}


@pytest.mark.parametrize(("file", "extras"), LOCKS.items())
def test_lock__every_range_of_setup_cfg__has_a_pin_in_it(file: str, extras: tuple[str, ...]) -> None:
    pins = dict(_pins(TOP / file))
    for requirement in _ranges(extras):
        pinned = pins.get(canonicalize_name(requirement.name))
        assert pinned, f"{file} lacks {requirement}: run script/lock"
        assert pinned <= set(requirement.specifier.filter(pinned)), f"{file}: {pinned} is not {requirement}"


@pytest.mark.parametrize("file", LOCKS)
def test_lock__every_pin__has_a_hash_and_no_address(file: str) -> None:
    text = (TOP / file).read_text()
    assert "://" not in text
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert PIN.match(entry) and "--hash=sha256:" in entry, entry


def test_lock__of_the_tests__contains_the_pins_of_the_other() -> None:
    both = [dict(_pins(TOP / file)) for file in LOCKS]
    assert both[0].items() <= both[1].items()


def _pins(file: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield names with their versions: several if a version is for some versions of Python."""
    found: dict[str, set[str]] = {}
    for pin in PIN.finditer(file.read_text()):
        found.setdefault(canonicalize_name(pin["name"]), set()).add(pin["version"])
    yield from found.items()


def _ranges(extras: tuple[str, ...]) -> list[Requirement]:
    config = ConfigParser()
    config.read(TOP / "setup.cfg")
    texts = [
        config["options"]["install_requires"],
        *(config["options.extras_require"][each] for each in extras),
    ]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("#")]
