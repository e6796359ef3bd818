"""The folder of a cluster, and the home for its data, elsewhere if PostgreSQL's user cannot enter the folder.

The folder belongs to the caller. It contains the passwords and the path of a home elsewhere, which
PostgreSQL's user must not change. Only the home belongs to PostgreSQL's user.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from runtime.embedded.account import Account, EmbeddedPostgresError

FALLBACK_HOMES = Path("/var/lib/labledger/clusters")


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents. Other users may enter those of root, whatever its umask."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755 if os.geteuid() == 0 else 0o700)


def home_of(folder: Path, account: Account) -> Path:
    """Return the folder for data and log of this cluster. The first call chooses it permanently."""
    pointer = folder / "cluster.path"
    if pointer.exists():
        home = Path(pointer.read_text(encoding="utf-8").strip())
    elif account.can_enter(folder):
        home = folder / "cluster"
    else:
        home = _unused_name(folder)
        write_private(pointer, f"{home}\n")
    if not home.exists():
        make_folder(home.parent)
        account.make_private_folder(home)
    if not account.can_enter(home):
        raise EmbeddedPostgresError(f"PostgreSQL runs as the user {account.name}, who cannot enter {home}")
    return home


def _unused_name(folder: Path) -> Path:
    """Return an unused path, so that a cluster folder that was deleted and recreated gets no old data."""
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    home = FALLBACK_HOMES / digest
    while home.exists():
        home = FALLBACK_HOMES / f"{digest}-{secrets.token_hex(3)}"
    return home


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, atomically."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def secret(path: Path) -> str:
    """Return the password in this file. The first call generates it."""
    if not path.exists():
        write_private(path, secrets.token_hex(24))
    return path.read_text(encoding="utf-8").strip()
