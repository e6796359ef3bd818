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
    """Create a cluster atomically. The next call deletes the files of an interrupted one."""
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
        result = account.run(argv, stdin=stdin)
    finally:
        os.close(stdin)
    if result.returncode != 0:
        raise EmbeddedPostgresError(f"initdb failed: {result.stderr.strip()}")
    unfinished.rename(data)


def _locale(major_version: int) -> tuple[str, ...]:
    """Return options that sort text by code point: by PostgreSQL itself since 17, before by the C library."""
    if major_version >= 17:
        return ("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C")
    return ("--locale", "C.UTF-8")


def _pipe_holding(text: str, account: Account) -> int:
    """Return the read end of a pipe that contains the text, so that no file or command line contains it.

    initdb opens the pipe by name, as the account, so the account has to own it.
    """
    read, write = os.pipe()
    if account.is_other:
        os.fchown(read, account.uid, account.gid)
    with os.fdopen(write, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return read
