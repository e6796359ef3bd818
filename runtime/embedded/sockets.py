"""The folder of the server's Unix socket: its home, or another folder if the path of the home is too long.

The kernel takes at most 107 bytes for the path of a socket.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

from runtime.embedded.account import Account, EmbeddedPostgresError
from runtime.embedded.home import write_private

SHORT = Path("/tmp")
MAX_PATH_BYTES = 107
_SOCKET_NAME = "/.s.PGSQL.65535"


def socket_folder(folder: Path, home: Path, account: Account) -> Path:
    """Return the private folder for the socket of the cluster in `folder`; create a short one if needed."""
    if _fits(home):
        home.chmod(0o700)
        return home
    pointer = folder / "socket.path"
    if pointer.exists():
        kept = Path(pointer.read_text(encoding="utf-8").strip())
        if _is_private(kept, account) or _is_created_again(kept, account):
            return kept
    made = Path(tempfile.mkdtemp(prefix="labledger-", dir=SHORT))
    if account.is_other:
        os.chown(made, account.uid, account.gid)
    write_private(pointer, f"{made}\n")
    return made


def delete_short_folder(folder: Path) -> None:
    """Delete the short folder of the cluster in `folder`, if it has one."""
    pointer = folder / "socket.path"
    if pointer.exists():
        shutil.rmtree(pointer.read_text(encoding="utf-8").strip(), ignore_errors=True)


def delete_sockets(sockets: Path) -> None:
    """Delete the files of a killed server: its lock file may name a process that now has the same number."""
    for left in sockets.glob(".s.PGSQL.*"):
        left.unlink(missing_ok=True)


def setting_for(sockets: Path) -> str:
    """Return the value of `unix_socket_directories`, which is a list with quotes."""
    return '"' + str(sockets).replace('"', '""') + '"'


def _fits(home: Path) -> bool:
    # For libpq, a comma ends the host.
    return len(os.fsencode(home) + _SOCKET_NAME.encode()) <= MAX_PATH_BYTES and "," not in str(home)


def _is_private(folder: Path, account: Account) -> bool:
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == account.uid and not found.st_mode & 0o077


def _is_created_again(folder: Path, account: Account) -> bool:
    """Create a deleted folder again at the path that the services know; return False if the path is taken."""
    try:
        account.make_private_folder(folder)
    except FileExistsError:
        return False
    except OSError as error:
        raise EmbeddedPostgresError(f"no folder for the socket of the server: {error}") from error
    return True
