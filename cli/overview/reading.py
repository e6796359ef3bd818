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

BECAME = "system.condition-changed"
# Topics of recent problems; of changed conditions only those to Broken count.
TOPICS = ("recipe.aborted", BECAME, "lab-controller.silent", "lab-controller.disabled")
LATELY = 6
# Numbers of events to search backwards, until there are enough.
WINDOWS = (2_000, 20_000, 200_000)
# Maximum number of recipes to read one by one for their sets; more do not fit on a screen.
LOOKED_AT = 20
MAX_BROKEN = 6


class OverviewReader:
    """A reader of overviews, which caches unchanging parts."""

    def __init__(self, client: Client) -> None:
        from api.client.retry_policy import NO_RETRIES

        self._client = client
        # The check of readiness does not retry.
        self._at_once = client.another(policy=NO_RETRIES)
        self._recipes: dict[int, dict[str, Any]] = {}
        self._user: str | None = None
        self._lately: deque[Row] = deque(maxlen=LATELY)
        self._seen: int | None = None

    def close(self) -> None:
        self._at_once.close()

    def document(self) -> dict[str, Any]:
        """Return the overview, with errors of the server in it. Raise Unreachable."""
        from api.client import ServerProblem

        made = {"at": datetime.now(UTC).isoformat(), "url": self._client.url, **self._readiness()}
        try:
            # Do not retry while the service is not ready.
            return made | self._facts(self._client if made["ready"] else self._at_once, made["at"])
        except ServerProblem as problem:
            if problem.status not in (503, 504):
                raise
            return {**made, "detail": str(problem)}

    def _readiness(self) -> dict[str, Any]:
        from api.client import ServerProblem

        try:
            found: dict[str, Any] = self._at_once.get("/readyz")
            return {"ready": True, "checks": found["checks"], "detail": ""}
        except ServerProblem as problem:
            return {"ready": False, "checks": problem.members.get("checks", {}), "detail": problem.detail}

    def _facts(self, client: Client, now: str) -> dict[str, Any]:
        systems = client.pages("/systems", "systems")
        labs = client.pages("/lab-controllers", "lab_controllers")["lab_controllers"]
        queue = client.pages("/queue", "recipes")["recipes"]
        return {
            "position": systems["position"],
            "labs": labs_of(labs, systems["systems"]),
            "queue": queue_of(queue, now),
            "placed": self._placed(client, systems["systems"]),
            "own_broken": self._own_broken(client, systems["systems"]),
            "lately": self._happened(client, systems["position"]),
        }

    def _placed(self, client: Client, systems: Iterable[Row]) -> dict[str, Any]:
        found = sorted(
            (row for row in systems if row.get("recipe_id") is not None and _is_busy(row)),
            key=lambda row: row["recipe_id"],
        )
        looked_at = [self._recipe(client, row) for row in found[:LOOKED_AT]]
        return {
            "recipes": len(found),
            "recipe_sets": sets_of(looked_at),
            "not_looked_at": len(found) - len(looked_at),
        }

    def _own_broken(self, client: Client, systems: Iterable[Row]) -> dict[str, Any]:
        """Return the caller's Broken systems, the first ones with the time and the reason."""
        if self._user is None:
            self._user = client.get("/whoami")["user"]
        found = sorted(
            row["fqdn"] for row in systems if row.get("owner") == self._user and doing(row) == "broken"
        )
        return {
            "count": len(found),
            "systems": [self._why_broken(client, fqdn) for fqdn in found[:MAX_BROKEN]],
        }

    def _why_broken(self, client: Client, fqdn: str) -> dict[str, Any]:
        """Return when and why a system became Broken, without both if it was registered as Broken."""
        became = deque(client.log(0, subject=f"system/{fqdn}", types=[BECAME]), maxlen=1)
        latest: Row = became[0] if became else {}
        return {"fqdn": fqdn, "at": latest.get("at"), "reason": latest.get("data", {}).get("reason", "")}

    def _recipe(self, client: Client, system: Row) -> dict[str, Any]:
        number = system["recipe_id"]
        if number not in self._recipes:
            self._recipes[number] = client.get(f"/recipes/{number}")
        return {**self._recipes[number], "system": system["fqdn"], "usage": system["usage"]}

    def _happened(self, client: Client, position: int) -> list[Row]:
        """Return the latest problems, newest first."""
        if self._seen is None:
            for window in WINDOWS:
                self._lately.clear()
                self._read_events(client, max(0, position - window))
                if len(self._lately) == LATELY or window >= position:
                    break
        else:
            self._read_events(client, self._seen)
        self._seen = position
        return list(reversed(self._lately))

    def _read_events(self, client: Client, after: int) -> None:
        cached = {event["position"] for event in self._lately}
        found = client.log(after, types=list(TOPICS))
        self._lately += [one for one in found if _is_bad(one) and one["position"] not in cached]


def _is_busy(system: Row) -> bool:
    return system.get("usage") == "running" or system.get("usage") in STARTING


def _is_bad(event: Row) -> bool:
    return event["topic"] != BECAME or bool(event["data"].get("condition") == "Broken")
