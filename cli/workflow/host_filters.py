"""Named requirements in files in the format of Beaker: a name and XML on each line; later files win."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from api.client.login_file import config_folder

# Folders of a lab, in reading order; the files of the user follow.
FOLDERS: Final = (Path("/etc/beaker/host-filters"), Path("/etc/labledger/host-filters"))
SUFFIX: Final = "*.conf"

_LINE: Final = re.compile(r"(?P<name>\w+)\s+(?P<xml>\S.*)")


def host_filter(name: str) -> str:
    """Return the XML of a host filter. Raise ValueError."""
    from api.intake.near_names import suggestion

    filters = dict(_read())
    if name not in filters:
        raise ValueError(f"no such host filter in {_searched()}{suggestion(name, filters)}")
    return filters[name]


def _files() -> list[Path]:
    found = [file for folder in FOLDERS for file in sorted(folder.glob(SUFFIX))]
    return [*found, *filter(Path.is_file, _own())]


def _own() -> tuple[Path, ...]:
    return Path.home() / ".beaker_client" / "host-filter", config_folder() / "host-filters"


def _searched() -> str:
    return ", ".join(map(str, (*(folder / SUFFIX for folder in FOLDERS), *_own())))


def _read() -> Iterator[tuple[str, str]]:
    for file in _files():
        for number, line in enumerate(_lines(file), start=1):
            found = _LINE.fullmatch(line)
            if found:
                yield found["name"], found["xml"]
            elif line and not line.startswith("#"):
                raise ValueError(f"{file}, line {number}: must be a name and XML, or begin with #")


def _lines(file: Path) -> list[str]:
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: cannot be read: {error}") from None
