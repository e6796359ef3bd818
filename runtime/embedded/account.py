"""The operating-system user that runs PostgreSQL, which refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domain.errors import LabledgerError

UNPRIVILEGED = ("labledger", "postgres", "nobody")


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        """Return whether this user differs from the user of this process, which is then root."""
        return self.uid != os.geteuid()

    def run(
        self, argv: Sequence[str | Path], *, stdin: int = subprocess.DEVNULL, timeout_seconds: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as this user, in an environment without the caller's `PG*` variables."""
        identity: dict[str, Any] = {}
        if self.is_other:
            identity = {"user": self.uid, "group": self.gid, "extra_groups": []}
        return subprocess.run(
            [str(part) for part in argv],
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            timeout=timeout_seconds,
            **identity,
        )

    def can_execute(self, program: Path) -> bool:
        """Run the program as this user, and return whether that works: file modes alone do not decide."""
        try:
            return self.run([program, "--version"]).returncode == 0
        except OSError:
            return False

    def can_enter(self, folder: Path) -> bool:
        return self.run(["/bin/sh", "-c", 'cd -- "$1"', "sh", folder]).returncode == 0

    def make_private_folder(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        if self.is_other:
            os.chown(folder, self.uid, self.gid)


def postgres_account() -> Account:
    """Return the user of this process or, for root, the first existing user of `UNPRIVILEGED`."""
    if os.geteuid() != 0:
        return Account(str(os.geteuid()), os.geteuid(), os.getegid())
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedPostgresError(
        f"PostgreSQL does not run as root, and none of the users {', '.join(UNPRIVILEGED)} exists: "
        "create one of them, or start Labledger as another user"
    )


class EmbeddedPostgresError(LabledgerError):
    """The embedded PostgreSQL cannot be used."""
