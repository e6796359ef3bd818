"""The folder of the server's Unix socket: its home, or another one if the path would exceed 107 bytes."""

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
        short = Path(pointer.read_text(encoding="utf-8").strip())
        if _is_private(short, account) or _recreate(short, account):
            return short
    short = Path(tempfile.mkdtemp(prefix="labledger-", dir=SHORT))
    if account.is_other:
        os.chown(short, account.uid, account.gid)
    write_private(pointer, f"{short}\n")
    return short


def delete_short_folder(folder: Path) -> None:
    pointer = folder / "socket.path"
    if pointer.exists():
        shutil.rmtree(pointer.read_text(encoding="utf-8").strip(), ignore_errors=True)


def delete_sockets(sockets: Path) -> None:
    """Delete the socket files of a killed server. Its lock file may name another process by now."""
    for file in sockets.glob(".s.PGSQL.*"):
        file.unlink(missing_ok=True)


def setting_for(sockets: Path) -> str:
    """Return the folder as a value of `unix_socket_directories`, which is a list of quoted paths."""
    return '"' + str(sockets).replace('"', '""') + '"'


def _fits(home: Path) -> bool:
    # libpq would split a host at a comma.
    return len(os.fsencode(home) + _SOCKET_NAME.encode()) <= MAX_PATH_BYTES and "," not in str(home)


def _is_private(folder: Path, account: Account) -> bool:
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == account.uid and not status.st_mode & 0o077


def _recreate(folder: Path, account: Account) -> bool:
    """Create a deleted folder again at the path that the services use. Return False if it exists."""
    try:
        account.make_private_folder(folder)
    except FileExistsError:
        return False
    except OSError as error:
        raise EmbeddedPostgresError(f"no folder for the socket of the server: {error}") from error
    return True
