"""The shipped files for a Grafana: boards, data sources and their provisioning. Needs no SDK."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

DEFAULT_URL: Final = "http://127.0.0.1:8080"
"""The address of the pages in the shipped boards."""

SHIPPED: Final = files(__package__) / "grafana"
BOARDS: Final = "boards"


def write_files(folder: Path, url: str = DEFAULT_URL) -> list[Path]:
    """Write the files below a folder, with links to the pages at a URL; return their paths.

    Existing files of these names are replaced. Raises OSError.
    """
    written = []
    for path, text in sorted(shipped_files()):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace(DEFAULT_URL, url), "utf-8")
        written.append(target)
    return written


def shipped_files() -> Iterator[tuple[Path, str]]:
    """Yield the path of each shipped file, relative to its folder, and its text."""
    yield from _below(SHIPPED, Path())


def _below(place: Traversable, path: Path) -> Iterator[tuple[Path, str]]:
    for entry in place.iterdir():
        if entry.is_dir():
            yield from _below(entry, path / entry.name)
        else:
            yield path / entry.name, entry.read_text("utf-8")
