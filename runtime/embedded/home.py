"""The folder of a cluster, and the place of its data when PostgreSQL's user cannot enter that folder.

The folder belongs to the caller and keeps what is secret: passwords, and the pointer to a place elsewhere,
which a less privileged user could otherwise bend. Only the folder below it belongs to PostgreSQL's user.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from runtime.embedded.account import Account, EmbeddedPostgresError

ELSEWHERE = Path("/var/lib/labledger/clusters")


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents: for root enterable by others, whatever the umask says."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755 if os.geteuid() == 0 else 0o700)


def home_of(folder: Path, account: Account) -> Path:
    """Where the data of this folder's cluster lies; decided on the first call and kept from then on."""
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
    """Never a name in use: a folder deleted and made again must not find the data of the old one."""
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    home = ELSEWHERE / digest
    while home.exists():
        home = ELSEWHERE / f"{digest}-{secrets.token_hex(3)}"
    return home


def write_private(path: Path, text: str) -> None:
    """Write a whole file that only its owner reads, or leave the old one."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def secret(path: Path) -> str:
    """The password kept in this file, made up on first use."""
    if not path.exists():
        write_private(path, secrets.token_hex(24))
    return path.read_text(encoding="utf-8").strip()
