"""The table of contents of the HTTP API: each path, its resource, and the roles for each method.

A method that is not listed does not exist; a method without roles needs no token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from domain.directory import roles

READERS = (roles.ADMIN, roles.SUBMITTER, roles.LAB_CONTROLLER, roles.AUDITOR)
SUBMITTERS = (roles.ADMIN, roles.SUBMITTER)
ADMIN = (roles.ADMIN,)
LAB = (roles.ADMIN, roles.LAB_CONTROLLER)
SCRAPERS = (roles.ADMIN, roles.AUDITOR, roles.METRICS)
AUDITORS = (roles.ADMIN, roles.AUDITOR)
LOG_USAGE_READERS = (roles.ADMIN, roles.SUBMITTER, roles.AUDITOR)
WITHOUT_TOKEN: tuple[str, ...] = ()


@dataclass(frozen=True)
class Route:
    """`resource` and `suffix` name the object and the responders (`on_get_<suffix>`) in `app`.

    `own_lab`: a lab controller may use the path only with its own name. `is_page`: it is HTML for browsers,
    whose cookie has the token.
    """

    resource: str
    roles: Mapping[str, tuple[str, ...]]
    suffix: str | None = None
    own_lab: bool = False
    is_page: bool = False


# The use cases check the owners of jobs, pools and groups; `permissions` has the permissions on systems.
READ = {"GET": READERS}
PUT_BY_ADMINS = {"GET": READERS, "PUT": ADMIN, "DELETE": ADMIN}
PUT_BY_OWNERS = {"GET": READERS, "PUT": SUBMITTERS, "DELETE": ADMIN}
ANY_ROLE = roles.ROLES

_ID = "int(min=1, max=2147483647)"
_POSITION = "int(min=1, max=9223372036854775807)"
JOB = f"/jobs/{{job_id:{_ID}}}"
RECIPE_SET = f"/recipe-sets/{{recipe_set_id:{_ID}}}"
RECIPE = f"/recipes/{{recipe_id:{_ID}}}"
WINDOW = f"/maintenance-windows/{{number:{_ID}}}"
CONFIGURATION_VERSION = "/partitions/{name}/configurations/{version:int(min=1)}"

API_ROUTES: dict[str, Route] = {
    "/jobs": Route("jobs", {"GET": READERS, "POST": SUBMITTERS}),
    JOB: Route("jobs", {"GET": READERS, "PATCH": SUBMITTERS}, "one"),
    JOB + "/original": Route("jobs", {"GET": READERS}, "original"),
    JOB + "/results": Route("results", READ, "of_job"),
    JOB + "/cancel": Route("jobs", {"POST": SUBMITTERS}, "cancel"),
    JOB + "/keep": Route("retention", {"POST": SUBMITTERS}, "keep"),
    JOB + "/rerun": Route("reruns", {"GET": READERS, "POST": SUBMITTERS}),
    JOB + "/recipe-sets": Route("jobs", {"POST": SUBMITTERS}, "sets"),
    JOB + "/close": Route("jobs", {"POST": SUBMITTERS}, "close"),
    RECIPE_SET: Route("recipe_sets", {"GET": READERS, "PATCH": SUBMITTERS}),
    RECIPE_SET + "/cancel": Route("recipe_sets", {"POST": SUBMITTERS}, "cancel"),
    RECIPE_SET + "/review": Route("reviews", {"POST": SUBMITTERS}),
    RECIPE_SET + "/waiver": Route("reviews", {"POST": SUBMITTERS}, "of_set"),
    RECIPE: Route("recipes", {"GET": READERS, "PATCH": SUBMITTERS}),
    RECIPE + "/results": Route("results", READ, "of_recipe"),
    RECIPE + "/progress": Route("recipes", {"POST": LAB}, "progress"),
    RECIPE + "/extension": Route("extensions", {"POST": SUBMITTERS}, "of_recipe"),
    f"{RECIPE}/tasks/{{task_id:{_ID}}}/waiver": Route("reviews", {"POST": SUBMITTERS}, "of_task"),
    RECIPE + "/return": Route("recipes", {"POST": SUBMITTERS}, "return"),
    RECIPE + "/explanation": Route("explanations", READ),
    RECIPE + "/estimate": Route("estimates", READ),
    "/matches": Route("matches", {"POST": SUBMITTERS}),
    "/weights": Route("weights", {"POST": SUBMITTERS}),
    "/queue": Route("queue", READ),
    "/queue/reasons": Route("queue", READ, "reasons"),
    "/waits": Route("waits", READ),
    "/retention": Route("retention", READ),
    "/locks": Route("locks", READ),
    "/claims": Route("claims", READ),
    f"/claims/{{recipe_id:{_ID}}}": Route("claims", READ, "one"),
    "/reconciliations": Route("reconciliations", READ),
    f"/reconciliations/{{reconciliation_id:{_POSITION}}}/resolve": Route(
        "reconciliations", {"POST": ADMIN}, "resolve"
    ),
    "/idle-pool": Route("usage", READ, "idle_pool"),
    "/system-usage": Route("usage", READ, "summed"),
    "/usage-report": Route("usage_report", READ),
    "/timeline": Route("timeline", READ),
    "/systems": Route("systems", {"GET": READERS, "POST": ADMIN}),
    "/systems/{fqdn}": Route("systems", {"GET": READERS, "PATCH": SUBMITTERS, "DELETE": SUBMITTERS}, "one"),
    "/systems/{fqdn}/reservation": Route("reservations", {"PUT": SUBMITTERS, "DELETE": SUBMITTERS}),
    "/systems/{fqdn}/loan": Route("loans", {"PUT": SUBMITTERS, "DELETE": SUBMITTERS}),
    "/systems/{fqdn}/extension": Route("extensions", {"POST": SUBMITTERS}, "of_system"),
    "/systems/{fqdn}/access-policy": Route("access_policies", {"GET": READERS, "PUT": SUBMITTERS}, "system"),
    "/systems/{fqdn}/usage": Route("usage", READ),
    "/systems/{fqdn}/history": Route("history", READ),
    "/systems/{fqdn}/notes": Route("system_notes", {"GET": READERS, "POST": SUBMITTERS}),
    f"/systems/{{fqdn}}/notes/{{note_id:{_POSITION}}}": Route("system_notes", {"DELETE": SUBMITTERS}, "one"),
    "/systems/{fqdn}/power": Route("power", {"GET": READERS, "PUT": SUBMITTERS, "DELETE": SUBMITTERS}),
    "/power-settings": Route("power", {"GET": READERS}, "list"),
    "/system-changes": Route("system_changes", {"POST": SUBMITTERS}),
    "/maintenance-windows": Route("maintenance_windows", {"GET": READERS, "POST": SUBMITTERS}),
    WINDOW: Route("maintenance_windows", {"GET": READERS, "PATCH": SUBMITTERS}, "one"),
    WINDOW + "/end": Route("maintenance_windows", {"POST": SUBMITTERS}, "end"),
    "/inventory": Route("inventory", {"GET": READERS, "POST": SUBMITTERS}),
    "/imports/beaker": Route("beaker_imports", {"POST": SUBMITTERS}),
    "/lab-controllers": Route("lab_controllers", READ, "list"),
    "/lab-controllers/{name}": Route("lab_controllers", {**PUT_BY_ADMINS, "PATCH": ADMIN}),
    "/lab-controllers/{name}/commands": Route("commands", {"GET": (*LAB, roles.AUDITOR)}, own_lab=True),
    "/lab-controllers/{name}/commands/{command_id:int(min=1)}": Route(
        "commands", {"PATCH": LAB}, "one", own_lab=True
    ),
    "/lab-controllers/{name}/power-settings/{fqdn}": Route(
        "power", {"GET": (roles.LAB_CONTROLLER,)}, "for_lab", own_lab=True
    ),
    "/lab-controllers/{name}/updates": Route("updates", {"POST": LAB}, own_lab=True),
    "/lab-controllers/{name}/registration": Route("updates", {"POST": LAB}, "registration", own_lab=True),
    "/distro-trees": Route("distro_trees", READ, "list"),
    "/distro-trees/{name}": Route("distro_trees", PUT_BY_ADMINS),
    "/pools": Route("pools", READ, "list"),
    "/pools/{name}": Route("pools", PUT_BY_OWNERS),
    "/pools/{name}/systems/{fqdn}": Route("pools", {"PUT": SUBMITTERS, "DELETE": SUBMITTERS}, "system"),
    "/pools/{name}/access-policy": Route(
        "access_policies", {"GET": READERS, "PUT": SUBMITTERS, "DELETE": SUBMITTERS}, "pool"
    ),
    "/filters": Route("job_filters", READ, "list"),
    "/filters/{name}": Route("job_filters", PUT_BY_ADMINS),
    "/partitions": Route("partitions", READ, "list"),
    "/partitions/{name}": Route("partitions", {"GET": READERS, "PUT": ADMIN, "DELETE": ADMIN}),
    "/partitions/{name}/start": Route("partitions", {"POST": ADMIN}, "start"),
    "/partitions/{name}/drain": Route("partitions", {"POST": ADMIN}, "drain"),
    "/partitions/{name}/stop": Route("partitions", {"POST": ADMIN}, "stop"),
    "/partitions/{name}/configuration": Route("partitions", {"GET": READERS, "PUT": ADMIN}, "configuration"),
    "/partitions/{name}/configurations": Route("partitions", READ, "configurations"),
    CONFIGURATION_VERSION: Route("partitions", READ, "configuration_version"),
    "/partitions/{name}/operations": Route("partitions", READ, "operations"),
    "/partitions/{name}/queues": Route("partitions", READ, "queues"),
    "/partitions/{name}/queues/{path}": Route("partitions", READ, "queue"),
    "/ldap-sync": Route("ldap_sync", {"GET": AUDITORS, "POST": ADMIN}),
    "/users": Route("users", READ, "list"),
    "/users/{name}": Route("users", PUT_BY_ADMINS),
    "/groups": Route("groups", READ, "list"),
    "/groups/{name}": Route("groups", PUT_BY_OWNERS),
    "/users/{name}/password": Route("users", {"PUT": SUBMITTERS}, "password"),
    "/users/{name}/notifications": Route("notifications", {"GET": SUBMITTERS, "PUT": SUBMITTERS}),
    "/users/{name}/notifications/messages": Route("notifications", {"GET": SUBMITTERS}, "messages"),
    "/notification-messages": Route("notifications", {"GET": ADMIN}, "all_messages"),
    "/tokens": Route("tokens", {"GET": READERS, "POST": SUBMITTERS}),
    "/tokens/{token_id}": Route("tokens", {"GET": READERS, "DELETE": SUBMITTERS}, "one"),
    "/login": Route("sessions", {"POST": WITHOUT_TOKEN}, "login"),
    "/login/device": Route("device_logins", {"POST": WITHOUT_TOKEN}),
    "/login/device/token": Route("device_logins", {"POST": WITHOUT_TOKEN}, "token"),
    "/whoami": Route("sessions", {"GET": ANY_ROLE}, "whoami"),
    "/reads": Route("reads", {"GET": AUDITORS}),
    "/log-usage": Route("log_usage", {"GET": LOG_USAGE_READERS}),
    "/overview": Route("overviews", READ),
    "/events": Route("events", READ),
    f"/events/{{position:{_POSITION}}}": Route("events", READ, "one"),
    "/metrics": Route("metrics", {"GET": SCRAPERS}),
    "/openapi.json": Route("description", {"GET": WITHOUT_TOKEN}),
    "/healthz": Route("health", {"GET": WITHOUT_TOKEN}, "alive"),
    "/readyz": Route("health", {"GET": WITHOUT_TOKEN}, "ready"),
}

PAGE_ROUTES: dict[str, Route] = {
    path: replace(route, is_page=True)
    for path, route in {
        "/": Route("pages", {"GET": WITHOUT_TOKEN}, "root"),
        "/ui": Route("home_page", READ),
        "/ui/login": Route("page_sessions", {"GET": WITHOUT_TOKEN, "POST": WITHOUT_TOKEN}, "login"),
        "/ui/login/sso": Route("page_sign_ins", {"GET": WITHOUT_TOKEN}),
        "/ui/login/sso/return": Route("page_sign_ins", {"GET": WITHOUT_TOKEN}, "callback"),
        "/ui/logout": Route("page_sessions", {"POST": ANY_ROLE}, "logout"),
        "/ui/static/{name}": Route("pages", {"GET": WITHOUT_TOKEN}, "static"),
        "/ui/step": Route("page_steps", READ),
        "/ui/live": Route("live_stream", READ),
        "/ui/lab": Route("lab_page", READ),
        "/ui/usage": Route("usage_page", READ),
        "/ui/usage.csv": Route("usage_page", READ, "table"),
        "/ui/usage-report": Route("usage_report_page", READ),
        "/ui/jobs": Route("job_pages", READ, "list"),
        "/ui/events": Route("event_pages", READ, "list"),
        f"/ui/events/{{position:{_POSITION}}}": Route("event_pages", READ),
        "/ui/reads": Route("reads_page", {"GET": AUDITORS}),
        "/ui/queue": Route("queue_page", READ),
        "/ui/submit": Route("submission_page", {"GET": SUBMITTERS, "POST": SUBMITTERS}),
        f"/ui{JOB}": Route("job_pages", READ),
        f"/ui{JOB}/xml": Route("job_pages", READ, "xml"),
        f"/ui{JOB}/results": Route("job_pages", READ, "results"),
        f"/ui{RECIPE_SET}": Route("recipe_set_pages", READ),
        f"/ui{RECIPE}": Route("recipe_pages", READ),
        f"/ui{RECIPE}/why": Route("recipe_pages", READ, "why"),
        "/ui/systems": Route("system_pages", READ, "list"),
        "/ui/listed-systems/drain": Route("listed_systems_pages", {"GET": SUBMITTERS}, "drain"),
        "/ui/listed-systems/maintenance-window": Route(
            "listed_systems_pages", {"GET": SUBMITTERS}, "maintenance_window"
        ),
        "/ui/imports/beaker": Route("beaker_import_page", {"GET": SUBMITTERS, "POST": SUBMITTERS}),
        "/ui/systems/{fqdn}": Route("system_pages", READ),
        "/ui/maintenance-windows": Route("maintenance_window_pages", READ, "list"),
        f"/ui{WINDOW}": Route("maintenance_window_pages", READ),
        "/ui/directory": Route("pages", READ, "directory"),
        "/ui/users": Route("user_pages", READ, "list"),
        "/ui/users/{name}": Route("user_pages", READ),
        "/ui/groups": Route("group_pages", READ, "list"),
        "/ui/groups/{name}": Route("group_pages", READ),
        "/ui/pools": Route("pool_pages", READ, "list"),
        "/ui/pools/{name}": Route("pool_pages", READ),
        "/ui/lab-controllers": Route("lab_controller_pages", READ, "list"),
        "/ui/lab-controllers/{name}": Route("lab_controller_pages", READ),
        "/ui/distro-trees": Route("distro_tree_pages", READ, "list"),
        "/ui/distro-trees/{name}": Route("distro_tree_pages", READ),
        "/ui/notifications": Route("notification_pages", {"GET": ADMIN}, "list"),
        "/ui/notifications/{name}": Route("notification_pages", {"GET": SUBMITTERS}),
        "/ui/tokens": Route("token_pages", READ, "list"),
        "/ui/tokens/{token_id}": Route("token_pages", READ),
        "/ui/partitions": Route("partition_pages", READ, "list"),
        "/ui/partitions/{name}": Route("partition_pages", READ),
        "/ui/partitions/{name}/queues/{path}": Route("partition_pages", READ, "queue"),
        "/ui/partitions/{name}/configuration": Route("partition_pages", READ, "configuration"),
        f"/ui{CONFIGURATION_VERSION}": Route("partition_pages", READ, "configuration_version"),
        "/ui/filters": Route("job_filter_pages", READ, "list"),
        "/ui/filters/{name}": Route("job_filter_pages", READ),
        "/ui/claims": Route("claim_pages", READ),
        "/ui/locks": Route("lock_pages", READ),
        "/ui/waits": Route("wait_pages", READ),
        "/ui/retention": Route("retention_pages", READ),
        "/ui/reconciliations": Route("reconciliation_pages", READ),
    }.items()
}
_DOCUMENTS = {
    "user": "/users",
    "group": "/groups",
    "pool": "/pools",
    "lab-controller": "/lab-controllers",
    "distro-tree": "/distro-trees",
}
PAGE_ROUTES |= {
    f"/ui{path}/actions/{{action}}": Route(
        f"{kind}_actions", {"GET": SUBMITTERS, "POST": SUBMITTERS}, is_page=True
    )
    for kind, path in {
        "job": JOB,
        "recipe-set": RECIPE_SET,
        "recipe": RECIPE,
        "system": "/systems/{fqdn}",
        "maintenance-window": WINDOW,
        "notification": "/notifications/{name}",
        "token": "/tokens/{token_id}",
        "partition": "/partitions/{name}",
        "reconciliation": f"/reconciliations/{{reconciliation_id:{_POSITION}}}",
        **{kind: f"{path}/{{name}}" for kind, path in _DOCUMENTS.items()},
    }.items()
}
PAGE_ROUTES |= {
    f"/ui/new{path}": Route(f"{kind}_actions", {"GET": SUBMITTERS, "POST": SUBMITTERS}, is_page=True)
    for kind, path in {
        "token": "/tokens",
        "partition": "/partitions",
        "maintenance-window": "/maintenance-windows",
        "many-systems": "/systems",
        **_DOCUMENTS,
    }.items()
}

ROUTES = API_ROUTES | PAGE_ROUTES


def responder_of(route: Route, method: str) -> str:
    return f"on_{method.lower()}_{route.suffix}" if route.suffix else f"on_{method.lower()}"
