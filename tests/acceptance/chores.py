"""What people do in a lab that is at work: they return what they keep, drain, reserve, disable, raise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import httpx

from tests.acceptance.read_models import pages

# What is refused because something else has happened meanwhile is not done.
ANSWERS = (200, 409)
# Every ten seconds or so.
WALKS_BY = 0.03

Undo = Callable[[], object]


class Chores:
    """One at a time, out of a seed; most are taken back before the next one. `spared` are left alone.

    Each with a client of its own, since the service may have been killed meanwhile.
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
            if not self._taken_back():
                self._undo = self._chance.choice(CHORES)(self)

    def end(self) -> None:
        """Nothing new is begun; may be called again and again, for what others leave behind."""
        with self._new_client() as self._client:
            self._tidy()
            self._taken_back()

    def _tidy(self) -> None:
        self._return_what_is_kept()
        self._repair_what_is_forgotten()

    def _taken_back(self) -> bool:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()
        return undo is not None

    def _return_what_is_kept(self) -> None:
        asked = {"after": self._seen, "types": "recipe.reserved", "limit": 1000}
        for event in self._client.get("/events", params=asked).json()["events"]:
            self._say("POST", f"/recipes/{event['subject'].partition('/')[2]}/return")
            self._seen = event["position"]

    def _repair_what_is_forgotten(self) -> None:
        """A lab that is killed forgets which machines it was about to repair; somebody walks by at times."""
        if self._chance.random() < WALKS_BY:
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
        """With the first distro tree, which every lab has."""
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
