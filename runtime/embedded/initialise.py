"""Creation of a cluster with initdb."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from runtime.embedded.account import Account, EmbeddedPostgresError
from runtime.embedded.binaries import Binaries


def initialise(
    data: Path, binaries: Binaries, account: Account, owner: str, password: str, *, durable: bool
) -> None:
    """Create a cluster, atomically: the next attempt deletes the files of an interrupted one."""
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
    """Return options that order text by code point: since 17 by PostgreSQL itself, else by the C library."""
    if major_version >= 17:
        return ("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C")
    return ("--locale", "C.UTF-8")


def _pipe_holding(text: str, account: Account) -> int:
    """Return a readable descriptor with the text: the password is neither on disk nor on a command line.

    initdb opens the pipe by name, as the account, so the account has to own it.
    """
    read, write = os.pipe()
    if account.is_other:
        os.fchown(read, account.uid, account.gid)
    with os.fdopen(write, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return read
