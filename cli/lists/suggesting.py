"""Similar names for objects that do not exist, from the lists of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from domain.errors import Fault, LabledgerError, unknown_name

if TYPE_CHECKING:
    from api.client import Client

# Kind in messages -> path of the list, name of its rows, and their field with the name.
LISTS = {
    "pool": ("/pools", "pools", "name"),
    "lab controller": ("/lab-controllers", "lab_controllers", "fqdn"),
    "group": ("/groups", "groups", "name"),
    "user": ("/users", "users", "name"),
    "system": ("/systems", "systems", "fqdn"),
}
NOT_FOUND = 404
HOSTS = ("lab controller", "system")


def similar_name(client: Client, kind: str, name: str) -> str:
    """Return `; did you mean big?`, or an empty text if the caller can see no similar name."""
    # Slow to import, and only needed after an error.
    from api.intake.near_names import host_suggestion, suggestion

    path, rows, field = LISTS[kind]
    with suppress(LabledgerError):
        names = [row[field] for row in client.pages(path, rows)[rows]]
        return (host_suggestion if kind in HOSTS else suggestion)(name, names)
    return ""


@contextmanager
def similar_name_added(client: Client, kind: str, name: str) -> Iterator[None]:
    """Add a similar name to a 404 of requests about an object."""
    from api.client import ServerProblem

    try:
        yield
    except ServerProblem as problem:
        similar = similar_name(client, kind, name) if problem.status == NOT_FOUND else ""
        if not similar:
            raise
        raise ServerProblem(problem.status, f"{problem.title}{similar}", problem.detail) from None


def with_similar_name(client: Client, kind: str, name: str) -> Callable[[Fault], Fault]:
    """Return a function that adds a similar name to the fault about a name that does not exist."""
    unknown = unknown_name(kind.replace(" ", "-"), name)

    def change(fault: Fault) -> Fault:
        if fault.message != unknown:
            return fault
        return Fault(fault.where, fault.message + similar_name(client, kind, name))

    return change
