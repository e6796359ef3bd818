"""Log files of results: their list, their local paths, and their download."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import click

from cli.terminal.tables import Row
from domain.errors import LabledgerError

ANSWER_SECONDS: Final = 60.0
WEB: Final = ("http", "https")


class NotFetched(LabledgerError):
    """The log file could not be fetched."""


@dataclass(frozen=True)
class LogFile:
    """A log file of a result; `position` is that of the result in the log of events.

    `place` is the path below the folder into which it is fetched.
    """

    task_id: int
    position: int
    result: str
    path: str
    name: str
    url: str
    size_bytes: int | None
    sha256: str | None
    place: PurePosixPath

    def document(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "place"}


def files_of(tasks: Iterable[Row], task_id: int | None) -> list[LogFile]:
    """Return the files of all tasks, or of one. Raise UsageError for a task that is not there."""
    tasks = sorted(tasks, key=lambda task: task["task_id"])
    if task_id is not None and task_id not in (ids := [task["task_id"] for task in tasks]):
        there = f"tasks: {', '.join(map(str, ids))}" if ids else "none"
        raise click.UsageError(f"task {task_id} is not in the answer, which has {there}")
    return [
        LogFile(
            *(task["task_id"], result["position"], result["result"], result["path"]),
            *(log["name"], log["url"], log["size_bytes"], log["sha256"]),
            place,
        )
        for task in tasks
        if task_id in (None, task["task_id"])
        for result in task["results"]
        for log, place in _placed(task["task_id"], result)
    ]


def _placed(task_id: int, result: Row) -> Iterator[tuple[Row, PurePosixPath]]:
    """Yield the logs of a result, each with a place of its own.

    Each result has a folder, since results repeat names of logs. One result may repeat them, too: addresses
    without a name often end alike.
    """
    folder = PurePosixPath(f"task-{task_id}", f"result-{result['position']}")
    taken: set[PurePosixPath] = set()
    for log in (*result["logs"], *map(_unnamed, result["log_urls"])):
        parts = [part for part in re.split(r"[/\\]", log["name"]) if part not in ("", ".", "..")]
        named = folder.joinpath(*(parts or ["log"]))
        numbered = (named.with_name(f"{number}-{named.name}") for number in count(2))
        place = next(place for place in chain([named], numbered) if place not in taken)
        taken.add(place)
        yield log, place


def _unnamed(url: str) -> Row:
    name = unquote(PurePosixPath(urlsplit(url).path).name)
    return {"name": name or "log", "url": url, "size_bytes": None, "sha256": None}


def fetch(file: LogFile, folder: Path) -> Path:
    """Fetch a file, and return its path; one that is there whole is kept. Raise NotFetched.

    A part of a file has a name of its own, so that an interrupted fetch leaves no file that looks whole.
    """
    import httpx

    target = folder / file.place
    if target.exists() and _fault(file, target.stat().st_size, _sha256(target)) is None:
        return target
    if urlsplit(file.url).scheme not in WEB:
        raise NotFetched("only addresses of http and https are fetched")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    sha256, size = hashlib.sha256(), 0
    try:
        # The bytes as the lab keeps them, not compressed for this transfer: their hash was reported.
        options: Any = {"follow_redirects": True, "timeout": ANSWER_SECONDS}
        with httpx.stream("GET", file.url, headers={"Accept-Encoding": "identity"}, **options) as answer:
            if answer.is_error:
                raise NotFetched(f"the server answered {answer.status_code} {answer.reason_phrase}")
            with part.open("wb") as written:
                for content in answer.iter_raw():
                    written.write(content)
                    sha256.update(content)
                    size += len(content)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NotFetched(str(error) or type(error).__name__) from error
    if fault := _fault(file, size, sha256.hexdigest()):
        part.unlink()
        raise NotFetched(fault)
    return part.replace(target)


def _sha256(path: Path) -> str:
    with path.open("rb") as read:
        return hashlib.file_digest(read, "sha256").hexdigest()


def _fault(file: LogFile, size: int, sha256: str) -> str | None:
    """Return the difference between the content and the reported size and hash, None without one."""
    if file.size_bytes is not None and size != file.size_bytes:
        return f"it has {size} bytes, but {file.size_bytes} were reported"
    if file.sha256 is not None and sha256 != file.sha256.lower():
        return f"its SHA-256 is {sha256}, but {file.sha256} was reported"
    return None
