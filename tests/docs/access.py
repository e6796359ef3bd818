"""Generator of the tables in docs/access.md: `python -m tests.docs.access` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest.mock import MagicMock

from api.application import operations_of, resources
from api.rest.contract.openapi import plain
from api.rest.permissions import OPERATIONS, required_permissions
from api.rest.routes import API_ROUTES, Route
from domain.access.people import OF_ADMINS, OF_BORROWERS
from domain.access.policy import SUBMIT
from domain.directory.roles import ROLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "access.md"
REGENERATE = "python -m tests.docs.access"

MARK = "✓"
OPEN = "*open*"
OWN_LAB = "lab controllers: their own lab"
OWN_JOB = "submitters: jobs of their own or of their groups"
OWN_OR_ADMINISTERED_JOB = f"{OWN_JOB}, or in queues that they administer"
OWN_POOL = "submitters: pools of a group that they are in or own"
OWN_WINDOW = "submitters: windows that they added, or with `edit_system` on all of their systems"
ONESELF = "submitters: themselves"

# Conditions that use cases check, beside the permissions on systems.
CONDITIONS: Mapping[tuple[str, str], str] = {
    ("POST", "/jobs"): "submitters: for themselves, on behalf of groups that they are in",
    ("POST", "/jobs/{job_id}/rerun"): "submitters: any job, as a job of their own",
    ("POST", "/matches"): "submitters: as for a job; without hidden systems",
    ("PATCH", "/jobs/{job_id}"): OWN_JOB,
    ("POST", "/jobs/{job_id}/cancel"): OWN_OR_ADMINISTERED_JOB,
    ("POST", "/jobs/{job_id}/recipe-sets"): OWN_JOB,
    ("POST", "/jobs/{job_id}/keep"): OWN_JOB,
    ("POST", "/jobs/{job_id}/close"): OWN_OR_ADMINISTERED_JOB,
    ("PATCH", "/recipes/{recipe_id}"): OWN_JOB,
    ("PATCH", "/recipe-sets/{recipe_set_id}"): OWN_OR_ADMINISTERED_JOB,
    ("POST", "/recipe-sets/{recipe_set_id}/cancel"): OWN_OR_ADMINISTERED_JOB,
    ("POST", "/recipe-sets/{recipe_set_id}/review"): OWN_OR_ADMINISTERED_JOB,
    ("POST", "/recipe-sets/{recipe_set_id}/waiver"): OWN_OR_ADMINISTERED_JOB,
    ("POST", "/recipes/{recipe_id}/tasks/{task_id}/waiver"): OWN_OR_ADMINISTERED_JOB,
    ("POST", "/recipes/{recipe_id}/extension"): f"{OWN_JOB}, or on systems that they control",
    ("POST", "/recipes/{recipe_id}/return"): OWN_JOB,
    ("POST", "/recipes/{recipe_id}/progress"): OWN_LAB,
    ("GET", "/recipes/{recipe_id}/explanation"): "without hidden systems",
    ("GET", "/systems"): "without hidden systems",
    ("GET", "/claims"): "without claims to hidden systems",
    ("GET", "/claims/{recipe_id}"): "without claims to hidden systems",
    ("GET", "/locks"): "without locks on hidden systems",
    ("GET", "/idle-pool"): "without hidden systems",
    ("GET", "/system-usage"): "without hidden systems",
    ("GET", "/usage-report"): "without hidden systems",
    ("GET", "/timeline"): "without hidden systems",
    ("GET", "/inventory"): "without hidden systems",
    ("GET", "/power-settings"): "without hidden systems",
    ("POST", "/inventory"): "submitters: existing systems, with the permissions of PATCH and of pools",
    ("GET", "/maintenance-windows"): "without hidden systems",
    ("GET", "/maintenance-windows/{number}"): "without hidden systems",
    ("POST", "/maintenance-windows"): "on all systems of the window",
    ("PATCH", "/maintenance-windows/{number}"): OWN_WINDOW,
    ("POST", "/maintenance-windows/{number}/end"): OWN_WINDOW,
    ("POST", "/imports/beaker"): "submitters: their systems, pools and groups, as with PATCH and PUT",
    ("PUT", "/systems/{fqdn}/reservation"): "for others: admins only",
    ("DELETE", "/systems/{fqdn}/reservation"): "not needed for one's own",
    ("DELETE", "/systems/{fqdn}/loan"): "not needed for a loan to oneself",
    ("PATCH", "/systems/{fqdn}"): "another owner: only its owner and admins",
    ("PUT", "/pools/{name}/systems/{fqdn}"): "and, for submitters, a pool of a group that they are in or own",
    (
        "DELETE",
        "/pools/{name}/systems/{fqdn}",
    ): "or, for submitters, a pool of a group that they are in or own",
    ("PUT", "/pools/{name}"): f"{OWN_POOL}; new ones: admins only",
    ("PUT", "/pools/{name}/access-policy"): OWN_POOL,
    ("DELETE", "/pools/{name}/access-policy"): OWN_POOL,
    ("PUT", "/groups/{name}"): "submitters: groups that they own; new ones: admins only",
    ("PUT", "/users/{name}/password"): ONESELF,
    ("GET", "/users/{name}/notifications"): ONESELF,
    ("PUT", "/users/{name}/notifications"): ONESELF,
    ("GET", "/users/{name}/notifications/messages"): ONESELF,
    ("GET", "/tokens"): "submitters and lab controllers: their own",
    ("GET", "/tokens/{token_id}"): "submitters and lab controllers: their own",
    ("POST", "/tokens"): f"{ONESELF}, in a role that they have, except admin and lab-controller",
    (
        "DELETE",
        "/tokens/{token_id}",
    ): f"{ONESELF}; of an admin or lab controller: an admin, or the token itself",
    ("GET", "/log-usage"): "submitters: their own share",
    ("GET", "/events"): "events of tokens: admins and auditors; without hidden systems",
}


def page() -> str:
    """Return the page, its two generated tables as the code has them."""
    text = PAGE.read_text("utf-8")
    for title, rows in (("Operations", _operations()), ("Permissions", _permissions())):
        before, heading, rest = text.partition(f"\n## {title}\n")
        section, next_heading, after = rest.partition("\n## ")
        prose = section[: section.index("\n| ")]
        text = "".join([before, heading, prose, "\n", "\n".join(rows), "\n", next_heading, after])
    return text


def _operations() -> Iterator[str]:
    yield f"| operation | {' | '.join(ROLES)} | condition |"
    yield f"|---|{'---|' * len(ROLES)}---|"
    declared = operations_of(resources(MagicMock()))
    for path, method, route in operations():
        allowed = route.roles[method]
        marks = [MARK if role in allowed else "" if allowed else OPEN for role in ROLES]
        what = f"`{method} {plain(path)}`: {declared[path, method].does}"
        yield f"| {' | '.join([what, *marks, conditions(plain(path), method, route)])} |"


def operations() -> Iterator[tuple[str, str, Route]]:
    """Yield path, method and route of every operation."""
    for path, route in API_ROUTES.items():
        for method in route.roles:
            yield path, method, route


def conditions(path: str, method: str, route: Route) -> str:
    """Return the permission and the other conditions of an operation, empty without any."""
    permissions = " or ".join(f"`{permission}`" for permission in required_permissions(method, path))
    own_lab = OWN_LAB if route.own_lab else ""
    return "; ".join(filter(None, [permissions, CONDITIONS.get((method, path), ""), own_lab]))


def _permissions() -> Iterator[str]:
    yield "| permission | opens | owner | borrower | admin |"
    yield "|---|---|---|---|---|"
    for permission, opened in OPERATIONS.items():
        paths = ", ".join(f"`{method} {path}`" for method, path in opened)
        marks = (MARK, MARK if permission in OF_BORROWERS else "", MARK if permission in OF_ADMINS else "")
        yield f"| `{permission}` | {paths} | {' | '.join(marks)} |"
    yield f"| `{SUBMIT}` | jobs on the system | {MARK} | {MARK} | |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
