"""The declaration of locks, compared with the code: no lock is made or taken elsewhere."""

from __future__ import annotations

import pytest

from runtime.locks import LockClass, LockKind
from tests.language import TOP
from tests.locks.sources import (
    DECLARATION,
    Place,
    all_places,
    made_locks,
    places_in_python,
    places_in_sql,
    product_files,
    unshared_collections,
)

ADVICE = "Take the lock from a class of runtime/locks.py; CONTRIBUTING.md says how to add one."
OF_DATABASE = (LockKind.SESSION, LockKind.TRANSACTION)


def test_product__every_lock__is_made_by_its_class() -> None:
    found = {
        str(file.relative_to(TOP)): names
        for file in product_files(".py")
        if (names := made_locks(file.read_text("utf-8")))
    }
    assert found.pop(DECLARATION)
    assert not found, f"{found}: {ADVICE}"


# Benchmarks rewrite times of a log and fill read models while no service runs, so nobody can wait for them.
WITHOUT_SERVICES = {
    *(("bench/history.py", f"UPDATE log.{table}") for table in ("events", "commits")),
    ("bench/filled_jobs.py", "UPDATE read_fresh.progress"),
}


def test_product__every_statement_that_locks__is_a_place_of_a_class() -> None:
    declared = {place for lock_class in LockClass for place in lock_class.value.places}
    found = all_places() - WITHOUT_SERVICES
    assert not (undeclared := found - declared), f"{undeclared}: {ADVICE}"
    assert not (gone := declared - found), f"{DECLARATION} declares places that do not exist: {gone}"


def test_product__collections_beside_a_mutex__are_declared_shared() -> None:
    found = {
        str(file.relative_to(TOP)): names
        for file in product_files(".py")
        if (names := unshared_collections(file.read_text("utf-8")))
    }
    assert not found, f"{found}: wrap them in LockClass.….shared()"


@pytest.mark.parametrize("lock_class", LockClass, ids=lambda each: each.name)
def test_class__of_the_database_only__is_recognised_and_has_places(lock_class: LockClass) -> None:
    row = lock_class.value
    is_of_database = row.kind in OF_DATABASE
    assert bool(row.tables or row.advisory) == is_of_database
    assert bool(row.places) == is_of_database
    assert not (row.tables and row.advisory)


PLANTED_IN_CODE = [
    "import threading\nlock = threading.Lock()",
    "import threading as t\nlock = t.RLock()",
    "from threading import Lock",
    "from threading import Condition as C",
    "from threading import *",
    "from _thread import allocate_lock",
    "import asyncio\nx = field(default_factory=asyncio.Lock)",
    "import asyncio\nx = asyncio.BoundedSemaphore(2)",
    "import asyncio.locks\nx = asyncio.locks.Semaphore(2)",
    "from asyncio import locks\nx = locks.Semaphore(2)",
    "import fcntl\nfcntl.flock(file, fcntl.LOCK_EX)",
    "import multiprocessing\nx = multiprocessing.Semaphore()",
]


@pytest.mark.parametrize("source", PLANTED_IN_CODE)
def test_made_locks__planted__are_found(source: str) -> None:
    assert len(made_locks(source)) == 1


CORRECT_CODE = [
    "from threading import Event, Thread\nx = Event()",
    "import asyncio\nclass Parts:\n    retries: asyncio.Lock\n    def free(self) -> asyncio.Semaphore: ...",
    "from runtime.locks import LockClass\nx = LockClass.AGGREGATES.mutex()",
    "from api.rest.contract.answers.locks import Lock\nx = Lock()",
]


@pytest.mark.parametrize("source", CORRECT_CODE)
def test_made_locks__correct_code__has_none(source: str) -> None:
    assert made_locks(source) == []


FUNCTION = "CREATE FUNCTION log.f() RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n  {}\nEND $$;\n{}"
PLANTED_IN_SQL: list[tuple[str, Place]] = [
    ("-- name: one\nSELECT FROM t FOR UPDATE SKIP LOCKED", ("a.sql:one", "FOR UPDATE SKIP LOCKED")),
    ("-- name: one\nSELECT FROM t FOR NO KEY UPDATE", ("a.sql:one", "FOR NO KEY UPDATE")),
    ("-- name: one\nUPDATE live.t SET a = 1", ("a.sql:one", "UPDATE live.t")),
    ("-- name: one\nINSERT INTO t ON CONFLICT (a) DO UPDATE SET a = 1", ("a.sql:one", "DO UPDATE")),
    ("SELECT pg_advisory_lock_shared(1)", ("a.sql", "pg_advisory_lock_shared")),
    (FUNCTION.format("LOCK TABLE t;", ""), ("log.f()", "LOCK TABLE t")),
    (FUNCTION.format("PERFORM 1;", "LOCK TABLE t;"), ("a.sql", "LOCK TABLE t")),
]


@pytest.mark.parametrize(("text", "place"), PLANTED_IN_SQL)
def test_places__planted_in_sql__are_found(text: str, place: Place) -> None:
    assert places_in_sql("a.sql", text) == {place}


CORRECT_SQL = [
    "-- name: one\n-- A comment about LOCK TABLE t.\nSELECT 1",
    "-- name: one\nSELECT pg_advisory_unlock(1)",
    # In a migration, under its lock.
    "UPDATE read.progress SET position = 0;",
    "-- name: one\nGRANT SELECT, INSERT, UPDATE ON t TO labledger_service",
]


@pytest.mark.parametrize("text", CORRECT_SQL)
def test_places__correct_sql__has_none(text: str) -> None:
    assert places_in_sql("a.sql", text) == set()


PLANTED_STATEMENTS = [
    ('cursor.execute("LOCK TABLE read.progress IN EXCLUSIVE MODE")', "LOCK TABLE read.progress"),
    ('cursor.execute(b"SELECT FROM t FOR KEY SHARE")', "FOR KEY SHARE"),
    ('cursor.execute(f"LOCK TABLE {table}")', "LOCK TABLE {}"),
    ('cursor.execute(f"UPDATE {table} t SET a = 1")', "UPDATE {}"),
]


@pytest.mark.parametrize(("source", "words"), PLANTED_STATEMENTS)
def test_places__planted_in_code__are_found(source: str, words: str) -> None:
    assert places_in_python("a.py", source) == {("a.py", words)}


def test_places__docstring__has_none() -> None:
    assert places_in_python("a.py", '"""Run LOCK TABLE read.progress."""') == set()


CLASS = """
class Cache:
    def __init__(self) -> None:
        self._lock = LockClass.AGGREGATES.mutex()
        self._states = {}
"""


def test_collections__planted_beside_a_mutex__are_found() -> None:
    assert unshared_collections(CLASS.format("{}")) == ["Cache._states"]
    assert unshared_collections(CLASS.format("OrderedDict[str, State]()")) == ["Cache._states"]
    assert unshared_collections(CLASS.format("LockClass.AGGREGATES.shared({})")) == []
