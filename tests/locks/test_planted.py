"""Planted nestings and iterations: a run that has one fails and says where; a clean run passes."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import psycopg
import pytest

from runtime.locks import LockClass
from tests.harness.appends import APPEND_NOTHING
from tests.harness.databases import TestDatabase
from tests.harness.locks import report
from tests.harness.locks.observer import PLANTED, Observer
from tests.harness.locks.recorder import Recorder
from tests.harness.sessions import Owner, named
from tests.harness.waiting import wait_until
from tests.locks.planted_run import planted_run

ORDER = [each.name for each in LockClass]
FAILED, PASSED = 1, 0

IN_ORDER = """
def test_in_order():
    with LockClass.REBUILD_STEPS.mutex(), LockClass.AGGREGATES.mutex():
        pass
"""
REVERSED = """
def test_reversed():
    with LockClass.AGGREGATES.mutex(), LockClass.REBUILD_STEPS.mutex():
        pass
"""
AGAINST = "REBUILD_STEPS is taken inside of AGGREGATES: against the declared order"

IN_THREADS = """
def test_inverted():
    one, other = LockClass.REBUILD_STEPS.mutex(), LockClass.AGGREGATES.mutex()
    def nest(outer, inner):
        with outer, inner:
            pass
    for locks in ((one, other), (other, one)):
        thread = threading.Thread(target=nest, args=locks)
        thread.start()
        thread.join()
"""
IN_TASKS = """
def test_inverted():
    async def nest():
        async with LockClass.DIRECTORY.task_lock(), LockClass.RETRIES.task_lock():
            pass
    asyncio.run(nest())
"""
IN_A_THREAD_OF_A_TASK = """
def test_inverted():
    mutex = LockClass.AGENT_REPORTS.mutex()
    def work():
        with LockClass.AGENT_REPORTS.mutex():
            pass
    async def nest():
        with mutex:
            await asyncio.get_running_loop().run_in_executor(None, work)
    asyncio.run(nest())
"""
IN_A_CONDITION = """
def test_inverted():
    with LockClass.MEMORY_LOG.condition() as _, LockClass.AGGREGATES.mutex():
        pass
"""
IN_A_PROCESS = """
CODE = '''
from runtime.locks import LockClass
with LockClass.AGGREGATES.mutex(), LockClass.REBUILD_STEPS.mutex():
    os.kill(os.getpid(), 9)
'''
def test_inverted():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LABLEDGER_")}
    subprocess.run([sys.executable, "-c", "import os" + CODE], env=kept)
"""
SAME_CLASS = """
def test_two_of_one_class():
    with LockClass.AGGREGATES.mutex(), LockClass.AGGREGATES.mutex():
        pass
"""
ITERATION = """
def test_iterates():
    lock, states = LockClass.AGGREGATES.mutex(), LockClass.AGGREGATES.shared(dict(a=1))
    with lock:
        assert {} == 1
"""
WITHOUT_A_DATABASE = [
    pytest.param(IN_THREADS, "cycle of locks: REBUILD_STEPS > AGGREGATES > REBUILD_STEPS", id="threads"),
    pytest.param(REVERSED, AGAINST, id="one thread, one order"),
    pytest.param(IN_TASKS, "RETRIES is taken inside of DIRECTORY", id="tasks"),
    pytest.param(IN_A_THREAD_OF_A_TASK, "a second lock of the class", id="thread that a task awaits"),
    pytest.param(IN_A_CONDITION, "AGGREGATES is taken inside of MEMORY_LOG", id="condition"),
    pytest.param(IN_A_PROCESS, AGAINST, id="killed process"),
    pytest.param(SAME_CLASS, "AGGREGATES is taken inside of AGGREGATES", id="same class"),
    *(
        pytest.param(
            ITERATION.format(how), "iteration over a shared collection of AGGREGATES", id=f"iteration {how}"
        )
        for how in (
            "len(list(states))",
            "sum(states.values())",
            "len(states.copy())",
            "len([*states.items()])",
        )
    ),
]


@pytest.mark.soak
@pytest.mark.parametrize(("source", "finding"), WITHOUT_A_DATABASE)
def test_run__planted__fails_with_the_finding_and_its_test(tmp_path: Path, source: str, finding: str) -> None:
    run = planted_run(tmp_path, source)
    assert (run.status, finding in run.output) == (FAILED, True), run.output
    assert "1 passed" in run.output and "test_1.py::test_" in run.output


def test_run__inversion_over_two_tests_in_two_processes__is_a_cycle_with_both(tmp_path: Path) -> None:
    run = planted_run(tmp_path, IN_ORDER, REVERSED, arguments=("-n", "2", "--dist", "loadfile"))
    assert run.status == FAILED, run.output
    cycle = run.output.partition("cycle of locks: REBUILD_STEPS > AGGREGATES > REBUILD_STEPS")[2]
    assert "test_1.py::test_in_order" in cycle and "test_2.py::test_reversed" in cycle, run.output


CLEAN = [
    pytest.param(IN_ORDER, id="in order"),
    pytest.param(ITERATION.format('states["a"]'), id="look-up under the lock"),
    pytest.param(ITERATION.format("1") + "    assert [*states]", id="iteration after it"),
]


@pytest.mark.soak
@pytest.mark.parametrize("source", CLEAN)
def test_run__clean__passes_and_prints_the_hold_times(tmp_path: Path, source: str) -> None:
    run = planted_run(tmp_path, source)
    assert run.status == PASSED, run.output
    assert "p99 ms" in run.output and "\nAGGREGATES " in run.output


SQL_HEAD = (
    """
def session():
    return connect(os.environ["PLANTED_DATABASE_URL"])
TAKE_LEASE = "SELECT log.take_lease('planted', 'holder')"
APPEND = """
    + repr(APPEND_NOTHING)
    + "\n"
)
IN_A_TRANSACTION = """
def test_inverted():
    with session() as one, one.transaction():
        one.execute(TAKE_LEASE)
        one.execute(APPEND)
"""
OVER_TWO_SESSIONS = """
def test_inverted():
    with session() as one, session() as other, one.transaction():
        one.execute(TAKE_LEASE)
        other.execute(APPEND)
"""
MUTEX_IN_A_TRANSACTION = """
def test_inverted():
    with session() as one, one.transaction():
        one.execute(APPEND)
        with LockClass.AGGREGATES.mutex():
            pass
"""
AFTER_A_TRANSACTION = """
def test_in_order():
    with session() as one:
        with one.transaction():
            one.execute(TAKE_LEASE)
        one.execute(APPEND)
        with LockClass.AGGREGATES.mutex():
            one.execute(APPEND)
"""
WITH_A_DATABASE = [
    pytest.param(IN_A_TRANSACTION, "LOG_WRITER is taken inside of LEASE_EPOCHS", id="one transaction"),
    pytest.param(OVER_TWO_SESSIONS, "LOG_WRITER is taken inside of LEASE_EPOCHS", id="two sessions"),
    pytest.param(MUTEX_IN_A_TRANSACTION, "AGGREGATES is taken inside of LOG_WRITER", id="mutex"),
    pytest.param(AFTER_A_TRANSACTION, None, id="in order"),
]


@pytest.mark.parametrize(("source", "finding"), WITH_A_DATABASE)
def test_run__planted_in_sql__fails_with_the_finding(
    tmp_path: Path, database: TestDatabase, source: str, finding: str | None
) -> None:
    run = planted_run(tmp_path, SQL_HEAD + source, url=named(database.service_url, PLANTED))
    assert "1 passed" in run.output
    if finding is None:
        assert run.status == PASSED, run.output
    else:
        assert (run.status, finding in run.output) == (FAILED, True), run.output


def test_observer__session_waits_against_the_order__is_a_finding(
    tmp_path: Path, database: TestDatabase, owner: Owner
) -> None:
    """Check the observer alone: the statements of the sessions are not those of the product."""
    observer = Observer(database.owner_url, database.owner_url, Recorder(tmp_path), ignored=())
    with (
        psycopg.connect(database.owner_url, application_name=PLANTED) as blocker,
        psycopg.connect(database.owner_url, application_name=PLANTED) as inverted,
    ):
        blocker.execute("LOCK TABLE log.writer IN EXCLUSIVE MODE")
        inverted.execute("SELECT FROM log.leases FOR SHARE")
        waiting = Thread(target=inverted.execute, args=("LOCK TABLE log.writer IN EXCLUSIVE MODE",))
        waiting.start()
        found = wait_until(lambda: report.findings(report.read(tmp_path), ORDER), "the finding")
        blocker.rollback()
        waiting.join()
    observer.close()
    assert found[0].startswith("LOG_WRITER is taken inside of LEASE_EPOCHS: against the declared order")


def test_observer__row_of_a_lease_awaited_under_a_lock__is_seen(
    tmp_path: Path, database: TestDatabase, owner: Owner
) -> None:
    owner.execute("SELECT log.take_lease('a', 'holder')")
    observer = Observer(database.owner_url, database.owner_url, Recorder(tmp_path), ignored=())
    with (
        psycopg.connect(database.owner_url, application_name=PLANTED) as blocker,
        psycopg.connect(database.owner_url, application_name=PLANTED) as second,
    ):
        blocker.execute("SELECT FROM log.leases FOR UPDATE")
        second.execute("LOCK TABLE log.writer IN EXCLUSIVE MODE")
        waiting = Thread(target=second.execute, args=("SELECT FROM log.leases FOR UPDATE",))
        waiting.start()
        nesting = ("LOG_WRITER", "LEASE_EPOCHS")
        wait_until(lambda: nesting in report.read(tmp_path).nestings, "the nesting")
        blocker.rollback()
        waiting.join()
    observer.close()
