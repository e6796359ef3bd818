"""How many may watch through one process."""

from __future__ import annotations

import resource

MAX_WATCHERS = 5_000
# Descriptors for everything else: requests, the database, files.
KEPT_FILES = 256
WANTED_FILES = MAX_WATCHERS + 4 * KEPT_FILES


def allow_many_files() -> None:
    """Each watcher takes a descriptor, and many systems begin with 1,024 where more may be had."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_watchers() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_WATCHERS if soft == resource.RLIM_INFINITY else max(1, min(MAX_WATCHERS, soft - KEPT_FILES))
