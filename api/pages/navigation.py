"""The navigation of every page, by the roles that may see its links."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from api.rest.routes import ROUTES


class NavigationLink(NamedTuple):
    """`path` is the address of a page, `name` the word for it."""

    path: str
    name: str


# In the order of the navigation.
NAVIGATION = (
    NavigationLink("/ui/lab", "Lab"),
    NavigationLink("/ui/jobs", "Jobs"),
    NavigationLink("/ui/queue", "Queue"),
    NavigationLink("/ui/submit", "Submit"),
    NavigationLink("/ui/systems", "Systems"),
    NavigationLink("/ui/events", "Events"),
    NavigationLink("/ui/reads", "Reads"),
    # Leads to all that has no link of its own here, because ten more would fill a narrow screen.
    NavigationLink("/ui/directory", "Directory"),
)


@cache
def links_of(role: str) -> list[NavigationLink]:
    """Return the links to pages that a role may see."""
    return [link for link in NAVIGATION if role in ROUTES[link.path].roles["GET"]]
