"""The requests of an overview."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cli.overview.facts import STARTING, doing, labs_of, queue_of, sets_of

if TYPE_CHECKING:
    from api.client import Client
    from cli.terminal.tables import Row

CONDITION_CHANGED = "system.condition-changed"
# Topics of recent problems. A changed condition is a problem only if the new one is Broken.
TOPICS = ("recipe.aborted", CONDITION_CHANGED, "lab-controller.silent", "lab-controller.disabled")
MAX_PROBLEMS = 6
# Numbers of latest events to search, the next one if a search finds less than MAX_PROBLEMS.
WINDOWS = (2_000, 20_000, 200_000)
# Maximum number of placed recipes to read for their sets; more do not fit on a screen.
MAX_PLACED = 20
MAX_BROKEN = 6


class OverviewReader:
    """A reader of overviews. It caches placed recipes, and reads only new events after the first overview."""

    def __init__(self, client: Client) -> None:
        from api.client.retry_policy import NO_RETRIES

        self._client = client
        # The check of readiness does not retry.
        self._at_once = client.another(policy=NO_RETRIES)
        self._recipes: dict[int, dict[str, Any]] = {}
        self._user: str | None = None
        self._problems: deque[Row] = deque(maxlen=MAX_PROBLEMS)
        self._problems_upto: int | None = None

    def close(self) -> None:
        self._at_once.close()

    def document(self) -> dict[str, Any]:
        """Return the overview, without facts if the server answers 503 or 504. Raise Unreachable."""
        from api.client import ServerProblem

        head = {"at": datetime.now(UTC).isoformat(), "url": self._client.url, **self._readiness()}
        try:
            # Do not retry while the service is not ready.
            return head | self._facts(self._client if head["ready"] else self._at_once, head["at"])
        except ServerProblem as problem:
            if problem.status not in (503, 504):
                raise
            return {**head, "detail": str(problem)}

    def _readiness(self) -> dict[str, Any]:
        from api.client import ServerProblem

        try:
            answer: dict[str, Any] = self._at_once.get("/readyz")
            return {"ready": True, "checks": answer["checks"], "detail": ""}
        except ServerProblem as problem:
            return {"ready": False, "checks": problem.members.get("checks", {}), "detail": problem.detail}

    def _facts(self, client: Client, now: str) -> dict[str, Any]:
        systems = client.pages("/systems", "systems")
        labs = client.pages("/lab-controllers", "lab_controllers")["lab_controllers"]
        queue = client.pages("/queue", "recipes")["recipes"]
        return {
            "position": systems["position"],
            "partitions": client.get("/partitions")["partitions"],
            "labs": labs_of(labs, systems["systems"]),
            "queue": queue_of(queue, now),
            "placed": self._placed(client, systems["systems"]),
            "own_broken": self._own_broken(client, systems["systems"]),
            "lately": self._latest_problems(client, systems["position"]),
        }

    def _placed(self, client: Client, systems: Iterable[Row]) -> dict[str, Any]:
        busy = sorted(
            (row for row in systems if row.get("recipe_id") is not None and _is_busy(row)),
            key=lambda row: row["recipe_id"],
        )
        recipes = [self._recipe(client, row) for row in busy[:MAX_PLACED]]
        return {
            "recipes": len(busy),
            "recipe_sets": sets_of(recipes),
            "not_looked_at": len(busy) - len(recipes),
        }

    def _own_broken(self, client: Client, systems: Iterable[Row]) -> dict[str, Any]:
        """Return the number of the user's Broken systems, and time and reason of the first of them."""
        if self._user is None:
            self._user = client.get("/whoami")["user"]
        broken = sorted(
            row["fqdn"] for row in systems if row.get("owner") == self._user and doing(row) == "broken"
        )
        return {
            "count": len(broken),
            "systems": [self._why_broken(client, fqdn) for fqdn in broken[:MAX_BROKEN]],
        }

    def _why_broken(self, client: Client, fqdn: str) -> dict[str, Any]:
        """Return the time and the reason of the last change of condition; both empty without a change."""
        changes = deque(client.log(0, subject=f"system/{fqdn}", types=[CONDITION_CHANGED]), maxlen=1)
        latest: Row = changes[0] if changes else {}
        return {"fqdn": fqdn, "at": latest.get("at"), "reason": latest.get("data", {}).get("reason", "")}

    def _recipe(self, client: Client, system: Row) -> dict[str, Any]:
        number = system["recipe_id"]
        if number not in self._recipes:
            self._recipes[number] = client.get(f"/recipes/{number}")
        return {**self._recipes[number], "system": system["fqdn"], "usage": system["usage"]}

    def _latest_problems(self, client: Client, position: int) -> list[Row]:
        if self._problems_upto is None:
            for window in WINDOWS:
                self._problems.clear()
                self._read_problems(client, max(0, position - window))
                if len(self._problems) == MAX_PROBLEMS or window >= position:
                    break
        else:
            self._read_problems(client, self._problems_upto)
        self._problems_upto = position
        return list(reversed(self._problems))

    def _read_problems(self, client: Client, after: int) -> None:
        cached = {event["position"] for event in self._problems}
        events = client.log(after, types=list(TOPICS))
        self._problems += [event for event in events if _is_bad(event) and event["position"] not in cached]


def _is_busy(system: Row) -> bool:
    return system.get("usage") == "running" or system.get("usage") in STARTING


def _is_bad(event: Row) -> bool:
    return event["topic"] != CONDITION_CHANGED or bool(event["data"].get("condition") == "Broken")
