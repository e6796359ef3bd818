"""The domain uses no clocks, no random numbers, no I/O, and no order that depends on hashes."""

from __future__ import annotations

from pathlib import Path

import pytest

import domain
from tests.domain.purity.checker import CLOCK, DICE, HASHES, ORDER, WORLD, impurities

DOMAIN = Path(domain.__file__).parent
MODULES = sorted(DOMAIN.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(DOMAIN)))
def test_domain__every_module__is_pure(module: Path) -> None:
    found = "\n".join(map(str, impurities(module.read_text())))
    assert not found, f"domain/{module.relative_to(DOMAIN)} is not pure:\n{found}"


PLANTED = [
    # Clocks, however they are imported.
    ("from datetime import datetime\nat = datetime.now()", CLOCK),
    ("import datetime\nat = datetime.datetime.utcnow()", CLOCK),
    ("from datetime import UTC, datetime as d\nat = d.now(UTC)", CLOCK),
    ("from datetime import date\nday = date.today()", CLOCK),
    ("import time", CLOCK),
    ("from time import monotonic", CLOCK),
    ("from datetime import datetime\nclock = datetime.now", CLOCK),
    # Random numbers.
    ("import random", DICE),
    ("from random import choice", DICE),
    ("import secrets", DICE),
    ("import uuid\nkey = uuid.uuid4()", DICE),
    ("from uuid import uuid1", DICE),
    # Input and output.
    ("import os.path", WORLD),
    ("from os import path", WORLD),
    ("text = open('lab.toml').read()", WORLD),
    ("print('hello')", WORLD),
    ("name = input()", WORLD),
    ("shown = map(print, [])", WORLD),
    # Values that differ between processes.
    ("place = hash('a') % 7", HASHES),
    ("key = id(object())", HASHES),
    ("ranked = sorted([], key=id)", HASHES),
    # The order of a set.
    ("for name in {'a', 'b'}:\n    pass", ORDER),
    ("names = [name for name in set('ab')]", ORDER),
    ("names = list(frozenset('ab'))", ORDER),
    ("names = tuple({name for name in 'ab'})", ORDER),
    ("first = next(iter({'a', 'b'}))", ORDER),
    ("text = ', '.join({'a', 'b'})", ORDER),
    ("names = [*{'a', 'b'}]", ORDER),
    ("def all_of():\n    yield from {'a', 'b'}", ORDER),
    ("order = dict.fromkeys({'a', 'b'})", ORDER),
    ("for name in {'a'} | set('b'):\n    pass", ORDER),
    # Sets behind a name.
    ("names = {'a', 'b'}\nfor name in names:\n    pass", ORDER),
    ("def pick(names: frozenset[str]) -> list[str]:\n    return list(names)", ORDER),
    (
        "class Index:\n    def first(self):\n        self.keys: set[str] = set()\n        self.keys.pop()",
        ORDER,
    ),
]


@pytest.mark.parametrize(("source", "why"), PLANTED, ids=[source for source, _ in PLANTED])
def test_checker__planted_impurity__found_with_advice(source: str, why: str) -> None:
    assert [impurity.why for impurity in impurities(source)] == [why]


INNOCENT = [
    # The time passed to a decision.
    "from domain.events import Basis\ndef at(basis: Basis) -> object:\n    return basis.now",
    # A constant day.
    "from datetime import date\nday = date.fromisoformat('2024-01-01')",
    # Sets without iteration.
    "known = {'a', 'b'}\nfound = 'a' in known and len(known) == 2",
    "names = sorted({'a', 'b'})",
    "first = min(set('ab'))",
    # Dictionaries keep the order of their keys.
    "names = {'a': 1}\nfor name in names:\n    pass",
    "recipe_id = event.recipe_id",
]


@pytest.mark.parametrize("source", INNOCENT)
def test_checker__pure_code__passes(source: str) -> None:
    assert impurities(source) == []


def test_impurity__text__has_line_finding_and_advice() -> None:
    (impurity,) = impurities("\nimport random")
    assert str(impurity) == f"line 2: imports random. {DICE}"
