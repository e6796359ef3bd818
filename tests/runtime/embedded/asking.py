"""A query to a server, in a new session."""

from __future__ import annotations

import psycopg


def ask(url: str, question: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(question.encode()).fetchone()
    return row[0] if row else None
