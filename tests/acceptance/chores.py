"""Chores of people in a busy lab: returning recipes, draining, reserving, disabling, raising a priority."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import httpx

from tests.acceptance.read_models import pages

# A chore may conflict with a change made meanwhile; then it is skipped.
ANSWERS = (200, 409)
# About every ten seconds.
REPAIR_PROBABILITY = 0.03

Undo = Callable[[], object]


class Chores:
    """Chores chosen by a seed, one at a time; most are undone before the next. `spared` systems have none.

    Each chore has a new client, since the service may have been killed meanwhile.
    """

    _client: httpx.Client

    def __init__(self, client: Callable[[], httpx.Client], seed: float, spared: Sequence[str] = ()) -> None:
        self._spared = spared
        self._new_client = client
        self._chance = Random(seed)
        self._undo: Undo | None = None
        self._seen = 0

    def do(self) -> None:
        with self._new_client() as self._client:
            self._tidy()
            if not self._undo_last():
                self._undo = self._chance.choice(CHORES)(self)

    def end(self) -> None:
        """Undo the last chore and tidy up; call it again for whatever recipes still do."""
        with self._new_client() as self._client:
            self._tidy()
            self._undo_last()

    def _tidy(self) -> None:
        self._return_reserved_recipes()
        self._repair_broken_systems()

    def _undo_last(self) -> bool:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()
        return undo is not None

    def _return_reserved_recipes(self) -> None:
        asked = {"after": self._seen, "types": "recipe.reserved", "limit": 1000}
        for event in self._client.get("/events", params=asked).json()["events"]:
            self._say("POST", f"/recipes/{event['subject'].partition('/')[2]}/return")
            self._seen = event["position"]

    def _repair_broken_systems(self) -> None:
        """Repair them now and then: a lab that is killed loses its list of pending repairs."""
        if self._chance.random() < REPAIR_PROBABILITY:
            for system in pages(self._client, "/systems", "systems"):
                if system["condition"] == "Broken":
                    path = f"/systems/{system['fqdn']}"
                    self._say("PATCH", path, {"condition": "Automated", "reason": "repaired by hand"})

    def _say(self, method: str, path: str, body: Any = None) -> httpx.Response:
        answer = self._client.request(method, path, json=body)
        assert answer.status_code in ANSWERS, answer.text
        return answer

    def _later(self, method: str, path: str, body: Any = None) -> Undo:
        return lambda: self._say(method, path, body)

    def _some(self, path: str, name: str, **like: Any) -> dict[str, Any] | None:
        rows = [row for row in pages(self._client, path, name) if like.items() <= row.items()]
        rows = [row for row in rows if row.get("fqdn") not in self._spared]
        return self._chance.choice(rows) if rows else None

    def drain(self) -> Undo | None:
        system = self._some("/systems", "systems", condition="Automated")
        if system is None:
            return None
        path = f"/systems/{system['fqdn']}"
        self._say("PATCH", path, {"draining": True, "reason": "a chore"})
        return self._later("PATCH", path, {"draining": False})

    def disable(self) -> Undo | None:
        lab = self._some("/lab-controllers", "lab_controllers")
        if lab is None:
            return None
        path = f"/lab-controllers/{lab['fqdn']}"
        self._say("PATCH", path, {"enabled": False})
        return self._later("PATCH", path, {"enabled": True})

    def reserve(self) -> Undo | None:
        """Reserve a system with the first distro tree, which every lab has."""
        system = self._some("/systems", "systems", condition="Manual", usage="idle")
        if system is None:
            return None
        path = f"/systems/{system['fqdn']}/reservation"
        self._say("PUT", path, {"distro_tree": 1})
        return self._later("DELETE", path)

    def hurry(self) -> None:
        recipe = self._some("/queue", "recipes", priority="Low")
        if recipe is not None:
            self._say("PATCH", f"/recipe-sets/{recipe['recipe_set_id']}", {"priority": "Urgent"})


CHORES = (Chores.drain, Chores.disable, Chores.reserve, Chores.hurry)
