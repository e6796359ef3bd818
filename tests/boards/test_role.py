"""The rights of the role of the boards, and its functions before and after a rebuild."""

from __future__ import annotations

import psycopg
import pytest

from store.migrate import migrate
from tests.boards.conftest import ROLE, logged_in
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections.rebuild.silent import silent
from workers.rebuild import check, rebuild

OURS = "nspname IN ('boards', 'live', 'log', 'public', 'read', 'secret')"
FUNCTIONS = f"""
SELECT nspname, proname, coalesce(proargnames[:pronargs], '{{}}'),
       has_schema_privilege('{ROLE}', n.oid, 'USAGE') AND has_function_privilege('{ROLE}', p.oid, 'EXECUTE')
FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE {OURS} ORDER BY 1, 2
"""
READABLE = f"""
SELECT format('%s.%s.%s', nspname, relname, attname)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON attrelid = c.oid
WHERE {OURS} AND relkind IN ('r', 'v', 'm', 'S') AND attnum > 0 AND NOT attisdropped
  AND has_column_privilege('{ROLE}', c.oid, attnum, 'SELECT')
"""
WRITABLE = f"""
SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE {OURS} AND relkind IN ('r', 'v', 'm', 'S')
  AND has_table_privilege('{ROLE}', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
"""
# Tables whose columns the role may all read, and the readable columns of the others.
WHOLE_TABLES = {"system_usage", "queue", "recipes", "recipe_sets"}
COLUMNS = {
    "systems": "fqdn lab_controller condition draining reserved_by pools since_position since until_position"
    " until",
    "recipe_details": "recipe_id recipe_set_id job_id owner group_name host_recipe_id since_position since",
}
ARGUMENTS = {"begins": "now() - interval '1 hour'", "ends": "now()", "step": "interval '1 minute'"}
REFUSED = [
    "SELECT document FROM read.documents",
    "SELECT document FROM read.job_documents",
    # A whiteboard is the text of a person.
    "SELECT whiteboard FROM read.recipe_details",
    "SELECT access_policy FROM read.systems",
    "SELECT state FROM log.events",
    "SELECT hash FROM secret.passwords",
    "SELECT secret FROM secret.power_settings",
    "DELETE FROM read.queue",
    "CREATE TABLE boards.mine (number integer)",
    "SELECT live.analyze_read_models()",
    "SET ROLE labledger_service",
]


def functions(database: TestDatabase) -> list[str]:
    """Return a call of each function of the boards."""
    with owner_session(database.owner_url) as owner:
        return [
            f"boards.{name}({', '.join(ARGUMENTS[argument] for argument in arguments)})"
            for schema, name, arguments, _ in owner.execute(FUNCTIONS.encode()).fetchall()
            if schema == "boards"
        ]


def counts(session: psycopg.Connection, calls: list[str]) -> dict[str, int]:
    """Return the number of rows that each function returns."""
    found = {}
    for call in calls:
        ((count,),) = session.execute(f"SELECT count(*) FROM {call}".encode()).fetchall()
        found[call] = count
    return found


def test_role__each_function_of_the_boards__may_be_called_and_no_other(filled: TestDatabase) -> None:
    with owner_session(filled.owner_url) as owner:
        rows = owner.execute(FUNCTIONS.encode()).fetchall()
    assert {schema for schema, *_, may_call in rows if may_call} == {"boards"}
    assert all(may_call for schema, *_, may_call in rows if schema == "boards")


def test_role__tables__reads_the_listed_columns_and_writes_nothing(filled: TestDatabase) -> None:
    with owner_session(filled.owner_url) as owner:
        readable = {name for (name,) in owner.execute(READABLE.encode()).fetchall()}
        writable = owner.execute(WRITABLE.encode()).fetchall()
    assert {name for name in readable if name.split(".")[1] not in WHOLE_TABLES} == {
        f"read.{table}.{column}" for table, columns in COLUMNS.items() for column in columns.split()
    }
    assert {name.split(".")[1] for name in readable} == {*WHOLE_TABLES, *COLUMNS}
    assert writable == []


@pytest.mark.parametrize("statement", REFUSED)
def test_role__anything_else__refused(filled: TestDatabase, statement: str) -> None:
    with logged_in(filled) as session:
        session.execute("SET default_transaction_read_only = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(statement.encode())


def test_login__settings__read_only_and_five_seconds(filled: TestDatabase) -> None:
    with logged_in(filled) as session:
        for setting, expected in {"statement_timeout": "5s", "default_transaction_read_only": "on"}.items():
            assert session.execute(f"SHOW {setting}".encode()).fetchall() == [(expected,)]
        with pytest.raises(psycopg.errors.QueryCanceled):
            session.execute("SELECT pg_sleep(60)")


def test_functions__bodies__are_text_and_depend_on_no_table(filled: TestDatabase) -> None:
    with owner_session(filled.owner_url) as owner:
        parsed = owner.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'boards'::regnamespace"
            " AND (prosqlbody IS NOT NULL OR prosrc = '' OR prolang <> "
            " (SELECT oid FROM pg_language WHERE lanname = 'sql'))"
        ).fetchall()
    assert parsed == []


def test_functions__rebuilt_twice_in_one_session__return_the_same_rows(rebuilt: TestDatabase) -> None:
    calls = functions(rebuilt)
    with logged_in(rebuilt) as session:
        before = counts(session, calls)
        assert len(before) == len(calls) and all(before.values())
        for _ in range(2):
            rebuild(rebuilt.owner_url, silent)
            assert counts(session, calls) == before
    assert check(rebuilt.owner_url, silent, 10)[1] == []
    with owner_session(rebuilt.owner_url) as owner:
        readable = {name for (name,) in owner.execute(READABLE.encode()).fetchall()}
        left = owner.execute("SELECT to_regnamespace('read_old')").fetchall()
    assert {name.split(".")[1] for name in readable} == {*WHOLE_TABLES, *COLUMNS}
    assert left == [(None,)]


def test_role__database_closed_to_the_public__may_connect(database: TestDatabase) -> None:
    migrate(database.owner_url)
    with logged_in(database) as session:
        assert session.execute("SELECT count(*) FROM boards.systems()").fetchall() == [(0,)]
        session.execute("SET default_transaction_read_only = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("CREATE TEMPORARY TABLE mine (number integer)")
