"""Maximum numbers of connections and watchers of a process, from its limit of open files."""

from __future__ import annotations

import resource

MAX_WATCHERS = 5_000
# Connections that watchers cannot take: requests, long polls and idle ones.
RESERVED_CONNECTIONS = 256
MAX_CONNECTIONS = MAX_WATCHERS + 4 * RESERVED_CONNECTIONS
# Descriptors that connections cannot take: the database, files, and connections not yet counted or closed.
RESERVED_FILES = 256
WANTED_FILES = MAX_CONNECTIONS + RESERVED_FILES


def allow_many_files() -> None:
    """Raise the limit of open files, which is often 1,024, because each connection needs a descriptor."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def max_connections() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(1, min(MAX_CONNECTIONS, soft - RESERVED_FILES))


def max_watchers() -> int:
    return max(1, min(MAX_WATCHERS, max_connections() - RESERVED_CONNECTIONS))
