"""The table of contents of the HTTP API: each path, the resource that answers, and who may do what.

A method that is not listed is not there; one with no roles is open to everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.directory import roles

READERS = (roles.ADMIN, roles.SUBMITTER, roles.LAB_CONTROLLER, roles.AUDITOR)
SUBMITTERS = (roles.ADMIN, roles.SUBMITTER)
ADMIN = (roles.ADMIN,)
LAB = (roles.ADMIN, roles.LAB_CONTROLLER)
SCRAPERS = (roles.ADMIN, roles.AUDITOR, roles.METRICS)
AUDITORS = (roles.ADMIN, roles.AUDITOR)
EVERYBODY: tuple[str, ...] = ()


@dataclass(frozen=True)
class Route:
    """`resource` and `suffix` name the object and the responders (`on_get_<suffix>`) in `app`.

    `own_lab`: a lab controller may come here only under its own name.
    """

    resource: str
    roles: Mapping[str, tuple[str, ...]]
    suffix: str | None = None
    own_lab: bool = False


LIST = {"GET": READERS}
# Whose system or job it is stands in no table: the use cases ask.
OWNERS = {"PATCH": SUBMITTERS, "DELETE": SUBMITTERS}
DOCUMENT = {"GET": READERS, "PUT": ADMIN, "DELETE": ADMIN}
# Put also by who owns it.
OWNED = {"GET": READERS, "PUT": SUBMITTERS, "DELETE": ADMIN}
ANYBODY = roles.ROLES

ROUTES: dict[str, Route] = {
    "/jobs": Route("jobs", {"GET": READERS, "POST": SUBMITTERS}),
    "/jobs/{job_id:int(min=1, max=2147483647)}": Route("jobs", {"GET": READERS, "PATCH": SUBMITTERS}, "one"),
    "/jobs/{job_id:int(min=1, max=2147483647)}/cancel": Route("jobs", {"POST": SUBMITTERS}, "cancel"),
    "/recipe-sets/{recipe_set_id:int(min=1, max=2147483647)}": Route(
        "recipe_sets", {"GET": READERS, "PATCH": SUBMITTERS}
    ),
    "/recipe-sets/{recipe_set_id:int(min=1, max=2147483647)}/cancel": Route(
        "recipe_sets", {"POST": SUBMITTERS}, "cancel"
    ),
    "/recipes/{recipe_id:int(min=1, max=2147483647)}": Route("recipes", LIST),
    "/recipes/{recipe_id:int(min=1, max=2147483647)}/progress": Route("recipes", {"POST": LAB}, "progress"),
    "/recipes/{recipe_id:int(min=1, max=2147483647)}/return": Route(
        "recipes", {"POST": SUBMITTERS}, "return"
    ),
    "/queue": Route("recipes", LIST, "queue"),
    "/idle-pool": Route("usage", LIST, "idle_pool"),
    "/system-usage": Route("usage", LIST, "summed"),
    "/systems": Route("systems", {"GET": READERS, "POST": ADMIN}),
    "/systems/{fqdn}": Route("systems", {"GET": READERS, **OWNERS}, "one"),
    "/systems/{fqdn}/reservation": Route("reservations", {"PUT": SUBMITTERS, "DELETE": SUBMITTERS}),
    "/systems/{fqdn}/usage": Route("usage", LIST),
    "/lab-controllers": Route("lab_controllers", LIST, "list"),
    "/lab-controllers/{name}": Route("lab_controllers", {**DOCUMENT, "PATCH": ADMIN}),
    "/lab-controllers/{name}/commands": Route("commands", {"GET": (*LAB, roles.AUDITOR)}, own_lab=True),
    "/lab-controllers/{name}/commands/{command_id:int(min=1)}": Route(
        "commands", {"PATCH": LAB}, "one", own_lab=True
    ),
    "/lab-controllers/{name}/updates": Route("updates", {"POST": LAB}, own_lab=True),
    "/distro-trees": Route("distro_trees", LIST, "list"),
    "/distro-trees/{name}": Route("distro_trees", DOCUMENT),
    "/pools": Route("pools", LIST, "list"),
    "/pools/{name}": Route("pools", OWNED),
    "/pools/{name}/systems/{fqdn}": Route("pools", {"PUT": SUBMITTERS, "DELETE": SUBMITTERS}, "system"),
    "/users": Route("users", LIST, "list"),
    "/users/{name}": Route("users", DOCUMENT),
    "/groups": Route("groups", LIST, "list"),
    "/groups/{name}": Route("groups", OWNED),
    "/users/{name}/password": Route("users", {"PUT": SUBMITTERS}, "password"),
    "/tokens": Route("tokens", {"GET": READERS, "POST": SUBMITTERS}),
    "/tokens/{token_id}": Route("tokens", {"GET": READERS, "DELETE": SUBMITTERS}, "one"),
    "/login": Route("sessions", {"POST": EVERYBODY}, "login"),
    "/whoami": Route("sessions", {"GET": ANYBODY}, "whoami"),
    "/reads": Route("reads", {"GET": AUDITORS}),
    "/events": Route("events", LIST),
    "/metrics": Route("metrics", {"GET": SCRAPERS}),
    "/openapi.json": Route("description", {"GET": EVERYBODY}),
    "/healthz": Route("health", {"GET": EVERYBODY}, "alive"),
    "/readyz": Route("health", {"GET": EVERYBODY}, "ready"),
}


def responder_of(route: Route, method: str) -> str:
    """The name of the method that answers."""
    return f"on_{method.lower()}_{route.suffix}" if route.suffix else f"on_{method.lower()}"
