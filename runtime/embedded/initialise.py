"""Making a new cluster with initdb."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from runtime.embedded.account import Account, EmbeddedPostgresError
from runtime.embedded.binaries import Binaries


def initialise(
    data: Path, binaries: Binaries, account: Account, owner: str, password: str, *, durable: bool
) -> None:
    """A whole cluster under its name, or none: an interrupted attempt is thrown away by the next."""
    unfinished = data.with_name(f"{data.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    argv = [
        *(binaries.program("initdb"), "--pgdata", unfinished),
        *("--username", owner, "--pwfile", "/dev/stdin", "--auth", "scram-sha-256"),
        *("--encoding", "UTF8", *_locale(binaries.major_version(account)), "--data-checksums"),
        *(() if durable else ("--no-sync",)),
    ]
    stdin = _pipe_holding(password, account)
    try:
        made = account.run(argv, stdin=stdin)
    finally:
        os.close(stdin)
    if made.returncode != 0:
        raise EmbeddedPostgresError(f"initdb failed: {made.stderr.strip()}")
    unfinished.rename(data)


def _locale(major_version: int) -> tuple[str, ...]:
    """Text ordered by code point; from 17 on by PostgreSQL itself, not by whatever the C library has."""
    if major_version >= 17:
        return ("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C")
    return ("--locale", "C.UTF-8")


def _pipe_holding(text: str, account: Account) -> int:
    """A readable descriptor with the text in it, so that the password touches neither disk nor command line.

    initdb opens it by name, as the account, which therefore has to own it.
    """
    read, write = os.pipe()
    if account.is_other:
        os.fchown(read, account.uid, account.gid)
    with os.fdopen(write, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return read
